"""Read a conversation's file as inputs of a core: first its contents, then additions while another CLI writes to it.

Only whole lines are taken. Blocking: who has an event loop calls it in a thread. The file is read and never written.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from turnwire.normalize.core import Core
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import SessionInput
from turnwire.normalize.recordings.session_files import Reader, SessionFiles, Survey
from turnwire.recordings.session_file import agent_files, call_of, records_in
from turnwire.tracing.prices import prices

CHUNK = 1 << 20
"""Bytes that are read at a time."""

CoreFrom = Callable[[int], Core]
"""Makes the core for a conversation, after so many turns."""

LONGEST = 64 << 20
"""Bytes of a line; a longer one is skipped."""


class _Place(Struct):
    """How far a file has been read."""

    path: Path
    agent: str | None
    longest: int
    """Bytes of a line; a longer one is skipped."""
    chunk: int
    """Bytes that are read at a time."""
    offset: int = 0
    size: int = -1

    def lines(self) -> Iterator[bytes]:
        """Yield the whole lines that were added."""
        try:
            size = self.path.stat().st_size
        except OSError:
            return
        if size == self.size:
            return
        self.size = size
        held = bytearray()
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                while chunk := file.read(self.chunk):
                    begun, newline, rest = chunk.rpartition(b"\n")
                    if not newline:
                        if len(held) > self.longest:
                            # nothing that a CLI writes: what there is of it is left out
                            self.offset += len(held) + len(chunk)
                            held = bytearray()
                        else:
                            held += chunk
                        continue
                    held += begun
                    for line in bytes(held).split(b"\n"):
                        self.offset += len(line) + 1
                        yield from records_in(line)
                    held = bytearray(rest)
        except OSError:
            return


class Follower:
    """Reads a conversation's file as it grows."""

    def __init__(
        self,
        path: Path,
        files: SessionFiles,
        leaf: str | None = None,
        *,
        core: CoreFrom = lambda turns: new_core(first_turn=turns + 1),
        longest: int = LONGEST,
        chunk: int = CHUNK,
    ) -> None:
        """`leaf`: the message to read up to, without one all of the branch that lives; `core` makes what reads its inputs."""
        self.core_goes_on = files.core_goes_on
        """Whether the core of a session reads it and goes on with the agent; else one that `core` makes reads it."""
        self.core = core
        self._leaf = leaf
        self._path = path
        self._files = files
        self._survey: Survey = files.survey(prices().estimate)
        self._reader: Reader | None = None
        self._longest, self._chunk = longest, chunk
        self._places = [_Place(path, None, longest, chunk)]

    def first(self) -> Iterator[Sequence[SessionInput]]:
        """Yield all that is there, in pieces; at first the file is looked over. KeyError for a message that it has not."""
        ends = []
        for place in self._agents(self._places):
            for line in place.lines():
                self._survey.handle(line, place.agent)
            ends.append((place, place.offset))
        self._reader = self._survey.reader(self._leaf)
        # read again, up to where it was looked over
        again = [self._until(place.path, place.agent, end) for place, end in ends]
        for _, agent, line in heapq.merge(*again, key=lambda one: one[0]):
            if found := [happened for _, happened in self._reader.read(line, agent)]:
                yield found

    def more(self) -> list[SessionInput]:
        """Return what was added since."""
        assert self._reader is not None
        added: list[tuple[bytes, str | None]] = []
        for place in self._agents(self._places):
            for line in place.lines():
                self._survey.handle(line, place.agent)
                added.append((line, place.agent))
        # looked over as a whole first: a record may be written before the one it hangs on
        return [happened for line, agent in added for _, happened in self._reader.read(line, agent)]

    def settle(self) -> list[SessionInput]:
        """Return the end of the turn that is over, as its lines say, while nothing follows them."""
        return [] if self._reader is None else [happened for _, happened in self._reader.settle()]

    def close(self) -> list[SessionInput]:
        """Return the end of the last turn, if it has one."""
        return [] if self._reader is None else [happened for _, happened in self._reader.close()]

    def _agents(self, places: list[_Place]) -> Iterator[_Place]:
        """Yield the file, then those of its subagents, new ones among them."""
        yield places[0]
        known = {place.agent for place in places}
        for agent in agent_files(self._path, self._survey.agents()):
            if agent.agent not in known:
                call = call_of(agent.path)
                if call is not None:
                    self._survey.calls(agent.agent, call)
                places.append(_Place(agent.path, agent.agent, self._longest, self._chunk))
        yield from places[1:]

    def _until(self, path: Path, agent: str | None, end: int) -> Iterator[tuple[float, str | None, bytes]]:
        latest, place = 0.0, _Place(path, agent, self._longest, self._chunk)
        for line in place.lines():
            if place.offset > end:
                return
            latest = max(latest, self._files.moment(line) or 0.0)
            yield latest, agent, line
