"""Envelopes for frontends, encoded once per kind of connection and shared by all connections.

An encoder turns a batch into the bytes that a connection writes. A batch remembers the result of each
encoder. So an event for a thousand frontends is framed once and written a thousand times.
"""

from collections.abc import Callable, Sequence

from turnwire.normalize.events.envelope import Envelope


class Batch:
    """One or more envelopes of one session, in order, without holes."""

    __slots__ = ("_encoded", "envelopes", "epoch")

    def __init__(self, epoch: str, envelopes: Sequence[Envelope]) -> None:
        self.epoch = epoch
        self.envelopes = envelopes
        self._encoded: dict[Encoder, bytes] = {}

    @property
    def size(self) -> int:
        """Bytes of its events."""
        return sum(len(envelope.event) for envelope in self.envelopes)

    def encoded(self, encoder: "Encoder") -> bytes:
        """Return the encoder's result for this batch. The encoder is called once."""
        encoded = self._encoded.get(encoder)
        if encoded is None:
            encoded = self._encoded[encoder] = encoder(self)
        return encoded


Encoder = Callable[[Batch], bytes]


def as_text(batch: Batch) -> bytes:
    """Return the text of one WebSocket frame: `event`, or `events` when there are several."""
    envelopes = batch.envelopes
    if len(envelopes) == 1:
        return envelopes[0].frame
    return b'{"type":"events","events":[' + b",".join([envelope.frame for envelope in envelopes]) + b"]}"


def as_server_sent_events(batch: Batch) -> bytes:
    """Return the batch as server-sent events; their ids are the cursors to resume at."""
    epoch = batch.epoch
    return b"".join(
        b"id: %s-%d\ndata: %s\n\n" % (epoch.encode(), envelope.seq, envelope.frame)
        for envelope in batch.envelopes
    )
