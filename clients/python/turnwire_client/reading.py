"""Reads what a hub sends, also a newer one: an event of a kind this version does not know is still an event.

What is no frame at all is ProtocolError: the hub is none, or something between it and us is broken.
"""

from typing import Any

import msgspec

from .errors import ProtocolError
from .events import Unknown
from .frames import EventFrame, EventsFrame, OutFrame
from .results import EventsPage, WholePayload
from .values import JsonObject, JsonValue

_decoder: msgspec.json.Decoder[OutFrame] = msgspec.json.Decoder(OutFrame)
_types = {each.__struct_config__.tag for each in OutFrame.__args__}
_SHOWN = 80


class _Place(msgspec.Struct, frozen=True):
    """What an event of any kind has around it."""

    session: str
    seq: int
    ts: str
    event: JsonObject


def read_frame(text: str | bytes) -> OutFrame | None:
    """Return a frame; None when this version does not know its type. Raises ProtocolError."""
    if isinstance(text, bytes):
        raise ProtocolError("The hub sent a binary frame; is it a turnwire hub?")
    try:
        return _decoder.decode(text)
    except msgspec.ValidationError as error:
        misfit = str(error)
        content = _decoded(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _no_json(text) from error
    match content:
        case {"type": "event"}:
            return read_event(content)
        case {"type": "events", "events": list(events)}:
            return EventsFrame(events=[read_event(each) for each in events])
        case {"type": str(kind)} if kind not in _types:
            return None
        case _:
            raise ProtocolError(f"The hub sent a frame this client cannot read ({misfit}): {_shown(text)}")


def _decoded(text: str) -> JsonValue:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _no_json(text) from error


def read_event(frame: JsonValue) -> EventFrame:
    """Return an `event` frame, of an event that this version does not know too; raises ProtocolError."""
    try:
        return msgspec.convert(frame, EventFrame)
    except msgspec.ValidationError:
        pass
    try:
        place = msgspec.convert(frame, _Place)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"The hub sent an event this client cannot place: {error}") from error
    kind: Any = place.event.get("type")
    if not isinstance(kind, str):
        raise ProtocolError(f"The hub sent event {place.seq} of {place.session} without a `type`.")
    stand_in = Unknown(message_type=kind, raw=msgspec.json.encode(place.event).decode())
    return EventFrame(session=place.session, seq=place.seq, ts=place.ts, event=stand_in)


def read_result(result: JsonValue, kind: Any, command: str) -> Any:
    """Return the result of a command's reply as its type, with events that this version does not know; raises ProtocolError."""
    if kind in (None, type(None)):
        return None  # a newer hub may tell more
    try:
        return msgspec.convert(result, kind)
    except msgspec.ValidationError as error:
        match result:
            case {"events": list(events)} if kind is EventsPage:
                page = msgspec.convert({**result, "events": []}, EventsPage)
                return msgspec.structs.replace(page, events=[read_event(each) for each in events])
            case {"event": dict(event)} if kind is WholePayload:
                frame = read_event({"session": "", "seq": 0, "ts": "", "event": event})
                return WholePayload(event=frame.event, raw=result.get("raw"))
            case _:
                raise ProtocolError(
                    f"The hub's reply to {command} is not what this client expects: {error}"
                ) from error


def _no_json(text: str) -> ProtocolError:
    return ProtocolError(f"The hub sent a frame that is no JSON; is it a turnwire hub? {_shown(text)}")


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
