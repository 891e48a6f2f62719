"""Types of JSON values whose shape is defined elsewhere, and the base of unknown values.

Tools, servers and CLI versions define tool inputs, tool results and control payloads, not the protocol.
They are passed on unchanged. A `Foreign` struct keeps a whole value of an unknown kind.
"""

from typing import Any, TypeAlias

from msgspec import Struct

Json: TypeAlias = Any
"""Any value of JSON. `Any`, since a recursive alias can neither be decoded by msgspec nor indexed without casts."""

JsonObject: TypeAlias = dict[str, Json]
"""An object of JSON."""


class Foreign(Struct, frozen=True, gc=False):
    """A value of an unknown kind, kept whole."""

    raw: Json
    """The value as it came."""


def text_at(value: Json, key: str) -> str:
    """Return the string under `key`, or "" where there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
