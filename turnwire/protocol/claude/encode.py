"""Encode messages as lines: valid JSON in UTF-8, ending in a newline.

`encode` writes any message. `encode_input` writes only what a CLI may receive. It refuses input that crashes some version:
blank lines, unknown types, a role other than user, keep_alive, control_cancel_request, and control messages without an
id or a subtype.
"""

from functools import cache

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo

from turnwire.protocol.claude.control import ControlRequest, ControlResponse
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.messages import Message, User
from turnwire.protocol.claude.system import System, UnknownSystem
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import Foreign, Json, JsonObject
from turnwire.protocol.malformed import Malformed

_NEVER = object()


class EncodeError(TurnwireError, ValueError):
    """A message that must not be written. The text says why."""


def encode(message: Message) -> bytes:
    """Return the message as a line. None and empty lists of optional fields are left out; raises EncodeError."""
    if isinstance(message, Malformed):
        raise EncodeError(f"a malformed line cannot be encoded: {message.reason}")
    return line_of(to_json(message))


def encode_input(message: Message) -> bytes:
    """Return the message as a line for a CLI's stdin. Raises EncodeError for input that would crash it."""
    match message:
        case User():
            if message.message.role != "user":
                raise EncodeError(f"the role of a user message must be user, not {message.message.role!r}")
        case ControlRequest():
            if not message.request_id or not message.request.subtype:
                raise EncodeError(
                    "a control request needs a request_id and a subtype; set both before writing it"
                )
        case ControlResponse():
            if message.response.request_id in (None, "") or message.response.subtype not in (
                "success",
                "error",
            ):
                raise EncodeError(
                    "a control response needs response.request_id and the subtype success or error"
                )
        case _:
            raise EncodeError(
                f"a CLI takes user, control_request and control_response, not {type(message).__name__}"
            )
    return encode(message)


def checked_input(line: bytes) -> bytes:
    """Return a line of another writer unchanged. Raises EncodeError if it would crash a CLI."""
    body = line.strip(b" \t\r\n")
    if b"\n" in body:
        raise EncodeError("a newline inside a line")
    encode_input(decode(body))
    return body + b"\n"


def as_value(message: Message, line: bytes | None) -> JsonObject:
    """Return the message as JSON: all of its line if it has one, otherwise its modelled fields."""
    if line is not None:
        try:
            whole: JsonObject = msgspec.json.decode(line)
        except (ValueError, RecursionError):
            pass  # only the tolerant parser can read this line; write what it understood
        else:
            return whole
    value: JsonObject = to_json(message)
    return value


def to_json(value: object) -> Json:
    """Return a message, or a part of one, as JSON values."""
    if isinstance(value, (Foreign, UnknownSystem)):
        return value.raw
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if not isinstance(value, Struct):
        return value
    config = value.__struct_config__
    fields: dict[str, Json] = {"type": "system"} if isinstance(value, System) else {}
    if config.tag_field is not None:
        fields[config.tag_field] = config.tag
    for name, encoded_name, absent in _fields(type(value)):
        item = getattr(value, name)
        if item != absent:
            fields[encoded_name] = to_json(item)
    return fields


@cache
def _fields(struct: type[Struct]) -> list[tuple[str, str, object]]:
    """Return each field's name, its name on the wire, and its default."""
    optional = struct.__struct_config__.omit_defaults
    return [
        (field.name, field.encode_name, _absent(field) if optional else _NEVER)
        for field in msgspec.structs.fields(struct)
    ]


def _absent(field: FieldInfo) -> object:
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    return None if field.default is None else _NEVER
