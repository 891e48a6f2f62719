"""A program on a pseudo-terminal: real shells, whose every process has to be gone in the end."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from turnwire.adapter.process import terminal
from turnwire.adapter.process.terminal import MOST_UNTAKEN, InputFull, TerminalProcess
from waiting import until

SH = "/bin/sh"


@asynccontextmanager
async def shell(
    workspace: Path, *argv: str, environment: Mapping[str, str] | None = None
) -> AsyncIterator[TerminalProcess]:
    process = await TerminalProcess.spawn(
        argv or (SH,),
        workspace=workspace,
        environment={"PATH": os.environ["PATH"], "PS1": "$ ", **(environment or {})},
        columns=80,
        rows=24,
    )
    try:
        yield process
    finally:
        await process.close()


async def heard(process: TerminalProcess, pattern: str) -> re.Match[str]:
    """Read until a pattern is there."""
    said = ""
    async with asyncio.timeout(30):
        while (found := re.search(pattern, said)) is None:
            piece = await process.read()
            assert piece, f"it ended, and said {said!r}"
            said += piece.decode("utf-8", "replace")
    return found


async def to_the_end(process: TerminalProcess) -> str:
    said = b""
    async with asyncio.timeout(30):
        while piece := await process.read():
            said += piece
    return said.decode("utf-8", "replace")


async def gone(pid: int) -> None:
    """Wait until a process has ended."""
    await until(lambda: is_over(pid))


def is_over(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


async def test_what_is_typed_reaches_a_shell_in_the_workspace_and_its_exit_ends_the_output(
    tmp_path: Path,
) -> None:
    async with shell(tmp_path) as process:
        process.write(b"pwd; echo $((40 + 2)); exit 3\n")
        said = await to_the_end(process)
        assert str(tmp_path.resolve()) in said
        assert "\r\n42\r\n" in said
        assert process.code == 3


async def test_it_has_a_controlling_terminal_and_jobs_and_hears_of_its_size(tmp_path: Path) -> None:
    async with shell(tmp_path) as process:
        process.write(b"echo ready >/dev/tty; stty size\n")
        await heard(process, r"ready\r\n[\s\S]*24 80")
        process.resize(132, 50)
        process.write(b"stty size; set -m; sleep 1000 & jobs\n")
        await heard(process, r"50 132[\s\S]*Running")


async def test_an_interrupt_that_is_typed_ends_what_runs_and_not_the_shell(tmp_path: Path) -> None:
    async with shell(tmp_path) as process:
        process.write(b"sh -c 'echo \"be\"gins; exec sleep 1000'\n")
        await heard(process, "begins")
        process.write(b"\x03")
        process.write(b"echo still he're'\n")
        await heard(process, "still here")


async def test_turnwires_variables_are_not_in_its_environment(tmp_path: Path) -> None:
    async with shell(tmp_path, environment={"TURNWIRE_TOKEN": "s3cret", "LANG": "C.UTF-8"}) as process:
        process.write(b"env; exit\n")
        said = await to_the_end(process)
        assert "LANG=C.UTF-8" in said
        assert "TURNWIRE" not in said
        assert "s3cret" not in said


async def test_a_flood_waits_in_the_kernel_while_nobody_reads(tmp_path: Path) -> None:
    async with shell(
        tmp_path, SH, "-c", "n=0; while :; do n=$((n+1)); printf %01000d $n; echo $n >count; done"
    ) as process:
        count = tmp_path / "count"
        await until(lambda: count.exists() and count.read_text())
        seen = [-1]

        def stands_still() -> bool:
            seen.append(int(count.read_text() or -1))
            return len(seen) > 40 and seen[-1] > 0 and len(set(seen[-40:])) == 1

        await until(stands_still)
        # the kernel's buffer is full, and it has a kilobyte for each number
        assert seen[-1] < 1024
        assert await process.read()


async def test_input_that_nobody_reads_is_bounded_and_passed_on_later(tmp_path: Path) -> None:
    script = f"stty raw -echo; echo ready; read -r line <go; echo read $(head -c {MOST_UNTAKEN} | wc -c)"
    os.mkfifo(tmp_path / "go")
    async with shell(tmp_path, SH, "-c", script) as process:
        await heard(process, "ready")
        process.write(b"x" * MOST_UNTAKEN)
        with pytest.raises(InputFull, match="close it"):
            process.write(b"y" * MOST_UNTAKEN)
        await asyncio.to_thread((tmp_path / "go").write_text, "on\n")
        await heard(process, f"read {MOST_UNTAKEN}")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a supervisor adopts on Linux alone")
@pytest.mark.parametrize("heeds", [True, False])
async def test_closing_ends_the_shell_and_all_that_it_started(
    tmp_path: Path, heeds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "HANGUP_S", 0.3)
    async with shell(tmp_path) as process:
        process.write(b"set -m; setsid sh -c 'trap \"\" HUP; echo far=$$; sleep 1000' &\n")
        far = int((await heard(process, r"far=(\d+)"))[1])
        if not heeds:
            process.write(b"trap '' HUP\n")
        process.write(b"echo near=$$\n")
        near = int((await heard(process, r"near=(\d+)"))[1])
    await gone(near)
    await gone(far)
    assert await process.read() == b""
    process.write(b"late")
    process.resize(1, 1)
    await process.close()


async def test_the_exit_of_the_shell_ends_what_holds_its_terminal(tmp_path: Path) -> None:
    async with shell(tmp_path) as process:
        process.write(b"(trap '' HUP; sleep 1000) & echo left=$!; exit\n")
        left = int(re.search(r"left=(\d+)", await to_the_end(process))[1])  # type: ignore[index]  # it fails where there is none
        await gone(left)
        assert process.code == 0


async def test_a_program_that_is_not_there_says_so_and_a_folder_that_is_not_there_is_refused(
    tmp_path: Path,
) -> None:
    async with shell(tmp_path, "/nowhere/sh") as process:
        assert "turnwire: cannot run /nowhere/sh: No such file" in await to_the_end(process)
        assert process.code == 127
    with pytest.raises(FileNotFoundError):
        async with shell(tmp_path / "nowhere"):
            pass
