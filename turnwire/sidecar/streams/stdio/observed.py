"""Record a session of `turnwire stdio` and make its spans, if configured."""

from collections.abc import Callable, Sequence

from turnwire.normalize.core import happenings
from turnwire.normalize.events import AgentEvent, Complete
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import SessionInput
from turnwire.sessions.pipeline import Observer


class Observed:
    """Passes inputs and their events to the observers."""

    def __init__(
        self, observers: Sequence[Observer], on_turn_ended: Callable[[], None] = lambda: None
    ) -> None:
        self._observers = observers
        self._on_turn_ended = on_turn_ended

    def see(self, item: SessionInput, events: Sequence[AgentEvent]) -> None:
        """Pass on one input and its events."""
        for observer in self._observers:
            observer(item, events)
        if any(type(event) is Complete for event in events):
            self._on_turn_ended()


class ObservedInputs:
    """The same for a relayed CLI: translates the inputs to events first."""

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self._core = new_core()

    def on_inputs(self, inputs: Sequence[SessionInput]) -> None:
        """Pass on inputs, in order."""
        for item, events in happenings(self._core, inputs):
            self._observed.see(item, events)
