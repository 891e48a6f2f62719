"""Numbers that agents report: their types, and their largest values.

A field of one of these types is read only if its value is possible. Negative, huge and infinite numbers count as absent. So sums
of any number of rows fit into 64 bits, and every reader of JSON gets the number that was written.
"""

from typing import Annotated, TypeAlias

from msgspec import Meta

from turnwire.protocol.json_values import Json

MOST = 1 << 40
"""The largest count, some 10^12. SQLite can add up eight million of them."""
_MOST_AMOUNT = 1 << 53
"""The largest amount. A float still holds every whole number up to it."""
SAME_MONEY = 1e-6
"""Dollars by which two sums of the same prices may differ: agents add up floats."""

Count: TypeAlias = Annotated[int, Meta(ge=0, le=MOST)]
"""How many: tokens, turns, attempts, bytes."""
Amount: TypeAlias = (
    Annotated[int, Meta(ge=0, le=_MOST_AMOUNT)] | Annotated[float, Meta(ge=0, le=float(_MOST_AMOUNT))]
)
"""How much: dollars, milliseconds, times since 1970."""


def count(value: Json) -> int | None:
    """Return a whole number as a count; None if it cannot be one."""
    is_count = type(value) is int and 0 <= value <= MOST
    return value if is_count else None


def clamped(total: int) -> int:
    """Return a sum or a difference of counts as a count."""
    return min(max(total, 0), MOST)


def amount(value: Json) -> float | None:
    """Return a number as an amount; None if it cannot be one."""
    is_number = type(value) is float or type(value) is int
    return float(value) if is_number and 0 <= value <= _MOST_AMOUNT else None
