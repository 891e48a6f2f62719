"""The state of a session in the agent's own interface: its processes, its open requests and the prompts that wait.

turnwire/sessions/live.py holds it; turnwire/sessions/in_terminal.py works with it.
"""

import asyncio
import time
from pathlib import Path

from msgspec import Struct
from pydantic import JsonValue

from turnwire.adapter.interface import InterfaceHooks
from turnwire.adapter.permissions.requests import ToolRequest
from turnwire.adapter.process.identity import parent, start_time
from turnwire.hub.wire import frames
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent
from turnwire.protocol.json_values import JsonObject
from turnwire.sessions.prompt_history import SentPrompt
from turnwire.sessions.records.take_up import ReadTo


class TerminalProcess:
    """A process by its id and its start time, so that a later process with the same id is another one."""

    def __init__(self, pid: int, started: str | None = None) -> None:
        """started: the stored start time; None to read it now."""
        self.pid = pid
        self._started = started or start_time(pid)

    @classmethod
    def of(cls, kept: JsonValue) -> "TerminalProcess | None":
        """Return the process of a record; None if the record has none."""
        match kept:
            case [int(pid), str(started)]:
                return cls(pid, started)
            case _:
                return None

    def kept(self) -> JsonValue:
        """Return the id and the start time for a record."""
        return [self.pid, self._started]

    def is_same(self, other: "TerminalProcess") -> bool:
        """Tell whether another value stands for the same process."""
        return self.kept() == other.kept()

    def has_started(self, pid: int) -> bool:
        """Tell whether it has started a process that runs."""
        return self.is_alive and parent(pid) == self.pid and start_time(pid) is not None

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._started is not None and start_time(self.pid) == self._started


class OpenRequest:
    """A permission request or question that waits in the interface."""

    def __init__(self, request: ToolRequest) -> None:
        self.request = request
        self.since = time.monotonic()
        self.answer: asyncio.Future[JsonObject | None] = asyncio.get_running_loop().create_future()
        self.was_waiting = False
        self.looks = 0

    @property
    def waited_ms(self) -> int:
        """Milliseconds since it was asked."""
        return int((time.monotonic() - self.since) * 1000)

    def settle(self, answer: JsonObject | None) -> None:
        """Give the interface an answer, or None to let it ask itself. Only the first call counts."""
        if not self.answer.done():
            self.answer.set_result(answer)


class WaitingPrompt(Struct, frozen=True):
    """A prompt that waits for the end of the interface."""

    prompt: str
    said: SentPrompt
    command: frames.Prompt


class TerminalState:
    """The state of a session whose conversation is open in the agent's own interface."""

    def __init__(self, host: str, owner: TerminalProcess, hooks: InterfaceHooks | None) -> None:
        self.host = host
        """The host name of its terminal."""
        self.owner = owner
        """The `turnwire` process that runs it."""
        self.program: TerminalProcess | None = None
        """The interface's own process."""
        self.hooks = hooks
        self.since = time.time()
        """When it started, in seconds since 1970."""
        self.is_wanted_back = False
        self.is_over = False
        """Whether its owner has said that it starts none."""
        self.conversation: str | None = None
        self.file: Path | None = None
        self.folder: Path | None = None
        """The folder with the socket of its hooks."""
        self.read: ReadTo | None = None
        """How much of the conversation's file is in the log."""
        self.is_taken_up = False
        """Whether an earlier sidecar started it."""
        self.opens_read = False
        """Whether `read` belongs to the conversation in `opened`, of which the log may have a part."""
        self.opened: tuple[str, Path, bool] | None = None
        """A conversation that it has opened and turnwire does not follow yet: id, file, and whether it has earlier messages."""
        self.shown: set[str] = set()
        """Conversations of it that those who see the session may see."""
        self.unseen: set[str] = set()
        """Conversations of it that they may not see."""
        self.asked: dict[str, OpenRequest] = {}
        self.looks_waiting = 0
        """Looks for which it has waited for something that only its person can answer."""
        self.waiting: list[WaitingPrompt] = []
        self.look = asyncio.Event()
        """Set when there is something to check."""
        self.left = asyncio.Event()
        """Set when frontends have the session back."""

    @property
    def is_running(self) -> bool:
        """Whether the interface may still write."""
        if self.program is not None:
            return self.program.is_alive
        return self.owner.is_alive and not self.is_over

    def kept(self) -> JsonObject:
        """Return the state to store for the next sidecar."""
        conversation, file = self.conversation, self.file
        if self.opens_read and self.opened is not None:
            conversation, file, _ = self.opened
        return {
            "host": self.host,
            "owner": self.owner.kept(),
            "program": None if self.program is None else self.program.kept(),
            "since": self.since,
            "folder": None if self.folder is None else str(self.folder),
            "conversation": conversation,
            "file": None if file is None else str(file),
            **({} if self.read is None else self.read.kept()),
        }

    def observe(self, event: AgentEvent) -> None:
        """Settle the requests that an event of the conversation's file decides or cancels."""
        match event:
            case ev.PermissionResolved(pending_id=name) | ev.PermissionCancelled(pending_id=name):
                if (asked := self.asked.pop(name, None)) is not None:
                    asked.settle(None)
            case _:
                pass
