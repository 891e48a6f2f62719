"""Recordings: the raw lines of a session with their times and direction, read back as session inputs.

Three shapes are accepted, told apart by what is there and not by name:
- rows of turnwire's own (spec 3, "Debug Logging"): {"ts","protocol","agent","event","data"}, one a line;
- a folder with timeline.jsonl, stdout.jsonl and stdin.jsonl;
- plain CLI stdout, one message a line, without times.
"""

import base64
from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import msgspec

from normalize.events import Notice, from_json
from normalize.inputs import Announced, Decision, Ended, Received, Sent, SessionInput
from protocol.decode import decode, malformed
from protocol.dialects import Overheard
from protocol.framing import OversizeLine
from tracing.recorded import CHUNK, RecordingError, Timed, lines, missing
from tracing.timeline import TIMELINE, read_timeline

__all__ = ["RecordingError", "Timed", "is_rows", "length", "lines", "name_of", "read", "receive"]


class Row(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One row of a recording; exactly one of data, line and base64 is there for recv and send."""

    ts: str
    """RFC 3339, UTC."""
    protocol: str = "streamjson"
    """The protocol of the lines."""
    agent: str = ""
    """Which agent."""
    event: str = "recv"
    """recv, send, decision, note or exit; other values are message types, as the original wrote them: received."""
    line: str | None = None
    """The line, when it is no JSON object."""
    base64: str | None = None
    """The line, when it is not even UTF-8."""
    data: msgspec.Raw = msgspec.Raw()
    """The line itself, byte for byte, when it is a JSON object; or the decision, the event, the exit."""

    def raw_line(self) -> bytes:
        """Return the line as it went over the wire."""
        if self.base64 is not None:
            return base64.b64decode(self.base64)
        if self.line is not None:
            return self.line.encode()
        return bytes(self.data)


_decode_row = msgspec.json.Decoder(Row).decode
_decode_decision = msgspec.json.Decoder(Decision).decode
_decode_ended = msgspec.json.Decoder(Ended).decode


def read(path: Path) -> Iterator[Timed]:
    """Read a recording of any shape, in order, as a stream; raises RecordingError."""
    if path.is_dir():
        return read_timeline(path)
    if not path.exists():
        raise missing(path)
    return _read_rows(path) if is_rows(path) else _read_stdout(path)


def name_of(path: Path) -> str:
    """Return what a recording's session is called: the agent of its rows; else its name and what it begins with.

    Files of one name, as plain stdout often has, are so told apart, and a copy is not.
    """
    if path.is_file() and is_rows(path):
        with path.open("rb") as file:
            try:
                return _decode_row(file.readline()).agent or path.name
            except msgspec.MsgspecError:
                return path.name
    lines_file = path / "stdout.jsonl" if path.is_dir() else path
    try:
        with lines_file.open("rb") as file:
            return f"{path.name}-{sha256(file.read(CHUNK)).hexdigest()[:8]}"
    except FileNotFoundError as error:
        raise missing(lines_file) from error


def is_rows(path: Path) -> bool:
    """Tell turnwire's own rows from plain stdout by the first line."""
    with path.open("rb") as file:
        head = file.readline(CHUNK).lstrip()
    return head.startswith(b'{"ts":') or (b'"protocol"' in head[:200] and b'"data"' in head)


def length(path: Path) -> int:
    """Return about how many inputs a recording has: its lines, and its end. Reads it, but understands nothing."""
    file = path / TIMELINE if path.is_dir() else path
    try:
        with file.open("rb") as opened:
            return 1 + sum(chunk.count(b"\n") for chunk in iter(lambda: opened.read(CHUNK), b""))
    except FileNotFoundError as error:
        raise missing(file) from error


def receive(line: bytes | OversizeLine) -> Received:
    """Make a session input of a framed line."""
    if isinstance(line, OversizeLine):
        return Received(line.head, malformed(line))
    return Received(line, decode(line))


def _read_stdout(path: Path) -> Iterator[Timed]:
    heard = Overheard()
    for line in lines(path):
        for item in _received(heard, line):
            yield Timed(None, item)
    yield Timed(None, Ended("end_of_input"))


def _read_rows(path: Path) -> Iterator[Timed]:
    ended = False
    at = None
    heard = Overheard()
    for number, line in enumerate(lines(path), 1):
        if not line:
            continue
        try:
            row = _decode_row(b"" if isinstance(line, OversizeLine) else line)
            items = _row_inputs(row, heard)
        except msgspec.MsgspecError as error:
            if at is None:
                raise RecordingError(
                    f"{path}, row {number}: not a row of a recording ({error}); is the file damaged?"
                ) from error
            # A recorder that was killed leaves half a row; what follows is as good as what came before.
            yield Timed(at, Announced(_damaged(number)))
            continue
        at = datetime.fromisoformat(row.ts).timestamp()
        for item in items:
            ended = isinstance(item, Ended)
            yield Timed(at, item)
    if not ended:
        yield Timed(at, Ended("end_of_input"))


def _damaged(number: int) -> Notice:
    text = f"Row {number} of the recording is cut or damaged, and was left out."
    return Notice(kind="recording", level="warning", text=text)


def _row_inputs(row: Row, heard: Overheard) -> Sequence[SessionInput]:
    match row.event:
        case "decision":
            return [_decode_decision(row.data)]
        case "exit":
            return [_decode_ended(row.data)]
        case "note":
            return [Announced(from_json(bytes(row.data)))]
        case "send":
            line = row.raw_line()
            return [Sent(line, message) for message in heard.sent(line)]
        case _:
            return _received(heard, row.raw_line())


def _received(heard: Overheard, line: bytes | OversizeLine) -> Sequence[Received]:
    if isinstance(line, OversizeLine):
        return [receive(line)]
    return [Received(line, message) for message in heard.received(line)]
