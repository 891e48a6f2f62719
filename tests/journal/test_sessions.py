"""Session records: the same in memory and in the journal's file, where they survive."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from turnwire.journal.sessions import MemorySessions, SessionRecord, SessionStore
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.journal.sqlite.sessions import SqliteSessions

FULL = SessionRecord(
    session="tw-1",
    created="2026-01-02T03:04:05.678901Z",
    title="Grüße \u2028",
    agent="claude",
    workspace="/src/project",
    argv=("claude", "--print"),
    env_names=("PATH", "HOME"),
    model="sonnet",
    policy="supervised",
    permission_mode="plan",
    options={"mcp_servers": {"a": {"command": "x", "args": [1, None, True]}}},
    cli_session_id="3f",
    cli_version="2.1.0",
    resume_token="3f",
    last_message_uuid="9a",
    last_prompt="say hi",
    forked_from="tw-0",
    state="waiting",
    pid=4711,
    process="12345 boot",
    recording="/r/1.jsonl",
    total_cost_usd=0.25,
)


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    journal = await SqliteJournal.open(tmp_path / "journal.db")
    yield journal
    await journal.close()


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, file: SqliteJournal) -> SessionStore:
    return MemorySessions() if request.param == "memory" else await SqliteSessions.open(file)


async def test_a_record_comes_back_as_it_was_put(store: SessionStore) -> None:
    await store.put(FULL)
    assert await store.get("tw-1") == FULL
    assert await store.get("tw-2") is None


async def test_a_changed_record_takes_the_place_of_the_old_one(store: SessionStore) -> None:
    await store.put(FULL)
    await store.put(replace(FULL, state="exited", pid=None))
    assert await store.list() == [replace(FULL, state="exited", pid=None)]


async def test_records_are_listed_oldest_first(store: SessionStore) -> None:
    for session, created in (("c", "2026-01-03"), ("a", "2026-01-02"), ("b", "2026-01-01")):
        await store.put(SessionRecord(session=session, created=created))
    assert [record.session for record in await store.list()] == ["b", "a", "c"]


async def test_a_deleted_record_is_gone_and_deleting_twice_is_harmless(store: SessionStore) -> None:
    await store.put(FULL)
    await store.delete("tw-1")
    await store.delete("tw-1")
    assert await store.list() == []


async def test_records_survive_the_sidecar(tmp_path: Path) -> None:
    for state in ("idle", "running", "exited"):
        journal = await SqliteJournal.open(tmp_path / "survive.db")
        store = await SqliteSessions.open(journal)
        if state != "idle":
            assert (await store.list())[0].state != state
        await store.put(replace(FULL, state=state))
        await store.put(replace(FULL, session="gone"))
        await store.delete("gone")
        await journal.close()
    journal = await SqliteJournal.open(tmp_path / "survive.db")
    assert await (await SqliteSessions.open(journal)).list() == [replace(FULL, state="exited")]
    await journal.close()


async def test_a_record_with_fields_of_a_newer_turnwire_is_still_read(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    await (await SqliteJournal.open(path)).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO session VALUES ('s', 'c', ?, NULL)",
            (b'{"session":"s","created":"c","colour":"blue"}',),
        )
    journal = await SqliteJournal.open(path)
    assert await (await SqliteSessions.open(journal)).list() == [SessionRecord(session="s", created="c")]
    await journal.close()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("UPDATE session SET record = CAST('{\"session\":' AS BLOB) WHERE session = 's-77'", "checksum"),
        ("UPDATE session SET record = 7 WHERE session = 's-77'", "checksum"),
        ("UPDATE session SET record = CAST(replace(record, 's-77', 's-66') AS BLOB)", "checksum"),
        (
            "UPDATE session SET record = CAST('{\"session\":' AS BLOB), crc = NULL WHERE session = 's-77'",
            "EOF",
        ),
    ],
)
async def test_a_damaged_record_costs_its_session_and_no_other(
    tmp_path: Path, spoil: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "damaged.db"
    journal = await SqliteJournal.open(path)
    store = await SqliteSessions.open(journal)
    other = SessionRecord(session="s-1", created="b")
    await store.put(SessionRecord(session="s-77", created="c"))
    await store.put(other)
    await journal.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(spoil)
    journal = await SqliteJournal.open(path)
    assert await (await SqliteSessions.open(journal)).list() == [other]
    (told,) = [vars(record) for record in caplog.records if record.name.startswith("turnwire.")]
    assert told["session"] == "s-77"
    assert said in told["reason"]
    await journal.close()
