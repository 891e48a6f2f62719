"""What a core is: the pure state machine of one session, of whatever family."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Message, SessionInput


class Stats(Struct):
    """What became of the lines received; the sum of all fields is their number."""

    published: int = 0
    """Gave at least one event."""
    counted: int = 0
    """Known, and nothing new: starts and ends of streamed blocks, confirmations, heartbeats."""
    control: int = 0
    """Part of a control exchange that concerns no frontend."""
    unknown: int = 0
    """Of a type this version does not know; published as `unknown`."""
    malformed: int = 0
    """No message at all; published as `malformed`."""
    blank: int = 0
    """Empty."""


class InputWithEvents(NamedTuple):
    """One thing that happened, and what is published of it."""

    input: SessionInput
    events: Sequence[AgentEvent]


class Core(Protocol):
    """One session: what happens goes in, in order; what is to be published comes out. No I/O, clock or randomness."""

    @property
    def stats(self) -> Stats:
        """What became of the lines so far."""
        ...

    @property
    def turns(self) -> int:
        """How many turns were started, those before the first one of this core included."""
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
        """Return the events of a message that was received; the same as `handle(Received(line, message))`.

        For whoever has nothing but received lines, and millions of them.
        """
        ...

    def handle(self, happened: SessionInput) -> list[AgentEvent]:
        """Return the events that follow; the same inputs give the same events. Never raises, whatever a line says."""
        ...


def happenings(core: Core, inputs: Iterable[SessionInput]) -> Iterator[InputWithEvents]:
    """Hand a core what happened, in order: the one loop over what is not live. Raises what `inputs` raises."""
    for item in inputs:
        yield InputWithEvents(item, core.handle(item))


class CoreFactory(Protocol):
    """Makes the core of a session."""

    def __call__(self, *, resumed: bool = False, first_turn: int = 1) -> Core:
        """`resumed`: the session goes on with an earlier conversation; `first_turn`: number of the first turn."""
        ...
