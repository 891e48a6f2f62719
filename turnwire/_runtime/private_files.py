"""Files and folders that only their owner can read, because they contain everything that an agent read and wrote.

Someone who can write to our folder may have put a link there, and our writing would follow it.
So a file is opened without following a link, checked through its descriptor, and refused unless it is a regular file
of ours with one name. A file that others could read is shut.
"""

import errno
import os
import stat
from collections.abc import Collection
from pathlib import Path


def open_private(path: Path, flags: int) -> int:
    """Open a file of our own and return its descriptor. With O_CREAT it is created with mode 0600.

    `flags` as in os.open. A file with a wider mode gets 0600. Raises OSError, whose strerror names the problem:
    a link, a file with a second name, another user's file, or not a regular file.
    """
    # Without O_NONBLOCK the opening of somebody's named pipe would wait for its other end.
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _refusal(path, "it is a symbolic link; remove it") from error
        raise
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise _refusal(path, "it is not a regular file; remove it")
        if about.st_uid != os.geteuid():
            raise _refusal(path, f"it belongs to another user (uid {about.st_uid}); remove it")
        if about.st_nlink > 1:
            raise _refusal(path, "it has a second name (a hard link); remove it, or replace it by a copy")
        if stat.S_IMODE(about.st_mode) & 0o077:
            os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_private(path: Path, *, owners: Collection[int], follows_links: bool, limit: int = 1 << 20) -> str:
    """Read a file that only its owner may read or write, without changing it. Text beyond `limit` characters is ignored.

    `owners` are user ids. Raises OSError, whose strerror names the problem.
    """
    links = 0 if follows_links else os.O_NOFOLLOW
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | links)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise _refusal(path, "it is not a file")
        if about.st_uid not in owners:
            raise _refusal(path, f"it belongs to another user (uid {about.st_uid})")
        if stat.S_IMODE(about.st_mode) & 0o077:
            raise _refusal(path, f"other users could read or write it (mode {stat.S_IMODE(about.st_mode):o})")
        with os.fdopen(descriptor, encoding="utf-8", errors="replace", closefd=False) as file:
            return file.read(limit)
    finally:
        os.close(descriptor)


def write_private(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write a file of our own in a folder of our own at once: who reads it sees the old content, or all of the new.

    `durable`: it is on the disk when this returns. Raises OSError.
    """
    make_private(path.parent)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(open_private(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    fresh.replace(path)


def make_private(folder: Path, base: Path | None = None) -> None:
    """Create a folder, or shut an existing one, so that only its owner has access: mode 0700.

    With `base`, an ancestor, the folders between are shut too, `base` included. Raises OSError, whose strerror names the
    problem: another user's folder or link, a folder that all users share (such as /tmp), or not a folder.
    """
    above = [one for one in folder.parents if base is not None and one.is_relative_to(base)]
    for one in (*reversed(above), folder):
        one.mkdir(mode=0o700, parents=True, exist_ok=True)
        _shut(one)


def _shut(folder: Path) -> None:
    link = folder.lstat()
    # A link of our own, or of the system's, is a matter of taste where things lie; anybody else's leads us astray.
    if stat.S_ISLNK(link.st_mode) and link.st_uid not in (0, os.geteuid()):
        raise _refusal(folder, f"it is a link of another user (uid {link.st_uid}); name another folder")
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        about = os.fstat(descriptor)
        if about.st_uid != os.geteuid():
            raise _refusal(
                folder,
                f"it belongs to another user (uid {about.st_uid}), who could change the files in it; "
                "name another folder, or change its owner",
            )
        if about.st_mode & stat.S_ISVTX:
            raise _refusal(folder, "all users share it; name another folder, such as one inside it")
        if stat.S_IMODE(about.st_mode) & 0o077:
            os.fchmod(descriptor, 0o700)
    finally:
        os.close(descriptor)


def _refusal(path: Path, why: str) -> OSError:
    return OSError(errno.EPERM, why, str(path))
