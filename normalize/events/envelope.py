"""What journal, hub and tracing share: an event in its envelope, and the place of a reader in the log.

The event travels as the bytes it was serialised to once. `Envelope.frame()` splices those bytes into
the WebSocket frame of the protocol, so fanning out to many frontends costs no further serialisation.
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
    """Place in the session's log: contiguous, from 1, assigned by the journal alone."""

    ts: str
    """When the journal took it: RFC 3339, UTC, microseconds, `2026-01-02T03:04:05.678901Z`."""

    event: bytes
    """The event as compact UTF-8 JSON, exactly as `turnwire.normalize.events.to_json` wrote it."""

    @property
    def frame(self) -> bytes:
        """The envelope as one JSON object: `{"type":"event","session","seq","ts","event":{…}}`.

        Spliced anew each time, which costs less than keeping it would: a log in memory would hold every event twice.
        """
        head = b'{"type":"event","session":%b,"seq":%d,"ts":"%b","event":'
        return b"%b%b}" % (head % (_quoted(self.session), self.seq, self.ts.encode()), self.event)


class Cursor(Struct, frozen=True, gc=False):
    """The last `seq` a reader has seen, in one life of the log.

    A log that was lost and began again has another epoch, so a reader never takes its numbers for its own.
    `Cursor("", 0)` means from the beginning of whatever life there is.
    """

    epoch: str
    seq: int
