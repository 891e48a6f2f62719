import ast
import asyncio
import shutil
import signal
import sys
from pathlib import Path

import pytest
from sandboxes import Places

from recordings import ROOT
from turnwire.adapter.sandbox import available
from turnwire.adapter.sandbox.available import forbidden, why_unavailable
from turnwire.adapter.sandbox.sandbox import open_sandbox
from turnwire.adapter.sandbox.settings import SandboxSettings, SandboxUnavailable

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's")


async def test_an_agent_sees_its_workspace_and_not_the_rest_of_home(place: Places) -> None:
    async with place(SandboxSettings(level="files", state=(".agent/",))) as here:
        home = here.workspace.parent
        (home / ".ssh").mkdir()
        (home / ".ssh" / "id").write_text("secret")
        ran = await here.run(
            "ls -A ~; cat ~/.ssh/id; echo x >new; echo y >~/.agent/kept; echo z >~/lost; touch /usr/x; echo $TMPDIR"
        )
        assert sorted(ran.output.split()) == [".agent", "/tmp", "work"]
        assert "No such file" in ran.errors
        assert "Read-only file system" in ran.errors
        assert (here.workspace / "new").read_text() == "x\n"
        assert (home / ".agent" / "kept").read_text() == "y\n"
        assert not (home / "lost").exists()


async def test_a_signal_reaches_the_program_and_not_its_sandbox(place: Places) -> None:
    async with place(SandboxSettings(level="files")) as here:
        process = await here.start(
            ["/bin/sh", "-c", "trap 'echo told; exit 3' TERM; echo up; while :; do sleep 0.02; done"]
        )
        assert await process.read() == b"up\n"
        process.signal(signal.SIGTERM)
        assert await process.read() == b"told\n"
        assert (await process.wait()).code == 3


async def test_the_end_of_the_program_ends_what_it_left(place: Places) -> None:
    async with place(SandboxSettings(level="files")) as here:
        ran = await here.run("setsid sh -c 'sleep 600; touch late' >/dev/null 2>&1 & echo $$")
        assert ran.exit.code == 0
        assert ran.output == "2\n"


async def test_a_host_is_asked_about_and_a_listed_port_of_this_machine_is_there(place: Places) -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nhello\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        other = port + 1 if port < 65535 else port - 1
        settings = SandboxSettings(level="network", hosts=(f"127.0.0.1:{port}",))
        async with place(settings) as here:
            ran = await here.run(
                f"curl -sS -m 5 http://localhost:{port}/; curl -sS -m 5 --noproxy '' http://127.0.0.1:{port}/;"
                f"curl -sS -m 5 http://127.0.0.1:{other}/; curl -sS -m 5 --noproxy '' http://127.1:{other}/; curl -sS -m 5 https://new.test/"
            )
        assert ran.output.startswith("hello\nhello\n")
        assert "is an address of this machine" in ran.output
        assert "Couldn't connect" in ran.errors
        assert here.asked == ["new.test:443"]
        assert [(one.target, one.kind) for one in here.told] == [
            (f"127.0.0.1:{other}", "host"),
            ("new.test:443", "host"),
        ]


async def test_off_is_no_sandbox(tmp_path: Path) -> None:
    async with open_sandbox(SandboxSettings(), workspace=tmp_path, program="/bin/sh", environment={}) as none:
        assert none is None


async def test_a_sandbox_around_an_impossible_place_is_refused() -> None:
    with pytest.raises(SandboxUnavailable, match="work in a folder below it"):
        async with open_sandbox(
            SandboxSettings(level="files"), workspace=Path("/"), program="/bin/sh", environment={}
        ):
            pass


def test_a_missing_program_is_told_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: "/usr/bin/dnf" if name == "dnf" else None)
    assert (
        why_unavailable("files", str(tmp_path))
        == "there is no program bwrap; install it: sudo dnf install bubblewrap"
    )


async def test_where_user_namespaces_are_forbidden_the_refusal_says_so(place: Places) -> None:
    async with place(SandboxSettings(level="files")) as here:
        ran = await here.run("bwrap --unshare-user --ro-bind / / true")
    assert ran.exit.code != 0
    assert "user namespaces are forbidden here" in forbidden(ran.errors.strip())


def test_a_switch_of_the_kernel_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    switch = tmp_path / "switch"
    switch.write_text("0\n")
    monkeypatch.setattr(available, "SWITCHES", ((str(switch), "0", "sudo sysctl -w it=1"),))
    assert (
        forbidden("")
        == f"this system forbids user namespaces ({switch} is 0); allow them: sudo sysctl -w it=1"
    )


def test_an_old_bwrap_and_other_trouble_are_told() -> None:
    assert "too old" in forbidden("bwrap: Unknown option --disable-userns")
    assert forbidden("bwrap: something") == "bwrap fails: bwrap: something"


def test_whatever_starts_an_agent_says_where() -> None:
    without = [
        f"{file}, line {node.lineno}"
        for file in (ROOT / "adapter").rglob("*.py")
        if file.parent.name != "mcp"  # servers that the sidecar hosts are its own
        and "CliProcess.spawn" in file.read_text()
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "CliProcess.spawn"
        and "sandbox" not in {keyword.arg for keyword in node.keywords}
    ]
    assert without == []
