"""A journal that keeps its events in a file of JSON lines: `turnwire run --journal lines`.

The logs are in memory, as with `--journal memory`. Each change is also written to the file before it is announced, and the
file is played back when the journal is opened. It shows what a plug-in needs; it is not made for large logs.
"""

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self, TextIO

from turnwire.journal.base import KEEP_ALL, Entry, Journal, Retention
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.plugins import JournalOptions, JournalPlugin

Clock = Callable[[], int]
"""Microseconds since 1970."""


def _now() -> int:
    return time.time_ns() // 1000


class LinesJournal(MemoryJournal):
    """Implements `turnwire.journal.base.Journal`; made by `open_file`."""

    def __init__(self, file: TextIO, epoch: str, retention: Retention, clock: Clock, steady: Clock) -> None:
        self._file = file
        self._real_time = clock
        self._played: int | None = None
        """Time of the change that is played back."""
        super().__init__(retention, epoch=epoch, clock=self._time, steady=steady)

    @classmethod
    async def open_file(
        cls, path: Path, retention: Retention = KEEP_ALL, clock: Clock = _now, steady: Clock = _now
    ) -> Self:
        """Open a file, or make it; raises OSError, and ValueError where the file holds something else."""
        file, lines = await asyncio.to_thread(_open_and_read, path)
        journal = cls(file, json.loads(lines[0])["epoch"], retention, clock, steady)
        for line in lines[1:]:
            await journal._play(json.loads(line))
        journal._played = None
        return journal

    async def append(self, session: str, entries: Sequence[Entry]) -> int:
        """Write the entries to the file, then append and announce them."""
        if entries and not self._file.closed:
            self._write({"append": session, "at": self._real_time(), "entries": list(map(_encoded, entries))})
        return await super().append(session, entries)

    async def delete(self, session: str) -> None:
        """Forget a session's events; the file still has them."""
        self._write({"delete": session})
        await super().delete(session)

    async def close(self) -> None:
        """Close the file."""
        self._file.close()

    async def _play(self, change: dict[str, Any]) -> None:
        if "delete" in change:
            await super().delete(change["delete"])
            return
        self._played = change["at"]
        await super().append(change["append"], [_decoded(entry) for entry in change["entries"]])

    def _time(self) -> int:
        return self._real_time() if self._played is None else self._played

    def _write(self, change: dict[str, object]) -> None:
        self._file.write(json.dumps(change) + "\n")
        self._file.flush()


def _open_and_read(path: Path) -> tuple[TextIO, list[str]]:
    """Return the file, open for appending, and its lines; a new file gets its first line, the epoch."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    file = path.open("a", encoding="utf-8")
    if not lines:
        lines = [json.dumps({"epoch": uuid.uuid4().hex})]
        file.write(f"{lines[0]}\n")
    return file, lines


def _encoded(entry: Entry) -> list[str | None]:
    """Return an entry as JSON can hold it; latin-1 maps every byte to one character."""
    parts = (entry.event, entry.whole, entry.raw)
    return [None if part is None else part.decode("latin-1") for part in parts]


def _decoded(parts: Sequence[str | None]) -> Entry:
    event, whole, raw = (None if part is None else part.encode("latin-1") for part in parts)
    return Entry(event or b"", whole, raw)


async def _open(options: JournalOptions, retention: Retention) -> Journal:
    return await LinesJournal.open_file(_path(options), retention)


def _path(options: JournalOptions) -> Path:
    return options.directory / "journal.jsonl"


LINES = JournalPlugin(name="lines", durable=True, open=_open, location=lambda options: str(_path(options)))
