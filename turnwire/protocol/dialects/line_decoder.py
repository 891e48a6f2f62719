"""Decode the lines of both sides of a conversation, in any dialect, for recordings and files.

Nearly all lines are Claude's, and cost only their decoding. Other wires get a line that is not Claude's. Once one of
them claims a line, it reads that line and all that follow.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import cast

from msgspec import Struct

from turnwire.protocol.claude.control import ControlCancelRequest, ControlRequest, ControlResponse
from turnwire.protocol.claude.decode import decode, malformed
from turnwire.protocol.claude.encode import EncodeError
from turnwire.protocol.claude.messages import Assistant, Message, StreamEvent, Unknown, User
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.system import Init, UnknownSystem
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.json_rpc.agent import JsonRpcAgent
from turnwire.protocol.json_rpc.host import JsonRpcHost
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.json_wire import Wire
from turnwire.protocol.malformed import BLANK, Malformed
from turnwire.protocol.miriad.dialect import MiriadAgent
from turnwire.protocol.parsing import glued
from turnwire.protocol.parsing.generic import load

_UNTOLD = frozenset({Unknown, Malformed})
"""What a line of another protocol is to Claude's."""

_UNREAD = _UNTOLD | {UnknownSystem}
"""The message of a line that could not be understood."""


MOST_HELD = 16
"""Lines that wait for one that tells."""

WireOf = Callable[[JsonObject], Wire | None]
"""Makes the wire that claims an object; None where none does."""


def _nobody(_: JsonObject) -> Wire | None:
    return None


class LineDecoder:
    """Reads both sides of one conversation; nothing of a conversation in an unknown wire."""

    looks_like: str | None = None
    """The unread wire of the lines, if they have one. That line and the lines after it give no messages."""
    is_readable: bool | None = None
    """Was any line understood? None before there was one that is not blank."""

    def __init__(self, wire_of: WireOf = _nobody, *, holds: bool = False) -> None:
        """`wire_of` finds the reader of lines that are not Claude's. `holds`: undecided lines wait for one that decides."""
        self._holds = holds
        self._held: list[bytes | OversizeLine] = []
        self._wire_of = wire_of
        self._other: Wire | None = None
        """What reads all lines from here on."""
        self._is_told = False
        """Do the lines so far tell that the conversation is in a wire that is read?"""
        self._host = JsonRpcHost()
        self._agent = JsonRpcAgent()
        self._miriad = MiriadAgent()

    def reads_as(self, wire: Wire) -> None:
        """Let a wire read all lines, whatever they say."""
        self._other, self.is_readable = wire, True

    def received(self, line: bytes | OversizeLine) -> Sequence[Struct]:
        """Return what a line says that an agent wrote."""
        return [message for _, message in self.heard((line,))]

    def heard(self, lines: Sequence[bytes | OversizeLine]) -> Iterable[tuple[bytes | None, Struct]]:
        """Return what lines say that an agent wrote: each message with its line, None for one that was too long.

        A line may hold several messages, or none. Where all are Claude's, as they mostly are, none is looked at twice.
        """
        if self._other is not None:
            return self._other.heard(lines)
        if self.looks_like is not None:
            return ()
        if self._held:
            lines, self._held = [*self._held, *lines], []
        messages = [decode(line) if isinstance(line, bytes) else malformed(line) for line in lines]
        all_told = _UNTOLD.isdisjoint(map(type, messages))
        if not all_told and Malformed in map(type, messages):
            lines = [*_apart(lines, messages)]
            messages = [decode(line) if isinstance(line, bytes) else malformed(line) for line in lines]
        if not self._is_told:
            ours, other = self._look(lines, messages)
            is_anybodys = self._holds and all(map(_is_anybodys, lines[:ours], messages))
            if is_anybodys and (ours < len(lines) or self._may_wait(ours)):
                ours = self._leave(lines, ours)
            before, rest = lines[:ours], lines[ours:]
            messages = messages[:ours]
            if other is not None:
                self.reads_as(other)
                return chain(self._heard_any(before, messages), other.heard(rest))
            lines = before
        if not self.is_readable:
            self._read(lines, messages)
        if all_told:
            return zip(cast("Sequence[bytes]", lines), messages, strict=True)
        return self._heard_any(lines, messages)

    def close(self) -> Iterable[tuple[bytes | None, Struct]]:
        """Return what waited for a line that tells, and there was none."""
        self._holds = False
        return self.heard(())

    def _may_wait(self, count: int) -> bool:
        return not self._is_told and count <= MOST_HELD

    def _leave(self, lines: Sequence[bytes | OversizeLine], ours: int) -> int:
        """Give undecided lines to the wire of the next line, or hold them until a line decides; return how many are Claude's."""
        if ours == len(lines):
            self._held = [*lines]
        return 0

    def _look(
        self, lines: Sequence[bytes | OversizeLine], messages: list[Message]
    ) -> tuple[int, Wire | None]:
        """Find the first line that decides; return how many lines before it are Claude's, and the reader of the rest."""
        from turnwire.protocol.dialects.foreign import foreign_wire  # noqa: PLC0415 - who runs agents reads no logs

        for number, (line, message) in enumerate(zip(lines, messages, strict=True)):
            if isinstance(line, bytes) and isinstance(value := _telling(message, line), dict):
                other = self._wire_of(value)
                self.looks_like = None if other is not None else foreign_wire(value)
                if other is not None or self.looks_like is not None:
                    return number, other
            if _tells_ours(message, line):
                self._is_told = True
                break
        return len(lines), None

    def _read(self, lines: Iterable[bytes | OversizeLine], messages: Iterable[Message]) -> None:
        """Note whether any of these is understood."""
        for line, message in zip(lines, messages, strict=True):
            if type(message) not in _UNREAD or _is_envelope(message, line):
                self.is_readable = True
                return
            if not (isinstance(message, Malformed) and message.reason == BLANK):
                self.is_readable = False

    def _heard_any(
        self, lines: Sequence[bytes | OversizeLine], messages: Sequence[Message]
    ) -> Iterator[tuple[bytes | None, Struct]]:
        """Decode lines that may mix protocols; `messages` are the lines as Claude's."""
        for number, (line, message) in enumerate(zip(lines, messages, strict=True)):
            if not isinstance(line, bytes):
                yield None, message
            elif not _is_envelope(message, line):
                yield line, message
            elif self._is_others(message):
                yield from self.heard(lines[number:])
                return
            else:
                for enveloped in self._host.read(line).messages:
                    yield line, enveloped

    def sent(self, line: bytes) -> Sequence[Struct]:
        """Return what a line says that an agent was told."""
        if self._other is not None:
            return self._other.sent(line)
        message = decode(line)
        if not self.is_readable:
            self._read((line,), (message,))
        if (not self._is_told or _is_envelope(message, line)) and self._is_others(message):
            return self.sent(line)
        if _is_envelope(message, line):
            return self._agent.read(line).messages
        if isinstance(message, Unknown) and message.type == "control":
            return self._miriad.read(line).messages
        if isinstance(message, User | ControlRequest | ControlResponse):
            self._follow(message)
        return [message]

    def _is_others(self, message: Message) -> bool:
        """Take a line that may tell that another agent is spoken to; what was told once is so to the end."""
        other = self._wire_of(message.raw) if isinstance(message, Unknown) else None
        if other is not None:
            self.reads_as(other)
        return other is not None

    def _follow(self, message: Message) -> None:
        """Number what a session of ours asked, as it did: answers in envelopes name the numbers alone."""
        try:
            self._host.write(message)
        except EncodeError:
            pass  # no session of ours has said that


def _is_anybodys(line: bytes | OversizeLine, message: Message) -> bool:
    """Tell whether agents that have copied Claude's shapes write such a line as well, or it is none at all."""
    return isinstance(line, bytes) and isinstance(message, User | Malformed | Assistant | Result)


def _apart(
    lines: Iterable[bytes | OversizeLine], messages: Iterable[Message]
) -> Iterator[bytes | OversizeLine]:
    """Yield lines, those that hold several objects as one line for each."""
    for line, message in zip(lines, messages, strict=True):
        if isinstance(line, bytes) and type(message) is Malformed and (pieces := glued.cut(line)):
            yield from pieces
        else:
            yield line


def _telling(message: Message, line: bytes) -> Json:
    """Return what a line holds that could be another agent's; None for one that could not."""
    match message:
        case Unknown(raw=value) | UnknownSystem(raw=value):
            return value
        case Init() if b'"mcp_servers"' not in line:
            return load(line)
        case Result(subtype="") | Result(uuid=None) | Assistant(uuid=None):
            return load(line)
        case _:
            return None


def _tells_ours(message: Message, line: bytes | OversizeLine) -> bool:
    """Tell whether no other agent writes such a line, or none that the table of foreign wires would not know by it."""
    match message:
        case Init() | StreamEvent() | ControlRequest() | ControlResponse() | ControlCancelRequest():
            return True
        case Assistant(uuid=str()) | Result(uuid=str()):
            return True
        case Unknown(raw={"jsonrpc": _, "method": str(method)}) if "/" in method:
            return False  # of a program that the agent has started, such as an MCP server
        case _:
            return _is_envelope(message, line)


def _is_envelope(message: Message, line: bytes | OversizeLine) -> bool:
    match message:
        case Unknown(raw={"jsonrpc": _}):
            return True
        case Malformed() if isinstance(line, bytes):
            return line.lstrip().startswith(b"[") and b'"jsonrpc"' in line
        case _:
            return False
