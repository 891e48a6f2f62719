"""Lines with several JSON objects. Two writers to one file leave them, and so does a list that was cut off.

A writer that died leaves half a record or a run of NUL bytes. The next record follows in the same line.
"""

import json
import re
from itertools import islice

import msgspec

from turnwire.protocol.parsing.depth import is_too_deep

MOST = 16_384
"""Most objects in one line. No CLI writes a line with more."""

_BOM = b"\xef\xbb\xbf"

_BETWEEN = " \t\r\n,\0"
"""What may stand between objects, in any number."""

_MAY_BE_A_LINE = re.compile(r"""\{(?=\s*"\w+"\s*:)""")
"""Where an object begins that may be a line of its own within half of another."""

_OF_LINES = frozenset({"sessionId", "session_id", "timestamp", "uuid"})
"""Members of lines; with a type, an object with one of these is a line."""

_TRIED = 16
"""Most such places that are tried in one half."""

_LONGEST = 1 << 18
"""Characters of a half in which such places are tried."""

_check = msgspec.json.Decoder(msgspec.Raw).decode
# only the ends of values are asked for, and Python converts no number of more than 4300 digits
_scan = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).raw_decode


def cut(line: bytes) -> list[bytes]:
    """Split a line after each of its JSON objects, and before an object that follows half of another one.

    Returns [] for a line that should stay whole: one JSON value, none, objects separated by anything but a
    comma or NUL bytes, more than MOST objects, or nested too deep.
    """
    line = line.removeprefix(_BOM)
    if not line.lstrip(b" \t\r\n\0").startswith(b"{"):
        return []
    try:
        _check(line)
    except (msgspec.MsgspecError, RecursionError):
        return [] if is_too_deep(line) else _pieces(line)
    return []


def records_in(line: bytes) -> list[bytes]:
    """Return the records of a line, of which two writers may leave several in one."""
    return cut(line) or [line]


def _pieces(line: bytes) -> list[bytes]:
    whole = line.decode("utf-8", "surrogateescape").strip()
    text = whole.strip(_BETWEEN)
    found: list[str] = []
    end = 0
    while end < len(text) and text[end] == "{" and len(found) <= MOST:
        begin, end = end, _end(text, end)
        found.append(text[begin:end].rstrip("\0"))
        end = _next(text, end)
    if len(found) > MOST or end < len(text):
        return []
    several = len(found) > 1 or found[0] != whole.rstrip(",")
    return [piece.encode("utf-8", "surrogateescape") for piece in found] if several else []


def _end(text: str, begin: int) -> int:
    """Return where an object ends, or where the next one begins if it is only half of one."""
    try:
        return int(_scan(text, begin)[1])
    except json.JSONDecodeError as error:
        wrong = error.pos
    # what follows half of a record may fit as a value of it: then only its own names tell it
    fitting = islice(_MAY_BE_A_LINE.finditer(text, begin + 1), _TRIED)
    inside = (at.start() for at in fitting if at.start() < wrong <= begin + _LONGEST)
    if (start := next((at for at in inside if _names_itself(_whole(text, at))), None)) is not None:
        return start
    if wrong >= len(text):
        return wrong
    # otherwise its first brace or quote does not fit
    after = _next(text, wrong)
    near = (
        after if text[after : after + 1] == "{" else -1,
        text.rfind("{", begin + 1, wrong),
        text.find("{", wrong),
    )
    return next((at for at in near if at > 0 and _whole(text, at)), len(text))


def _whole(text: str, begin: int) -> object:
    """Return the object that begins here if the end or another object follows it; None if not."""
    try:
        value, end = _scan(text, begin)
    except ValueError:
        return None
    end = _next(text, end)
    return value if text[end : end + 1] in ("", "{") else None


def _next(text: str, place: int) -> int:
    """Return the first place, from one on, of a character that does not stand between objects."""
    while place < len(text) and text[place] in _BETWEEN:
        place += 1
    return place


def _names_itself(value: object) -> bool:
    """Return whether an object is a line of its own, and no part of one."""
    return isinstance(value, dict) and (
        "jsonrpc" in value or ("type" in value and not _OF_LINES.isdisjoint(value))
    )
