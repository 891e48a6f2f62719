"""Spans as values. Ids come from what was traced, so the same recording gives the same trace, however often.

Times are nanoseconds since 1970. An open span is a builder; a finished one is what leaves the process.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import NamedTuple

Attribute = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Attribute]

CUT_MARK = "…"

_MASK = (1 << 64) - 1


class SpanEvent(NamedTuple):
    """Something that happened at one moment within a span."""

    name: str
    at: int
    attributes: Attributes


class FinishedSpan(NamedTuple):
    """A span as it is exported."""

    trace_id: int
    span_id: int
    parent_id: int | None
    name: str
    start: int
    end: int
    attributes: Attributes
    events: tuple[SpanEvent, ...] = ()
    error: str | None = None
    """What went wrong; None for a span that ended well."""
    client: bool = False
    """True when the span is a call to another service."""


@dataclass(slots=True)
class OpenSpan:
    """A span that has begun."""

    trace: "Trace"
    span_id: int
    parent_id: int | None
    name: str
    start: int
    attributes: dict[str, Attribute] = field(default_factory=dict)
    client: bool = False

    def finish(self, end: int, error: str | None = None, events: tuple[SpanEvent, ...] = ()) -> FinishedSpan:
        """Return the span with its end; a clock that went back gives it no length, never a negative one."""
        return FinishedSpan(
            self.trace.trace_id,
            self.span_id,
            self.parent_id,
            self.name,
            self.start,
            max(end, self.start),
            self.attributes,
            events,
            error,
            self.client,
        )


class Trace:
    """One trace: its id, and ids for its spans, all made from a seed."""

    def __init__(self, seed: bytes) -> None:
        digest = sha256(seed).digest()
        self.trace_id = int.from_bytes(digest[:16]) or 1
        self._state = int.from_bytes(digest[16:24])

    def salt(self, what: bytes) -> None:
        """Make the ids that follow depend on something more: what sets this life of a session apart from others."""
        self._state = (self._state ^ int.from_bytes(blake2b(what, digest_size=8).digest())) & _MASK

    def begin(
        self,
        name: str,
        at: int,
        parent: OpenSpan | None,
        attributes: dict[str, Attribute],
        *,
        client: bool = False,
    ) -> OpenSpan:
        """Open a span; its id depends on the seed and on how many were opened before."""
        return OpenSpan(self, self._next(), parent.span_id if parent else None, name, at, attributes, client)

    def moment(
        self,
        name: str,
        at: int,
        parent: OpenSpan | None,
        attributes: Attributes,
        *,
        events: tuple[SpanEvent, ...],
        error: str | None = None,
    ) -> FinishedSpan:
        """Return a span without a length: it ends as it begins."""
        above = parent.span_id if parent else None
        return FinishedSpan(self.trace_id, self._next(), above, name, at, at, attributes, events, error)

    def _next(self) -> int:
        """Return the next id: SplitMix64, whose numbers never meet within a sequence."""
        self._state = mixed = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31) or 1


class Unnumbered(Trace):
    """A trace of spans that go nowhere: what is measured from them needs no ids."""

    def __init__(self) -> None:
        super().__init__(b"")

    def _next(self) -> int:
        return 0


def cut_text(data: bytes, limit: int) -> str:
    """Return UTF-8 as text of at most `limit` bytes, cut on a character boundary and marked."""
    if len(data) <= limit:
        return data.decode("utf-8", "replace")
    return data[:limit].decode("utf-8", "ignore") + CUT_MARK
