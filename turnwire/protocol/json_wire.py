"""The interface of a wire for readers of recordings, and the wire of agents that write plain JSON objects."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.malformed import BLANK, Malformed, oversize
from turnwire.protocol.parsing import generic, glued
from turnwire.protocol.parsing.depth import TOO_DEEP, is_too_deep
from turnwire.protocol.text import scrub_json

NOT_AN_OBJECT = "not a JSON object"

_decode = msgspec.json.Decoder().decode


class Wire(Protocol):
    """Reads both sides of one conversation, line by line. Neither method raises."""

    def heard(self, lines: Sequence[bytes | OversizeLine]) -> Iterable[tuple[bytes | None, Struct]]:
        """Return the messages in lines of the agent, each with its line (None for an oversized one)."""
        ...

    def sent(self, line: bytes) -> Sequence[Struct]:
        """Return the messages in a line that was sent to the agent."""
        ...


class LineShape(Struct, frozen=True):
    """A line that only one agent writes, by the members of its object."""

    type: str | None
    """Its `type`: the whole word, or its beginning if this ends in `*`; None for a line without one."""
    has: tuple[str, ...] = ()
    """Members that it always has."""
    lacks: tuple[str, ...] = ()
    """Members that it never has."""
    subtype: str | None = None
    """Its `subtype`; None for whatever it is."""

    def fits(self, value: JsonObject) -> bool:
        """Tell whether an object is such a line."""
        return (
            _is(value.get("type"), self.type)
            and (self.subtype is None or value.get("subtype") == self.subtype)
            and value.keys() >= set(self.has)
            and value.keys().isdisjoint(self.lacks)
        )


def any_of(*shapes: LineShape) -> Callable[[JsonObject], bool]:
    """Return a function that checks whether an object has one of these shapes."""
    return lambda value: any(shape.fits(value) for shape in shapes)


class JsonLine(Struct, frozen=True, gc=False):
    """A line of a wire of plain JSON objects."""

    family: str
    """The wire's family."""
    value: JsonObject
    """The object, with valid strings."""


class LineWire:
    """Reads a wire with one JSON object per line. `decode` returns the message of a line."""

    def __init__(self, decode: Callable[[bytes], Struct]) -> None:
        self._decode = decode

    def heard(self, lines: Sequence[bytes | OversizeLine]) -> Iterator[tuple[bytes | None, Struct]]:
        """Return the messages in lines of the agent, each with its line (None for an oversized one)."""
        for line in lines:
            if not isinstance(line, bytes):
                yield None, oversize(line)
                continue
            message = self._decode(line)
            if type(message) is Malformed and (pieces := glued.cut(line)):
                yield from ((piece, self._decode(piece)) for piece in pieces)
            else:
                yield line, message

    def sent(self, line: bytes) -> Sequence[Struct]:
        """Return the messages in a line that was sent to the agent."""
        return (self._decode(line),)


class JsonWire(LineWire):
    """Reads a wire of plain JSON objects."""

    def __init__(self, family: str, load: Callable[[bytes], Json] | None = None) -> None:
        """`load` parses a line if the wire needs a parser of its own. It may raise ValueError and RecursionError."""
        super().__init__(self._message)
        self._family = family
        self._load = load or _load

    def _message(self, line: bytes) -> Struct:
        words = line.decode("utf-8", "replace")
        if not line.strip():
            return Malformed(words, BLANK)
        try:
            value = self._load(line)
        except ValueError as error:
            return Malformed(words, str(error))
        except RecursionError:
            return Malformed(words, TOO_DEEP)
        return (
            JsonLine(self._family, scrub_json(value))
            if isinstance(value, dict)
            else Malformed(words, NOT_AN_OBJECT)
        )


def _load(line: bytes) -> Json:
    if is_too_deep(line):
        raise RecursionError(TOO_DEEP)
    try:
        return _decode(line)
    except ValueError:
        return generic.load(line)


def _is(said: Json, wanted: str | None) -> bool:
    if wanted is None:
        return said is None
    if not isinstance(said, str):
        return False
    return said.startswith(wanted[:-1]) if wanted.endswith("*") else said == wanted
