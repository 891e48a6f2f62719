"""A hub that plays everything a frontend may meet: every event, an unknown event, restarts, gaps, floods, a new lifetime of the
log.

The frontend under test follows the only session. After each act comes a `notice` of the kind `conform`.
The frontend answers with a prompt whose text is JSON, {"events": N, "digest": D}. N is the number of events that it
has delivered since it began. D is the SHA-256, in hexadecimal, of their numbers, each followed by a newline. So an
event that was lost, repeated or out of order is detected.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from time import monotonic
from typing import Any, Literal

from pydantic import JsonValue

from turnwire._runtime.task_owner import set_within
from turnwire.frontends.conform.report import Finding, NotSupported, PromiseBroken
from turnwire.hub.config import HubConfig
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.hub import Hub
from turnwire.hub.schema import document
from turnwire.hub.wire.frames import AnyCommand, PermissionRespond, Prompt
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.base import Entry, Retention
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events import (
    MessageChunk,
    Notice,
    PermissionOption,
    PermissionRequest,
    PermissionResolved,
    to_json,
)
from turnwire.normalize.events.envelope import Cursor

SESSION = "conform"
"""The session to follow."""

KEPT = 2000
"""Events that the log keeps. A frontend that is away for longer gets a gap."""

FLOOD = 20_000
BIG = 1_000_000
"""Events of the flood; characters of the big one."""

DEEPEST = 8
"""Levels of an example, at most: a payload may hold payloads."""

AWAY_S = 0.5
"""How long the hub is gone at a restart."""


class ScriptedHost:
    """The hub's host, and the acts on it.

    `patience` and `away_s`, the length of a restart, are in seconds. `kept` and `flood` are numbers of events.
    """

    def __init__(
        self, port: int, patience: float, *, kept: int = KEPT, flood: int = FLOOD, away_s: float = AWAY_S
    ) -> None:
        self._patience = patience
        self._port = port
        self._kept, self._flood, self._away_s = kept, flood, away_s
        self._journal = MemoryJournal(Retention(max_count=kept))
        self._first = Hub(self._journal, self, HubConfig(port=port))
        self._hub = self._first
        self._delivered = hashlib.sha256()
        """Of the numbers that a frontend must have delivered by now."""
        self._count = 0
        self._said: asyncio.Queue[str] = asyncio.Queue()
        self._answers: list[PermissionRespond] = []
        self._answered = asyncio.Event()
        self._pending = 0

    async def start(self) -> str:
        """Listen, and return the URL with the token; raises OSError."""
        url = await self._hub.start()
        self._port = self._hub.port
        return url

    async def stop(self) -> None:
        """Listen no more."""
        await self._hub.stop()

    @property
    def is_followed(self) -> bool:
        """True while a frontend is connected."""
        return self._hub.frontends > 0

    async def findings(self) -> AsyncIterator[Finding]:
        """Play all acts and yield a finding for each."""
        going = True
        for act in ACTS:
            name = (act.__doc__ or "").partition("\n")[0].rstrip(".")
            if not going:
                yield Finding(name, "not tried")
                continue
            began = monotonic()
            try:
                yield Finding(name, "held", await act(self), monotonic() - began)
            except NotSupported as why:
                yield Finding(name, "not supported", str(why), monotonic() - began)
            except PromiseBroken as why:
                yield Finding(name, "broken", str(why), monotonic() - began)
                going = False  # what it has delivered is not known any more

    # The acts.

    async def every_event(self) -> str:
        """Every event arrives, once and in order."""
        examples = _examples()
        await self._publish(examples)
        await self._acknowledged()
        return f"{len(examples)} types"

    async def of_tomorrow(self) -> str:
        """An event of an unknown type, and unknown fields, do no harm."""
        await self._publish(
            [
                b'{"type":"of_tomorrow","session_id":"x","new":{"a":[1,2,{}]}}',
                b'{"type":"message_chunk","text":"known","of_tomorrow":[null]}',
                b'{"type":"notice","kind":"x","level":"of_tomorrow","text":"a word that is new"}',
            ]
        )
        await self._acknowledged()
        return ""

    async def goes_on_after_a_restart(self) -> str:
        """The frontend reconnects after the hub was gone, and continues at its cursor."""
        for _ in range(3):
            await self._restart(lambda: self._publish([_text(f"while away {n}") for n in range(100)]))
            await self._acknowledged()
        return "3 restarts"

    async def takes_a_flood(self) -> str:
        """A flood, and an event of a million characters, arrive whole."""
        for start in range(0, self._flood, 500):
            await self._publish([_text(f"{start + n}") for n in range(500)])
            # as fast as it reads: a frontend that is further behind than what is kept would meet a gap
            await self._hub.delivered(self._patience)
        await self._publish([_text("x" * BIG)])
        await self._acknowledged()
        return f"{self._flood:,} events"

    async def is_told_of_a_gap(self) -> str:
        """Events dropped while it was away appear as a gap, and the rest of the log follows."""
        before = self._journal.last(SESSION)

        async def drop() -> None:
            await self._journal.append(SESSION, [Entry(_text(f"dropped {n}")) for n in range(self._kept * 2)])
            page = await self._journal.read_after(SESSION, Cursor(self._journal.epoch, before), count=1)
            assert page.gap is not None
            self._expect(range(page.gap.last + 1, self._journal.last(SESSION) + 1))

        await self._restart(drop)
        await self._acknowledged()
        return f"after event {before}"

    async def begins_again(self) -> str:
        """Another life of the log is read from its beginning."""

        async def another() -> None:
            self._journal = MemoryJournal(Retention(max_count=self._kept))
            await self._publish([_text(f"another life {n}") for n in range(50)])

        await self._restart(another)
        await self._acknowledged()
        return ""

    async def answers(self) -> str:
        """A permission request that is open at a restart is answered, once and with one of its options."""
        options = [
            PermissionOption(option_id="allow_once", name="Allow once", kind="allow_once"),
            PermissionOption(option_id="reject_once", name="Reject", kind="reject_once"),
        ]
        request = PermissionRequest(
            pending_id="conform-request",
            tool_name="Bash",
            action_type="command",
            permission_title="May the play go on?",
            permission_options=options,
        )
        self._pending = 1

        async def ask() -> None:
            await self._publish([to_json(request)])

        await self._restart(ask)
        if not await set_within(self._answered, self._patience):
            raise NotSupported("nobody answered the request")
        self._pending = 0
        answer = self._answers[0]
        if answer.option_id not in {option.option_id for option in options}:
            raise PromiseBroken(
                f"it answered with {answer.option_id!r}, which is not an option of the request"
            )
        behavior: Literal["allow", "deny"] = "allow" if answer.option_id == "allow_once" else "deny"
        await self._publish(
            [
                to_json(
                    PermissionResolved(
                        pending_id=request.pending_id, behavior=behavior, by="conform", waited_ms=1
                    )
                )
            ]
        )
        await self._acknowledged()
        if len(self._answers) > 1:
            raise PromiseBroken(f"it answered {len(self._answers)} times")
        return f"with {answer.option_id}"

    # What the acts are made of.

    async def _publish(self, events: Sequence[bytes]) -> None:
        first = self._journal.last(SESSION) + 1
        last = await self._journal.append(SESSION, [Entry(event) for event in events])
        self._expect(range(first, last + 1))

    def _expect(self, numbers: range) -> None:
        for number in numbers:
            self._delivered.update(b"%d\n" % number)
        self._count += len(numbers)

    async def _acknowledged(self) -> None:
        """Ask what was delivered, and compare. Raises PromiseBroken."""
        ask = Notice(
            kind="conform",
            level="info",
            text="Say what you have delivered: a prompt of JSON, {events, digest}.",
        )
        while not self._said.empty():
            self._said.get_nowait()
        await self._publish([to_json(ask)])
        try:
            async with asyncio.timeout(self._patience):
                said = await self._said.get()
        except TimeoutError:
            connected = self._hub.frontends
            raise PromiseBroken(
                f"nothing was acknowledged within {self._patience:g} s; {connected} frontends are connected"
            ) from None
        try:
            told = json.loads(said)
            events, digest = int(told["events"]), str(told["digest"])
        except (ValueError, KeyError, TypeError):
            raise PromiseBroken(
                f"the acknowledgement is {said[:200]!r}, not JSON with `events` and `digest`"
            ) from None
        if events != self._count:
            raise PromiseBroken(f"it delivered {events} events, of {self._count}")
        if digest != self._delivered.hexdigest():
            raise PromiseBroken(f"it delivered {events} events, but different ones or in another order")

    async def _restart(self, meanwhile: Callable[[], Awaitable[None]]) -> None:
        await self._hub.stop()
        await meanwhile()
        await asyncio.sleep(self._away_s)
        config = HubConfig(port=self._port)
        self._hub = Hub(self._journal, self, config, kept=self._first.tokens)
        await self._hub.start()

    # The hub's host.

    async def execute(self, command: AnyCommand, frontend: Frontend) -> JsonValue:
        """Take the report of what was delivered, and the answer to a request."""
        match command:
            case Prompt():
                self._said.put_nowait(command.text)
                return {"prompt": f"{frontend.name}-{self._count}"}
            case PermissionRespond():
                if not self._pending:
                    raise CommandRefused(
                        "already_answered", "This request was answered before.", "pending_id"
                    )
                self._answers.append(command)
                self._answered.set()
                return {}
            case _:
                raise CommandRefused(
                    "not_supported", "This session only tests frontends; it takes no other commands.", "type"
                )

    def sessions(self) -> Sequence[SessionSummary]:
        """Return the only session."""
        return [
            SessionSummary(
                session=SESSION,
                title="A play for frontends",
                state="idle",
                pending=self._pending,
                last_seq=self._journal.last(SESSION),
            )
        ]

    def agents(self) -> None:
        """Return None: no session can be created."""
        return

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:  # noqa: ARG002 - turnwire.hub.host.Host
        """Never tell: the list does not change."""
        return lambda: None


ACTS: tuple[Callable[[ScriptedHost], Awaitable[str]], ...] = (
    ScriptedHost.every_event,
    ScriptedHost.of_tomorrow,
    ScriptedHost.goes_on_after_a_restart,
    ScriptedHost.takes_a_flood,
    ScriptedHost.is_told_of_a_gap,
    ScriptedHost.begins_again,
    ScriptedHost.answers,
)
"""In this order."""


def _text(words: str) -> bytes:
    return to_json(MessageChunk(text=words))


def _examples() -> list[bytes]:
    """Return an event of each type, with every field of its schema."""
    schema: Any = document("events")
    definitions = schema["$defs"]
    members = [one["$ref"].rpartition("/")[2] for one in schema.get("oneOf") or schema["anyOf"]]
    return [json.dumps(_example(definitions[name], definitions, 0)).encode() for name in members]


def _example(part: Any, definitions: Any, depth: int) -> JsonValue:
    match part:
        case {"$ref": str(target)}:
            return _example(definitions[target.rpartition("/")[2]], definitions, depth + 1)
        case {"const": value} | {"enum": [value, *_]}:
            return value  # type: ignore[no-any-return]  # a schema's own values
        case {"anyOf": [first, *_]} | {"oneOf": [first, *_]}:
            return _example(first, definitions, depth + 1)
        case {"properties": fields} if depth < DEEPEST:
            return {key: _example(value, definitions, depth + 1) for key, value in fields.items()}
        case {"type": "array", "items": item} if depth < DEEPEST:
            return [_example(item, definitions, depth + 1)]
        case {"type": "integer" | "number"}:
            return 1
        case {"type": "boolean"}:
            return True
        case {"type": "array"}:
            return []
        case {"type": "object"}:
            return {}
        case {"type": "null"}:
            return None
        case _:
            return "text"
