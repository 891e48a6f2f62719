"""Recordings: the raw lines of a session with their times and direction, read back as session inputs.

Three shapes are accepted, told apart by what is there and not by name:
- rows of turnwire's own (spec 3, "Debug Logging"): {"ts","protocol","agent","event","data"}, one a line;
- a folder with timeline.jsonl, stdout.jsonl and stdin.jsonl;
- plain CLI stdout, one message a line, without times.
"""

import base64
import signal as signals
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import msgspec

from normalize.events import from_json
from normalize.inputs import Announced, Decision, Ended, Received, Sent, SessionInput
from protocol.decode import decode, malformed
from protocol.dialects import Overheard
from protocol.framing import LineFramer, OversizeLine

CHUNK = 1 << 20


class RecordingError(Exception):
    """A recording cannot be read; the message says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Timed:
    """Something that happened in the session, and when."""

    at: float | None
    """Seconds since 1970 for rows, since the session's start for a timeline; None where no time was kept."""
    input: SessionInput
    """What happened."""


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
        return _read_timeline(path)
    if not path.exists():
        raise RecordingError(
            f"{path}: there is no such file; give a recording, a folder with a timeline, or the CLI's stdout"
        )
    return _read_rows(path) if is_rows(path) else _read_stdout(path)


def name_of(path: Path) -> str:
    """Return what a recording's session is called: the agent of its rows, or the file's own name."""
    if path.is_file() and is_rows(path):
        with path.open("rb") as file:
            try:
                return _decode_row(file.readline()).agent or path.name
            except msgspec.MsgspecError:
                return path.name
    return path.name


def is_rows(path: Path) -> bool:
    """Tell turnwire's own rows from plain stdout by the first line."""
    with path.open("rb") as file:
        head = file.readline(CHUNK).lstrip()
    return head.startswith(b'{"ts":') or (b'"protocol"' in head[:200] and b'"data"' in head)


def receive(line: bytes | OversizeLine) -> Received:
    """Make a session input of a framed line."""
    if isinstance(line, OversizeLine):
        return Received(line.head, malformed(line))
    return Received(line, decode(line))


def lines(path: Path) -> Iterator[bytes | OversizeLine]:
    """Cut a file into lines in bounded memory."""
    framer = LineFramer()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield from framer.feed(chunk)
    last = framer.close()
    if last is not None:
        yield last


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
        if isinstance(line, OversizeLine):
            raise RecordingError(
                f"{path}, row {number}: {line.size} bytes are no row of a recording; is the file damaged?"
            )
        try:
            row = _decode_row(line)
        except msgspec.MsgspecError as error:
            raise RecordingError(
                f"{path}, row {number}: not a row of a recording ({error}); the file may be cut or damaged there"
            ) from error
        at = datetime.fromisoformat(row.ts).timestamp()
        for item in _row_inputs(row, heard):
            ended = isinstance(item, Ended)
            yield Timed(at, item)
    if not ended:
        yield Timed(at, Ended("end_of_input"))


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


class _TimelineRow(msgspec.Struct):
    t: float
    dir: str
    line: int | None = None
    code: int | None = None


_decode_timeline_row = msgspec.json.Decoder(_TimelineRow).decode

_Lines: TypeAlias = list[bytes | OversizeLine]


def _read_timeline(folder: Path) -> Iterator[Timed]:
    try:
        rows = [
            _decode_timeline_row(row)
            for row in lines(folder / "timeline.jsonl")
            if isinstance(row, bytes) and row
        ]
        received: _Lines = list(lines(folder / "stdout.jsonl"))
        sent: _Lines = list(lines(folder / "stdin.jsonl"))
    except FileNotFoundError as error:
        raise RecordingError(
            f"{folder}: {Path(str(error.filename)).name} is missing; a recording in a folder has timeline.jsonl, stdout.jsonl and stdin.jsonl"
        ) from error
    except msgspec.MsgspecError as error:
        raise RecordingError(f"{folder / 'timeline.jsonl'}: {error}") from error
    code, signal, last = None, None, 0.0
    for row in rows:
        last = row.t
        side = {"recv": received, "send": sent}.get(row.dir)
        if side is not None and row.line is not None and row.line < len(side):
            item = side[row.line]
            if row.dir == "recv":
                yield Timed(row.t, receive(item))
            elif isinstance(item, bytes):
                yield Timed(row.t, Sent(item, decode(item)))
        elif row.dir == "exit":
            code, signal = _exit(row.code)
    stderr = folder / "stderr.txt"
    tail = stderr.read_text(errors="replace")[-4096:] if stderr.exists() else ""
    yield Timed(last, Ended("exited", exit_code=code, signal=signal, stderr_tail=tail))


def _exit(code: int | None) -> tuple[int | None, str | None]:
    """Tell an exit code from a signal, which subprocesses report as a negative code."""
    return (None, signals.Signals(-code).name) if code is not None and code < 0 else (code, None)
