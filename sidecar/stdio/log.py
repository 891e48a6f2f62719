"""What `turnwire stdio` keeps of a session: a recording and spans, where they are wanted; nothing otherwise."""

from collections.abc import Sequence

from normalize.claude.translator import Translator
from normalize.inputs import SessionInput
from sidecar.sessions.pipeline import Tap, translate


class Seen:
    """Hands what happened to the taps, with the events it makes."""

    def __init__(self, observers: Sequence[Tap]) -> None:
        self._observers = observers
        self._translator = Translator()

    def take(self, inputs: Sequence[SessionInput]) -> None:
        """Take what happened, in order."""
        if not self._observers:
            return
        for item in inputs:
            events = translate(self._translator, item)
            for observer in self._observers:
                observer(item, events)
