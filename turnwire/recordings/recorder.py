"""Writes recordings: the raw lines of a session, and beside them the events they gave.

The event loop only puts rows into a bounded backlog; one thread appends them to the files. A disk that cannot keep
up, or is full, ends the recording with a log line that says so, never the session.
"""

import base64
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from turnwire._runtime.private_files import open_private
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.inputs import Announced, Decision, Ended, Received, Sent, SessionInput
from turnwire.protocol.parsing.depth import is_too_deep
from turnwire.recordings.pieces import CONTINUES, number_of, set_aside
from turnwire.recordings.recorded import RecordingError
from turnwire.recordings.timestamps import format_ts

log = logging.getLogger(__name__)

BACKLOG = 64 << 20
"""Bytes of rows that may wait for the disk; beyond it the recording ends."""

ROTATE_AT = 256 << 20
"""Bytes after which a file is set aside as NAME.1 (and that one as NAME.2, …)."""

KEEP = 9
"""Files that are set aside, at most, of each name."""


class Recorder:
    """Records one agent's session; `tap` is to be called for every input with its events."""

    def __init__(
        self, folder: Path, agent: str, *, rotate_at: int = ROTATE_AT, clock: Callable[[], float] = time.time
    ) -> None:
        """Open the files for appending; raises OSError."""
        self._clock = clock
        self._agent = json.dumps(agent)
        self._raw = _File(folder / f"raw-streamjson-{agent}.jsonl", rotate_at, self._continues)
        self._normalized = _File(folder / f"normalized-streamjson-{agent}.jsonl", rotate_at, self._continues)
        self._waiting: list[tuple[_File, bytes]] = []
        self._size = 0
        self._open = True
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._write, name=f"recorder {agent}", daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path:
        """The file with the raw lines: what `turnwire replay` takes."""
        return self._raw.path

    def tap(self, item: SessionInput, events: Sequence[AgentEvent], at: int | None = None) -> None:
        """Record an input and its events, of now or of a moment in nanoseconds since 1970; returns at once."""
        ts = format_ts(self._clock() if at is None else at / 1e9)
        rows = [(self._raw, self._row(ts, *_told(item)))]
        rows += [
            (self._normalized, self._row(ts, event.type, b'"data":' + to_json(event))) for event in events
        ]
        with self._changed:
            if not self._open:
                return
            self._size += sum(len(row) for _, row in rows)
            if self._size > BACKLOG:
                self._open = False
                log.error(
                    "recording ended: the disk is too slow",
                    extra={"path": str(self.path), "backlog": self._size},
                )
            else:
                self._waiting += rows
            self._changed.notify()

    def end(self) -> None:
        """Take nothing more; what waits is written, and the files are closed, behind the caller's back."""
        with self._changed:
            self._open = False
            self._changed.notify()

    def close(self) -> None:
        """Write what waits, and close the files."""
        self.end()
        self._thread.join()

    def _continues(self, number: int) -> bytes:
        return self._row(format_ts(self._clock()), CONTINUES, _data(b'{"piece":%d}' % number))

    def _row(self, ts: str, event: str, rest: bytes) -> bytes:
        head = f'{{"ts":"{ts}","protocol":"streamjson","agent":{self._agent},"event":"{event}",'
        return head.encode() + rest + b"}\n"

    def _write(self) -> None:
        going = True
        while going:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or not self._open)
                rows, self._waiting, self._size = self._waiting, [], 0
                going = self._open
            try:
                for file in (self._raw, self._normalized):
                    file.append(b"".join(row for target, row in rows if target is file))
            except OSError as error:
                log.warning(
                    "recording ended: the file cannot be written",
                    extra={"path": str(self.path), "error": str(error)},
                )
                with self._changed:
                    self._open = going = False
        self._raw.close()
        self._normalized.close()


def check_folder(folder: Path) -> None:
    """Make the folder of recordings; raises RecordingError when nothing can be written there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = None if os.access(folder, os.W_OK | os.X_OK) else "not writable"
    except OSError as error:
        reason = error.strerror or str(error)
    if reason is not None:
        raise RecordingError(
            f"{folder}: recordings cannot be written there ({reason}); name another folder with --record-dir"
        )


class _File:
    """A file that only grows, and is set aside when it is large."""

    def __init__(self, path: Path, rotate_at: int, head: Callable[[int], bytes]) -> None:
        """`head`: the first row of a piece with others before it, from its number."""
        self.path = path
        self._rotate_at = rotate_at
        self._head = head
        self._open()

    def append(self, data: bytes) -> None:
        if data and self._size and self._size + len(data) > self._rotate_at:
            self._rotate()
        while data:
            written = os.write(self._descriptor, data)
            self._size += written
            data = data[written:]

    def close(self) -> None:
        os.close(self._descriptor)

    def _open(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = open_private(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._size = os.fstat(self._descriptor).st_size
        if self._size and not self._ends_well():
            self._size += os.write(self._descriptor, b"\n")
        if not self._size and (older := set_aside(self.path)):
            number = number_of(older[min(older)]) or len(older)
            self._size += os.write(self._descriptor, self._head(number + 1))

    def _ends_well(self) -> bool:
        """Tell whether the last row is whole: one of a recorder that was killed may not be."""
        return os.pread(self._descriptor, 1, self._size - 1) == b"\n"

    def _rotate(self) -> None:
        self.close()
        for number in range(KEEP, 0, -1):
            older = self.path if number == 1 else self.path.with_name(f"{self.path.name}.{number - 1}")
            if older.exists():
                older.replace(self.path.with_name(f"{self.path.name}.{number}"))
        self._open()


def _told(item: SessionInput) -> tuple[str, bytes]:
    """Return what a row says of an input: its `event`, and its last field."""
    match item:
        case Received():
            return "recv", _line(item.line)
        case Sent():
            return "send", _line(item.line)
        case Decision():
            return "decision", _data(msgspec.json.encode(item))
        case Ended():
            return "exit", _data(msgspec.json.encode(item))
        case Announced():
            return "note", _data(to_json(item.event))


def _line(line: bytes) -> bytes:
    """A line as it is, when it can stand in a row as JSON; else as a string, else encoded."""
    if line.startswith(b"{") and line.endswith(b"}") and not is_too_deep(line):
        try:
            msgspec.json.decode(line, type=dict[str, msgspec.Raw])
            return _data(line)
        except msgspec.MsgspecError:
            pass
    try:
        return b'"line":' + msgspec.json.encode(line.decode())
    except UnicodeDecodeError:
        return b'"base64":' + msgspec.json.encode(base64.b64encode(line).decode())


def _data(value: bytes) -> bytes:
    return b'"data":' + value
