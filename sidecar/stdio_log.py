"""What `turnwire stdio` keeps of a session: a recording and spans, where they are wanted; nothing otherwise."""

from collections.abc import Sequence

from normalize.inputs import SessionInput
from normalize.translator import Translator
from sidecar.pipeline import Tap, translate


class Seen:
    """Hands what happened to the taps, with the events it makes."""

    def __init__(self, taps: Sequence[Tap]) -> None:
        self._taps = taps
        self._translator = Translator()

    def take(self, inputs: Sequence[SessionInput]) -> None:
        """Take what happened, in order."""
        if not self._taps:
            return
        for item in inputs:
            events = translate(self._translator, item)
            for tap in self._taps:
                tap(item, events)
