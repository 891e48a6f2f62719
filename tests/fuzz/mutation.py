"""Makes wrong inputs of right ones: bytes, lines, and the values within them."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

ODD_TEXTS = (
    "",
    "x",
    "\ud83d",
    "\u2028",
    "\u202e",
    "a\x00b",
    "\x1b[2J",
    "../../etc/passwd",
    "<script>",
    "-1",
    "text",
    "error",
)
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e308, 2**63, -(2**63) - 1, 10**400, [], {}, [[]], [{}], {"": None}, {"type": "x"}, {"type": None},
    *ODD_TEXTS,
)  # fmt: skip
"""Values where others were meant."""

TOKENS = (
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r\n", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\\ud83d",
    b"null", b"NaN", b"1e999", b"-0", b"9" * 400, b'{"a":' * 40, b"[" * 600, b'"type":', b'"uuid":', b'"session_id":', b'"id":',
)  # fmt: skip
"""Pieces that parsers stumble over."""


class Mutator:
    """Makes one input of another, and now and then of two; the same random numbers give the same."""

    def __init__(self, source: random.Random) -> None:
        self._random = source

    def mutate(self, data: bytes, other: bytes) -> bytes:
        """Return an input made wrong in a few ways."""
        for _ in range(1 + int(self._random.expovariate(0.9))):
            data = self._random.choice(WAYS)(self, data, other)
        return data

    def bytes_changed(self, data: bytes, _other: bytes) -> bytes:
        """Change, remove, repeat or insert a few bytes."""
        start = self._random.randrange(len(data) + 1)
        length = self._random.choice((0, 1, 1, 2, 8, 64))
        piece = self._random.choice(
            (
                b"",
                self._random.randbytes(self._random.randrange(1, 5)),
                self._random.choice(TOKENS),
                data[start : start + length] * 2,
            )
        )
        return data[:start] + piece + data[start + length :]

    def cut(self, data: bytes, _other: bytes) -> bytes:
        """Leave out an end."""
        at = self._random.randrange(len(data) + 1)
        return data[:at] if self._random.random() < 0.7 else data[at:]

    def lines_moved(self, data: bytes, other: bytes) -> bytes:
        """Drop, repeat, swap or borrow a line."""
        lines = data.split(b"\n")
        at, to = self._random.randrange(len(lines)), self._random.randrange(len(lines))
        match self._random.randrange(5):
            case 0:
                del lines[at]
            case 1:
                lines.insert(to, lines[at])
            case 2:
                lines[at], lines[to] = lines[to], lines[at]
            case 3:
                lines.insert(to, self._random.choice(other.split(b"\n")))
            case _:
                there = other.split(b"\n")
                lines[at:] = there[self._random.randrange(len(there)) :]
        return b"\n".join(lines)

    def value_changed(self, data: bytes, other: bytes) -> bytes:
        """Give a value of a line another one, another name, or none."""
        lines = data.split(b"\n")
        at = self._random.randrange(len(lines))
        mark, line = lines[at][:1], lines[at]
        prefix = mark if mark in (b"<", b">") else b""
        try:
            value = json.loads(line[len(prefix) :])
            holders = list(_holders(value))
            if not holders:
                return data
            self._change(self._random.choice(holders), other)
            lines[at] = prefix + json.dumps(value, ensure_ascii=self._random.random() < 0.5).encode(
                "utf-8", "surrogatepass"
            )
        except (ValueError, RecursionError):
            return self.bytes_changed(data, other)
        return b"\n".join(lines)

    def _change(self, holder: Any, other: bytes) -> None:
        key = self._random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        match self._random.randrange(6):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[self._random.choice(("type", "id", "uuid", "content", key + "_", ""))] = holder.pop(
                    key
                )
            case 2:
                holder[key] = [holder[key]] * self._random.randrange(3)
            case 3:
                deep: Any = holder[key]
                for _ in range(self._random.choice((3, 70, 700))):
                    deep = {"x": deep} if self._random.random() < 0.5 else [deep]
                holder[key] = deep
            case 4:
                line = self._random.choice(other.split(b"\n")).lstrip(b"<>")
                values = [each for inner in _holders(json.loads(line)) for each in _values(inner)]
                holder[key] = self._random.choice(values) if values else None
            case _:
                holder[key] = self._random.choice(ODD_VALUES)


def _holders(value: Any) -> list[Any]:
    found, rest = list[Any](), [value]
    while rest:
        inner = rest.pop()
        if isinstance(inner, dict | list) and inner:
            found.append(inner)
            rest += _values(inner)
    return found


def _values(holder: Any) -> list[Any]:
    return list(holder.values() if isinstance(holder, dict) else holder)


WAYS: Sequence[Callable[[Mutator, bytes, bytes], bytes]] = (
    Mutator.bytes_changed,
    Mutator.cut,
    Mutator.lines_moved,
    Mutator.lines_moved,
    Mutator.value_changed,
    Mutator.value_changed,
    Mutator.value_changed,
)
