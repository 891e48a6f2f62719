"""What `turnwire stdio` keeps of a session: a recording and spans, where they are wanted; nothing otherwise."""

from collections.abc import Sequence

from normalize.families import new_core
from normalize.inputs import SessionInput
from sidecar.sessions.pipeline import Observer


class Seen:
    """Hands what happened to the observers, with the events it makes."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers
        self._core = new_core()

    def take(self, inputs: Sequence[SessionInput]) -> None:
        """Take what happened, in order."""
        if not self._observers:
            return
        for item in inputs:
            events = self._core.handle(item)
            for observer in self._observers:
                observer(item, events)
