"""A reader's place in a session's log. Pure: takes what the hub sent, says what is new.

Numbers are contiguous within one epoch, except after a gap. A number seen before is passed over; a hole that no
gap announced means that an event was lost on the way, and is asked for again.
"""

from dataclasses import dataclass
from typing import Literal

from .frames import GapFrame


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last number a reader has seen, in one life of the log."""

    epoch: str
    """Which life; empty while nothing was seen."""
    seq: int
    """The number; 0 while nothing was seen."""


BEGINNING = Cursor("", 0)
"""From the first event."""

LATEST = Cursor("", -1)
"""Behind the last event that there is when the hub begins to send."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Events that are gone."""

    session: str
    first: int
    """First number that is gone."""
    last: int
    """Last number that is gone."""
    epoch: str
    """The epoch that now counts."""
    restarted: bool
    """The log began anew: forget all that was given before."""


class Feed:
    """One reader's place: what it has seen, and what may come next."""

    def __init__(self, after: Cursor = BEGINNING) -> None:
        self.cursor = after if after.seq > 0 else LATEST if after.seq < 0 else BEGINNING
        """The last event that was new."""
        self._restarted = False

    def begin(self, epoch: str, last: int = 0) -> None:
        """Note that the hub begins to send, counts in this epoch, and has `last` as its newest number."""
        self._restarted = False
        if self.cursor.seq <= 0:
            self.cursor = Cursor(epoch, last if self.cursor.seq < 0 else 0)

    def on_number(self, seq: int) -> Literal["fresh", "repeat", "hole"]:
        """Take an event's number; `hole`: events are missing before it."""
        if not self._restarted:
            if seq <= self.cursor.seq:
                return "repeat"
            if seq != self.cursor.seq + 1:
                return "hole"
        self._restarted = False
        self.cursor = Cursor(self.cursor.epoch, seq)
        return "fresh"

    def gap(self, frame: GapFrame, asked: Cursor | None = None) -> Gap | None:
        """Take a gap: go on behind it, or anew where it begins at or before what was seen, or in another life.

        Readers may share what the hub sends. Then `asked` is where another reader asked it to begin; None when it was this one.
        Returns None for a gap of the other's alone.
        """
        seen = self.cursor
        if asked is not None and frame.epoch == seen.epoch and asked.seq > 0 and asked.epoch != frame.epoch:
            return None
        if asked is not None and frame.epoch == seen.epoch and frame.first > asked.seq:
            if frame.last <= seen.seq:
                return None
            self.cursor = Cursor(frame.epoch, frame.last)
            return Gap(
                frame.session, max(frame.first, seen.seq + 1), frame.last, frame.epoch, restarted=False
            )
        self._restarted = seen.seq > 0 and (frame.epoch != seen.epoch or frame.first <= seen.seq)
        # A log that began anew counts from wherever it begins, whatever number the gap ends with.
        self.cursor = Cursor(frame.epoch, 0 if self._restarted else frame.last)
        return Gap(frame.session, frame.first, frame.last, frame.epoch, self._restarted)
