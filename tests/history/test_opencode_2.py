"""Conversations of OpenCode 2, whose tables stand beside those of 1.x in one database."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kept_files import make_database

from turnwire.config.settings import Settings
from turnwire.history.history import History
from turnwire.normalize import events as ev
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.recordings.database import database_lines, stored_in

TABLES = """
CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, fork_session_id text, directory text, title text, version text,
  time_created integer, time_updated integer);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer,
  time_updated integer, data text);
"""
BEGUN = 1_780_000_000_000


class Store:
    """A database of OpenCode 2 in a folder."""

    def __init__(self, file: Path) -> None:
        self.file, self.count = file, 0
        with closing(sqlite3.connect(file)) as db:
            db.executescript(TABLES)

    def session(self, name: str, title: str, parent: str | None = None, fork: str | None = None) -> None:
        """Add a conversation."""
        row = (name, parent, fork, "/barn", title, "2.0.5", BEGUN, BEGUN)
        self._put("session_v2", row)

    def message(self, session: str, kind: str, **data: object) -> None:
        """Add a message."""
        self.count += 1
        at = BEGUN + 1000 * self.count
        self._put("session_message", (f"m{self.count}", session, kind, self.count, at, at, json.dumps(data)))

    def _put(self, table: str, row: tuple[object, ...]) -> None:
        with closing(sqlite3.connect(self.file)) as db, db:
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def asked(store: Store, session: str, words: str) -> None:
    """Add a prompt."""
    store.message(session, "user", text=words, time={"created": BEGUN})


def answered(store: Store, session: str, *content: object, **more: object) -> None:
    """Add an answer that took 30 tokens sent and 7 written."""
    told = {
        "model": {"providerID": "p", "id": "owl-1"}, "time": {"created": BEGUN, "completed": BEGUN + 5}, "content": content,
        "tokens": {"input": 30, "output": 5, "reasoning": 2, "cache": {"read": 4, "write": 0}}, "cost": 0.5,
    }  # fmt: skip
    store.message(session, "assistant", **{**told, **more})


def tool(name: str, **state: object) -> dict[str, object]:
    """Return a call."""
    return {"type": "tool", "id": f"call_{name}", "name": name, "state": state}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A database of both versions."""
    return Store(make_database(tmp_path))


@pytest.fixture
def library(tmp_path: Path) -> Iterator[History]:
    """The library of that folder alone."""
    history = History(Settings(history_dirs=[tmp_path], state_dir=tmp_path / "state"), lambda: ())
    yield history
    history.close()


def test_a_conversation_of_the_newer_tables_is_listed_counted_and_read(
    library: History, store: Store
) -> None:
    store.session("ses_owl", "Feed the owls")
    store.session("ses_sub", "Of a subagent", parent="ses_owl")
    asked(store, "ses_owl", "How many owls?")
    answered(
        store, "ses_owl", {"type": "reasoning", "text": "hm"}, {"type": "text", "text": "I look."},
        tool("shell", status="completed", input={"command": "ls owls"}, content=[{"type": "text", "text": "9\n"}]),
        tool("read", status="error", input={"filePath": "/barn/x"}, error={"message": "no such file"}),
        tool("grep", status="streaming", input={}),
        {"type": "text", "text": "Nine."},
    )  # fmt: skip
    store.message("ses_owl", "synthetic", text="not the user's")
    answered(store, "ses_sub", {"type": "text", "text": "inside"})
    asked(store, "ses_owl", "And now?")
    answered(store, "ses_owl", {"type": "text", "text": "Not yet"}, time={"created": BEGUN})
    looked = library.look()
    assert looked.failed == []
    listed = {one.id: one for one in library.index.newest(limit=9)}
    owl = listed.pop("ses_owl")
    assert len(listed) == 1, "the conversation of 1.x"
    assert (owl.title, owl.turns, owl.model, owl.folder, owl.version) == (
        "Feed the owls", 2, "owl-1", "/barn", "2.0.5",
    )  # fmt: skip
    (spent,) = (one for one in library.index.usage(["session"]) if one.group["session"] == "ses_owl")
    assert (spent.input_tokens, spent.output_tokens, spent.cost_usd) == (60, 14, 1.0)
    events = list(library.events(owl))
    assert [one.text for one in events if isinstance(one, ev.UserMessage | ev.MessageChunk)] == [
        "How many owls?", "I look.", "Nine.", "And now?",
    ]  # fmt: skip
    shell, read = (
        one for one in events if isinstance(one, ev.ToolUpdate) and one.tool_status in ("complete", "error")
    )
    assert isinstance(shell.normalized, ShellExecPayload)
    assert shell.normalized.shell_exec.output is not None
    assert (shell.normalized.shell_exec.command, shell.normalized.shell_exec.output.stdout) == (
        "ls owls",
        "9\n",
    )
    assert (read.tool_status, read.error) == ("error", "no such file")


def test_summaries_forks_and_errors_of_the_newer_tables_are_told(library: History, store: Store) -> None:
    store.session("ses_owl", "Feed the owls", fork="ses_hen")
    asked(store, "ses_owl", "Go.")
    store.message("ses_owl", "compaction", summary="of owls")
    answered(store, "ses_owl", error={"type": "APIError", "message": "too many owls"})
    library.look()
    events = list(library.events(library.find("ses_owl")))
    assert any(isinstance(one, ev.CompactBoundary) for one in events)
    assert [one.details for one in events if isinstance(one, ev.Notice) and one.kind == "fork"] == [
        {"session_id": "ses_hen"}
    ]
    assert "too many owls" in str(events[-2:])


def test_a_database_of_the_newer_tables_alone_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path / "opencode.db")
    store.session("ses_owl", "Feed the owls")
    asked(store, "ses_owl", "Go.")
    assert [one.id for one in stored_in(store.file)] == ["ses_owl"]
    assert len(list(database_lines(store.file / "ses_owl"))) == 2
    with pytest.raises(FileNotFoundError, match="no such conversation"):
        list(database_lines(store.file / "ses_gone"))
