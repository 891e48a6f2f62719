"""fs/read_text_file and fs/write_text_file: files of an agent, only inside the workspace.

A path is walked from the workspace down, one name at a time, each opened without following links (openat,
O_NOFOLLOW), so that nothing that is put there meanwhile leads out. Only a regular file is read. An agent that is
refused gets the reason. It has its own rights as a process; this only prevents that it borrows ours.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import islice
from pathlib import Path, PurePosixPath

from turnwire.protocol.errors import TurnwireError

MAX_FILE = 16 * 1024 * 1024
"""Bytes of a file that is read, or written, at most."""

_SHOWN = 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO would hold us until somebody writes
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class FileRefused(TurnwireError):
    """A file that the agent does not get; `missing` when it simply does not exist."""

    def __init__(self, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


class WorkspaceFiles:
    """The text files of a workspace. Its methods block: they are for threads."""

    def __init__(
        self,
        workspace: Path,
        *,
        max_size: int = MAX_FILE,
        read_only: Sequence[str] = (),
        hidden: Sequence[str] = (),
    ) -> None:
        """`read_only` and `hidden`: places in the workspace that the agent's sandbox protects, relative to it."""
        self._workspace = workspace
        self._max_size = max_size
        self._read_only = (*read_only, *hidden)
        self._hidden = tuple(hidden)

    def read(self, path: str, line: int | None = None, limit: int | None = None) -> str:
        """Return a file's text, from line `line` (from 1) on, `limit` lines at most; raises FileRefused."""
        with self._opened(path, os.O_RDONLY) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
            # one more than is taken: a file may grow while it is read
            content = file.read(self._max_size + 1)
        if len(content) > self._max_size:
            raise FileRefused(
                f"{_shown(path)} has more than {self._max_size} bytes, the maximum for reading; read a part of it with a command"
            )
        text = content.decode("utf-8", "replace")
        if line is None and limit is None:
            return text
        first = max((line or 1) - 1, 0)
        last = None if limit is None else first + limit
        return "".join(islice(StringIO(text, newline="\n"), first, last))

    def write(self, path: str, content: str) -> None:
        """Write a file's text, and make the folders that lead to it; raises FileRefused."""
        data = content.encode("utf-8", "replace")
        if len(data) > self._max_size:
            raise FileRefused(
                f"{len(data)} bytes for {_shown(path)}; the maximum is {self._max_size}. Write a smaller file"
            )
        with self._opened(path, os.O_WRONLY | os.O_CREAT, makes_folders=True) as descriptor:
            os.ftruncate(descriptor, 0)
            with os.fdopen(os.dup(descriptor), "wb") as file:
                file.write(data)

    @contextmanager
    def _opened(self, path: str, flags: int, *, makes_folders: bool = False) -> Iterator[int]:
        *folders, name = names = self._names(path)
        where = "/".join(names)
        held = self._hidden if flags == os.O_RDONLY else self._read_only
        if any(where == one or where.startswith(f"{one}/") for one in held):
            raise FileRefused(f"{_shown(path)} is protected by the sandbox of this session")
        try:
            descriptor = self._open(folders, name, flags, makes_folders=makes_folders)
        except FileNotFoundError:
            raise FileRefused(f"there is no file {_shown(path)}", missing=True) from None
        except OSError as error:
            # ELOOP and ENOTDIR: a link where a folder or a file should be
            raise FileRefused(
                f"{_shown(path)} cannot be opened without following links: {error.strerror}"
            ) from None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileRefused(f"{_shown(path)} is not a regular file")
            yield descriptor
        except OSError as error:
            raise FileRefused(f"{_shown(path)}: {error.strerror}") from None
        finally:
            os.close(descriptor)

    def _names(self, path: str) -> tuple[str, ...]:
        """Return the names that lead from the workspace to a file."""
        if "\0" in path:
            raise FileRefused("the path contains a NUL character; leave it out")
        spelled = PurePosixPath(path)
        if not spelled.is_absolute():
            raise FileRefused(f"{_shown(path)} is not an absolute path; the protocol needs one")
        if ".." in spelled.parts:
            raise FileRefused(f"{_shown(path)} has `..`; name the file by its own path")
        try:
            names = spelled.relative_to(self._workspace).parts
        except ValueError:
            raise FileRefused(f"{_shown(path)} is not in the workspace {self._workspace}") from None
        if not names:
            raise FileRefused("the path is the workspace itself; name a file in it")
        return names

    def _open(self, folders: list[str], name: str, flags: int, *, makes_folders: bool) -> int:
        place = os.open(self._workspace, _FOLDER)
        try:
            for folder in folders:
                try:
                    inner = os.open(folder, _FOLDER, dir_fd=place)
                except FileNotFoundError:
                    if not makes_folders:
                        raise
                    os.mkdir(folder, dir_fd=place)
                    inner = os.open(folder, _FOLDER, dir_fd=place)
                os.close(place)
                place = inner
            return os.open(name, flags | _FILE, 0o666, dir_fd=place)
        finally:
            os.close(place)


def _shown(path: str) -> str:
    return repr(path if len(path) <= _SHOWN else f"{path[:_SHOWN]}…")
