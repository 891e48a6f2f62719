"""Read a journal file outside the event loop, beside its writer.

One thread with its own connection: a read never waits for a commit, and the event loop waits for neither.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from turnwire.journal.sqlite.errors import explain

T = TypeVar("T")


class FileReader:
    """Runs functions on a connection that only reads."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._path = path
        self.connection = connection
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"read {path.name}")

    async def call(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function. Raises its errors, and JournalUnavailable if the file cannot be read."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function, self.connection)
        except sqlite3.Error as error:
            raise explain(self._path, error) from error

    def close(self) -> None:
        """End after the running function."""
        self._thread.shutdown(wait=True)
        self.connection.close()
