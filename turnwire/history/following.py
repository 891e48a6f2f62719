"""Read a conversation's file as inputs of a core: first its contents, then additions while another CLI writes to it.

Only whole lines are taken. Blocking: who has an event loop calls it in a thread. The file is read and never written.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from turnwire.normalize.core import Core
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import SessionInput
from turnwire.normalize.recordings.session_files import Reader, SessionFiles, Survey
from turnwire.protocol.parsing.glued import records_in
from turnwire.recordings.recorded import in_database
from turnwire.recordings.session_file import agent_files, call_of, format_of, notes_beside
from turnwire.recordings.unpacked import opened
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
    """Bytes; of a conversation in a database lines."""
    size: int = -1
    """Bytes; of a conversation in a database the time of its newest change."""

    def lines(self) -> Iterator[bytes]:
        """Yield the whole lines that were added, or whose messages were changed in a database."""
        if in_database(self.path):
            from turnwire.recordings.database import timed_lines  # noqa: PLC0415 - most conversations are files of lines

            try:
                for at, line in timed_lines(self.path, self.size):
                    self.offset += 1
                    if isinstance(line, bytes):
                        yield line
                    self.size = max(self.size, at)
            except OSError:
                pass
            return
        try:
            size = self.path.stat().st_size
        except OSError:
            return
        if size == self.size:
            return
        self.size = size
        held = bytearray()
        try:
            with opened(self.path) as file:
                if self.offset:
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


def follower_of(path: Path) -> "Follower":
    """Return a reader of a conversation's file, of whatever agent. Raises OSError, and ValueError for another kind of file."""
    found = format_of(path)
    if found is None:
        raise ValueError(f"{path} is no conversation that turnwire can read")
    return Follower(path, found.files, core=lambda turns: new_core(found.family, first_turn=turns + 1))


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

    @property
    def read(self) -> dict[str, int]:
        """How many bytes of each file have been read."""
        return {str(place.path): place.offset for place in self._places}

    def first(self, read: Mapping[str, int] | None = None) -> Iterator[Sequence[SessionInput]]:
        """Yield all that is there, in pieces; at first the file is looked over. KeyError for a message that it has not.

        `read`: up to there, as `read` said; `more` then returns the rest.
        """
        ends = []
        notes = notes_beside(self._path, self._files)
        for note in notes:
            self._survey.handle(note)
        for place in self._agents(self._places):
            end = None if read is None else read.get(str(place.path), 0)
            for line in place.lines():
                if end is not None and place.offset > end:
                    place.offset, place.size = end, -1
                    break
                self._survey.handle(line, place.agent)
            ends.append((place, place.offset))
        self._reader = self._survey.reader(self._leaf)
        for note in notes:
            if found := [happened for _, happened in self._reader.read(note)]:
                yield found
        # read again, up to where it was looked over
        again = [self._until(place.path, place.agent, end) for place, end in ends]
        for _, agent, line in heapq.merge(*again, key=lambda one: one[0]):
            if found := [happened for _, happened in self._reader.read(line, agent)]:
                yield found

    def skip(self) -> None:
        """Take all that is there as known, the end of its last turn as well. What `more` returns follows it."""
        for _ in self.first():
            pass
        self.close()

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
