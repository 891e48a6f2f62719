"""Lines with several JSON objects, as two writers to one file leave them, or a list that was cut off."""

import json
import re

import msgspec

from turnwire.protocol.parsing.depth import is_too_deep

MOST = 16_384
"""Most objects in one line. No CLI writes a line with more."""

_BOM = b"\xef\xbb\xbf"

_SEVERAL = re.compile(rb"\}\s*\{")

_check = msgspec.json.Decoder(msgspec.Raw).decode
# only the ends of values are asked for, and Python converts no number of more than 4300 digits
_scan = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).raw_decode


def cut(line: bytes) -> list[bytes]:
    """Split a line after each of its JSON objects. The last one may be incomplete.

    Returns [] for a line that should stay whole: one JSON value, none, objects separated by anything but a
    comma, more than MOST objects, or nested too deep.
    """
    line = line.removeprefix(_BOM)
    if not line.lstrip().startswith(b"{"):
        return []
    try:
        _check(line)
    except (msgspec.MsgspecError, RecursionError):
        return [] if is_too_deep(line) else _pieces(line)
    return []


def records_in(line: bytes) -> list[bytes]:
    """Return the records of a line, of which two writers may leave several in one."""
    return (cut(line) if _SEVERAL.search(line) else []) or [line]


def _pieces(line: bytes) -> list[bytes]:
    text = line.decode("utf-8", "surrogateescape").strip()
    found: list[str] = []
    end = 0
    while end < len(text) and text[end] == "{" and len(found) <= MOST:
        begin = end
        try:
            _, end = _scan(text, begin)
        except ValueError:
            break
        found.append(text[begin:end])
        while end < len(text) and text[end] in " \t\r\n,":
            end += 1
    rest = text[end:]
    if len(found) > MOST or rest[:1] not in ("", "{"):
        return []
    found += [rest] if found and rest else []
    return [piece.encode("utf-8", "surrogateescape") for piece in found] if len(found) > 1 else []
