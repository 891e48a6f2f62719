"""Values as lines of JSON: what every wire, file and pipe here is made of."""

import json

import msgspec

from turnwire.protocol.json_values import Json


def line_of(value: Json) -> bytes:
    """Return a value as a line. Integers of any size and lone surrogates are written as JSON allows."""
    try:
        return msgspec.json.encode(value) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"
