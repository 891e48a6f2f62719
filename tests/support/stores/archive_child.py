"""A worker's journal that moves a session's events into a file and is killed in one step of it; for tests/journal.

    python archive_child.py URL FOLDER STEP LAST

Fills the log of session `a` up to LAST, and moves it. STEP is written, synced, renamed, moved, read, or never.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from turnwire.journal.redis import archive, archive_file
from turnwire.journal.redis.archive_file import ArchivedEvent, ArchiveWriter, Part
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.redis.server import RedisServer
from turnwire.testing.journal_contract import BEGINNING, fill

STEP = sys.argv[3]


def _at(step: str) -> None:
    if step == STEP:
        os.kill(os.getpid(), signal.SIGKILL)


def _patch() -> None:
    fsync, finish, set_archive = os.fsync, ArchiveWriter.finish, RedisServer.set_archive
    read_part = archive_file.read_part

    def synced(descriptor: int) -> None:
        _at("written")
        fsync(descriptor)
        _at("synced")

    def finished(writer: ArchiveWriter, path: Path) -> list[Part]:
        parts = finish(writer, path)
        _at("renamed")
        return parts

    async def moved(server: RedisServer, session: str, *rest: Any) -> bool:
        done = await set_archive(server, session, *rest)
        assert done
        _at("moved")
        return done

    def reading(path: Path, session: str, part: Part) -> Sequence[ArchivedEvent]:
        rows = read_part(path, session, part)
        _at("read")
        return rows

    patch = pytest.MonkeyPatch()
    patch.setattr(os, "fsync", synced)
    patch.setattr(ArchiveWriter, "finish", finished)
    patch.setattr(RedisServer, "set_archive", moved)
    patch.setattr(archive, "read_part", reading)


async def _main(url: str, folder: Path, last: int) -> None:
    journal = await RedisJournal.open(url, owner="w", archive_dir=folder, archive_after_s=0)
    if last > 10:
        assert await journal.claim("a")
    await fill(journal, "a", last)
    _patch()
    if STEP == "read":
        # Of a file that is there, for the next one or for a frontend.
        await journal.archive_quiet()
        reader = await RedisJournal.open(url, reads_only=True, archive_dir=folder)
        await reader.read_after("a", BEGINNING)
    await journal.archive_quiet()
    await journal.close()


asyncio.run(_main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[4])))
