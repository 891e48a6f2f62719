"""Lines that hold several JSON objects, as two writers to one file leave them, or a list that was cut off."""

import json

import msgspec

from turnwire.protocol.parsing.depth import is_too_deep

MOST = 16_384
"""Objects of one line that are told apart; a line with more is none that a CLI wrote."""

_BOM = b"\xef\xbb\xbf"

_check = msgspec.json.Decoder(msgspec.Raw).decode
# only the ends of values are asked for, and Python converts no number of more than 4300 digits
_scan = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).raw_decode


def cut(line: bytes) -> list[bytes]:
    """Cut a line of several JSON objects behind each of them; the last one may be broken off.

    Returns [] for a line that is to be read as it is: one value of JSON, none, objects with something else than a comma
    between them, more than MOST of them, or nested too deep.
    """
    line = line.removeprefix(_BOM)
    if not line.lstrip().startswith(b"{"):
        return []
    try:
        _check(line)
    except (msgspec.MsgspecError, RecursionError):
        return [] if is_too_deep(line) else _pieces(line)
    return []


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
