"""A session on the real CLI, offline, and a human who answers what it asks."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from real_cli import real_cli, real_cli_environment
from scripted_messages_api import ScriptedMessagesApi
from turnwire.adapter.claude.opening import open_session
from turnwire.adapter.claude.session import ClaudeSession
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.decisions import PermissionAnswer
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.session.notices import SessionNotice
from turnwire.normalize.inputs import Decision, Ended, Received, Sent, SessionInput
from turnwire.protocol.claude.control import ControlRequest
from turnwire.protocol.claude.requests import AnyRequest
from turnwire.protocol.claude.results import Result
from turnwire.protocol.json_values import Json, JsonObject

DEADLINE = 60
Kind = TypeVar("Kind", bound=AnyRequest)
Answerer = Callable[[ClaudeSession, str, AnyRequest], None]


@dataclass
class SessionHarness:
    """A running session with somebody who reads along."""

    session: ClaudeSession
    answer: Answerer
    inputs: list[SessionInput] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def read(self) -> None:
        async for batch in self.session.batches():
            self.inputs += [happened.input for happened in batch]
            for happened, _ in batch:
                if isinstance(happened, Received) and isinstance(happened.message, ControlRequest):
                    request_id, request = happened.message.request_id, happened.message.request
                    if request_id in self.session.pending:
                        self.answer(self.session, request_id, request)
            async with self.changed:
                self.changed.notify_all()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until what was read fulfils a condition."""
        async with asyncio.timeout(DEADLINE), self.changed:
            await self.changed.wait_for(condition)

    async def turn(self, prompt: str) -> Result:
        """Run a turn and return its result."""
        before = len(self.results)
        await self.session.prompt(prompt)
        await self.until(lambda: len(self.results) > before)
        return self.results[before]

    @property
    def messages(self) -> list[Struct]:
        return [one.message for one in self.inputs if isinstance(one, Received)]

    @property
    def results(self) -> list[Result]:
        return [message for message in self.messages if isinstance(message, Result)]

    @property
    def decisions(self) -> list[Decision]:
        return [one for one in self.inputs if isinstance(one, Decision)]

    @property
    def sent(self) -> list[Struct]:
        return [one.message for one in self.inputs if isinstance(one, Sent)]

    def asked(self, kind: type[Kind]) -> list[tuple[str, Kind]]:
        """The control requests of a kind, with their ids."""
        return [
            (message.request_id, message.request)
            for message in self.messages
            if isinstance(message, ControlRequest) and isinstance(message.request, kind)
        ]

    @property
    def ended(self) -> Ended | None:
        last = self.inputs[-1] if self.inputs else None
        return last if isinstance(last, Ended) else None


def always(option_id: str, **fields: Json) -> Answerer:
    """A human who always gives the same answer to permission requests."""
    answer = PermissionAnswer(option_id, **fields)
    return lambda session, request_id, _: session.answer(request_id, answer, by="ada")


@dataclass
class RealCliHarness:
    """Where sessions of one test run: a home and a workspace of its own, and the scripted API."""

    folder: Path
    api: ScriptedMessagesApi
    notices: list[SessionNotice] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace.mkdir()

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def audit_path(self) -> Path:
        return self.folder / "audit.jsonl"

    def options(self) -> SessionOptions:
        return SessionOptions(
            workspace=self.workspace,
            executable=(str(real_cli()),),
            environment=real_cli_environment(self.folder / "home", self.api.url),
        )

    @asynccontextmanager
    async def harness(
        self, answer: Answerer | None = None, /, **options: Json
    ) -> AsyncIterator[SessionHarness]:
        """Open a session; `answer` is called for everything that waits for a human."""
        audit = AuditTrail(self.audit_path, "s1")
        try:
            async with open_session(
                replace(self.options(), **options),
                audit=audit,
                grants=GrantStore(self.folder / "grants.json"),
                notify=self.notices.append,
            ) as session:
                harness = SessionHarness(session, answer or (lambda *_: None))
                reading = asyncio.create_task(harness.read())
                try:
                    yield harness
                finally:
                    async with asyncio.timeout(DEADLINE):
                        await session.stop()
                        await reading
        finally:
            audit.close()

    def tool_results(self) -> list[str]:
        """What the model has seen as tool results in its newest request."""
        found: list[str] = []
        for message in self.api.requests[-1]["messages"]:
            blocks: list[JsonObject] = message["content"] if isinstance(message["content"], list) else []
            found += [str(block["content"]) for block in blocks if block["type"] == "tool_result"]
        return found
