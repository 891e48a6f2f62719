"""A hostile agent tries every way out of its sandbox; none leads out, and each refusal is told."""

import asyncio
import ctypes
import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import ways_out

from live import real_setup, running
from recordings import ROOT
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.adapter.families import open_session
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.permissions.decisions import PermissionAnswer
from turnwire.adapter.sandbox.settings import SandboxSettings
from turnwire.adapter.sandbox.system_calls import SYSTEM_CALLS
from turnwire.client import events
from turnwire.normalize import events as ev
from turnwire.normalize.vocabulary import SandboxLevel
from waiting import until

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's"),
]

AGENT = """
import json, subprocess, sys

def say(**message):
    print(json.dumps(message), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "control_request":
        say(type="control_response", response={"subtype": "success", "request_id": message["request_id"], "response": {}})
    elif message["type"] == "user":
        command = message["message"]["content"]
        say(type="system", subtype="init", session_id="s", model="m", tools=[])
        use = {"type": "tool_use", "id": "call-1", "name": "Bash", "input": {"command": command}}
        say(type="assistant", session_id="s", message={"id": "m1", "role": "assistant", "model": "m", "content": [use]})
        done = subprocess.run(command, shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        result = {"type": "tool_result", "tool_use_id": "call-1", "content": done.stdout, "is_error": False}
        told = {"stdout": done.stdout, "stderr": done.stderr, "interrupted": False, "isImage": False}
        say(type="user", session_id="s", message={"role": "user", "content": [result]}, tool_use_result=told)
        say(type="result", subtype="success", is_error=False, result="", session_id="s", num_turns=1)
"""
"""An agent of Claude Code's protocol that runs each prompt as a command."""

ONLY_NETWORK = "reach", "have the proxy", "ask a name server", "resolve a name"
"""What a sandbox of files does not hold."""


SOCKETS = "x11", "wayland", "bus", "systemd", "ssh", "gpg", "server"
"""Facts that are sockets outside."""

LISTED = {"hub": ["127.0.0.1"], "private": ["10.0.0.1"], "both": ["1.1.1.1", "10.0.0.1"]}
"""Where names of the listed domain lead."""


def setuid_program(folder: Path) -> str:
    """A program that runs as another user: a copy of `id` that is nobody's, or one of the system where we are not root."""
    made = folder / "setuid"
    shutil.copy("/usr/bin/id", made)
    with suppress(PermissionError, OSError):  # in a user namespace there is no user nobody
        os.chown(made, 65534, -1)
        made.chmod(0o4755)
        if subprocess.run([made, "-u"], capture_output=True, text=True, check=True).stdout == "65534\n":
            return str(made)
    return next(
        str(one)
        for one in map(Path, ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount"))
        if one.exists() and one.stat().st_mode & stat.S_ISUID
    )


@pytest.fixture(autouse=True)
def listed_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let names of the listed domain lead to addresses of this machine and of private networks."""
    real = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, *arguments: Any, **named: Any) -> Any:
        name, _, domain = str(host).partition(".")
        if domain != "listed.test":
            return real(host, port, *arguments, **named)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in LISTED[name]]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.2"
        return str(one.getsockname()[0])


class Stage:
    """What is outside of the sandbox, and what it was told."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = self.home / "work"
        self.events: list[ev.AgentEvent] = []
        self.mark = uuid.uuid4().hex
        places = {name: self.home / path for name, path in {
            "key": ".ssh/id", "state": ".local/state/turnwire/token", "other": "elsewhere/notes", "settings": ".agent/settings.json",
        }.items()}  # fmt: skip
        for place in places.values():
            place.parent.mkdir(parents=True)
            place.write_text("{}")
        for repository in (self.workspace, self.workspace / "below"):
            subprocess.run(["git", "init", "-q", repository], check=True)
        for setting in (
            "core.hooksPath=.husky",
            "core.fsmonitor=./watch.sh",
            "include.path=../more.gitconfig",
            "extensions.worktreeConfig=true",
        ):
            subprocess.run(["git", "-C", self.workspace, "config", *setting.split("=")], check=True)
        for name in ("watch.sh", "more.gitconfig", ".envrc", ".npmrc"):
            (self.workspace / name).write_text("")
        (self.home / ".netrc").write_text("password")
        (self.workspace / ".bash_login").symlink_to("../.netrc")
        (self.home / "elsewhere/.git").mkdir()
        (self.home / "elsewhere/.git/config").write_text("password")
        (self.workspace / "linked").mkdir()
        (self.workspace / "linked/.git").symlink_to("../../elsewhere/.git")
        self.facts = {name: str(place) for name, place in places.items()}
        for inner in (".claude/shell-snapshots", ".codex/app-server-control", ".gnupg", "run/systemd"):
            (self.home / inner).mkdir(parents=True)
        (self.home / ".claude/shell-snapshots/other.sh").write_text("other")
        (self.home / ".claude.json").write_text(json.dumps({"numStartups": 7, "mcpServers": {}}))
        self.facts |= {
            "variable": self.mark[::-1],
            "segment": str(int(self.mark[:7], 16)),
            "setuid": setuid_program(self.workspace),
            "x11": str(self.home / "run/X7"),
            "wayland": str(self.home / "run/wayland-0"),
            "bus": str(self.home / "run/bus"),
            "systemd": str(self.home / "run/systemd/private"),
            "ssh": str(self.home / "run/ssh"),
            "gpg": str(self.home / ".gnupg/S.gpg-agent"),
            "server": str(self.home / ".codex/app-server-control/app-server-control.sock"),
            "mark": self.mark,
            "address": own_address(),
            "abstract": self.mark,
            "socket": str(Path(tempfile.gettempdir(), self.mark)),
        }
        self.before = {
            path: path.read_bytes() for path in [*places.values(), *(self.workspace / ".git").glob("config")]
        }

    def outside(self, held: ExitStack) -> None:
        """Begin what listens and runs outside."""
        hub = held.enter_context(socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True))
        self.facts["port"] = str(hub.getsockname()[1])
        sockets = [ways_out.short(self.facts[name]) for name in SOCKETS]
        for address in ("\0" + self.mark, self.facts["socket"], "\0X11-" + self.mark, *sockets):
            one = held.enter_context(socket.socket(socket.AF_UNIX))
            one.bind(address)
            one.listen()
        Path("/dev/shm", self.mark).write_text("secret")
        held.callback(Path("/dev/shm", self.mark).unlink)
        libc = ctypes.CDLL(None, use_errno=True)
        segment = libc.shmget(int(self.facts["segment"]), 4096, 0o1600)  # IPC_CREAT
        assert segment != -1, os.strerror(ctypes.get_errno())
        held.callback(libc.shmctl, segment, 0, None)  # IPC_RMID
        assert libc.mq_open(f"/{self.mark}".encode(), os.O_CREAT | os.O_RDWR, 0o600, None) != -1
        held.callback(libc.mq_unlink, f"/{self.mark}".encode())
        held.callback(Path(self.facts["socket"]).unlink)
        victim = subprocess.Popen(["/bin/sh", "-c", f"exec sleep 600 # {self.mark}"])
        held.callback(victim.wait)
        held.callback(victim.kill)
        self.facts["process"] = str(victim.pid)
        self.victim = victim

    @asynccontextmanager
    async def attacked(self, level: SandboxLevel) -> AsyncIterator[list[dict[str, object]]]:
        """Have the agent run the attacks in one tool call; yields what each came to."""
        python = os.path.realpath(sys.executable)
        shutil.copy(ROOT / "tests/support/processes/ways_out.py", self.workspace / "ways_out.py")
        (self.workspace / "agent.py").write_text(AGENT)
        (self.workspace / "facts.json").write_text(json.dumps(self.facts))
        options = SessionOptions(
            workspace=self.workspace,
            executable=[python, "-I", "-S", "agent.py"],
            environment={
                "HOME": str(self.home),
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                **dict.fromkeys(ways_out.VARIABLES, self.facts["bus"]),
            },
            ask_version=False,
            own_places=[str(self.home / ".local/state/turnwire")],
            sandbox=SandboxSettings(
                level=level,
                state=[".agent/", ".claude/", ".claude.json", ".codex/", ".config/opencode/", ".gemini/"],
                hosts=["*.listed.test", f"*.listed.test:{self.facts['port']}"],
            ),
        )
        async with asyncio.timeout(120), open_session(options) as session:
            reading = asyncio.ensure_future(self._read(session))
            await session.prompt(f"{python} -I -S ways_out.py facts.json")
            await until(lambda: any(isinstance(one, ev.Complete) for one in self.events))
            update = next(
                one for one in self.events if isinstance(one, ev.ToolUpdate) and one.tool_status != "running"
            )
            said = update.normalized.shell_exec.output.stdout  # type: ignore[union-attr]
            yield [json.loads(line) for line in said.splitlines() if line.startswith("{")]  # type: ignore[union-attr]
        await reading

    async def _read(self, session: object) -> None:
        async for batch in session.batches():  # type: ignore[attr-defined]
            for happened in batch:
                self.events += happened.events
                for event in happened.events:
                    if isinstance(event, ev.PermissionRequest):
                        session.answer(event.pending_id, PermissionAnswer("reject_once"), "ada")  # type: ignore[attr-defined]

    def look(self) -> None:
        """See that nothing outside has changed, and that nothing was left."""
        assert {path: path.read_bytes() for path in self.before} == self.before
        assert not (self.home / ".bashrc").exists()
        assert not (self.workspace / ".vscode").exists()
        assert not (self.workspace / ".git/commondir").exists()
        assert not (self.workspace / ".husky").exists()
        assert not [
            name
            for name in ("settings.json", ".config.json", "commands")
            if (self.home / ".claude" / name).exists()
        ]
        assert (self.home / ".claude/shell-snapshots/other.sh").read_text() == "other"
        assert not (self.home / ".config/opencode/plugin").exists()
        assert not (self.home / ".agent/hooks.json").exists()
        own = json.loads((self.home / ".claude.json").read_text())
        assert own == {
            "numStartups": 8,
            "mcpServers": {},
            "projects": {str(self.workspace): {"lastCost": 0.5}},
        }
        assert self.victim.poll() is None
        left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        assert f"{self.mark}-left" not in left


async def test_none_of_the_ways_leads_out_and_each_refusal_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    monkeypatch.setenv("TURNWIRE_TEST_VARIABLE", stage.facts["variable"])
    with ExitStack() as held:
        stage.outside(held)
        async with stage.attacked("network") as came:
            pass
        assert [one for one in came if one["out"]] == []
        assert [one["way"] for one in came] == list(ways_out.WAYS)
        assert all(one["told"] for one in came)
        stage.look()
    told = {str(one["way"]): one["told"] for one in came}
    if os.uname().machine in SYSTEM_CALLS:
        assert told["reach the machine's host by a virtual socket"] == os.strerror(errno.EAFNOSUPPORT)
    denied = [event for event in stage.events if isinstance(event, ev.SandboxDenied)]
    assert {event.tool_call_id for event in denied} == {
        next(e.tool_call_id for e in stage.events if isinstance(e, ev.ToolCall))
    }
    hosts = {event.target for event in denied if event.kind == "host"}
    port = stage.facts["port"]
    assert {f"127.0.0.1:{port}", "169.254.169.254:80", "10.0.0.1:22", "files.attacker.test:443"} <= hosts
    assert {f"hub.listed.test:{port}", "private.listed.test:443", "both.listed.test:443"} <= hosts
    assert "it leads to 10.0.0.1" in str(told["have the proxy reach one of a listed name's two addresses"])
    paths = {event.target for event in denied if event.kind == "path"}
    assert {
        stage.facts["key"],
        stage.facts["other"],
        "/etc/profile",
        ".git/hooks/post-checkout",
        ".vscode/tasks.json",
    } <= paths
    asked = [event.permission_title for event in stage.events if isinstance(event, ev.PermissionRequest)]
    assert asked == ["Bash wants to reach files.attacker.test:443"] * len(asked)
    assert asked


async def test_a_sandbox_of_files_holds_files_and_processes(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with ExitStack() as held:
        stage.outside(held)
        async with stage.attacked("files") as came:
            pass
        out = {str(one["way"]) for one in came if one["out"]}
        assert {way for way in out if not way.startswith(ONLY_NETWORK)} == set()
        assert {"reach the hub by 127.0.0.1", "reach an abstract socket"} <= out, "the attacks are real"
        stage.look()


async def test_claude_code_that_is_told_to_break_out_does_not(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with ExitStack() as held, scripted_messages_api() as api:
        stage.outside(held)
        shutil.copy(ROOT / "tests/support/processes/ways_out.py", stage.workspace / "ways_out.py")
        (stage.workspace / "facts.json").write_text(json.dumps(stage.facts))
        project = stage.workspace.rename(tmp_path / "project")
        command = f"{os.path.realpath(sys.executable)} -I -S ways_out.py facts.json 2>&1 </dev/null | cat >told.jsonl"
        turn = plan([tool_use("Bash", command=command, description="Break out")], [text("Tried.")])
        setup = real_setup(tmp_path, api, str)
        hosts = api.url.removeprefix("http://")
        async with running(tmp_path, setup, "--sandbox", "network", TURNWIRE_SANDBOX_HOSTS=hosts) as (
            frontend,
            _,
        ):
            await frontend.prompt(turn)
            while not frontend.seen(events.Complete):
                match await frontend.next():
                    case events.PermissionRequest() as asked:
                        is_host = asked.action_type == "network"
                        await frontend.respond(asked, "reject_once" if is_host else "allow_once")
                    case _:
                        pass
            denied = {one.target for one in frontend.seen(events.SandboxDenied)}
        came = [json.loads(line) for line in (project / "told.jsonl").read_text().splitlines()]
        assert [one for one in came if one["out"]] == []
        assert [one["way"] for one in came] == list(ways_out.WAYS)
        assert {f"127.0.0.1:{stage.facts['port']}", "169.254.169.254:80", "files.attacker.test:443"} <= denied
        assert stage.victim.poll() is None


def test_the_published_list_is_the_one_that_is_tried() -> None:
    said = (ROOT / "docs/sandbox.md").read_text()
    listed = [
        line.removeprefix("- ")
        for line in said.partition("## Ways out that are tried")[2].splitlines()
        if line.startswith("- ")
    ]
    assert listed == [name[0].upper() + name[1:] + "." for name in ways_out.WAYS]
    assert f"tries {len(ways_out.WAYS)} ways out" in (ROOT / "docs/security.md").read_text()


def as_mapped_user(folder: Path) -> list[str]:
    """What runs a program as user 1000 of a user namespace, which sees the files of root as its own."""
    return ["bwrap", "--unshare-user", "--uid", "1000", "--gid", "1000", "--dev-bind", "/", "/", "--"]


def as_user(folder: Path) -> list[str]:
    """What runs a program as user 1000 of the machine; this Python is shown to it where root's home directory hides it."""
    (folder / "prefix").mkdir()
    folder.chmod(0o755)
    shutil.chown(folder / "of-user", 1000, 1000)
    prefix = Path(sys.base_prefix)
    hidden = next((one for one in reversed(prefix.parents) if not one.stat().st_mode & stat.S_IXOTH), None)
    shown = "" if hidden is None else (
        f"mount --bind '{prefix}' '{folder}/prefix' && mount -t tmpfs -o mode=755 none '{hidden}' && "
        f"mkdir -p '{prefix}' && mount --bind '{folder}/prefix' '{prefix}' && "
    )  # fmt: skip
    setpriv = "exec setpriv --reuid 1000 --regid 1000 --clear-groups"
    home = folder / "of-user"
    return [
        "unshare",
        "--mount",
        "sh",
        "-c",
        f'{shown}{setpriv} env "$@"',
        "sh",
        f"HOME={home}",
        f"TMPDIR={home}",
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="the tests above are those of an ordinary user already")
@pytest.mark.parametrize("run_as", [as_mapped_user, as_user], ids=["mapped", "real"])
def test_the_same_holds_for_an_ordinary_user(run_as: Callable[[Path], list[str]]) -> None:
    test = f"{__file__}::{test_none_of_the_ways_leads_out_and_each_refusal_is_told.__name__}"
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "long"]
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        (Path(folder) / "of-user").mkdir()
        done = subprocess.run(
            [*run_as(Path(folder)), *pytest_, "--basetemp", f"{folder}/of-user/tests", test],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
