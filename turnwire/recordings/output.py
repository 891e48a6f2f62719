"""Translate what agents write to stdout, while it comes. Each service of a log is a conversation of its own."""

from collections.abc import Sequence
from pathlib import Path

from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Ended
from turnwire.normalize.recordings.auto_detecting import AutoDetectingCore
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.framing import LineFramer
from turnwire.protocol.wrapped import Piece, Unwrapper
from turnwire.recordings.recorded import Unread, unread


class OutputTranslator:
    """Takes chunks of bytes and returns events."""

    def __init__(self, core: AutoDetectingCore, family: str | None = None) -> None:
        """`core` is that of the first service. `family` names the family of all lines. Raises UnknownFamily."""
        self._core = core
        self._family = family
        self._framer, self._unwrapper = LineFramer(), Unwrapper()
        self._services = {"": (core, LineReader(family, holds=True))}

    def feed(self, chunk: bytes) -> list[AgentEvent]:
        """Return the events of the lines that a chunk completes."""
        return self._translate(self._unwrapper.feed(self._framer.feed(chunk)))

    def close(self) -> list[AgentEvent]:
        """Return the events of what is left, and of the end of all conversations."""
        last = self._framer.close()
        events = self._translate(self._unwrapper.feed([] if last is None else [last]))
        events += self._translate(self._unwrapper.close())
        for core, reader in self._services.values():
            for item in reader.close():
                events += core.handle(item)
            if reader.looks_like is None:
                events += core.handle(Ended("end_of_input"))
        return events

    def unread(self, name: Path | str) -> Unread | None:
        """Return what to say if no line of any service could be read."""
        return none_read([unread(name, reader) for _, reader in self._services.values()])

    def _translate(self, pieces: Sequence[Piece]) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        for source, lines in pieces:
            core, reader = self._services.get(source) or self._add(source)
            found = core.receive_all(reader.heard(lines))
            events = found if not events else events + found
        return events

    def _add(self, source: str) -> tuple[AutoDetectingCore, LineReader]:
        core = recorded_core(self._family)
        core.stats = self._core.stats
        self._services[source] = found = (core, LineReader(self._family, holds=True))
        return found


def none_read(errors: Sequence[Unread | None]) -> Unread | None:
    """Return the first error of some services; None if one of them was read, since a log may hold more than agents."""
    return None if None in errors else next(iter(errors), None)
