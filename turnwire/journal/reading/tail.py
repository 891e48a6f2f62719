"""A run of consecutive envelopes in memory: the whole log of the memory journal, the cached end of another's.

Running totals of event bytes make a page two bisections, whatever the run's length. Dropping from the front moves the
list, so owners of a Tail do it rarely and for many at once.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from turnwire.normalize.events.envelope import Envelope

OVERHEAD = 300
"""Bytes of an envelope without its event: its object, its time, its place. Measured with CPython 3.11."""


class Tail:
    """Envelopes `first` to `last` of one session, without holes."""

    __slots__ = ("_base", "_ends", "_envelopes", "first")

    def __init__(self, first: int = 1) -> None:
        self.first = first
        self._envelopes: list[Envelope] = []
        self._ends: list[int] = []
        self._base = 0

    def __len__(self) -> int:
        return len(self._envelopes)

    @property
    def last(self) -> int:
        """Newest number; `first - 1` when empty."""
        return self.first + len(self._envelopes) - 1

    @property
    def size(self) -> int:
        """Bytes of the events held."""
        return self._ends[-1] - self._base if self._ends else 0

    def add(self, envelope: Envelope) -> None:
        """Append the next one."""
        end = self._ends[-1] if self._ends else self._base
        self._envelopes.append(envelope)
        self._ends.append(end + len(envelope.event))

    def drop(self, count: int) -> Sequence[Envelope]:
        """Drop `count` envelopes from the front and return them."""
        if count <= 0:
            return ()
        dropped = self._envelopes[:count]
        if dropped:
            self._base = self._ends[len(dropped) - 1]
            self.first += len(dropped)
            del self._envelopes[:count]
            del self._ends[:count]
        return dropped

    def get(self, seq: int) -> Envelope | None:
        """Return one envelope, if it is held."""
        index = seq - self.first
        return self._envelopes[index] if 0 <= index < len(self._envelopes) else None

    def after(self, seq: int, count: int, size: int) -> Sequence[Envelope]:
        """Return at most `count` envelopes of about `size` bytes that follow `seq`, at least one if any."""
        start = max(seq + 1 - self.first, 0)
        if start >= len(self._envelopes):
            return ()
        before = self._ends[start - 1] if start else self._base
        stop = bisect_right(self._ends, before + size, start, min(start + count, len(self._ends)))
        return self._envelopes[start : max(stop, start + 1)]

    def __getitem__(self, index: int) -> Envelope:
        return self._envelopes[index]

    def __iter__(self) -> Iterator[Envelope]:
        return iter(self._envelopes)
