import ast
import asyncio
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sandboxes import Places

from recordings import ROOT
from turnwire.adapter.sandbox import available
from turnwire.adapter.sandbox.available import forbidden, why_unavailable
from turnwire.adapter.sandbox.parts import folder_of
from turnwire.adapter.sandbox.ports import NoPort
from turnwire.adapter.sandbox.sandbox import open_sandbox
from turnwire.adapter.sandbox.settings import SandboxSettings, SandboxUnavailable
from turnwire.config.known_agents import divided_places

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


async def test_of_an_agents_own_files_a_copy_is_written_and_new_names_are_gone(place: Places) -> None:
    state = (".claude/", ".claude.json", ".codex/", ".new/")
    own = json.dumps({"numStartups": 3, "mcpServers": {"mine": {}}})
    async with place(SandboxSettings(level="files", state=state, parts=divided_places())) as here:
        home = here.workspace.parent
        (home / ".codex/shell_snapshots/other.sh").write_text("other")
        ran = await here.run(
            f"echo '{own}' >~/.claude.json; ln -s /etc/passwd ~/x; mv -f ~/x ~/.claude.json; mkdir ~/.claude/hooks; "
            f"echo x >~/.claude/projects/{folder_of(str(here.workspace))}/kept; echo x >~/.claude/projects/lost; "
            "ls ~/.codex/shell_snapshots; echo x >~/.codex/rules/mine; echo {} >~/.new/hooks.json"
        )
        assert ran.output == ""
        assert "resource busy" in ran.errors
        assert "Read-only file system" in ran.errors
        assert json.loads((home / ".claude.json").read_text()) == {}
    assert json.loads((home / ".claude.json").read_text()) == {"numStartups": 3}
    assert not (home / ".claude/hooks").exists()
    assert [one.read_text() for one in home.glob(".claude/projects/*/kept")] == ["x\n"]
    assert not (home / ".claude/projects/lost").exists()
    assert [one.name[:18] for one in (home / ".new").iterdir()] == ["hooks.json.from-sa"]


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


def test_where_the_kernel_allows_no_user_namespaces_the_refusal_names_the_switch() -> None:
    asked = "from turnwire.adapter.sandbox.available import why_unavailable; print(why_unavailable('files'))"
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    inside = ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh"]
    said = subprocess.run([*inside, sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout == (
        "this system forbids user namespaces (/proc/sys/user/max_user_namespaces is 0); allow them: "
        "sudo sysctl -w user.max_user_namespaces=10000\n"
    )


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


async def test_a_server_in_a_network_of_its_own_is_reached_from_outside(place: Places) -> None:
    server = "import socket\nfor family, address in ((2, '127.0.0.1'), (10, '::1')):\n    "
    server += "made = socket.create_server((address, 5173 if family == 2 else 5174), family=family)\n    "
    server += "globals()[f'kept{family}'] = made\nprint('up', flush=True)\n"
    server += "while True:\n    for one in (kept2, kept10):\n        there, _ = one.accept()\n        there.sendall(b'from inside')\n        there.close()"
    async with place(SandboxSettings(level="network")) as here, asyncio.timeout(20):
        assert here.sandbox is not None
        process = await here.start([shutil.which("python3", path="/usr/bin") or sys.executable, "-c", server])
        assert await process.read() == b"up\n"
        assert await here.sandbox.listening() == [5173, 5174]
        for port in (5173, 5174):
            with await here.sandbox.connect(port) as there:
                assert await asyncio.get_running_loop().sock_recv(there, 100) == b"from inside"
        with pytest.raises(NoPort, match="nothing listens on port 5999"):
            await here.sandbox.connect(5999)
        process.signal(signal.SIGKILL)
        await process.wait()


async def test_ports_of_the_machine_are_not_reached_through_a_sandbox_of_files(place: Places) -> None:
    async with place(SandboxSettings(level="files")) as here:
        assert here.sandbox is not None
        with pytest.raises(NoPort, match="no network of its own"):
            await here.sandbox.connect(22)


async def test_nothing_of_a_sandbox_is_left_where_its_sidecar_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    code = f"""
import asyncio, pathlib, sys
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.sandbox.parts import folder_of
from turnwire.adapter.sandbox.sandbox import open_sandbox
from turnwire.adapter.sandbox.settings import SandboxSettings

async def main():
    where, environment = pathlib.Path({str(tmp_path)!r}), {{"PATH": "/usr/bin:/bin"}}
    async with open_sandbox(SandboxSettings(level="network"), workspace=where / "work", program="/bin/sh", environment=environment) as held:
        for _ in range(2):
            script = "grep Seccomp: /proc/self/status; ls /proc/self/fd; cat"
            process = await CliProcess.spawn(["/bin/sh", "-c", script], workspace=where / "work", environment=environment, sandbox=held)
            said = b""
            while said.count(b"\\n") < 5:
                said += await process.read()
            print(said.split(), flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""
    (tmp_path / "work").mkdir()
    sidecar = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    assert sidecar.stdout is not None
    async with asyncio.timeout(20):
        told = [await sidecar.stdout.readline() for _ in range(2)]
        sidecar.kill()
        await sidecar.wait()
    assert told == [b"[b'Seccomp:', b'2', b'0', b'1', b'2', b'3']\n"] * 2
    assert list(temporary.iterdir()) == []


async def test_git_over_ssh_gets_words(place: Places) -> None:
    async with place(SandboxSettings(level="network")) as here:
        ran = await here.run("git ls-remote git@example.org:one/two.git")
    assert ran.exit.code != 0
    assert (
        "git over ssh does not work in this sandbox, which has no keys. Use an https address." in ran.errors
    )
    assert (here.asked, here.told) == ([], [])
