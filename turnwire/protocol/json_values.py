"""Names for values of JSON whose shape belongs to somebody else, and the mark of what we do not know.

Tool inputs, tool results and control payloads are defined by tools, servers and CLI versions, not by the protocol;
they are carried as they came. A `Foreign` struct keeps a whole value whose kind we have no model for.
"""

from typing import Any, TypeAlias

from msgspec import Struct

Json: TypeAlias = Any
"""Any value of JSON. `Any`, since a recursive alias can neither be decoded by msgspec nor indexed without casts."""

JsonObject: TypeAlias = dict[str, Json]
"""An object of JSON."""


class Foreign(Struct, frozen=True, gc=False):
    """A value of a kind that this package does not model, kept whole."""

    raw: Json
    """The value as it came."""


def text_at(value: Json, key: str) -> str:
    """Return the string under `key`, or "" where there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
