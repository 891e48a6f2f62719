"""Events of quiet sessions in files: each is in Redis or in a file, with its number, and read the same from both."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisUnreachable

from journals import RedisProcess
from turnwire.journal.base import KEEP_ALL, Entry, Gap, JournalUnavailable, Retention
from turnwire.journal.redis import archive as archive_module
from turnwire.journal.redis import archive_file
from turnwire.journal.redis.archive import LEFT_S, Archive, identity_of
from turnwire.journal.redis.archive_file import ArchiveUnreadable, ArchiveWriter
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.redis.server import Ownership, RedisServer
from turnwire.normalize.events.envelope import Cursor
from turnwire.testing.journal_contract import (
    BEGINNING,
    FakeClock,
    Progress,
    entries,
    event,
    fill,
    read_all,
    seqs,
)

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")

ROOT = Path(__file__).parents[2]
CHILD = ROOT / "tests/support/stores/archive_child.py"

Open = Callable[..., Any]


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events are moved when a test says so."""
    monkeypatch.setattr("turnwire.journal.redis.journal.MOVE_S", 3600.0)


@pytest.fixture
def server() -> Iterator[RedisProcess]:
    with TemporaryDirectory(prefix="redis-") as folder:
        process = RedisProcess(Path(folder), "--appendonly", "yes", "--appendfsync", "always")
        process.start()
        yield process
        process.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
async def opened(server: RedisProcess, folder: Path) -> AsyncIterator[Open]:
    """Opens journals, and closes them at the end."""
    journals: list[RedisJournal] = []

    async def open_one(owner: str | None = "w", retention: Retention = KEEP_ALL, **more: Any) -> RedisJournal:
        given = {"archive_dir": folder, "archive_after_s": None if owner is None else 0.0, **more}
        journal = await RedisJournal.open(
            server.url, retention, owner=owner, reads_only=owner is None, **given
        )
        journals.append(journal)
        return journal

    yield open_one
    for journal in journals:
        await journal.close()


@pytest.fixture
async def redis(server: RedisProcess) -> AsyncIterator[Redis]:
    client = Redis.from_url(server.url)
    yield client
    await client.aclose()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.archive*"))


async def heard(journal: RedisJournal, last: int) -> None:
    """Wait until a reader has heard of an event of session `a`."""
    progress = Progress()
    unwatch = journal.watch(progress)
    if journal.last("a") < last:
        await progress.reaches("a", last)
    unwatch()


async def numbers(journal: RedisJournal, session: str = "a") -> list[int]:
    pages = await read_all(journal, session, BEGINNING, count=7)
    assert [page.gap for page in pages if page.gap is not None] == []
    for page in pages:
        assert [one.event for one in page.envelopes] == [event(one.seq) for one in page.envelopes]
    return [seq for page in pages for seq in seqs(page.envelopes)]


async def test_events_of_a_quiet_session_leave_redis_and_are_read_from_their_file_by_all(
    opened: Open, redis: Redis, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    worker, hub = await opened(), await opened(None)
    raw, whole = b"\x00\xff raw \n", b'{"whole":true}'
    await worker.append("a", [*entries(1, 19), Entry(event(20), whole=whole, raw=raw)])
    await worker.flush()
    assert await redis.exists("turnwire:log:a", "turnwire:beside:a") == 2
    await worker.archive_quiet()
    assert await redis.exists("turnwire:log:a", "turnwire:beside:a") == 0
    (first,) = files(folder)
    assert (folder / first).stat().st_mode & 0o777 == 0o600
    later = await opened(None)
    assert later.epoch == worker.epoch, "events that are in a file are not lost"
    assert await numbers(later) == list(range(1, 21))
    found = await later.whole("a", 20)
    assert found is not None
    assert (found.event, found.raw) == (whole, raw)
    assert await later.whole("a", 21) is None
    page = await later.read_after("a", Cursor(worker.epoch, 18))
    assert (seqs(page.envelopes), page.gap, page.last) == ([19, 20], None, 20)

    # The session goes on: what is new is in Redis, and readers get both.
    await worker.append("a", entries(21, 25))
    await worker.flush()
    assert await redis.xlen("turnwire:log:a") == 5
    for reader in (await opened(None), later):
        assert await numbers(reader) == list(range(1, 26))
    await worker.archive_quiet()
    assert await redis.exists("turnwire:log:a") == 0
    second = next(name for name in files(folder) if name != first)
    assert await numbers(await opened(None)) == list(range(1, 26))
    assert (await hub.whole("a", 20)) == found
    assert later.damaged == hub.damaged == 0

    # Who reads the former file, or has a backup of Redis that names it, has an hour.
    assert files(folder) == sorted([first, second])
    for name in (first, second):
        os.utime(folder / name, (0, 0))
    archive = worker._archive
    assert archive is not None
    await archive.sweep(at_once=True)
    assert files(folder) == [second]
    assert await numbers(later) == list(range(1, 26))
    moved = [one for one in caplog.records if "quiet session" in one.message]
    await worker.archive_quiet()
    assert len([one for one in caplog.records if "quiet session" in one.message]) == len(moved), (
        "nothing is moved twice"
    )


async def test_a_next_life_of_the_worker_knows_what_is_in_files_and_goes_on_after_it(
    opened: Open, redis: Redis, folder: Path
) -> None:
    first = await opened()
    await fill(first, "a", 10)
    await first.archive_quiet()
    second = await opened()
    assert await second.claim("a")
    before = files(folder)
    await second.archive_quiet()
    assert files(folder) == before, "its events are in a file already"
    await fill(second, "a", 12)
    assert await numbers(second) == list(range(1, 13))
    # another worker of the group, which shares the folder
    other = await opened("other")
    assert await other.claim("a", Ownership("w", second.fence("a")))
    await fill(other, "a", 14)
    await other.archive_quiet()
    assert await redis.exists("turnwire:log:a") == 0
    assert await numbers(await opened(None)) == list(range(1, 15))


async def test_a_former_owner_and_one_whose_log_grew_meanwhile_move_nothing(
    opened: Open, redis: Redis, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, other = await opened(), await opened("other")
    await fill(worker, "a", 5)
    await fill(worker, "b", 5)
    finish = ArchiveWriter.finish

    def cut_off(writer: ArchiveWriter, path: Path) -> object:
        # Another worker takes the one, the other goes on, after they were read.
        done = finish(writer, path)
        meanwhile.append(path)
        return done

    meanwhile: list[Path] = []
    set_archive = RedisServer.set_archive

    async def after_others(server: RedisServer, session: str, *rest: Any) -> bool:
        if session == "a":
            assert await other.claim("a", Ownership("w", 1))
        else:
            await fill(worker, "b", 6)
        return await set_archive(server, session, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(ArchiveWriter, "finish", cut_off)
        patched.setattr(RedisServer, "set_archive", after_others)
        await worker.archive_quiet()
    assert len(meanwhile) == 2
    assert files(folder) == []
    assert await redis.xlen("turnwire:log:a") == 5
    assert await redis.xlen("turnwire:log:b") == 6
    await fill(other, "a", 6)
    reader = await opened(None)
    assert await numbers(reader, "a") == await numbers(reader, "b") == [1, 2, 3, 4, 5, 6]


async def test_of_two_that_move_one_log_at_a_time_the_later_one_moves_nothing(
    opened: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, twin = await opened(), await opened()
    await fill(worker, "a", 600)
    await twin.claim("a")
    twin_rows: list[int] = []
    rows = RedisServer.rows

    async def between_pages(server: RedisServer, session: str, after: int, last: int, count: int) -> Any:
        if after and not twin_rows:
            twin_rows.append(after)
            assert await worker.claim("a")
            await worker.archive_quiet()
        return await rows(server, session, after, last, count)

    monkeypatch.setattr(RedisServer, "rows", between_pages)
    archive = twin._archive
    assert archive is not None
    monkeypatch.setattr(twin._server, "_fence", lambda _: ("w", "3"))
    await archive.move("a", 2)
    assert twin_rows
    assert len(files(folder)) == 1
    assert await numbers(await opened(None)) == list(range(1, 601))


async def test_a_session_that_is_deleted_while_its_file_is_written_leaves_none(
    opened: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = await opened()
    await fill(worker, "a", 5)
    set_archive = RedisServer.set_archive

    async def after_the_end(server: RedisServer, session: str, *rest: Any) -> bool:
        await worker.delete("a")
        return await set_archive(server, session, *rest)

    monkeypatch.setattr(RedisServer, "set_archive", after_the_end)
    await worker.archive_quiet()
    assert files(folder) == []
    assert await worker.logs() == []


async def test_deleting_a_session_removes_its_file_also_where_its_worker_is_gone(
    opened: Open, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    worker, hub = await opened(), await opened(None)
    for session in ("a", "b", "c"):
        await fill(worker, session, 5)
    await worker.archive_quiet()
    assert len(files(folder)) == 3
    await worker.delete("a")
    page = await worker.read_after("a", BEGINNING)
    assert (page.envelopes, page.gap) == ([], Gap(1, 5))
    assert [name.partition(".")[0] for name in files(folder)] == ["b", "c"]
    await fill(worker, "a", 6)
    assert seqs((await worker.read_after("a", Cursor(worker.epoch, 5))).envelopes) == [6]
    assert await hub.delete_from("b", Ownership("w", 1)) == 2
    assert [name.partition(".")[0] for name in files(folder)] == ["c"]

    def refused(path: Path, *, missing_ok: bool = False) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", refused)
        assert await hub.delete_from("c", Ownership("w", 1)) == 2
    assert "could not be removed" in caplog.text
    # It is nobody's now, so any worker's to remove.
    for name in files(folder):
        os.utime(folder / name, (0, 0))
    archive = worker._archive
    assert archive is not None
    await archive.sweep(at_once=True)
    assert files(folder) == []


async def test_a_sweep_removes_only_what_an_owner_knows_to_be_left(opened: Open, folder: Path) -> None:
    worker, other = await opened(), await opened("other")
    await fill(worker, "a", 5)
    await fill(other, "b", 5)
    await worker.archive_quiet()
    named = files(folder)
    left = ["a.1.00000000.archive", "a.1.00000001.archive.tmp"]
    kept = [
        "a.2.00000000.archive",  # a later owner's
        "b.1.00000000.archive",  # another worker's
        "unknown.1.00000000.archive",  # Redis may have been put back from a backup
        "notes.archive.txt",
    ]
    for name in (*left, *kept):
        (folder / name).write_bytes(b"")
    archive = worker._archive
    assert archive is not None
    await archive.sweep(at_once=True)
    assert set(left) <= set(files(folder)), "they are young"
    for path in folder.iterdir():
        os.utime(path, (0, 0))
    await archive.sweep()
    assert set(left) <= set(files(folder)), "once an hour is enough"
    await archive.sweep(at_once=True)
    assert files(folder) == sorted([*named, *kept])
    assert await numbers(worker) == [1, 2, 3, 4, 5]


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def bit_flipped_in_a_part(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(archive_file.MAGIC) + 20] ^= 1
    path.write_bytes(bytes(data))


def bit_flipped_in_the_index(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(bytes(data))


def trailer_lost(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-82] + b"z" * 82)


def another_sessions(path: Path) -> None:
    (other,) = [one for one in path.parent.glob("*.archive") if one.name.startswith("b.")]
    path.write_bytes(other.read_bytes())


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (cut_short, "not a whole file"),
        (emptied, "cut short"),
        (bit_flipped_in_a_part, "checksum of the events 1 to 5"),
        (bit_flipped_in_the_index, "checksum of its index"),
        (trailer_lost, "not a whole file"),
        (another_sessions, "it has events of session 'b'"),
        (a_folder, "Is a directory"),
        (Path.unlink, "is not there. The machine"),
    ],
)
async def test_a_file_that_is_gone_or_spoilt_costs_its_session_s_old_events_and_nothing_else(
    opened: Open, folder: Path, spoil: Callable[[Path], None], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    worker = await opened()
    for session in ("a", "b"):
        await fill(worker, session, 5)
    await worker.archive_quiet()
    (path,) = folder.glob("a.*")
    spoil(path)
    hub = await opened(None)
    for read in (hub.read_after("a", BEGINNING), hub.whole("a", 1)):
        with pytest.raises(ArchiveUnreadable) as refusal:
            await read
        assert why in str(refusal.value)
        assert str(path) in str(refusal.value)
        assert "from a backup" in str(refusal.value)
    assert hub.trouble is None
    assert await numbers(hub, "b") == [1, 2, 3, 4, 5]
    await fill(worker, "a", 7)
    await heard(hub, 7)
    assert seqs((await hub.read_after("a", Cursor(hub.epoch, 5))).envelopes) == [6, 7]
    # What cannot be joined with the file stays in Redis, and the log says so once.
    fresh = await opened()
    assert await fresh.claim("a")
    await fresh.archive_quiet()
    await fresh.archive_quiet()
    assert len([one for one in caplog.records if "they cannot be moved" in one.message]) == 1
    assert seqs((await hub.read_after("a", Cursor(hub.epoch, 5))).envelopes) == [6, 7]
    # It can be deleted, as the message says.
    if path.is_dir():
        path.rmdir()
    await fresh.delete("a")
    assert list(folder.glob("a.*")) == []


async def test_a_reader_finds_the_new_file_when_the_old_one_goes_meanwhile(
    opened: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, hub = await opened(), await opened(None)
    await fill(worker, "a", 5)
    await worker.archive_quiet()
    (old,) = folder.glob("a.*")
    archive_of = RedisServer.archive_of
    asked: list[str] = []

    async def before_the_change(server: RedisServer, session: str) -> object:
        found = await archive_of(server, session)
        if not asked:
            asked.append(session)
            monkeypatch.setattr(RedisServer, "archive_of", archive_of)
            await fill(worker, "a", 6)
            await worker.archive_quiet()
            old.unlink()
        return found

    monkeypatch.setattr(RedisServer, "archive_of", before_the_change)
    assert (await numbers(hub))[:5] == [1, 2, 3, 4, 5]
    assert asked
    await heard(hub, 6)
    assert await numbers(hub) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("retention", "kept"),
    [
        (Retention(max_count=10), 10),
        (Retention(max_bytes=10 * len(event(10))), 10),
        (Retention(max_age_s=50), 10),
    ],
)
async def test_retention_takes_from_a_file_what_it_would_take_from_redis_and_the_file_follows(
    opened: Open, folder: Path, redis: Redis, retention: Retention, kept: int
) -> None:
    clock = FakeClock()
    worker = await opened("w", retention, clock=clock, steady=clock.steady)
    for number in range(10, 30):
        await worker.append("a", [Entry(event(number))])
        await worker.flush()
        await worker.archive_quiet()
        clock.advance(5)
    await worker.retain()
    await worker.archive_quiet()
    (log,) = await worker.logs()
    assert kept - 2 <= log.last - log.first + 1 <= kept
    assert log.size == sum(len(event(number)) for number in range(9 + log.first, 9 + log.last + 1))
    page = await (await opened(None)).read_after("a", Cursor("", 0))
    assert page.gap == Gap(1, log.first - 1)
    assert [one.event for one in page.envelopes] == [event(9 + seq) for seq in range(log.first, 21)]
    newest = max(folder.glob("a.*"), key=lambda path: path.stat().st_mtime_ns)
    (name,) = cast("list[bytes]", await redis.hmget("turnwire:state:a", ["archive"]))
    named = name.decode().split()[0]
    assert named in {path.name for path in folder.glob("a.*")}
    parts = archive_file.read_index(folder / named, "a")
    assert parts[0].last >= log.first, f"what was dropped is not in the newest file {newest.name} any more"
    if retention.max_age_s is not None:
        clock.advance(1000)
        await worker.retain()
        assert await redis.hget("turnwire:state:a", "archive") is None
        page = await (await opened(None)).read_after("a", Cursor("", 0))
        assert (page.gap, list(page.envelopes)) == (Gap(1, 20), [])
        archive = worker._archive
        assert archive is not None
        for path in folder.glob("a.*"):
            os.utime(path, (0, 0))
        await archive.sweep(at_once=True)
        assert files(folder) == []


async def test_a_server_that_lost_the_newest_events_still_knows_the_file(opened: Open, redis: Redis) -> None:
    worker = await opened()
    await fill(worker, "a", 5)
    await worker.archive_quiet()
    await fill(worker, "a", 8)
    await redis.hset("turnwire:state:a", "last", "6")
    await redis.xtrim("turnwire:log:a", maxlen=0)
    await fill(worker, "a", 9)
    hub = await opened(None)
    pages = await read_all(hub, "a", BEGINNING)
    assert [seq for page in pages for seq in seqs(page.envelopes)] == [1, 2, 3, 4, 5, 9]
    assert [page.gap for page in pages if page.gap] == [Gap(6, 8)]


async def test_events_stay_in_redis_where_the_folder_takes_no_files(
    opened: Open,
    redis: Redis,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    folder: Path,
) -> None:
    worker = await opened()
    await fill(worker, "a", 5)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        for _ in range(2):
            with pytest.raises(JournalUnavailable, match="No space left"):
                await worker.archive_quiet()
    assert len([one for one in caplog.records if "they cannot be moved" in one.message]) == 1
    assert files(folder) == []
    assert await redis.xlen("turnwire:log:a") == 5
    await worker.archive_quiet()
    assert await redis.exists("turnwire:log:a") == 0
    # A Redis that goes away in the last step may have done it: the file stays.
    await fill(worker, "b", 3)

    async def away(*_: object) -> bool:
        raise RedisUnreachable("gone")

    with monkeypatch.context() as patched:
        patched.setattr(RedisServer, "set_archive", away)
        with pytest.raises(JournalUnavailable, match="gone"):
            await worker.archive_quiet()
    assert len(list(folder.glob("b.*.archive"))) == 1
    await worker.archive_quiet()
    assert await numbers(worker, "b") == [1, 2, 3]


async def test_what_cannot_be_moved_is_passed_over(opened: Open, redis: Redis, folder: Path) -> None:
    worker = await opened()
    long = "x" * 300
    await fill(worker, long, 2)
    await fill(worker, "empty", 2)
    await redis.delete("turnwire:log:empty")
    await worker.archive_quiet()
    assert files(folder) == []
    assert await numbers(worker, long) == [1, 2]
    for value in (b"name.archive host", b"a/b host", b""):
        await redis.hset(
            "turnwire:state:empty", mapping={"archive": value, "archived": "x:1:1" if value else ""}
        )
        if value.startswith(b"name"):
            with pytest.raises(JournalUnavailable, match="cannot be read"):
                await (await opened(None)).read_after("empty", BEGINNING)
        else:
            page = await (await opened(None)).read_after("empty", BEGINNING)
            assert list(page.envelopes) == []


async def test_a_folder_has_one_id_and_one_that_cannot_be_used_is_named(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "new"
    assert identity_of(folder, makes=False) == ""
    first = identity_of(folder)
    assert len(first) == 32
    assert identity_of(folder, makes=False) == identity_of(folder) == first
    (folder / "archive-id").unlink()
    link = Path.hardlink_to

    def late(path: Path, target: Path) -> None:
        path.write_text("another's\n")
        link(path, target)

    monkeypatch.setattr(Path, "hardlink_to", late)
    assert identity_of(folder) == "another's"
    assert [path.name for path in folder.iterdir()] == ["archive-id"]
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalUnavailable, match=r"archive_dir.*cannot be used"):
        await opened(archive_dir=tmp_path / "file")


async def test_a_worker_moves_by_itself_what_is_quiet_and_goes_on_after_a_failure(
    opened: Open, redis: Redis, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("turnwire.journal.redis.journal.MOVE_S", 0.01)
    move, failures = Archive.move, [ValueError("once"), OSError(errno.EIO, "disk")]

    async def fails_first(archive: Archive, session: str, fence: int) -> None:
        if failures:
            raise failures.pop(0)
        await move(archive, session, fence)

    monkeypatch.setattr(Archive, "move", fails_first)
    worker = await opened()
    await fill(worker, "a", 3)
    while await redis.exists("turnwire:log:a"):
        assert worker.trouble is None
    assert await numbers(worker) == [1, 2, 3]
    assert len([one for one in caplog.records if "could not be moved" in one.message]) == 1


async def test_the_rights_that_the_docs_give_are_enough(
    server: RedisProcess, folder: Path, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    text = (ROOT / "docs" / "journal.md").read_text()
    (line,) = re.findall(r"^    user turnwire on >PASSWORD (.*)$", text, re.MULTILINE)
    await redis.execute_command("ACL", "SETUSER", "turnwire", "on", ">word", *line.split())  # type: ignore[no-untyped-call]  # as the library has it
    url = server.url.replace("unix://", "unix://turnwire:word@")
    journal = await RedisJournal.open(url, owner="w", archive_dir=folder, archive_after_s=0)
    reader = await RedisJournal.open(url, reads_only=True, archive_dir=folder)
    try:
        await fill(journal, "a", 5)
        await journal.archive_quiet()
        await heard(reader, 5)
        assert await numbers(reader) == [1, 2, 3, 4, 5]
        await journal.delete("a")
        archive = journal._archive
        assert archive is not None
        await archive.sweep(at_once=True)
        assert files(folder) == []
    finally:
        await journal.close()
        await reader.close()
    assert "permission" not in caplog.text


def test_the_parts_of_a_file_are_small_shares_of_what_is_kept() -> None:
    limits = archive_module._limits(Retention(max_age_s=6400, max_count=640, max_bytes=6400))
    assert (limits.count, limits.size, limits.micros) == (10, 100, 100_000_000)
    none = archive_module._limits(KEEP_ALL)
    assert (none.count, none.size, none.micros) == (None, archive_module.PART_BYTES, None)
    assert LEFT_S == 3600


STEPS = ("written", "synced", "renamed", "moved", "read")


@pytest.mark.long
@pytest.mark.parametrize(
    "at", [(step, number) for number in (1, 2) for step in STEPS], ids=lambda at: f"{at[0]} {at[1]}"
)
async def test_a_kill_in_any_step_loses_and_doubles_nothing(
    server: RedisProcess, opened: Open, folder: Path, redis: Redis, at: tuple[str, int]
) -> None:
    """In the first round the session has no file yet, in the second it has one."""
    step, round_number = at
    for number in range(1, round_number + 1):
        killed = step if number == round_number else "never"
        child = subprocess.run(
            [sys.executable, str(CHILD), server.url, str(folder), killed, str(10 * number)],
            cwd=ROOT,
            env={"PYTHONPATH": f"{ROOT}:{ROOT / 'tests/support'}"},
            capture_output=True,
            check=False,
        )
        assert child.returncode == (0 if killed == "never" else -signal.SIGKILL), child.stderr.decode()
    # In the second round the old file is read while the new one is written.
    is_moved = step == "moved" or at == ("read", 1)
    assert await redis.exists("turnwire:log:a") == (0 if is_moved else 1)
    hub = await opened(None)
    epoch = hub.epoch
    everything = list(range(1, 10 * round_number + 1))
    assert await numbers(hub) == everything
    worker = await opened()
    assert worker.epoch == epoch
    assert await worker.claim("a")
    await fill(worker, "a", len(everything) + 5)
    await worker.archive_quiet()
    assert await redis.exists("turnwire:log:a") == 0
    assert await numbers(await opened(None)) == list(range(1, len(everything) + 6))
    for path in folder.glob("*.archive*"):
        os.utime(path, (0, 0))
    archive = worker._archive
    assert archive is not None
    await archive.sweep(at_once=True)
    assert len(files(folder)) == 1, "what the killed one left is removed"
    assert await numbers(await opened(None)) == list(range(1, len(everything) + 6))
    assert hub.damaged == worker.damaged == 0
