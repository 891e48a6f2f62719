"""What `turnwire stdio` keeps of a session, where it is wanted: a recording and spans."""

from collections.abc import Sequence

from normalize.core import happenings
from normalize.families import new_core
from normalize.inputs import SessionInput
from sidecar.sessions.pipeline import Observer


class ObservedInputs:
    """Hands what happens to the observers, with the events it makes."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers
        self._core = new_core()

    def on_inputs(self, inputs: Sequence[SessionInput]) -> None:
        """See what happened, in order."""
        for item, events in happenings(self._core, inputs):
            for observer in self._observers:
                observer(item, events)
