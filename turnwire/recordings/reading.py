"""Recordings: the raw lines of a session with their times and direction, read back as session inputs.

Four shapes are accepted, told apart by what is there and not by name:
- rows of turnwire's own: {"ts","protocol","agent","event","data"}, one a line, in one file
  or in several pieces (turnwire/recordings/pieces.py), which are read as one;
- a folder with timeline.jsonl, stdout.jsonl and stdin.jsonl; of several processes, with timeline.1.jsonl, stdout.1.jsonl and so on;
- plain CLI stdout, one message a line, without times;
- the files that agents keep of their conversations themselves (turnwire/recordings/session_file.py).
"""

import base64
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import get_args

import msgspec

from turnwire.normalize.events import AgentEvent, Notice, from_json
from turnwire.normalize.inputs import Announced, Decision, Ended, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.parsing.depth import TOO_DEEP, is_too_deep
from turnwire.recordings.output import none_read
from turnwire.recordings.pieces import CONTINUES, Piece, one_in, pieces, timelines
from turnwire.recordings.recorded import (
    CHUNK,
    RecordingError,
    Timed,
    Unread,
    check_file,
    foreign,
    lines,
    missing,
    services,
    unread,
)
from turnwire.recordings.session_file import (
    format_of,
    is_session_file,
    read_session_file,
)
from turnwire.recordings.timeline import read_timeline
from turnwire.recordings.unpacked import opened


class Row(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One row of a recording; exactly one of data, line and base64 is there for recv and send."""

    ts: str
    """RFC 3339, UTC."""
    protocol: str = "streamjson"
    """The protocol of the lines."""
    agent: str = ""
    """Which agent."""
    event: str = "recv"
    """recv, send, decision, note, exit or continues; other values are message types, as the original wrote them: received."""
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


_EVENTS = frozenset(str(kind.__struct_config__.tag) for kind in get_args(AgentEvent)) - {"rate_limit"}
"""Types of events that no message has, too."""

LOOKED_AHEAD = 200
"""Inputs that are read at once: what another agent wrote tells it by its first lines."""

UNREADABLE = (msgspec.MsgspecError, RecursionError)
"""What a row that is none raises."""

_decode_row = msgspec.json.Decoder(Row).decode
_decode_decision = msgspec.json.Decoder(Decision).decode
_decode_ended = msgspec.json.Decoder(Ended).decode


def read(path: Path, family: str | None = None) -> Iterator[Timed]:
    """Read a recording of any shape, in order, as a stream: all of it, whichever piece is named.

    `family` names the family whose lines they are; None lets the lines tell. Raises UnknownFamily, and RecordingError, also for a
    file of the events that a recording gave.
    """
    path = _found(path)
    if path.is_dir():
        return _begun(read_timeline(path, family))
    if not is_rows(path):
        kept = None if family is not None else format_of(path)
        return _begun(_read_stdout(path, family)) if kept is None else read_session_file(path, kept.files)
    if _is_events(path):
        raise RecordingError(
            f"{path}: these are the events that a recording gave, not the lines it is made of; "
            f"name {path.name.replace('normalized-', 'raw-', 1) if path.name.startswith('normalized-') else 'the raw file'}, "
            "which was written beside it"
        )
    return _begun(_read_rows(pieces(path), family))


def _begun(recording: Iterator[Timed]) -> Iterator[Timed]:
    """Read how a recording begins: whoever would play one that is another agent's hears it before."""
    return chain(list(islice(recording, LOOKED_AHEAD)), recording)


def _found(path: Path) -> Path:
    """Return the file, or the folder with a timeline, that a name stands for."""
    if not path.exists():
        raise missing(path)
    if path.is_dir() and not (path / "stdout.jsonl").exists():
        return one_in(path)
    if path.is_file():
        check_file(path)
    return path


def name_of(path: Path) -> str:
    """Return what a recording's session is called: the agent of its rows; else its name and what it begins with.

    Files of one name, as plain stdout often has, are so told apart, and a copy is not.
    """
    path = _found(path)
    if path.is_file() and is_rows(path):
        with opened(path) as file:
            try:
                return _decode_row(file.readline()).agent or path.name
            except UNREADABLE:
                return path.name
    if path.is_file() and is_session_file(path):
        return path.stem
    from hashlib import sha256  # noqa: PLC0415 - a filter has no names

    with opened(path / "stdout.jsonl" if path.is_dir() else path) as file:
        return f"{path.name}-{sha256(file.read(CHUNK)).hexdigest()[:8]}"


def is_rows(path: Path) -> bool:
    """Tell turnwire's own rows from plain stdout by the first line."""
    with opened(path) as file:
        head = file.readline(CHUNK).lstrip()
    return head.startswith(b'{"ts":') or (b'"protocol"' in head[:200] and b'"data"' in head)


def _is_events(path: Path) -> bool:
    """Tell rows of events from rows of lines, by the first one."""
    with opened(path) as file:
        try:
            row = _decode_row(file.readline())
        except UNREADABLE:
            return False
    return row.event in _EVENTS or (row.event == "rate_limit" and path.name.startswith("normalized-"))


def length(path: Path) -> int:
    """Return about how many inputs a recording has: its lines, and its end. Reads it, but understands nothing."""
    path = _found(path)
    if path.is_dir():
        return sum(1 + _lines_in(path / f"timeline{part}.jsonl") for part in timelines(path) or [""])
    return 1 + sum(_lines_in(piece.path) for piece in pieces(path)) if is_rows(path) else 1 + _lines_in(path)


def _lines_in(file: Path) -> int:
    try:
        with opened(file) as told:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: told.read(CHUNK), b""))
    except FileNotFoundError as error:
        raise missing(file) from error


def _read_stdout(path: Path, family: str | None) -> Iterator[Timed]:
    """Read a log: the conversation of each service after that of the one before, so that one core can follow."""
    sources, errors = [""], list[Unread | None]()
    for source in sources:  # the first look finds the others
        reader = LineReader(family, holds=True)
        for piece in services(path):
            if piece.source not in sources:
                sources.append(piece.source)
            if piece.source == source:
                for line in piece.lines:
                    yield from (Timed(None, item) for item in reader.received(line))
        yield from (Timed(None, item) for item in reader.close())
        if reader.looks_like is None:
            yield Timed(None, Ended("end_of_input"))
        errors.append(unread(path, reader))
    if (error := none_read(errors)) is not None:
        raise error


def _read_rows(found: Sequence[Piece], family: str | None) -> Iterator[Timed]:
    ended = False
    at = None
    reader = LineReader(family)
    for piece in found:
        lost = piece.lost_before
        for number, line in enumerate(lines(piece.path), 1):
            if not line:
                continue
            try:
                row = _decode_row(b"" if isinstance(line, OversizeLine) else line)
                items = _row_inputs(row, reader)
            except UNREADABLE as error:
                if at is None:
                    raise RecordingError(
                        f"{piece.path}, row {number}: not a row of a recording ({error}); is the file damaged?"
                    ) from error
                # A recorder that was killed leaves half a row; what follows is as good as what came before.
                yield Timed(at, Announced(_damaged(piece.path, number)))
                continue
            at = datetime.fromisoformat(row.ts).timestamp()
            if lost:
                yield Timed(at, Announced(_lost(lost, f"before {piece.path.name}")))
                lost = 0
            for item in items:
                ended = isinstance(item, Ended)
                yield Timed(at, item)
            if reader.looks_like is not None:
                raise foreign(piece.path, reader.looks_like)
    if found and found[-1].lost_behind:
        yield Timed(at, Announced(_lost(found[-1].lost_behind, f"behind {found[-1].path.name}")))
    if not ended:
        yield Timed(at, Ended("end_of_input"))


def _damaged(path: Path, number: int) -> Notice:
    text = f"Row {number} of {path.name} is cut or damaged, and was left out."
    return Notice(kind="recording", level="warning", text=text)


def _lost(count: int, where: str) -> Notice:
    pieces_are = "a piece is" if count == 1 else f"{count} pieces are"
    text = f"The recording is not whole: {pieces_are} missing {where}, with all that happened then."
    return Notice(kind="recording", level="warning", text=text)


def _row_inputs(row: Row, reader: LineReader) -> Sequence[SessionInput]:
    if row.event in ("decision", "exit", "note") and is_too_deep(bytes(row.data)):
        raise RecursionError(TOO_DEEP)
    match row.event:
        case "decision":
            return [_decode_decision(row.data)]
        case _ if row.event == CONTINUES:
            return []
        case "exit":
            return [_decode_ended(row.data)]
        case "note":
            return [Announced(from_json(bytes(row.data)))]
        case "send":
            return reader.sent(row.raw_line())
        case _:
            return reader.received(row.raw_line())
