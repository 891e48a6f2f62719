"""The core of all wires of JSON objects. A reader says what lines mean; this module makes events of it.

It does what every wire needs. Turns and requests have one end each. Calls have one beginning and one end each. Each
text is published once. Tokens are added up.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import assert_never

from turnwire.normalize.common.endings import exited
from turnwire.normalize.common.outcomes import DecidedAhead
from turnwire.normalize.core import Stats, malformed_line
from turnwire.normalize.events import AgentEvent, ProcessStatus, Unknown
from turnwire.normalize.inputs import Announced, Decision, Ended, Message, Received, Sent, SessionInput
from turnwire.normalize.payloads.fields import fields
from turnwire.normalize.streams import told
from turnwire.normalize.streams.conversation import Conversation
from turnwire.normalize.streams.observations import (
    Observation,
    PermissionAsked,
    Prompt,
    QuestionAsked,
    SessionStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)
from turnwire.normalize.streams.reader import Reader
from turnwire.protocol import malformed
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.protocol.json_wire import JsonLine

_ONCE = (SessionStarted, Prompt, TurnStarted, TurnEnded, Usage)
"""A line that tells one of these does not come twice in a row, but for a log that has it twice."""


class StreamCore:
    """Translates the inputs of one session into events, with the help of a reader."""

    def __init__(self, reader: Callable[[], Reader], *, resumed: bool = False, first_turn: int = 1) -> None:
        """`reader` makes the reader of one process. `resumed` and `first_turn` are as in every core."""
        self.stats = Stats()
        self._make = reader
        self._reader = reader()
        self._conversation = Conversation(resumed=resumed, first_turn=first_turn)
        self._ahead = DecidedAhead()
        self._newest: Message | None = None
        self._echo: str | None = None
        """A prompt that the agent was told as text, until it repeats it."""
        self._is_begun = False
        """Such a prompt has begun a turn, and the agent has not said so."""
        self._asked: list[PermissionAsked | QuestionAsked] = []
        """The requests in the newest message."""
        self._before: bytes | None = None
        """The newest line, if its like could be a duplicate."""
        self._is_doubled = False
        """Lines are written twice, as two writers to one file do."""
        self._is_once = False
        """The newest line told something of `_ONCE`."""

    @property
    def turns(self) -> int:
        """Number of turns started, including those before `first_turn`."""
        return self._conversation.next_turn - 1

    @property
    def busy(self) -> bool:
        """True while a turn is open."""
        return self._conversation.turn is not None

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that wait for a human."""
        return self._conversation.requests.pending

    def asked_by(self, message: Message) -> Sequence[tuple[str, PermissionAsked | QuestionAsked]]:
        """Return the requests in the newest message, each with its name. Empty for any other message."""
        if message is not self._newest:
            return []
        waiting = ((self._conversation.requests.name_of(one.id), one) for one in self._asked)
        return [(name, one) for name, one in waiting if name is not None]

    def handle(self, happened: SessionInput) -> list[AgentEvent]:
        """Translate whatever has happened in the session."""
        match happened:
            case Received():
                return self.receive(happened.message, happened.line)
            case Sent(message=JsonLine(value={told.PROMPT: str(words), **rest})):
                self._before = None  # an agent may answer each prompt with the same lines
                self._echo, self._is_begun = words.strip(), True
                return self._conversation.take(Prompt(words, text_at(rest, "id") or None))
            case Sent(message=JsonLine(value={told.INTERRUPT: True})):
                self._conversation.is_interrupted = True
                return []
            case Sent(message=JsonLine(value=value)):
                return self._told(self._reader.sent(value))
            case Sent():
                return []
            case Decision(unasked=True) if happened.pending_id not in self.pending:
                self._ahead.put(happened)
                return []
            case Decision():
                return self._conversation.decided(happened)
            case Ended():
                return self._ended(happened)
            case Announced():
                return [happened.event]
            case _ as never:
                assert_never(never)

    def receive(self, message: Message, line: bytes | None = None) -> list[AgentEvent]:
        """Translate a message of the agent. `line` is kept unchanged in `unknown` events."""
        stats = self.stats
        if isinstance(message, malformed.Malformed):
            return malformed_line(stats, self._conversation.place.here, message, line)
        if not isinstance(message, JsonLine):
            stats.unknown += 1
            return [self._unknown("", {}, line)]
        if line is not None and self._is_again(message.value, line):
            stats.counted += 1
            return []
        seen = self._reader.received(message.value)
        self._is_once = any(isinstance(one, _ONCE) for one in seen or ())
        if seen is None:
            stats.unknown += 1
            return [self._unknown(_type_of(message.value), message.value, line)]
        if self._echo is not None or self._is_begun:
            seen = [one for one in seen if not self._is_echo(one)]
        self._newest = message
        self._asked = [one for one in seen if isinstance(one, PermissionAsked | QuestionAsked)]
        events = self._ahead.settle(self._told(seen), self._conversation.decided)
        if events:
            stats.published += 1
        else:
            stats.counted += 1
        return events

    def _is_again(self, value: JsonObject, line: bytes) -> bool:
        """Return whether a line is the duplicate of the one just before, and remember it."""
        before, self._before = self._before, line
        if before != line or before is line:
            return False
        is_certain = self._is_once or _has_id(value)
        if not is_certain and self._is_doubled:
            self._before = None  # of three such lines, the third is new
            return True
        self._is_doubled |= is_certain
        return is_certain

    def _is_echo(self, one: Observation) -> bool:
        """Tell whether an agent repeats the prompt that it was told as text, or says that its turn begins; it does so once."""
        match one:
            case Prompt(text=words) if words.strip() == self._echo:
                self._echo = None
                return True
            case TurnStarted() if self._is_begun:
                self._is_begun = False
                return True
            case _:
                return False

    def _told(self, seen: Iterable[Observation]) -> list[AgentEvent]:
        return [event for one in seen for event in self._conversation.take(one)]

    def _ended(self, end: Ended) -> list[AgentEvent]:
        conversation = self._conversation
        events = self._told(self._reader.ended(end)) if conversation.turn is not None else []
        events += conversation.process_over(end)
        self._reader = self._make()
        self._before = None
        self._echo, self._is_begun = None, False
        status: ProcessStatus = exited(conversation.place.session_id, end)
        return [*events, status]

    def _unknown(self, kind: str, value: JsonObject, line: bytes | None) -> AgentEvent:
        raw = json.dumps(value) if line is None else line.decode("utf-8", "replace")
        return Unknown(**self._conversation.place.here, message_type=kind[:200], raw=raw)


def _has_id(value: JsonObject) -> bool:
    """Tell whether a line has an id, its own or its item's, so that the same line after it has nothing new."""
    inside = (
        value,
        fields(value.get("part")),
        fields(value.get("item")),
        fields(fields(value.get("params")).get("item")),
    )
    return any("id" in one for one in inside)


def _type_of(value: JsonObject) -> str:
    found = (value.get(name) for name in ("type", "method"))
    return next((kind for kind in found if isinstance(kind, str)), "")
