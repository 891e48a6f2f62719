"""Measure how deep JSON is nested, before it is parsed.

Parsers and later steps (translating, comparing, writing) walk values by recursion, and a deeply
nested value crashes one of them. So foreign text is measured first: most
texts by counting brackets, the others by counting brackets outside strings.
"""

import json
import re
from collections.abc import Collection, Iterator
from itertools import accumulate

from turnwire.protocol.json_values import Json

MAX_DEPTH = 128
"""Most nested objects and lists. CLIs have been seen to use up to 10."""

NEVER_DEEP = 2 * MAX_DEPTH
"""Bytes of a text that cannot be deeper: each level is opened and closed."""

TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
"""The reason of a refusal."""

_BRACKETS = b"{}[]"
_BESIDE = bytes(set(range(256)) - set(_BRACKETS + b'"'))
_STRING = re.compile(rb'"[^"]*"?')
_STEPS = bytes.maketrans(_BRACKETS, b"\x01\xff\x01\xff")

_HEAD = 1 << 20
"""Bytes of a text in which members of its outermost object are looked for."""

_TOKEN = re.compile(
    # the last: a string without an end, which would else be looked for again at each quote inside of it
    rb'("(?:[^"\\]|\\.)*+")(\s*+:)?|([{\[])|([}\]])|(-?[0-9]++)|"(?:[^"\\]|\\.)*+\\?\Z',
    re.DOTALL,
)


def is_too_deep(text: bytes, limit: int = MAX_DEPTH) -> bool:
    """Return whether JSON text is nested deeper than the limit. For other text the result has no meaning."""
    # leaving bytes out is several times as fast as counting them
    if len(text) <= 2 * limit or len(text) - len(text.replace(b"[", b"").replace(b"{", b"")) <= limit:
        return False
    bare = text.replace(rb"\\", b"").replace(rb"\"", b"") if b"\\" in text else text
    # two quotes that meet can go: strings without brackets are nothing else, and inside and outside stay what they were
    brackets = _STRING.sub(b"", bare.translate(None, _BESIDE).replace(b'""', b""))
    # long texts are lists of flat objects, mostly: without these, two levels at most, little is left
    outer = brackets.replace(b"{}", b"").replace(b"[]", b"")
    if outer.count(b"{") + outer.count(b"[") + 2 <= limit:
        return False
    return any(depth > limit for depth in accumulate(_steps(brackets)))


def parse(text: str | bytes) -> Json:
    """Return the value of a text of JSON; ValueError if it is none, RecursionError if it is nested too deep."""
    if is_too_deep(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text):
        raise RecursionError(TOO_DEEP)
    return json.loads(text)


def is_deep(value: Json, limit: int = MAX_DEPTH) -> bool:
    """Return whether a value is nested deeper than the limit, or contains itself."""
    level = {id(value): value}
    for _ in range(limit):
        inner = (_members(outer) for outer in level.values() if isinstance(outer, dict | list))
        level = {id(one): one for members in inner for one in members if isinstance(one, dict | list)}
        if not level:
            return False
    return True


def outermost(text: bytes, names: Collection[str]) -> dict[str, str | int]:
    """Return the named members of the outermost object that are strings or integers, however deep the rest is.

    Reads the first mebibyte, and accepts a text that is cut.
    """
    found: dict[str, str | int] = {}
    depth, name = 0, ""
    for token in _TOKEN.finditer(text, 0, _HEAD):
        string, is_name, opens, closes, number = token.groups()
        depth += (opens is not None) - (closes is not None)
        if depth != 1:
            continue
        if is_name:
            name = _string(string)
        elif name in names and (string or number):
            found.setdefault(name, _string(string) if string else int(number[:18]))
            if len(found) == len(names):
                break
    return found


def _steps(brackets: bytes) -> Iterator[int]:
    return iter(memoryview(brackets.translate(_STEPS)).cast("b"))


def _members(value: Json) -> Collection[Json]:
    return value.values() if isinstance(value, dict) else value


def _string(text: bytes) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text.decode("utf-8", "replace")
