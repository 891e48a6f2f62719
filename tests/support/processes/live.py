"""A frontend of a live turnwire, for tests: it follows one session, waits for kinds of events, and answers."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard, TypeVar

from real_cli import real_cli, real_cli_environment
from scripted_messages_api import ScriptedMessagesApi
from turnwire.client import BEGINNING, Client, connect
from turnwire.client.events import (
    AgentEvent,
    Complete,
    MessageChunk,
    PermissionRequest,
    ThreadEvent,
    ToolCall,
    ToolUpdate,
    UserMessage,
)
from turnwire.client.frames import CaughtUp, EventFrame
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.normalize.events.envelope import Cursor
from turnwire_process import DEADLINE, Served, environment, turnwire

Kind = TypeVar("Kind", bound=AgentEvent)


def _is_host(event: AgentEvent) -> TypeGuard[PermissionRequest]:
    return isinstance(event, PermissionRequest) and event.action_type == "network"


class Frontend:
    """Follows one session from its first event. With --in-sandbox it refuses hosts that agents ask for at their start."""

    def __init__(self, client: Client, session: str, patience: float = DEADLINE) -> None:
        self.client = client
        self.session = session
        self.patience = patience
        """Seconds until an event is missed."""
        self.events: list[AgentEvent] = []
        """What was seen so far."""
        self.seqs: list[int] = []
        self._following = client.follow(session, BEGINNING)

    async def next(self) -> AgentEvent | None:
        """The next event; None where the replay of the past ends."""
        async with asyncio.timeout(self.patience):
            async for frame in self._following:
                if isinstance(frame, EventFrame):
                    if IN_SANDBOX in os.environ and _is_host(frame.event):
                        await self.respond(frame.event, "reject_session")
                        continue
                    self.events.append(frame.event)
                    self.seqs.append(frame.seq)
                    return frame.event
                if isinstance(frame, CaughtUp):
                    return None
        raise AssertionError("the stream of events has ended")

    async def until(self, kind: type[Kind], where: Callable[[Kind], bool] = lambda event: True) -> Kind:
        """The next event of a kind that is wanted."""
        while True:
            event = await self.next()
            if isinstance(event, kind) and where(event):
                return event

    async def caught_up(self) -> Frontend:
        """Take all events that are there."""
        while await self.next() is not None:
            pass
        return self

    def seen(self, kind: type[Kind]) -> list[Kind]:
        """The events of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    def text(self) -> str:
        """All text of the main thread so far."""
        return "".join(chunk.text for chunk in self.seen(MessageChunk) if chunk.parent_tool_call_id is None)

    async def prompt(self, text: str) -> str:
        """Send a prompt."""
        return await self.client.prompt(self.session, text)

    async def turn(self, text: str | None = None) -> Complete:
        """Send a prompt, allow what is asked, and wait for the turn's end."""
        if text is not None:
            await self.prompt(text)
        while True:
            match await self.next():
                case PermissionRequest() as request:
                    once = next(
                        option for option in request.permission_options if option.kind == "allow_once"
                    )
                    await self.respond(request, once.option_id)
                case Complete() as complete:
                    return complete
                case _:
                    pass

    async def respond(
        self, request: PermissionRequest, option_id: str = "allow_once", **more: object
    ) -> None:
        """Answer a permission request."""
        await self.client.respond(self.session, request.pending_id, option_id, **more)  # type: ignore[arg-type]  # the options are the client's


def told(frontend: Frontend, *, below: bool = True) -> list[str]:
    """Prompts, texts, calls and ends, in the order of the log, each event once; `below`: also of subagents."""
    found: list[str] = []
    seen = set[int]()
    for seq, event in zip(frontend.seqs, frontend.events, strict=True):
        assert seq not in seen, f"{seq} came twice"
        seen.add(seq)
        if not below and isinstance(event, ThreadEvent) and event.parent_tool_call_id is not None:
            continue
        match event:
            case UserMessage():
                found.append(f"> {event.text}")
            case MessageChunk(text=said):
                if found and found[-1].startswith("said "):
                    found[-1] += said
                else:
                    found.append(f"said {said}")
            case ToolCall():
                found.append(f"call {event.tool_call_id}")
            case ToolUpdate(tool_status="complete" | "error" | "unknown"):
                found.append(f"result {event.tool_call_id}")
            case Complete():
                found.append("complete")
            case _:
                pass
    return found


async def journaled(folder: Path, session: str) -> list[bytes]:
    """The events of a session that is over, as the journal has them."""
    journal = await SqliteJournal.open(folder / "state" / "journal.sqlite3")
    try:
        page = await journal.read_after(session, Cursor("", 0), count=100_000, size=1 << 30)
    finally:
        await journal.close()
    return [envelope.event for envelope in page.envelopes]


@dataclass(frozen=True)
class AgentSetup:
    """A CLI to run turnwire with: how to start it, and how to make it call Bash."""

    name: str
    argv: tuple[str, ...]
    env: dict[str, str]
    ask: Callable[[str], str]
    """From a shell command to the prompt that makes the agent ask for it."""
    real: bool = True
    """Whether commands really run."""


IN_SANDBOX = "TURNWIRE_TESTS_IN_SANDBOX"


def real_setup(folder: Path, api: ScriptedMessagesApi, ask: Callable[[str], str]) -> AgentSetup:
    """The real CLI against a scripted API; turnwire hands the CLI its variables by name."""
    own = real_cli_environment(folder / "home", api.url)
    names = ",".join(name for name in own if name not in {"HOME", "PATH", "LANG", "TZ", "SHELL"})
    held = in_sandbox(api.url)
    env = environment(folder / "home", **own, **held, TURNWIRE_PASS_ENV=names)
    return AgentSetup("real", (str(real_cli()),), env, ask)


def in_sandbox(url: str) -> dict[str, str]:
    """Variables that hold real agents in a sandbox with their scripted API allowed, with pytest's option --in-sandbox; else none."""
    if os.environ.get(IN_SANDBOX) is None:
        return {}
    address = url.removeprefix("http://").partition("/")[0]
    return {"TURNWIRE_SANDBOX": "network", "TURNWIRE_SANDBOX_HOSTS": address}


SCRIPT_THAT_ASKS = """
fallback:
  steps:
    - text: "I ask."
    - tool: Bash
      input: {command: "{prompt}", description: "As told"}
      permission: true
      result: "ran {input.command}"
      structured: {stdout: "ran {input.command}", stderr: "", interrupted: false}
    - text: "That is all."
"""


def scripted_setup(folder: Path, version: str, script: str = SCRIPT_THAT_ASKS) -> AgentSetup:
    """The scripted agent in the shapes of a version: a prompt is the command that it asks to run."""
    path = folder / "script.yaml"
    path.write_text(script, encoding="utf-8")
    argv = (sys.executable, "-m", "turnwire.scripted_agent", str(path), "--dialect-version", version)
    env = environment(folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
    return AgentSetup(version, argv, env, lambda command: command, real=False)


def running(
    folder: Path, setup: AgentSetup, *options: str, **variables: str
) -> AbstractAsyncContextManager[tuple[Frontend, Served]]:
    """`turnwire run` with an agent as set up, in the folder `project`, and a frontend of its session."""
    return _running(folder, setup, options, variables, preloaded=False)


def preloaded_running(
    folder: Path, setup: AgentSetup, *options: str, **variables: str
) -> AbstractAsyncContextManager[tuple[Frontend, Served]]:
    """The same for tests that are not about the start of a process."""
    return _running(folder, setup, options, variables, preloaded=True)


@asynccontextmanager
async def _running(
    folder: Path, setup: AgentSetup, options: Sequence[str], variables: Mapping[str, str], *, preloaded: bool
) -> AsyncIterator[tuple[Frontend, Served]]:
    project = folder / "project"
    project.mkdir(exist_ok=True)
    command = ("run", "--workspace", str(project), *options, "--", *setup.argv)
    async with (
        turnwire(folder, *command, env={**setup.env, **variables}, preloaded=preloaded) as served,
        connect(served.url, timeout=DEADLINE) as client,
    ):
        yield Frontend(client, client.known_sessions[-1].session), served


def descendants(pid: int) -> list[int]:
    """The processes below a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue  # it has ended meanwhile
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found += [int(entry.name), *descendants(int(entry.name))]
    return found


async def gone(processes: Sequence[int]) -> None:
    """Wait until processes, of whomever, have ended; fails when they do not."""
    async with asyncio.timeout(DEADLINE):
        while any(Path(f"/proc/{pid}").exists() for pid in processes):  # noqa: ASYNC110 - /proc has no events
            await asyncio.sleep(0.02)  # nobody tells of the end of a process that is not a child


def program(name: str) -> str:
    """The path of a program that a test needs; fails with what to install."""
    path = shutil.which(name)
    assert path, f"{name} is not installed"
    return path


def kinds(events: Sequence[AgentEvent]) -> list[str]:
    """The types of events, for assertions about order."""
    return [event.type for event in events]
