"""Reading JSON that a strict parser refuses: the slow path of `protocol.decode`.

Takes what JavaScript writes and Python's own parser can be talked into: lone surrogates (they stay in the strings), NaN and
Infinity, numbers beyond any range, bytes that are not UTF-8, a byte order mark. What is no number stays text.
"""

import json
import math

from protocol.json_values import Json

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def load(line: bytes) -> Json:
    """Return the value of a line; ValueError if it is not JSON, RecursionError if it is nested too deep."""
    text = line.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
    return json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=str)


def _integer(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # Python converts no more than 4300 digits
        return digits


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits
