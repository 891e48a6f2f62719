"""Errors of a journal file as sentences: which file, what is wrong, what to do.

Every refusal of the SQLite backend is made here, so that the sentences are consistent.
"""

import shlex
import sqlite3
from pathlib import Path

from turnwire.journal.base import JournalInUse, JournalUnavailable

_REMEDY = (
    "`turnwire journal set-aside --state-dir {folder}` moves it away, with all that is in it, so that a new one can begin; "
    "or restore it from a backup"
)


def explain(path: Path, error: Exception) -> JournalUnavailable:
    """Return the refusal for an error that SQLite or the operating system reported about a journal file."""
    if isinstance(error, OSError):
        # A folder above it or a file beside it may be what is wrong.
        where = "" if error.filename in (None, str(path)) else f"{error.filename}: "
        return JournalUnavailable(
            f"Cannot use the journal {path}: {where}{error.strerror or error}. Check the path and its permissions."
        )
    code = getattr(error, "sqlite_errorcode", None)
    sentence = None if code is None else _SENTENCES.get(code) or _SENTENCES.get(code & 0xFF)
    if sentence is not None:
        return JournalUnavailable(
            f"{sentence.format(path=path, folder=_quoted(path))} (SQLite says: {error})"
        )
    return JournalUnavailable(f"The journal {path} cannot be used: {error}. {_remedy(path)}.")


def damaged(path: Path, how: str) -> JournalUnavailable:
    """Return the refusal of a file whose content is not a journal's."""
    return JournalUnavailable(
        f"The journal {path} is damaged: {how}. Nothing was changed in it. {_remedy(path)}."
    )


def refused(path: Path, session: str, error: Exception) -> JournalUnavailable:
    """Return the refusal of one session's log, while others' logs work."""
    return JournalUnavailable(
        f"The log of session {session!r} in the journal {path} does not take its events: {error}. Other sessions go on; "
        "continue in a new one."
    )


def foreign(path: Path, what: str) -> JournalUnavailable:
    """Return the refusal of a file that is not turnwire's."""
    return JournalUnavailable(
        f"{path} is not a turnwire journal: {what}. Nothing was changed in it. Give another path."
    )


def too_new(path: Path, version: int, known: int) -> JournalUnavailable:
    """Return the refusal of a file of a later turnwire."""
    return JournalUnavailable(
        f"The journal {path} was written by a newer turnwire (schema {version}, this one knows {known}). "
        "Upgrade turnwire or give another path."
    )


def in_use(path: Path, holder: str) -> JournalInUse:
    """Return the refusal of a file that another sidecar has."""
    return JournalInUse(
        f"The journal {path} is in use by another turnwire ({holder}). Stop that one, or give this one another directory "
        "with --state-dir."
    )


def _remedy(path: Path) -> str:
    return _REMEDY.format(folder=_quoted(path))


def _quoted(path: Path) -> str:
    return shlex.quote(str(path.parent))


_SENTENCES: dict[int, str] = {
    sqlite3.SQLITE_READONLY_DBMOVED: "The journal {path} is gone, and nothing more is written. Put the file back where it was; "
    "or start turnwire again: with the file, all that was in it is lost.",
    sqlite3.SQLITE_BUSY: "The journal {path} is locked by another program. Close what has it open for writing.",
    sqlite3.SQLITE_LOCKED: "The journal {path} is locked by another program. Close what has it open for writing.",
    sqlite3.SQLITE_FULL: "No space is left for the journal {path}. Free some on its disk; what is waiting is then written.",
    sqlite3.SQLITE_READONLY: "The journal {path} is read-only. Make the file and its folder writable or give another path.",
    sqlite3.SQLITE_PERM: "The journal {path} may not be written. Make the file and its folder writable or give another path.",
    sqlite3.SQLITE_CANTOPEN: "The journal {path} cannot be opened. Check that its folder exists and is writable.",
    sqlite3.SQLITE_IOERR: "The disk fails to read or write the journal {path}. Check the disk and the space left on it.",
    sqlite3.SQLITE_CORRUPT: "The journal {path} is damaged. Nothing was changed in it. " + _REMEDY + ".",
    sqlite3.SQLITE_NOTADB: "The journal {path} is damaged or no journal. Nothing was changed in it. "
    + _REMEDY
    + ".",
}
"""By SQLite's result code, extended or primary."""
