"""Ids derived from the traced session, so that the same recording always gives the same trace."""

from contextvars import ContextVar
from hashlib import blake2b, sha256

from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator

_MASK = (1 << 64) - 1


class IdSequence:
    """A trace's id, and ids for its spans, all made from a seed."""

    def __init__(self, seed: bytes) -> None:
        digest = sha256(seed).digest()
        self.trace_id = int.from_bytes(digest[:16]) or 1
        self._state = int.from_bytes(digest[16:24])
        self._first: int | None = None
        """The id of the next span, if it is fixed."""

    def begin_with(self, trace_id: int, span_id: int) -> None:
        """Set the ids of the trace and of its next span. Later ids depend on both."""
        self.trace_id, self._first = trace_id, span_id
        self.salt(trace_id.to_bytes(16) + span_id.to_bytes(8))

    def salt(self, what: bytes) -> None:
        """Make the ids that follow depend on something more."""
        self._state = (self._state ^ int.from_bytes(blake2b(what, digest_size=8).digest())) & _MASK

    def next_span_id(self) -> int:
        """Return the next id, by SplitMix64: its numbers never repeat within a sequence."""
        if self._first is not None:
            known, self._first = self._first, None
            return known
        self._state = mixed = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31) or 1


current: ContextVar[IdSequence | None] = ContextVar("turnwire_trace_ids", default=None)
"""The source of the ids of a starting span; None for random ones."""


class SeededIds(IdGenerator):
    """Takes ids from the current sequence. Spans that other code starts get random ones."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()

    def generate_trace_id(self) -> int:
        """Return the id of a new trace."""
        sequence = current.get()
        return self._random.generate_trace_id() if sequence is None else sequence.trace_id

    def generate_span_id(self) -> int:
        """Return the id of a new span."""
        sequence = current.get()
        return self._random.generate_span_id() if sequence is None else sequence.next_span_id()
