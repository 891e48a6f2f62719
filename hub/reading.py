"""Reads what a hub sends, also a newer one: an event of a kind this version does not know is still an event."""

import json

import msgspec

from hub.wire.frames_out import EventFrame, EventsFrame, OutFrame, decode
from normalize.events import Unknown
from normalize.model import JsonObject, JsonValue


def read_frame(text: str | bytes) -> OutFrame | None:
    """Return a frame; None when this version does not know its kind."""
    try:
        return decode(text)
    except msgspec.ValidationError:
        frame: JsonValue = json.loads(text)
    if not isinstance(frame, dict):
        return None
    if frame.get("type") == "event":
        return _event_frame(frame)
    if frame.get("type") == "events" and isinstance(frame["events"], list):
        return EventsFrame(events=[_event_frame(each) for each in frame["events"] if isinstance(each, dict)])
    return None


def _event_frame(frame: JsonObject) -> EventFrame:
    try:
        return msgspec.convert(frame, EventFrame)
    except msgspec.ValidationError:
        event = frame["event"]
        kind = str(event.get("type")) if isinstance(event, dict) else "unknown"
        stand_in = Unknown(message_type=kind, raw=json.dumps(event, ensure_ascii=False))
        return EventFrame(session=frame["session"], seq=frame["seq"], ts=frame["ts"], event=stand_in)
