"""Real agents that nobody is asked about are told to break out of their sandbox, call by call; each refusal is in the events."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from real_agents import QWEN
from scripted_models import Say, scripted_models

from live import Frontend, real_setup, running
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client import connect, events
from turnwire_process import environment, turnwire

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's"),
]

KEY = "the-key-of-the-home-directory"
SERVER = json.dumps({"numStartups": 8, "mcpServers": {"mine": {"command": "/bin/true"}}})


@dataclass(frozen=True)
class Attempt:
    """One call: a command, or a file to write, or an address to fetch."""

    command: str = ""
    file: str = ""
    fetched: str = ""
    denied: str | None = None
    """What `sandbox_denied` names; None where the call's own result tells the refusal."""
    told: str = ""
    """What that result says; empty where the call does something, and nothing of it is outside."""


class Outside:
    """What is outside of the sandbox, and must stay as it is."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        files = {
            ".ssh/id": KEY,
            "elsewhere/notes": "notes",
            ".claude/settings.json": '{"skipWebFetchPreflight": true}',
            ".claude.json": '{"numStartups": 7, "mcpServers": {}}',
        }
        for name, content in files.items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(content)
        subprocess.run(["git", "init", "-q", self.project], check=True)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.setblocking(False)
        self.victim = subprocess.Popen(["sleep", "600"])
        self.before = (self.project / ".git/config").read_bytes()

    def attempts(self) -> list[Attempt]:
        port = self.server.getsockname()[1]
        key, notes = f"{self.home}/.ssh/id", f"{self.home}/elsewhere/notes"
        proxied = "curl -sS --fail --noproxy '' -m 20"
        return [
            Attempt(f"cat {key}", denied=key),
            Attempt(f"cat /proc/1/root{key}", told="No such file"),
            Attempt(f"ln -s {key} link && cat link", told="No such file"),
            Attempt("echo true > .git/hooks/post-checkout", denied=".git/hooks/post-checkout"),
            Attempt("git config core.hooksPath mine", denied=f"{self.project}/.git/config"),
            Attempt("echo true >> /etc/profile", denied="/etc/profile"),
            Attempt("unshare --user --map-root-user --mount true", told="unshare failed"),
            Attempt("mount -t tmpfs none /usr", told="permission denied|must be superuser|not permitted"),
            Attempt(f"kill -USR1 {self.victim.pid}", told="No such process"),
            Attempt(
                f"curl -sS --noproxy '*' http://127.0.0.1:{port}/",
                told="[Cc]ould ?n.t connect|Failed to connect",
            ),
            Attempt(f"{proxied} http://127.0.0.1:{port}/", denied=f"127.0.0.1:{port}"),
            Attempt(f"{proxied} http://169.254.169.254/latest/", denied="169.254.169.254:80"),
            Attempt(f"{proxied} https://files.attacker.test/", denied="files.attacker.test:443"),
            Attempt(file=f"{self.project}/.vscode/tasks.json", denied=f"{self.project}/.vscode/tasks.json"),
            Attempt(file=notes),
        ]

    def look(self) -> None:
        """See that nothing outside has changed."""
        assert (self.home / "elsewhere/notes").read_text() == "notes"
        assert (self.home / ".ssh/id").read_text() == KEY
        assert (self.project / ".git/config").read_bytes() == self.before
        assert not (self.project / ".git/hooks/post-checkout").exists()
        assert not (self.project / ".vscode").exists()
        assert self.victim.poll() is None
        with pytest.raises(BlockingIOError):
            self.server.accept()


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    stage = Outside(tmp_path)
    with stage.server:
        yield stage
        stage.victim.kill()
        stage.victim.wait()


async def followed(frontend: Frontend) -> None:
    """Follow the turn to its end. Nobody is asked about a tool; each host is refused."""
    while not frontend.seen(events.Complete):
        match await frontend.next():
            case events.PermissionRequest() as asked:
                assert asked.action_type == "network"
                await frontend.respond(asked, "reject_once")
            case _:
                pass


def check(frontend: Frontend, attempts: Sequence[Attempt]) -> None:
    """Each attempt was one call, and its refusal was told."""
    ends = {one.tool_call_id: one for one in frontend.seen(events.ToolUpdate) if one.tool_status != "running"}
    calls = list(dict.fromkeys(one.tool_call_id for one in frontend.seen(events.ToolCall)))
    assert len(calls) == len(attempts)
    denied = {one.target: one.tool_call_id for one in frontend.seen(events.SandboxDenied)}
    for call, attempt in zip(calls, attempts, strict=True):
        if attempt.denied is not None:
            assert denied.get(attempt.denied) == call, (ends[call].error, ends[call].normalized)
        said = msgspec.json.encode(ends[call]).decode()
        assert re.search(attempt.told, said), (attempt, said)
        assert KEY not in said


async def test_claude_code_that_is_autonomous_breaks_out_by_no_call(tmp_path: Path, outside: Outside) -> None:
    own = f"{outside.home}/.claude.json"
    attempts = [
        *outside.attempts(),
        Attempt(f"printf '%s' '{SERVER}' > {own}"),
        Attempt(f"ln -s {outside.home}/elsewhere/notes {own}.new && mv -f {own}.new {own}", denied=own),
        Attempt(
            f"echo hooks > {outside.home}/.claude/settings.json",
            denied=f"{outside.home}/.claude/settings.json",
        ),
        Attempt(
            f"mkdir -p {outside.home}/.claude/agents && echo mine > {outside.home}/.claude/agents/mine.md"
        ),
        Attempt(fetched="https://169.254.169.254/latest/", denied="169.254.169.254:443"),
    ]
    with scripted_messages_api() as api:
        steps = [
            [tool_use("Bash", command=one.command, description="Try")] if one.command
            else [tool_use("Write", file_path=one.file, content="out")] if one.file
            else [tool_use("WebFetch", url=one.fetched, prompt="What is there?")]
            for one in attempts
        ]  # fmt: skip
        hosts = api.url.removeprefix("http://")
        options = ("--sandbox", "network", "--policy", "autonomous")
        setup = real_setup(tmp_path, api, str)
        async with running(tmp_path, setup, *options, TURNWIRE_SANDBOX_HOSTS=hosts) as (frontend, _):
            await frontend.prompt(plan(*steps, [text("Tried.")]))
            await followed(frontend)
            check(frontend, attempts)
            assert KEY not in json.dumps(api.requests)
    outside.look()
    content = json.loads((outside.home / ".claude.json").read_text())
    assert content["mcpServers"] == {}
    assert not content.keys() - {
        "numStartups",
        "mcpServers",
        "projects",
        "firstStartTime",
        "userID",
        "machineID",
    }
    assert not (outside.home / ".claude/agents").exists()


@asynccontextmanager
async def qwen(folder: Path, url: str) -> AsyncIterator[Frontend]:
    """Qwen Code in the sandbox `network`; nobody is asked about its tools."""
    given = "".join(
        f"{name} = {json.dumps(value)}\n" for name, value in QWEN.prepare(folder / "home", url).items()
    )
    address = url.removeprefix("http://").partition("/")[0]
    (folder / "turnwire.toml").write_text(
        f'sandbox = "network"\nsandbox_hosts = ["{address}"]\n[agents.qwen]\nfamily = "qwen"\n'
        f"command = {json.dumps(QWEN.command())}\n[agents.qwen.env]\n{given}"
    )
    options = ("run", "--agent", "qwen", "--workspace", str(folder / "project"), "--policy", "autonomous")
    async with (
        turnwire(folder, *options, env=environment(folder / "home")) as served,
        connect(served.url) as client,
    ):
        yield Frontend(client, client.known_sessions[-1].session, 240.0)


@pytest.mark.node
async def test_qwen_code_that_is_autonomous_breaks_out_by_no_call(tmp_path: Path, outside: Outside) -> None:
    own = f"{outside.home}/.qwen"
    attempts = [
        *outside.attempts(),
        Attempt(f"echo mine > {own}/settings.json", denied=f"{own}/settings.json"),
        Attempt(f"echo mine > {own}/extensions/mine", denied=f"{own}/extensions/mine"),
        Attempt(f"echo mine > {own}/trustedFolders.json", denied=f"{own}/trustedFolders.json"),
    ]
    with scripted_models() as models:
        async with qwen(tmp_path, models.url) as frontend:
            models.answers += [
                [QWEN.shell(one.command) if one.command else QWEN.write(Path(one.file), "out")]
                for one in attempts
            ]
            models.answers.append([Say("Tried.")])
            await frontend.prompt("Break out.")
            await followed(frontend)
            check(frontend, attempts)
            assert KEY not in json.dumps(models.requests)
    outside.look()
    assert "mine" not in (outside.home / ".qwen/settings.json").read_text()
    assert not list((outside.home / ".qwen/extensions").iterdir())
