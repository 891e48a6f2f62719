"""What a frontend has seen of a session, short enough to keep, and the same of what its journal has."""

import json
import zlib

import msgspec

from turnwire.client.frames import EventFrame
from turnwire.client.reading import read_frame
from turnwire.journal.base import Journal
from turnwire.normalize.events.envelope import Cursor

Seen = list[tuple[int, int]]
"""Numbers of events in the order in which they came, each with a checksum of the event and its time."""


def digest(frame: EventFrame) -> int:
    """A checksum of an event with its session and time."""
    return zlib.crc32(msgspec.json.encode(frame))


async def journaled(journal: Journal, session: str) -> Seen:
    """All that a journal has of a session, as a frontend would have seen it."""
    seen: Seen = []
    cursor = Cursor("", 0)
    while cursor.seq < journal.last(session):
        page = await journal.read_after(session, cursor)
        assert page.gap is None
        for envelope in page.envelopes:
            head = {"type": "event", "session": session, "seq": envelope.seq, "ts": envelope.ts}
            frame = read_frame(json.dumps(head | {"event": json.loads(envelope.event)}))
            assert isinstance(frame, EventFrame)
            seen.append((envelope.seq, digest(frame)))
        cursor = page.cursor
    return seen
