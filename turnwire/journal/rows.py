"""Values that stored journals share: a numbered batch, the extent of a log, and one row of each."""

from collections.abc import Sequence

from msgspec import Struct

from turnwire.journal.base import Entry


class Append(Struct, frozen=True):
    """A batch of numbered entries of one session."""

    log: int
    session: str
    first: int
    micros: int
    entries: Sequence[Entry]
    size: int


class Extent(Struct, frozen=True, gc=False):
    """The first and the last number of a log, and its size in bytes."""

    first: int
    last: int
    size: int


EMPTY = Extent(1, 0, 0)
"""Extent of a log that was never appended to."""


class LogRow(Struct, frozen=True):
    """A log as it is stored."""

    id: int
    session: str
    extent: Extent
    micros: int
    deleted: bool


class EventRow(Struct, frozen=True, gc=False):
    """An event as it is stored."""

    seq: int
    micros: int
    event: bytes
