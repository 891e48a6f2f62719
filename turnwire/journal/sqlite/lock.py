"""One sidecar to a journal file.

An advisory lock on a file beside the journal, which the kernel drops with its holder, however that one ends: a lock
never outlives a killed sidecar. It is beside the journal because SQLite's own locks live in the journal itself.
"""

import fcntl
import os
from pathlib import Path

from turnwire._runtime.private_files import open_private
from turnwire.journal.sqlite.errors import explain, in_use


class FileLock:
    """Holds the lock of one journal file until released."""

    def __init__(self, path: Path) -> None:
        """Take the lock; raises JournalInUse when another process has it, JournalUnavailable when there can be none."""
        beside = path.with_name(path.name + ".lock")
        try:
            self._fd = open_private(beside, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise explain(path, error) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(self._fd, 20, 0).decode(errors="replace").strip()
            os.close(self._fd)
            raise in_use(path, f"process {holder}" if holder else "another process") from error
        except OSError as error:
            os.close(self._fd)
            raise explain(path, error) from error
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let go. The lock file stays: removing it would let two processes lock two files of one name."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
