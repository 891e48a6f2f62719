"""A journal that cannot be used, seen from outside: refused at the start, or told while good clients go on."""

import asyncio
import re
import resource
import shlex
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from live import Frontend, scripted_setup
from live import preloaded_running as running
from turnwire.client import Client, CommandFailed, connect
from turnwire.client.events import Complete, PermissionRequest
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire_process import DEADLINE, TURNWIRE, Served, environment
from turnwire_process import preloaded_turnwire as turnwire
from waiting import until

ECHO = """
fallback:
  steps:
    - text: "echo: {prompt}"
"""


async def journal_file(folder: Path) -> Path:
    path = folder / "state" / "journal.sqlite3"
    await (await SqliteJournal.open(path)).close()
    return path


def start(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TURNWIRE, "serve", "--port", "0", "--state-dir", str(folder / "state")],
        env=environment(folder / "home"),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


def empty(path: Path) -> None:
    path.write_bytes(b"")


def scribble(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 4096)


def replace(path: Path) -> None:
    path.write_text("Dear diary, today nothing happened.\n" * 10)


@pytest.mark.parametrize(
    ("spoil", "said"), [(empty, "is empty"), (scribble, "is damaged"), (replace, "is not a turnwire journal")]
)
async def test_a_spoilt_journal_is_refused_in_one_sentence_and_left_as_it_is(
    tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    path = await journal_file(tmp_path)
    spoil(path)
    before = path.read_bytes()
    ended = start(tmp_path)
    assert ended.returncode != 0
    assert said in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
    assert path.read_bytes() == before


def set_aside(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a refusal names it."""
    return subprocess.run(
        [*TURNWIRE, *shlex.split(command)[1:]],
        env=environment(folder / "home"),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


@pytest.mark.long
async def test_the_command_that_the_refusal_names_makes_room_for_a_new_journal(tmp_path: Path) -> None:
    path = await journal_file(tmp_path)
    scribble(path)
    before = path.read_bytes()
    (command,) = re.findall("`(.+)`", " ".join(start(tmp_path).stderr.split()))
    ended = set_aside(tmp_path, command)
    assert ended.returncode == 0, ended.stderr
    found = path.parent.glob("journal.sqlite3.set-aside-*")
    (moved,) = [each for each in found if not each.name.endswith("-mark")]
    assert moved.name in ended.stdout
    assert moved.read_bytes() == before
    async with turnwire(tmp_path, "serve") as served:
        assert ready(served) == 200
        ended = await asyncio.to_thread(set_aside, tmp_path, command)
        assert ended.returncode == 1
        assert f"process {served.process.pid}" in " ".join(ended.stderr.split())


def test_where_there_is_no_journal_none_is_set_aside(tmp_path: Path) -> None:
    ended = set_aside(tmp_path, f"turnwire journal set-aside --state-dir {tmp_path}")
    assert ended.returncode == 1
    assert "there is no journal" in ended.stderr
    assert list(tmp_path.glob("journal*")) == []


async def test_a_second_sidecar_is_refused_while_the_first_goes_on(tmp_path: Path) -> None:
    async with turnwire(tmp_path, "serve") as served:
        ended = await asyncio.to_thread(start, tmp_path)
        assert ended.returncode != 0
        assert f"process {served.process.pid}" in " ".join(ended.stderr.split())
        assert "Traceback" not in ended.stderr
        assert ready(served) == 200


def ready(served: Served) -> int:
    try:
        with urllib.request.urlopen(f"{served.base}/readyz", timeout=DEADLINE) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def limit_files(served: Served, size: int) -> None:
    """Let no file of the sidecar grow beyond a size, as a disk that is full."""
    _, hard = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (size, hard))


async def troubled(client: Client, wanted: bool) -> str | None:
    """Wait until a frontend is told that its session is in trouble, or no more; return what it was told."""
    await until(lambda: (client.known_sessions[0].trouble is not None) is wanted, DEADLINE)
    return client.known_sessions[0].trouble


@pytest.mark.long
async def test_a_prompt_on_a_full_disk_is_refused_and_all_frontends_are_told_until_there_is_room(
    tmp_path: Path,
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", ECHO)
    async with running(tmp_path, setup) as (frontend, served), connect(served.url) as other:
        await frontend.turn("first")
        assert other.known_sessions[0].trouble is None
        # Not even the log can grow.
        limit_files(served, 1)
        for _ in range(2):
            with pytest.raises(CommandFailed) as refused:
                await frontend.prompt("while the disk is full")
            assert refused.value.code == "journal_unavailable"
            assert "journal" in str(refused.value)
        with pytest.raises(CommandFailed) as refused:
            await frontend.client.create(workspace=str(tmp_path))
        assert refused.value.code == "journal_unavailable"
        told = await troubled(other, True)
        assert str(tmp_path / "state" / "journal.sqlite3") in str(told)
        assert await asyncio.to_thread(ready, served) == 503
        async with connect(served.url) as client:
            late = await Frontend(client, frontend.session).caught_up()
            assert late.events == frontend.events
            assert client.known_sessions[0].trouble == told
        limit_files(served, resource.RLIM_INFINITY)
        await troubled(other, False)
        assert await asyncio.to_thread(ready, served) == 200
        await frontend.turn("when there is room again")
        assert "echo: when there is room again" in frontend.text()
        assert "while the disk is full" not in frontend.text()
        assert frontend.seqs == list(range(1, len(frontend.seqs) + 1))


async def test_a_disk_that_fills_up_during_a_turn_is_told_and_costs_nothing_once_there_is_room(
    tmp_path: Path,
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330")
    async with running(tmp_path, setup) as (frontend, served):
        await frontend.prompt("ls")
        request = await frontend.until(PermissionRequest)
        limit_files(served, 1)
        await frontend.respond(request)
        assert await troubled(frontend.client, True)
        with pytest.raises(CommandFailed) as refused:
            await frontend.prompt("another")
        assert refused.value.code == "journal_unavailable"
        limit_files(served, resource.RLIM_INFINITY)
        complete = await frontend.until(Complete)
        assert complete.data.outcome == "completed"
        await troubled(frontend.client, False)
        assert frontend.seqs == list(range(1, len(frontend.seqs) + 1))
