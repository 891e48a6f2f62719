"""Every journal backend behind one way of opening it, and a clock that moves when told to."""

from pathlib import Path
from typing import Protocol

from journal.base import KEEP_ALL, Journal, Retention
from journal.memory import MemoryJournal
from journal.sqlite import SqliteJournal
from journal.stamps import MICROSECONDS, Clock


class FakeClock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.micros = 1_800_000_000 * MICROSECONDS

    def __call__(self) -> int:
        return self.micros

    def advance(self, seconds: float) -> None:
        self.micros += int(seconds * MICROSECONDS)


class Opener(Protocol):
    """Opens the backend's journal; a durable one is the same one each time, once the last was closed."""

    durable: bool

    async def __call__(self, retention: Retention = KEEP_ALL, clock: Clock | None = None) -> Journal: ...


class MemoryOpener:
    """Opens an empty journal each time."""

    durable = False

    async def __call__(self, retention: Retention = KEEP_ALL, clock: Clock | None = None) -> Journal:
        return MemoryJournal(retention, clock=clock or FakeClock())


class SqliteOpener:
    """Opens the journal in one file."""

    durable = True

    def __init__(self, path: Path) -> None:
        self._path = path

    async def __call__(self, retention: Retention = KEEP_ALL, clock: Clock | None = None) -> Journal:
        return await SqliteJournal.open(self._path, retention, clock=clock or FakeClock())
