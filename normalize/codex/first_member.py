"""Parse lines in which an object may have a member twice: the first one counts.

The item of a web search has the key `id` twice: the item's own, and then the model's (0.169.0).
"""

import json
from typing import Any

import msgspec

from turnwire.protocol.json_values import Json
from turnwire.protocol.parsing.depth import TOO_DEEP, is_too_deep

_decode = msgspec.json.Decoder().decode


def load(line: bytes) -> Json:
    """Parse a line; raises ValueError and RecursionError."""
    if is_too_deep(line):
        raise RecursionError(TOO_DEEP)
    if b'"web_search"' in line:
        parsed: Json = json.loads(line, object_pairs_hook=_first)
        return parsed
    value: Json = _decode(line)
    return value


def _first(members: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(members))
