"""Shared by journal, hub and tracing: an event in its envelope, and a reader's position in the log.

The event travels as the bytes to which it was serialised once. `Envelope.frame()` splices those bytes into
the WebSocket frame, so more frontends cost no further serialisation.
"""

import json
from functools import lru_cache

from msgspec import Struct


@lru_cache(maxsize=1024)
def _quoted(session: str) -> bytes:
    return json.dumps(session).encode()


class Envelope(Struct, frozen=True, gc=False):
    """One journaled event: which session, which place in its log, when, and the event's JSON."""

    session: str
    """turnwire's own, stable session id (not the CLI's, which can change on resume)."""

    seq: int
    """Position in the session's log: contiguous, from 1, assigned by the journal only."""

    ts: str
    """When the journal took it: RFC 3339, UTC, microseconds, `2026-01-02T03:04:05.678901Z`."""

    event: bytes
    """The event as compact UTF-8 JSON, exactly as `turnwire.normalize.events.to_json` wrote it."""

    @property
    def frame(self) -> bytes:
        """Return the envelope as one JSON object: `{"type":"event","session","seq","ts","event":{…}}`.

        Spliced at each call, which costs less than keeping the result: a log in memory would hold every event twice.
        """
        head = b'{"type":"event","session":%b,"seq":%d,"ts":"%b","event":'
        return b"%b%b}" % (head % (_quoted(self.session), self.seq, self.ts.encode()), self.event)


class Cursor(Struct, frozen=True, gc=False):
    """The last `seq` that a reader has seen, in one lifetime of the log.

    A log that was lost and started again has another epoch, so a reader never mistakes its numbers for the old ones.
    `Cursor("", 0)` means the beginning of any lifetime.
    """

    epoch: str
    seq: int
