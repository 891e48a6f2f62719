"""Check whether a journal still has its name. SQLite continues in a deleted file, and all of it is lost with the process."""

import os
import sqlite3
from pathlib import Path


class Presence:
    """Remembers which file stood under a name."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = _identity(path)

    def check(self) -> None:
        """Raise the error that SQLite has for it, sqlite3.OperationalError, when it was deleted, moved or replaced."""
        try:
            is_there = _identity(self._path) == self._known
        except (FileNotFoundError, NotADirectoryError):
            is_there = False
        except OSError:
            return  # nobody may look; whether it can be written is found out by writing
        if not is_there:
            error = sqlite3.OperationalError("the file was deleted, moved or replaced")
            error.sqlite_errorcode = sqlite3.SQLITE_READONLY_DBMOVED
            raise error


def _identity(path: Path) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116 - once for each commit, and an OSError is wanted
    return found.st_dev, found.st_ino
