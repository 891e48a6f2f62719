"""Folders with timeline.jsonl, stdout.jsonl and stdin.jsonl: the timeline says which line came when.

The three files are read side by side, so that a long session needs no more memory than a short one.
"""

import os
import signal as signals
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from turnwire.normalize.inputs import Ended
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.framing import OversizeLine
from turnwire.recordings.pieces import TIMELINE, timelines
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
    """Read a recording in a folder, of one process or of several, one after another; raises RecordingError."""
    parts = timelines(folder)
    if not parts:
        raise missing(folder / TIMELINE)
    # what is missing or unknown is said at once
    processes = [_Process(folder, part, family) for part in parts]
    return _read(processes)


class _Process:
    """One process of a recording."""

    def __init__(self, folder: Path, part: str, family: str | None) -> None:
        self.folder = folder
        self.timeline = folder / f"timeline{part}.jsonl"
        self.reader = LineReader(family)
        self.received = _Side(folder / f"stdout{part}.jsonl")
        self.sent = _Side(folder / f"stdin{part}.jsonl")
        self._stderr = folder / f"stderr{part}.txt"
        self._number = int(part[1:]) - 1 if part else 0

    def ended(self, code: int | None, signal: str | None) -> Ended:
        """Return how it ended; meta.json says so where the timeline does not."""
        if code is None and signal is None:
            code, signal = _exit(self._told_exit())
        return Ended("exited", exit_code=code, signal=signal, stderr_tail=self._tail())

    def _tail(self) -> str:
        try:
            with self._stderr.open("rb") as file:
                file.seek(-min(STDERR_TAIL, file.seek(0, os.SEEK_END)), os.SEEK_END)
                return file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""

    def _told_exit(self) -> int | None:
        try:
            runs = msgspec.json.decode((self.folder / "meta.json").read_bytes(), type=_Meta).runs
        except (OSError, msgspec.MsgspecError):
            return None
        return runs[self._number].exit if self._number < len(runs) else None


def _read(processes: Sequence[_Process]) -> Iterator[Timed]:
    began = 0.0
    for process in processes:
        code, signal, last = None, None, 0.0
        for number, line in enumerate(lines(process.timeline), 1):
            if not line:
                continue
            try:
                row = _decode(b"" if isinstance(line, OversizeLine) else line)
            except (msgspec.MsgspecError, RecursionError) as error:
                raise RecordingError(f"{process.timeline}, row {number}: {error}") from error
            last = row.t
            if row.dir == "exit" or row.exit is not None:
                code, signal = _exit(row.code if row.exit is None else row.exit)
            if row.line is None:
                continue
            if row.dir == "recv" and (item := process.received.line(row.line)) is not None:
                for heard in process.reader.received(item):
                    yield Timed(began + row.t, heard)
            elif row.dir == "send" and (item := process.sent.line(row.line)) is not None:
                for told in process.reader.sent(item):
                    yield Timed(began + row.t, told)
        if process.reader.looks_like is not None:
            raise foreign(process.folder, process.reader.looks_like)
        began += last
        yield Timed(began, process.ended(code, signal))


def _exit(code: int | None) -> tuple[int | None, str | None]:
    """Tell an exit code from a signal, which subprocesses report as a negative code."""
    return (None, signals.Signals(-code).name) if code is not None and code < 0 else (code, None)
