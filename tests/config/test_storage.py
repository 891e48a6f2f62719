"""Where a sidecar keeps its events and records, by configuration."""

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest

from journals import RedisProcess
from turnwire.config.settings import Settings
from turnwire.config.state_directory import journal_file
from turnwire.config.storage import MEMORY_BYTES, open_journal
from turnwire.journal.base import Entry, JournalUnavailable
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize.events.envelope import Cursor

RECORD = SessionRecord(session="s", created="2026-01-02T03:04:05.678901Z")


async def keep_and_count(settings: Settings) -> tuple[int, int]:
    """Add an event and a record; return how many events and records there are then."""
    async with open_journal(settings) as (journal, sessions):
        await journal.append("s", [Entry(b"{}")])
        await journal.flush()
        await sessions.put(RECORD)
        page = await journal.read_after("s", Cursor("", 0))
        return len(page.envelopes), len(await sessions.list())


@pytest.mark.parametrize(
    ("given", "kept"),
    [({}, MEMORY_BYTES), ({"retain_bytes": 1 << 20}, 1 << 20), ({"retain_bytes": None}, None)],
)
async def test_events_in_memory_are_bounded_where_nothing_else_is_set(
    given: dict[str, int | None], kept: int | None
) -> None:
    settings = Settings(journal="memory", **given)  # type: ignore[arg-type]  # values of one setting
    appended = 80 << 20
    async with open_journal(settings) as (journal, _):
        for _ in range(80):
            await journal.append("s", [Entry(b"x" * (1 << 20))])
        (log,) = await journal.logs()
        assert log.last == 80
        size = sum(
            len(page.event)
            for page in (await journal.read_after("s", Cursor("", 0), count=100, size=1 << 30)).envelopes
        )
        assert size <= (kept or appended)
        assert size >= (appended if kept is None else kept * 7 // 8)


async def test_in_a_file_events_and_records_survive(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state")
    assert [await keep_and_count(settings) for _ in range(3)] == [(1, 1), (2, 1), (3, 1)]


@pytest.mark.parametrize("durability", ["process", "power"])
async def test_the_file_is_opened_with_the_durability_that_is_configured(
    tmp_path: Path, durability: Literal["process", "power"]
) -> None:
    settings = Settings(durability=durability, state_dir=tmp_path)
    await keep_and_count(settings)
    with closing(sqlite3.connect(journal_file(settings))) as connection:
        found = connection.execute("SELECT value FROM meta WHERE name = 'durability'").fetchone()
    assert found == (durability,)


async def test_in_memory_nothing_does_and_no_file_is_made(tmp_path: Path) -> None:
    settings = Settings(journal="memory", state_dir=tmp_path / "state")
    assert [await keep_and_count(settings) for _ in range(2)] == [(1, 1), (1, 1)]
    assert not settings.state_dir.exists()


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
async def test_in_redis_events_survive_and_the_records_do_in_the_sidecars_own_file(tmp_path: Path) -> None:
    # A path of a socket may have about a hundred characters.
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisProcess(Path(folder))
        server.start()
        settings = [
            Settings(journal="redis", redis_url=server.url, state_dir=tmp_path / name)
            for name in ("one", "one", "two")
        ]
        assert [await keep_and_count(each) for each in settings] == [(1, 1), (2, 1), (3, 1)]
        server.kill()
    with pytest.raises(JournalUnavailable, match=r"The Redis at .* cannot be used"):
        await keep_and_count(settings[0])
    async with open_journal(Settings(state_dir=tmp_path / "one")) as (_, sessions):
        assert await sessions.list() == [RECORD]


async def test_without_redis_installed_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.startswith(("redis", "turnwire.journal.redis"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(JournalUnavailable, match=r"turnwire\[redis\]"):
        await keep_and_count(Settings(journal="redis", state_dir=tmp_path))


async def test_the_configured_retention_is_applied(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, retain_events=2)
    assert [await keep_and_count(settings) for _ in range(4)] == [(1, 1), (2, 1), (2, 1), (2, 1)]
