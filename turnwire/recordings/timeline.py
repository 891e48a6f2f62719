"""Folders with timeline.jsonl, stdout.jsonl and stdin.jsonl: the timeline says which line came when.

The three files are read side by side, so that a long session needs no more memory than a short one.
"""

import os
import signal as signals
from collections.abc import Iterator
from pathlib import Path

import msgspec

from turnwire.normalize.inputs import Ended
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.framing import OversizeLine
from turnwire.recordings.pieces import TIMELINE
from turnwire.recordings.recorded import RecordingError, Timed, foreign, lines, missing

STDERR_TAIL = 4096
"""Bytes of stderr.txt that an end tells."""


class _Row(msgspec.Struct):
    """What happened: a line, or the end, as `{"dir": "exit", "code"}` or as `{"exit"}`; other things are no input."""

    t: float
    dir: str = ""
    line: int | None = None
    code: int | None = None
    exit: int | None = None


_decode = msgspec.json.Decoder(_Row).decode


class _Side:
    """One of the files of lines."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise missing(path)
        self._path = path
        self._lines = enumerate(lines(path))
        self._newest = -1
        """Number of the line that was asked for last."""

    def line(self, number: int) -> bytes | OversizeLine | None:
        """Return a line by its number from 0, each later than the one before; None beyond the end."""
        if number <= self._newest:
            raise RecordingError(
                f"{self._path.parent / TIMELINE}: line {number} of {self._path.name} comes after line {self._newest}"
            )
        self._newest = number
        return next((line for at, line in self._lines if at == number), None)


class _Run(msgspec.Struct):
    """One process of a recording, as meta.json tells it."""

    exit: int | None = None


class _Meta(msgspec.Struct):
    runs: list[_Run] = []


def read_timeline(folder: Path, family: str | None = None) -> Iterator[Timed]:
    """Read a recording in a folder; raises RecordingError."""
    if not (folder / TIMELINE).exists():
        raise missing(folder / TIMELINE)
    reader = LineReader(family)
    return _read(folder, reader, _Side(folder / "stdout.jsonl"), _Side(folder / "stdin.jsonl"))


def _read(folder: Path, reader: LineReader, received: _Side, sent: _Side) -> Iterator[Timed]:
    code, signal, last = None, None, 0.0
    for number, line in enumerate(lines(folder / TIMELINE), 1):
        if not line:
            continue
        try:
            row = _decode(b"" if isinstance(line, OversizeLine) else line)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise RecordingError(f"{folder / TIMELINE}, row {number}: {error}") from error
        last = row.t
        if row.dir == "exit" or row.exit is not None:
            code, signal = _exit(row.code if row.exit is None else row.exit)
        if row.line is None:
            continue
        if row.dir == "recv" and (item := received.line(row.line)) is not None:
            for heard in reader.received(item):
                yield Timed(row.t, heard)
        elif row.dir == "send" and (item := sent.line(row.line)) is not None:
            for told in reader.sent(item):
                yield Timed(row.t, told)
    if reader.looks_like is not None:
        raise foreign(folder, reader.looks_like)
    if code is None and signal is None:
        code, signal = _exit(_told_exit(folder))
    yield Timed(last, Ended("exited", exit_code=code, signal=signal, stderr_tail=_tail(folder)))


def _tail(folder: Path) -> str:
    try:
        with (folder / "stderr.txt").open("rb") as file:
            file.seek(-min(STDERR_TAIL, file.seek(0, os.SEEK_END)), os.SEEK_END)
            return file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""


def _told_exit(folder: Path) -> int | None:
    """Return the exit code that stands beside a timeline which tells none."""
    try:
        runs = msgspec.json.decode((folder / "meta.json").read_bytes(), type=_Meta).runs
    except (OSError, msgspec.MsgspecError):
        return None
    return runs[0].exit if len(runs) == 1 else None


def _exit(code: int | None) -> tuple[int | None, str | None]:
    """Tell an exit code from a signal, which subprocesses report as a negative code."""
    return (None, signals.Signals(-code).name) if code is not None and code < 0 else (code, None)
