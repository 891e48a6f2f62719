"""The part of OpenCode's database that belongs to one project: its sessions, and what other tables have of them.

A sandbox gets a database of its own with these rows. At the end the sessions that have changed in it are taken back, each as a whole. The agent
may have written anything into its database, so only rows are read from tables of the known form, and a session that another project has stays.
"""

import hashlib
import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from turnwire.adapter.sandbox.copied_files import LARGEST

WHOLE = ("account", "control_account", "credential", "data_migration", "drizzle", "__drizzle", "migration")
"""Beginnings of names of tables that tell of no project: logins, and which changes of the form were made."""

LONGEST_S = 60.0
"""Seconds that one question to a database may take."""

KNOWN = ".known"
"""What ends the name of the file beside a private database's folder, with the digest of each session as it was taken in."""


class RowsError(OSError):
    """A database cannot be divided; says why."""


def take_in(shared: str, private: str, roots: Sequence[str]) -> None:
    """Make the private database from a project's rows of the shared one; none if there is none. Raises OSError."""
    if not os.path.isfile(shared):
        return
    aside = f"{os.path.dirname(private)}.new"
    with suppress(FileNotFoundError):
        os.unlink(aside)
    with _opened(shared) as source:
        with _opened(aside, is_new=True) as target:
            _make_tables(source, target)
            own = _own_sessions(source, roots)
            for table, columns in _tables(source).items():
                for rows in _own_rows(source, table, columns, own, roots):
                    _insert(target, table, columns, rows)
            target.commit()
        known = {one: _digest(source, one) for one, _ in own}
    _write(_known_file(private), json.dumps(known))
    os.replace(aside, private)


def take_back(private: str, shared: str, roots: Sequence[str]) -> None:
    """Put the sessions that have changed into the shared database, which is made if missing. Raises OSError."""
    for path in (private, f"{private}-wal", f"{private}-shm", f"{private}-journal"):
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise RowsError(0, f"{path} is not a file")
    if os.path.getsize(private) > LARGEST * 4:
        raise RowsError(0, "the database is too large")
    known = _read_known(private)
    with _opened(private) as source:
        if not _has_tables(source):
            return
        is_new = not os.path.lexists(shared)
        with _opened(shared, is_new=is_new) as target:
            if is_new:
                _make_tables(source, target)
            theirs, ours = _tables(target), _tables(source)
            for name, project in _own_sessions(source, roots):
                there = target.execute("SELECT directory FROM session WHERE id = ?", (name,)).fetchone()
                is_others = there is not None and there[0] not in roots
                if is_others or known.get(name) == _digest(source, name):
                    continue
                for table, columns in theirs.items():
                    if (key := _key_of(table, columns)) is None:
                        continue
                    names = [one for one in columns if one in ours.get(table, ())]
                    target.execute(f'DELETE FROM "{table}" WHERE "{key}" = ?', (name,))
                    for rows in _selected(source, table, names, f'"{key}" = ?', (name,)) if names else ():
                        _insert(target, table, names, rows)
                _add_project(source, target, project, ours, theirs)
            if is_new:
                for table, columns in ours.items():
                    if table.startswith(WHOLE):
                        for rows in _selected(source, table, columns, "1", ()):
                            _insert(target, table, columns, rows)
            target.commit()


def _add_project(
    source: sqlite3.Connection,
    target: sqlite3.Connection,
    project: str,
    ours: dict[str, list[str]],
    theirs: dict[str, list[str]],
) -> None:
    """Add the project of a session if it is missing, without the commands that it would start."""
    names = [one for one in theirs.get("project", ()) if one in ours.get("project", ()) and one != "commands"]
    if names:
        for rows in _selected(source, "project", names, "id = ?", (project,)):
            _insert(target, "project", names, rows)


@contextmanager
def _opened(path: str, *, is_new: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a database; sqlite3's errors become OSError."""
    if is_new:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, timeout=10.0)) as opened:
            end = time.monotonic() + LONGEST_S
            opened.set_progress_handler(lambda: int(time.monotonic() > end), 100_000)
            opened.execute("PRAGMA trusted_schema = OFF")
            opened.execute("PRAGMA foreign_keys = OFF")
            yield opened
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        raise RowsError(0, f"{path}: {error}") from error


def _make_tables(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Give a new database the tables and indexes of another; no triggers, and no views."""
    made = source.execute(
        "SELECT sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL AND name NOT LIKE 'sqlite%' ORDER BY type DESC"
    ).fetchall()
    for (text,) in made:
        if not str(text).upper().startswith("CREATE VIRTUAL"):
            target.execute(text)
    (version,) = source.execute("PRAGMA user_version").fetchone()
    target.execute(f"PRAGMA user_version = {int(version)}")


def _tables(opened: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the columns of each table; of no view, and none that is computed."""
    names = [
        str(one)
        for (one,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
        if not str(one).startswith("sqlite_") and '"' not in str(one)
    ]  # fmt: skip
    found = {}
    for name in names:
        columns = opened.execute(f'PRAGMA table_xinfo("{name}")').fetchall()
        found[name] = [str(one[1]) for one in columns if one[6] == 0 and '"' not in str(one[1])]
    return found


def _has_tables(opened: sqlite3.Connection) -> bool:
    return {"id", "directory", "project_id"} <= set(_tables(opened).get("session", ()))


def _own_sessions(opened: sqlite3.Connection, roots: Sequence[str]) -> list[tuple[str, str]]:
    """Return the sessions of a project: id, and id of OpenCode's project."""
    if not _has_tables(opened):
        return []
    marks = ", ".join("?" * len(roots))
    found = opened.execute(f"SELECT id, project_id FROM session WHERE directory IN ({marks})", tuple(roots))
    return [(str(name), str(project)) for name, project in found]


def _key_of(table: str, columns: Sequence[str]) -> str | None:
    """Return the column that names the session to which a row belongs."""
    if table == "session":
        return "id"
    return next((one for one in ("session_id", "aggregate_id") if one in columns), None)


def _own_rows(
    opened: sqlite3.Connection,
    table: str,
    columns: Sequence[str],
    own: Sequence[tuple[str, str]],
    roots: Sequence[str],
) -> Iterator[list[tuple[object, ...]]]:
    projects = {project for _, project in own}
    if (key := _key_of(table, columns)) is not None:
        for one, _ in own:
            yield from _selected(opened, table, columns, f'"{key}" = ?', (one,))
    elif table == "project":
        for project in projects:
            yield from _selected(opened, table, columns, "id = ?", (project,))
        for root in roots:
            yield from _selected(opened, table, columns, "worktree = ?", (root,))
    elif "project_id" in columns and table != "workspace":
        for project in projects:
            yield from _selected(opened, table, columns, "project_id = ?", (project,))
    elif table.startswith(WHOLE):
        yield from _selected(opened, table, columns, "1", ())


def _selected(
    opened: sqlite3.Connection, table: str, columns: Sequence[str], where: str, values: tuple[object, ...]
) -> Iterator[list[tuple[object, ...]]]:
    names = ", ".join(f'"{one}"' for one in columns)
    rows = opened.execute(f'SELECT {names} FROM "{table}" WHERE {where}', values)
    while some := rows.fetchmany(500):
        yield some


def _insert(
    opened: sqlite3.Connection, table: str, columns: Sequence[str], rows: list[tuple[object, ...]]
) -> None:
    names, marks = ", ".join(f'"{one}"' for one in columns), ", ".join("?" * len(columns))
    opened.executemany(f'INSERT OR IGNORE INTO "{table}" ({names}) VALUES ({marks})', rows)


def _digest(opened: sqlite3.Connection, name: str) -> str:
    """Return the digest of all rows of a session."""
    said = hashlib.sha256()
    for table, columns in sorted(_tables(opened).items()):
        if (key := _key_of(table, columns)) is not None:
            rows = [
                repr(row)
                for some in _selected(opened, table, columns, f'"{key}" = ?', (name,))
                for row in some
            ]
            said.update("\n".join([table, *columns, *sorted(rows), ""]).encode("utf-8", "replace"))
    return said.hexdigest()


def _known_file(private: str) -> str:
    return f"{os.path.dirname(private)}{KNOWN}"


def _read_known(private: str) -> dict[str, str]:
    try:
        found = json.loads(Path(_known_file(private)).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: str, text: str) -> None:
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(text)
