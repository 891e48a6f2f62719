"""Files that agents other than Claude Code have kept of a conversation of two turns, or of three (fixtures/kept/)."""

import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from recordings import ROOT

KEPT = ROOT / "fixtures" / "kept"

AGENTS = ("codex-0.169.0", "gemini-0.61.0", "qwen-0.24.4")
"""Folders of the fixtures: agent and version."""

WITH_A_FAILURE = ("copilot-1.0.102", "droid-0.215.0", "kimi-2.1.0", "opencode-1.18.33")
"""Folders whose conversation has a third turn, in which the API answers 401."""


def kept_file(agent: str) -> Path:
    """Return the file with the conversation; Gemini CLI has left one without anything in it, too.

    Of OpenCode it is a conversation in a database, which is made of its statements once in a process.
    """
    if agent.startswith("opencode"):
        database = _databases() / "opencode.db"
        (identity,) = _rows(database, "SELECT id FROM session")
        return database / identity
    return max(KEPT.glob(f"{agent}*/**/*.jsonl"), key=lambda path: path.stat().st_size)


def make_database(folder: Path) -> Path:
    """Make OpenCode's database in a folder."""
    (statements,) = KEPT.glob("opencode-*/opencode.sql")
    database = folder / "opencode.db"
    with closing(sqlite3.connect(database)) as db:
        db.executescript(statements.read_text(encoding="utf-8"))
    return database


@cache
def _databases() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="turnwire-kept-")
    _KEPT_UNTIL_THE_END.append(folder)
    make_database(Path(folder.name))
    return Path(folder.name)


_KEPT_UNTIL_THE_END: list[tempfile.TemporaryDirectory[str]] = []


def _rows(database: Path, query: str) -> list[str]:
    with closing(sqlite3.connect(database)) as db:
        return [row[0] for row in db.execute(query)]
