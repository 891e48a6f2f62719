"""One sidecar per journal file.

An advisory lock on a file beside the journal. The kernel releases it when its holder ends in any way, so it
never outlives a killed sidecar. It is a separate file because SQLite's own locks are in the journal itself.
"""

import fcntl
import os
from pathlib import Path

from turnwire._runtime.private_files import open_private
from turnwire.journal.sqlite.errors import explain, in_use


class FileLock:
    """Holds the lock of one journal file until released."""

    def __init__(self, path: Path) -> None:
        """Take the lock. Raises JournalInUse if another process has it, JournalUnavailable if locking is impossible."""
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
