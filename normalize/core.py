"""The interface of a core: the pure state machine of one session, of any family."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from turnwire.normalize.common.event_context import EventFields
from turnwire.normalize.events import AgentEvent, Malformed
from turnwire.normalize.inputs import Message, SessionInput
from turnwire.protocol import malformed


class Stats(Struct):
    """Counts of the received lines by what they became. The sum of all fields is the number of lines."""

    published: int = 0
    """Gave at least one event."""
    counted: int = 0
    """Known, without news: starts and ends of streamed blocks, confirmations, heartbeats."""
    control: int = 0
    """Part of a control exchange that concerns no frontend."""
    unknown: int = 0
    """Of a type that this version does not know; published as `unknown`."""
    malformed: int = 0
    """No message at all; published as `malformed`."""
    blank: int = 0
    """Empty."""


class InputWithEvents(NamedTuple):
    """One input, and the events that it caused."""

    input: SessionInput
    events: Sequence[AgentEvent]


class Core(Protocol):
    """One session: inputs in order, events out. No I/O, clock or randomness."""

    @property
    def stats(self) -> Stats:
        """Counts of the received lines so far."""
        ...

    @property
    def turns(self) -> int:
        """Number of turns started, including those before the first one of this core."""
        ...

    @property
    def busy(self) -> bool:
        """True while a turn is open: from `turn_started` to `complete`. A decision opens and ends none."""
        ...

    @property
    def pending(self) -> tuple[str, ...]:
        """Requests that were published for a human and have neither been resolved nor cancelled."""
        ...

    def receive(self, message: Message, line: bytes | None = None) -> list[AgentEvent]:
        """Return the events of a received message, as `handle(Received(line, message))` does.

        For callers with only received lines, and millions of them.
        """
        ...

    def handle(self, happened: SessionInput) -> list[AgentEvent]:
        """Return the events of an input. The same inputs give the same events. Never raises, whatever a line contains."""
        ...


def malformed_line(
    stats: Stats, here: EventFields, message: malformed.Malformed, line: bytes | None
) -> list[AgentEvent]:
    """Count a line that is no message, and return its event; a blank line has none."""
    if not message.line.strip() and message.reason == malformed.BLANK:
        stats.blank += 1
        return []
    stats.malformed += 1
    size = len(message.line.encode("utf-8", "replace")) if line is None else len(line)
    return [Malformed(**here, reason=message.reason, raw=message.line, size=size)]


def happenings(core: Core, inputs: Iterable[SessionInput]) -> Iterator[InputWithEvents]:
    """Feed inputs to a core, in order: the one loop for everything that is not live. Raises what `inputs` raises."""
    for item in inputs:
        yield InputWithEvents(item, core.handle(item))


class CoreFactory(Protocol):
    """Makes the core of a session."""

    def __call__(self, *, resumed: bool = False, first_turn: int = 1) -> Core:
        """`resumed`: the session continues an earlier conversation. `first_turn`: number of the first turn."""
        ...
