"""Parse JSON that a strict parser refuses: the slow path of `turnwire.protocol.claude.decode`.

Accepts what JavaScript writes and Python's parser can accept: lone surrogates (they stay in the strings), NaN and
Infinity, numbers beyond any range, bytes that are not UTF-8, a byte order mark. A value that is not a number stays text.
A line may begin with control sequences for a terminal: 1.0.60 clears a screen that is not there before it continues.
"""

import json
import math
import re

from turnwire.protocol.json_values import Json
from turnwire.protocol.parsing.depth import TOO_DEEP, is_too_deep

_BEFORE = re.compile(rb"(?:\xef\xbb\xbf|\x1b\[[0-?]*[ -/]*[@-~])*")
"""A byte order mark, and control sequences of terminals (ECMA-48)."""


def load(line: bytes) -> Json:
    """Return the value of a line; ValueError if it is not JSON, RecursionError if it is nested too deep."""
    if is_too_deep(line):
        raise RecursionError(TOO_DEEP)
    text = _BEFORE.sub(b"", line, count=1).decode("utf-8", "replace")
    return _decode(text)


def _integer(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # Python converts no more than 4300 digits
        return digits


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


_decode = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=str).decode
