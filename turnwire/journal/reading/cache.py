"""The newest envelopes of the logs, kept in memory so that live readers read nothing from disk.

All frontends at the end of a log get the same Envelope objects. Bounded for each log and for all together; the log that
was silent longest is dropped first. Readers further behind cost no memory here.
"""

from collections import OrderedDict

from turnwire.journal.reading.tail import Tail
from turnwire.normalize.events.envelope import Envelope

LOG_COUNT = 2048
"""Most envelopes kept of one log."""
LOG_BYTES = 2 << 20
"""Most bytes of events kept of one log. Its newest event stays, whatever its size."""
ALL_BYTES = 32 << 20
"""Most bytes of events kept of all logs together."""


class TailCache:
    """The ends of the logs that were last appended to."""

    def __init__(
        self, *, log_count: int = LOG_COUNT, log_bytes: int = LOG_BYTES, all_bytes: int = ALL_BYTES
    ) -> None:
        self._log_count = log_count
        self._log_bytes = log_bytes
        self._all_bytes = all_bytes
        self._tails: OrderedDict[str, Tail] = OrderedDict()
        self.size = 0

    def add(self, session: str, envelopes: list[Envelope]) -> None:
        """Keep a log's next envelopes."""
        tail = self._tails.get(session)
        if tail is not None:
            self.size -= tail.size
            self._tails.move_to_end(session)
        if tail is None or tail.last + 1 != envelopes[0].seq:
            # Another sidecar wrote what is missing between.
            tail = self._tails[session] = Tail(envelopes[0].seq)
        for envelope in envelopes:
            tail.add(envelope)
        # A quarter at once: taking from the front moves the rest.
        if len(tail) > self._log_count:
            tail.drop(len(tail) - self._log_count * 3 // 4)
        while tail.size > self._log_bytes and len(tail) > 1:
            tail.drop((len(tail) + 3) // 4)
        self.size += tail.size
        while self.size > self._all_bytes and len(self._tails) > 1:
            _, oldest = self._tails.popitem(last=False)
            self.size -= oldest.size

    def reaching(self, session: str, after: int) -> Tail | None:
        """Return the log's tail if it has all that follows a number."""
        tail = self._tails.get(session)
        return tail if tail is not None and tail.first <= after + 1 else None

    def forget(self, session: str, before: int) -> None:
        """Drop the envelopes before a number: the log no longer has them."""
        tail = self._tails.get(session)
        if tail is None or tail.first >= before:
            return
        self.size -= tail.size
        tail.drop(before - tail.first)
        if len(tail):
            self.size += tail.size
        else:
            del self._tails[session]
