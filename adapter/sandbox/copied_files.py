"""Copy files out of folders that an agent may have written: no links, no pipes, bounded lengths, the newer one counts."""

import logging
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

log = logging.getLogger(__name__)

MOST_FILES = 20_000
LARGEST = 256 << 20
"""Files that are copied at once, and bytes of one."""


def plain_files(folder: str) -> Iterator[str]:
    """Yield the paths of files below a folder; no link is followed."""
    for inside, _, names in os.walk(folder):
        yield from (os.path.relpath(f"{inside}/{one}", folder) for one in names)


def copy_files(source: str, target: str, names: Iterable[str]) -> None:
    """Copy files from one folder into another, by their paths in it, unless the one there is as new. Raises OSError."""
    real = os.path.realpath(source)
    for number, path in enumerate(names):
        if number >= MOST_FILES:
            log.warning("too many files of conversations for a sandbox", extra={"folder": source})
            return
        there = f"{target}/{path}"
        try:
            # the agent may have put a link or a pipe there
            reading = os.open(f"{source}/{path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        with os.fdopen(reading, "rb") as file:
            if sys.platform == "linux" and os.readlink(f"/proc/self/fd/{reading}") != f"{real}/{path}":
                continue  # a folder in between was exchanged for a link
            about = os.fstat(reading)
            if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                continue
            if os.path.lexists(there) and os.lstat(there).st_mtime_ns >= about.st_mtime_ns:
                continue
            Path(there).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.path.realpath(os.path.dirname(there)) != os.path.dirname(there):
                continue
            aside = f"{there}.turnwire"
            with open(aside, "wb", opener=_private) as copy:
                shutil.copyfileobj(file, copy)
            os.utime(aside, ns=(about.st_atime_ns, about.st_mtime_ns))
            os.replace(aside, there)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
