"""Conversations that an agent keeps in a SQLite database: OpenCode's. Each is named by a path below the database's own.

Rows become lines of JSON: one of the conversation, then one of each message with its parts. OpenCode 2 has tables of its own in the
same database, beside those of 1.x; a conversation that is in both is read from the newer ones. A database is never written: without a
log of writes beside it nobody has it open, so it is read as a file that does not change. Whatever SQLite cannot
read is an OSError, as with other files.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from turnwire.protocol.framing import OversizeLine

_ABSENT = "there is no such conversation in the database"

LONGEST = 32 << 20
"""Bytes of a row, and of a line; longer ones say nothing."""

_STEPS = 100_000
"""Steps of SQLite's machine between two looks at how many there were."""
_MOST = 20_000
"""Looks of one query: a damaged or hostile database must not keep a thread busy for ever."""

_TABLES = ({"session", "message", "part"}, {"session_v2", "session_message"})
"""The tables of OpenCode 1 and 2. A database has those of either, or both."""


class StoredConversation(NamedTuple):
    """A conversation that nobody else has started."""

    id: str
    changed: int
    """When it was changed last: milliseconds since 1970."""
    size: int
    """Bytes of its messages without their parts."""


def stored_in(database: Path) -> list[StoredConversation]:
    """Return the conversations of a database, but those of subagents; raises OSError."""
    found: dict[str, StoredConversation] = {}
    with _opened(database) as (db, versions):
        for version in versions:
            sessions, messages = ("session", "message") if version == 1 else ("session_v2", "session_message")
            rows = db.execute(
                "SELECT s.id, max(s.time_updated, ifnull(max(m.time_updated), 0)), ifnull(sum(length(m.data)), 0) "
                f"FROM {sessions} AS s LEFT JOIN {messages} AS m ON m.session_id = s.id WHERE s.parent_id IS NULL GROUP BY s.id"
            ).fetchall()
            for identity, changed, size in rows:
                if (
                    isinstance(identity, str)
                    and isinstance(changed, int)
                    and identity.replace("_", "").isalnum()
                ):
                    found[identity] = StoredConversation(identity, changed, size)
    return [*found.values()]


def database_lines(path: Path, after: int = -1) -> Iterator[bytes | OversizeLine]:
    """Yield a conversation's lines: all, or of messages that were changed after a time in milliseconds. Raises OSError."""
    for _, line in timed_lines(path, after):
        yield line


def timed_lines(path: Path, after: int = -1) -> Iterator[tuple[int, bytes | OversizeLine]]:
    """Yield the same, each line with the time of its last change in milliseconds since 1970; raises OSError."""
    with _opened(path.parent) as (db, versions):
        if 2 in versions and db.execute("SELECT 1 FROM session_v2 WHERE id = ?", (path.name,)).fetchone():
            yield from _timed_lines_2(db, path.name, after)
            return
        if 1 not in versions:
            raise FileNotFoundError(2, _ABSENT, str(path))
        # subagents are conversations whose parent is this one, or one of its subagents
        tree = (
            "WITH RECURSIVE tree(id, depth) AS (SELECT id, 0 FROM session WHERE id = ? UNION "
            "SELECT s.id, depth + 1 FROM session AS s JOIN tree ON s.parent_id = tree.id WHERE depth < 20) "
        )
        head = db.execute(
            "SELECT id, directory, title, version, revert, time_created, time_updated FROM session WHERE id = ?",
            (path.name,),
        ).fetchone()
        if head is None:
            raise FileNotFoundError(2, _ABSENT, str(path))
        identity, folder, title, version, revert = map(_plain, head[:5])
        created, updated = map(_whole, head[5:])
        about = {"id": identity, "directory": folder, "title": title, "version": version}
        if updated > after:
            yield updated, _line(created, about)
        messages = db.execute(
            f"{tree} SELECT m.id, m.session_id, m.time_created, m.time_updated, "
            f"CASE WHEN length(m.data) <= {LONGEST} THEN m.data END "
            "FROM message AS m JOIN tree ON m.session_id = tree.id ORDER BY m.time_created, m.id",
            (path.name,),
        )
        for name, session, at, changed, data in messages:
            parts = db.execute(
                f"SELECT id, time_updated, CASE WHEN length(data) <= {LONGEST} THEN data END "
                "FROM part WHERE message_id = ? ORDER BY id",
                (name,),
            ).fetchall()
            newest = max([_whole(changed), *(_whole(part[1]) for part in parts)])
            if newest > after:
                yield newest, _message(name, session, at, data, parts)
        if revert is not None and updated > after:
            yield updated, _line(updated, about | {"revert": _object(revert)})


def _timed_lines_2(
    db: sqlite3.Connection, name: str, after: int
) -> Iterator[tuple[int, bytes | OversizeLine]]:
    """Yield the same of a conversation of OpenCode 2, which has one row for each message."""
    row = db.execute(
        "SELECT id, directory, title, version, fork_session_id, time_created, time_updated FROM session_v2 WHERE id = ?",
        (name,),
    ).fetchone()
    identity, folder, title, version, fork = map(_plain, row[:5])
    created, updated = map(_whole, row[5:])
    about = {"id": identity, "directory": folder, "title": title, "version": version}
    if updated > after:
        yield updated, _line(created, about | ({} if fork is None else {"fork": fork}))
    messages = db.execute(
        "WITH RECURSIVE tree(id, depth) AS (SELECT id, 0 FROM session_v2 WHERE id = ? UNION "
        "SELECT s.id, depth + 1 FROM session_v2 AS s JOIN tree ON s.parent_id = tree.id WHERE depth < 20) "
        f"SELECT m.id, m.session_id, m.type, m.time_created, m.time_updated, CASE WHEN length(m.data) <= {LONGEST} THEN m.data END "
        "FROM session_message AS m JOIN tree ON m.session_id = tree.id ORDER BY m.time_created, m.seq, m.id",
        (name,),
    )
    for message, session, kind, at, changed, data in messages:
        newest = _whole(changed)
        if newest > after:
            told = {
                "id": _plain(message),
                "sessionID": _plain(session),
                "type": _plain(kind),
                "data": _object(data),
            }
            line = msgspec.json.encode({"time": _whole(at), "message": told})
            yield (
                newest,
                line if len(line) <= LONGEST else OversizeLine(number=0, size=len(line), head=line[:200]),
            )


def save_lines(path: Path, folder: Path) -> Path:
    """Write a conversation's lines to a file in a folder, and return it; raises OSError. Lines that are too long are left out."""
    file = folder / f"{path.name}.jsonl"
    with file.open("wb") as out:
        out.writelines(line + b"\n" for line in database_lines(path) if isinstance(line, bytes))
    return file


def _message(
    name: object, session: object, at: object, data: object, parts: list[tuple[object, object, object]]
) -> bytes | OversizeLine:
    info, told = _object(data), [_object(part[2]) | {"id": _plain(part[0])} for part in parts]
    line = _line(_whole(at), info | {"id": _plain(name), "sessionID": _plain(session)}, told)
    return line if len(line) <= LONGEST else OversizeLine(number=0, size=len(line), head=line[:200])


def _line(at: object, info: dict[str, object], parts: object = None) -> bytes:
    return msgspec.json.encode({"time": at, "info": info} | ({} if parts is None else {"parts": parts}))


def _object(data: object) -> dict[str, object]:
    """Return an object of JSON text; an empty one for what is none."""
    try:
        found = msgspec.json.decode(data if isinstance(data, str | bytes) else b"")
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _plain(value: object) -> object:
    return value if isinstance(value, str | int) else None


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


@contextmanager
def _opened(database: Path) -> Iterator[tuple[sqlite3.Connection, Sequence[int]]]:
    """Open a database, and tell which versions of OpenCode have tables in it."""
    log = database.with_name(f"{database.name}-wal")
    try:
        is_open = log.stat().st_size > 0
    except OSError:
        is_open = False
    uri = f"file:{quote(str(database.absolute()))}?mode=ro{'' if is_open else '&immutable=1'}"
    looks = 0

    def counted() -> bool:
        nonlocal looks
        looks += 1
        return looks > _MOST

    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=5)) as db:
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            db.execute("PRAGMA query_only = ON")
            db.execute("PRAGMA trusted_schema = OFF")
            db.set_progress_handler(counted, _STEPS)
            tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            found = {name for (name,) in tables}
            versions = [version for version, needed in enumerate(_TABLES, 1) if found >= needed]
            if not versions:
                raise OSError(5, "the database has not the tables of a known version", str(database))
            yield db, versions
    except (sqlite3.Error, OverflowError) as error:
        raise OSError(5, f"the database cannot be read: {error}", str(database)) from error
