"""Every journal backend behind one way of opening it."""

import subprocess
import time
from pathlib import Path
from urllib.parse import unquote

import attached

from turnwire.journal.base import KEEP_ALL, Journal, Retention
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.redis.archive import Archive
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.testing.journal_contract import FakeClock


class MemoryOpener:
    """Opens an empty journal each time."""

    durable = False

    async def __call__(self, retention: Retention = KEEP_ALL, clock: FakeClock | None = None) -> Journal:
        clock = clock or FakeClock()
        return MemoryJournal(retention, clock=clock, steady=clock.steady)


class SqliteOpener:
    """Opens the journal in one file."""

    durable = True

    def __init__(self, path: Path) -> None:
        self._path = path

    async def __call__(self, retention: Retention = KEEP_ALL, clock: FakeClock | None = None) -> Journal:
        clock = clock or FakeClock()
        return await SqliteJournal.open(self._path, retention, clock=clock, steady=clock.steady)


class RedisOpener:
    """Opens the journal under one prefix of a server."""

    durable = True

    def __init__(self, url: str, prefix: str) -> None:
        self._url = url
        self._prefix = prefix

    async def __call__(self, retention: Retention = KEEP_ALL, clock: FakeClock | None = None) -> Journal:
        clock = clock or FakeClock()
        return await RedisJournal.open(
            self._url, retention, prefix=self._prefix, clock=clock, steady=clock.steady
        )


class ArchivedJournal(RedisJournal):
    """A worker's journal that has all events in files as soon as they are readable."""

    async def flush(self, session: str | None = None) -> None:
        await super().flush(session)
        await self.archive_quiet()

    async def _move_quiet(self, archive: Archive) -> None:
        """Leave it to `flush`."""


class ArchiveOpener(RedisOpener):
    """Opens the journal of a worker whose events are in files; each life claims all logs of the one before."""

    def __init__(self, url: str, prefix: str, folder: Path) -> None:
        super().__init__(url, prefix)
        self._folder = folder

    async def __call__(self, retention: Retention = KEEP_ALL, clock: FakeClock | None = None) -> Journal:
        clock = clock or FakeClock()
        journal = await ArchivedJournal.open(
            self._url,
            retention,
            prefix=self._prefix,
            clock=clock,
            steady=clock.steady,
            owner="w",
            archive_dir=self._folder,
            archive_after_s=0,
        )
        for found in self._folder.glob("*.archive"):
            await journal.claim(unquote(found.name.split(".", maxsplit=1)[0]))
        return journal


class RedisProcess:
    """A redis-server of our own, on a socket in a folder, that can be killed and started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.socket = folder / "redis.sock"
        self.url = f"unix://{self.socket}"
        self._command = [
            "redis-server",
            "--port",
            "0",
            "--unixsocket",
            str(self.socket),
            "--dir",
            str(folder),
            "--save",
            "",
            *options,
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder / "redis.log"

    def start(self) -> None:
        """Start it and return once it answers."""
        self._log.write_bytes(b"")
        self._process = attached.start(self._command, self._log)
        while b"ready to accept connections" not in self._log.read_bytes().lower():
            if self._process.poll() is not None:
                raise RuntimeError(f"redis-server ended before it was ready: {self._log.read_text()}")
            time.sleep(0.01)  # a file tells nobody that it grows

    @property
    def pid(self) -> int:
        """Its process's id, while it runs."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """Kill it, as a crash does."""
        if self._process is not None:
            attached.kill(self._process)
            self._process = None
