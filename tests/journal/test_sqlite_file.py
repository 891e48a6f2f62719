"""Files that are not as a journal left them: recovered, or refused in a clear sentence, never silently emptied."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from journals import SqliteOpener
from turnwire.journal.base import Durability, Entry, Gap, JournalUnavailable
from turnwire.journal.sqlite import opening, rows, schema
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.journal.sqlite.opening import set_aside
from turnwire.normalize.events.envelope import Cursor
from waiting import until

BEGINNING = Cursor("", 0)


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A journal of one session with 400 events, closed."""
    path = tmp_path / "state" / "journal.db"
    journal = await SqliteJournal.open(path)
    await journal.append("a", [Entry(event(n)) for n in range(1, 401)])
    await journal.close()
    return path


def event(number: int) -> bytes:
    return b'{"n":%d}' % number + b" " * 500


async def refusal(path: Path) -> str:
    """Open a file that must be refused and left as it is; return the sentence."""
    before = path.read_bytes()
    with pytest.raises(JournalUnavailable) as refused:
        await SqliteJournal.open(path)
    assert path.read_bytes() == before
    assert str(path) in str(refused.value)
    return str(refused.value)


async def length(path: Path) -> int:
    journal = await SqliteJournal.open(path)
    last = journal.last("a")
    await journal.close()
    return last


def sql(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


# --- new files ---


async def test_a_new_journal_and_its_folder_are_for_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "a" / "journal.db"
    journal = await SqliteJournal.open(path)
    assert [oct(p.stat().st_mode & 0o777) for p in (path.parent, path, path.with_name("journal.db-wal"))] == [
        "0o700",
        "0o600",
        "0o600",
    ]
    await journal.close()


async def test_what_is_left_of_an_unfinished_creation_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "journal.db.new").write_bytes(b"half")
    assert await length(tmp_path / "journal.db") == 0


# --- damage ---


async def test_an_empty_file_is_refused(path: Path) -> None:
    path.write_bytes(b"")
    assert "is empty" in await refusal(path)


async def test_a_file_of_another_kind_is_refused(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 100)
    assert "not a turnwire journal" in await refusal(path)


async def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    sql(path, "CREATE TABLE theirs (x)")
    assert "database of another program" in await refusal(path)


async def test_a_journal_of_a_newer_turnwire_is_refused(path: Path) -> None:
    sql(path, f"PRAGMA user_version={schema.VERSION + 1}")
    assert "newer turnwire" in await refusal(path)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
async def test_a_file_cut_short_is_refused(path: Path, share: float) -> None:
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * share) // 4096 * 4096)
    assert "damaged" in await refusal(path)


async def test_a_file_cut_within_its_header_is_refused(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(50)
    assert "ends within its header" in await refusal(path)


@pytest.mark.parametrize("page", [1, 2, 5, 20, -1])
async def test_a_page_of_rubbish_is_refused(path: Path, page: int) -> None:
    with path.open("r+b") as file:
        file.seek(page * 4096, os.SEEK_SET if page >= 0 else os.SEEK_END)
        file.write(b"\xa5" * 4096)
    assert "damaged" in await refusal(path)


def flip(path: Path, *places: bytes) -> None:
    """Change one bit within the row that has these bytes, as a disk or a memory module does."""
    content = bytearray(path.read_bytes())
    for place in places:
        assert content.count(place) == 1
        content[content.index(place) + len(place) + 5] ^= 0x80
    path.write_bytes(content)


async def pages(journal: SqliteJournal, count: int = 512) -> tuple[list[Gap], list[int]]:
    """Read the log of session `a`; return its gaps, and the numbers of its events, which must be as they were written."""
    gaps, seqs, cursor = list[Gap](), list[int](), BEGINNING
    while True:
        page = await journal.read_after("a", cursor, count=count)
        if page.gap is not None:
            gaps.append(page.gap)
        seqs += [envelope.seq for envelope in page.envelopes]
        assert all(e.event == event(e.seq) for e in page.envelopes)
        cursor = page.cursor
        if cursor.seq == page.last:
            return gaps, seqs


def numbers(gaps: list[Gap]) -> list[int]:
    return [seq for gap in gaps for seq in range(gap.first, gap.last + 1)]


@pytest.mark.parametrize("count", [1, 7, 512])
async def test_a_flipped_bit_costs_the_event_it_is_in_and_is_told(
    path: Path, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    flip(path, b'{"n":1}', b'{"n":200}', b'{"n":201}', b'{"n":400}')
    journal = await SqliteJournal.open(path)
    gaps, seqs = await pages(journal, count)
    assert gaps == [Gap(1, 1), Gap(200, 201), Gap(400, 400)]
    assert seqs == [n for n in range(1, 401) if n not in (1, 200, 201, 400)]
    assert await journal.whole("a", 200) is None
    kept = await journal.whole("a", 199)
    assert kept is not None
    assert kept.event == event(199)
    assert journal.damaged == 4
    said = [vars(record) for record in caplog.records if "events are damaged" in record.message]
    assert [(fields["first"], fields["last"]) for fields in said] == [(1, 1), (200, 201), (400, 400)]
    await journal.close()


async def test_a_flipped_bit_beside_an_event_costs_the_whole_and_not_the_event(path: Path) -> None:
    journal = await SqliteJournal.open(path)
    await journal.append("a", [Entry(event(401), whole=b'{"whole":"' + b"w" * 50 + b'"}', raw=b"raw line")])
    await journal.close()
    flip(path, b'{"whole":"')
    journal = await SqliteJournal.open(path)
    assert await journal.whole("a", 401) is None
    assert (await pages(journal))[1] == list(range(1, 402))
    await journal.close()


async def test_a_value_of_a_kind_that_was_never_written_costs_what_it_stands_in(path: Path) -> None:
    journal = await SqliteJournal.open(path)
    await journal.append("a", [Entry(event(401), whole=event(401), raw=b"raw line")])
    await journal.close()
    sql(path, "UPDATE event SET event = 7 WHERE event = (SELECT event FROM event LIMIT 1 OFFSET 199)")
    sql(path, "UPDATE beside SET whole = 7")
    journal = await SqliteJournal.open(path)
    gaps, seqs = await pages(journal)
    assert gaps == [Gap(200, 200)]
    assert seqs == [n for n in range(1, 402) if n != 200]
    assert await journal.whole("a", 200) is None
    assert await journal.whole("a", 401) is None
    assert await journal.whole("a", 402) is None
    await journal.close()


async def test_events_of_a_file_from_before_the_checksums_are_kept_and_checked_as_far_as_can_be(
    path: Path,
) -> None:
    for table in ("event", "beside", "session"):
        sql(path, f"ALTER TABLE {table} DROP COLUMN crc")
    sql(path, "PRAGMA user_version=1")
    flip(path, b'{"n":200}')
    journal = await SqliteJournal.open(path)
    await journal.append("a", [Entry(event(401))])
    await journal.flush()
    gaps, seqs = await pages(journal)
    assert gaps == [Gap(200, 200)]
    assert seqs == [n for n in range(1, 402) if n != 200]
    await journal.close()


@pytest.mark.parametrize("rubbish", [b"\xa5" * 4096, bytes(4096)])
@pytest.mark.parametrize("page", [12, 20, 33, 55])
async def test_a_page_of_rubbish_in_a_file_too_large_to_verify_costs_its_events(
    path: Path, monkeypatch: pytest.MonkeyPatch, page: int, rubbish: bytes
) -> None:
    monkeypatch.setattr(opening, "VERIFY_UP_TO", 0)
    with path.open("r+b") as file:
        file.seek(page * 4096)
        file.write(rubbish)
    journal = await SqliteJournal.open(path)
    for count in (3, 512):
        gaps, seqs = await pages(journal, count)
        assert sorted(seqs + numbers(gaps)) == list(range(1, 401))
        assert 1 <= len(numbers(gaps)) <= 8
    assert 1 <= journal.damaged <= 8
    await journal.append("a", [Entry(event(401))])
    await journal.flush()
    assert (await journal.read_after("a", Cursor(journal.epoch, 400))).gap is None
    await journal.close()


async def test_a_run_of_broken_pages_is_passed_over_in_few_steps(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "VERIFY_UP_TO", 0)
    with path.open("r+b") as file:
        file.seek(15 * 4096)
        file.write(b"\xa5" * 4096 * 25)
    journal = await SqliteJournal.open(path)
    probes = 0
    readable = rows._is_readable

    def counted(connection: sqlite3.Connection, log: int, seq: int, last: int) -> bool:
        nonlocal probes
        probes += 1
        return readable(connection, log, seq, last)

    monkeypatch.setattr(rows, "_is_readable", counted)
    gaps, seqs = await pages(journal)
    assert sorted(seqs + numbers(gaps)) == list(range(1, 401))
    assert len(numbers(gaps)) > 100
    assert probes < 60
    await journal.close()


@pytest.mark.parametrize("doomed", ["seq = 400", "seq = 1", "seq > 0"])
async def test_a_log_without_its_ends_is_refused(path: Path, doomed: str) -> None:
    sql(path, f"DELETE FROM event WHERE {doomed.replace('seq', '(key & 1099511627775)')}")
    assert "does not hold its events 1 to 400" in await refusal(path)


async def test_a_hole_in_a_log_is_a_gap_for_those_who_read_it(path: Path) -> None:
    sql(path, "DELETE FROM event WHERE key & 1099511627775 IN (200, 201)")
    journal = await SqliteJournal.open(path)
    assert await pages(journal) == ([Gap(200, 201)], [n for n in range(1, 401) if n not in (200, 201)])
    assert journal.damaged == 2
    await journal.close()


async def test_a_log_whose_file_is_gone_while_its_newest_events_are_there_is_refused(path: Path) -> None:
    wal = path.with_name("journal.db-wal")
    wal.write_bytes(b"x" * 5000)
    path.unlink()
    with pytest.raises(JournalUnavailable, match="the file itself is missing"):
        await SqliteJournal.open(path)
    assert wal.read_bytes() == b"x" * 5000


async def test_a_torn_write_ahead_log_loses_the_torn_commit_alone(path: Path, tmp_path: Path) -> None:
    journal = await SqliteJournal.open(path)
    for n in range(401, 411):
        await journal.append("a", [Entry(b"{}" + b" " * 3000)])
        await journal.flush()
        assert journal.last("a") == n
    copy = tmp_path / "torn.db"
    shutil.copy(path, copy)
    shutil.copy(path.with_name("journal.db-wal"), tmp_path / "torn.db-wal")
    await journal.close()
    with (tmp_path / "torn.db-wal").open("r+b") as file:
        file.truncate((tmp_path / "torn.db-wal").stat().st_size - 100)
    assert await length(copy) == 409


async def test_setting_aside_keeps_all_and_lets_a_new_life_begin(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(8192)
    before = path.read_bytes()
    path.with_name("journal.db-wal").write_bytes(b"wal")
    moved = set_aside(path)
    assert moved.read_bytes() == before
    assert moved.with_name(moved.name + "-wal").read_bytes() == b"wal"
    assert await length(path) == 0


async def test_a_journal_in_use_is_not_set_aside(path: Path) -> None:
    journal = await SqliteJournal.open(path)
    with pytest.raises(JournalUnavailable, match=f"in use by another turnwire \\(process {os.getpid()}\\)"):
        set_aside(path)
    await journal.close()
    assert path.exists()


# --- others at the file ---


async def test_a_second_sidecar_is_refused_and_told_which_process_has_the_file(path: Path) -> None:
    journal = await SqliteJournal.open(path)
    script = (
        "import asyncio, sys, pathlib; from turnwire.journal.sqlite.journal import SqliteJournal\n"
        "try: asyncio.run(SqliteJournal.open(pathlib.Path(sys.argv[1])))\n"
        "except Exception as e: print(type(e).__name__, e)"
    )
    said = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    ).stdout
    assert said.startswith("JournalInUse")
    assert f"process {os.getpid()}" in said
    await journal.append("a", [Entry(b"{}")])
    await journal.close()
    assert await length(path) == 401


async def test_a_refused_file_is_not_left_locked(path: Path) -> None:
    intact = path.read_bytes()
    path.write_bytes(b"")
    await refusal(path)
    path.write_bytes(intact)
    assert await length(path) == 400


async def test_another_programs_transaction_is_waited_for(path: Path) -> None:
    journal = await SqliteJournal.open(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await journal.append("a", [Entry(b"{}")])
        other.execute("ROLLBACK")
    await journal.flush()
    assert journal.last("a") == 401
    await journal.close()


@contextmanager
def unprivileged(*owned: Path) -> Iterator[None]:
    """Be nobody for a while: root may write everywhere."""
    if os.geteuid() != 0:
        yield
        return
    for path in owned:
        os.chown(path, 65534, 65534)
    for parent in owned[0].parents:
        if parent.stat().st_uid == 0 and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def remove(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace(path: Path) -> None:
    remove(path)
    path.write_bytes(b"another")


def remove_folder(path: Path) -> None:
    path.parent.rename(path.parents[1] / "elsewhere")


def put_back(path: Path) -> None:
    if path.parent.exists():
        path.with_name("elsewhere").rename(path)
    else:
        (path.parents[1] / "elsewhere").rename(path.parent)


@pytest.mark.parametrize("take", [remove, replace, remove_folder])
async def test_a_file_that_is_gone_while_it_is_open_is_told_until_it_is_back(
    path: Path, take: Callable[[Path], None]
) -> None:
    journal = await SqliteJournal.open(path)
    try:
        take(path)
        with pytest.raises(JournalUnavailable, match="is gone, and nothing more is written"):
            await journal.check()
        assert str(path) in str(journal.trouble)
        assert await journal.append("a", [Entry(event(401))]) == 401
        with pytest.raises(JournalUnavailable, match="is gone"):
            await journal.flush()
        assert journal.last("a") == 400
        put_back(path)
        await until(lambda: journal.trouble is None)
        assert journal.last("a") == 401
    finally:
        await journal.close()
    assert await length(path) == 401


async def test_a_read_only_file_is_refused(path: Path) -> None:
    lock, mark = path.with_name("journal.db.lock"), path.with_name("journal.db-mark")
    with unprivileged(path, path.parent, lock, mark):
        path.chmod(0o400)
        with pytest.raises(JournalUnavailable, match="Permission denied"):
            await SqliteJournal.open(path)
        path.chmod(0o600)
        assert await length(path) == 400


async def test_a_read_only_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    with unprivileged(folder):
        folder.chmod(0o500)
        with pytest.raises(JournalUnavailable, match=r"Cannot use the journal .*Permission denied"):
            await SqliteJournal.open(folder / "journal.db")
        folder.chmod(0o700)


async def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalUnavailable, match="Cannot use the journal"):
        await SqliteJournal.open(tmp_path / "file" / "journal.db")


# --- lives of the file ---


async def test_the_epoch_survives_closing_and_a_killed_sidecar(path: Path) -> None:
    journal = await SqliteJournal.open(path)
    epoch = journal.epoch
    await journal.close()
    sql(path, "UPDATE meta SET value = 'no' WHERE name = 'closed'")
    journal = await SqliteJournal.open(path)
    assert journal.epoch == epoch
    await journal.close()


@pytest.mark.parametrize(("durability", "same"), [("process", False), ("power", True)])
async def test_a_machine_that_went_down_under_the_journal_begins_another_epoch_unless_power_was_provided_for(
    path: Path, durability: Durability, same: bool
) -> None:
    journal = await SqliteJournal.open(path, durability=durability)
    epoch = journal.epoch
    await journal.close()
    sql(path, "UPDATE meta SET value = 'no' WHERE name = 'closed'")
    sql(path, "UPDATE meta SET value = 'another run of the machine' WHERE name = 'boot'")
    journal = await SqliteJournal.open(path, durability=durability)
    assert (journal.epoch == epoch) is same
    assert (await journal.read_after("a", Cursor(epoch, 400))).gap == (None if same else Gap(1, 400))
    await journal.close()


async def test_a_file_of_an_older_schema_is_migrated_with_its_events(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add_a_table(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE later (x)")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, add_a_table))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    assert await length(path) == 400
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)


async def test_a_migration_that_fails_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DROP TABLE event")
        connection.execute("nonsense")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, fail))
        with pytest.raises(JournalUnavailable, match="nonsense"):
            await SqliteJournal.open(path)
    assert await length(path) == 400


async def test_a_closed_journal_refuses_to_append(path: Path) -> None:
    journal = await SqliteOpener(path)()
    await journal.close()
    with pytest.raises(JournalUnavailable, match="closed"):
        await journal.append("a", [Entry(b"{}")])
