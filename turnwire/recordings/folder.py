"""A recording as a folder, written while an agent runs: the raw bytes of its three streams, and a timeline of their lines.

    meta.json        arguments, names of environment variables, folder, how it ended
    stdin.jsonl, stdout.jsonl, stderr.txt
    timeline.jsonl   {"t", "dir": send, recv, err or exit, "line" or "code"}
    files-after.txt  what the run changed in the folder, and what git says

Nothing is held in memory but what is being written, however long a line is.
"""

import asyncio
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, Self

import msgspec

from turnwire._runtime.version import VERSION
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import JsonObject

Direction = Literal["send", "recv", "err"]

FILES: Mapping[Direction, str] = {"send": "stdin.jsonl", "recv": "stdout.jsonl", "err": "stderr.txt"}

MOST_FILES = 20_000
"""Files of the workspace that are looked at."""

LARGEST_FILE = 64 * 1024
LARGEST_SUM = 1024 * 1024
"""Bytes of a changed file, and of all, that are kept."""

UNSEEN = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
"""Folders that are not looked into."""

GIT_S = 10.0
"""Seconds that git may take."""


class FolderRecorder:
    """Writes one recording of one process."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """Make the folder, for its owner alone; raises FileExistsError where there is one."""
        folder.mkdir(mode=0o700, parents=True)
        self.folder = folder
        self._clock = clock
        self._began = clock()
        self._files: dict[Direction, BinaryIO] = {
            direction: self._opened(name) for direction, name in FILES.items()
        }
        self._timeline = self._opened("timeline.jsonl")
        self._lines: dict[Direction, int] = dict.fromkeys(FILES, 0)
        self._is_cut: dict[Direction, bool] = dict.fromkeys(FILES, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (*self._files.values(), self._timeline):
            file.close()

    @property
    def counts(self) -> Mapping[Direction, int]:
        """Lines of each stream so far."""
        return self._lines

    def see(self, direction: Direction, data: bytes) -> None:
        """Keep bytes of a stream."""
        self._files[direction].write(data)
        ends = data.count(b"\n")
        for _ in range(ends):
            self._row(direction)
        self._is_cut[direction] = not data.endswith(b"\n") if data else self._is_cut[direction]

    def close(self, about: JsonObject, code: int, changed: Iterator[bytes]) -> None:
        """End the recording; a code of a signal is -N. `about` is what meta.json says of the process, `changed` the files after it."""
        for direction, is_cut in self._is_cut.items():
            if is_cut:
                self._row(direction)
        self._timeline.write(line_of({"t": self._time(), "dir": "exit", "code": code}))
        run = {
            **about,
            "exit": code,
            "how": "exited" if code >= 0 else "signal",
            "seconds": self._time(),
            "stdout_lines": self._lines["recv"],
        }
        meta = {"recorded_by": f"turnwire {VERSION}", "runs": [run]}
        with self._opened("meta.json") as file:
            file.write(msgspec.json.format(msgspec.json.encode(meta), indent=1) + b"\n")
        with self._opened("files-after.txt") as file:
            file.writelines(changed)

    def _row(self, direction: Direction) -> None:
        self._timeline.write(line_of({"t": self._time(), "dir": direction, "line": self._lines[direction]}))
        self._lines[direction] += 1

    def _time(self) -> float:
        return round(self._clock() - self._began, 4)

    def _opened(self, name: str) -> BinaryIO:
        descriptor = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        return os.fdopen(descriptor, "wb")


class Workspace:
    """The files of a folder, as they were when it was looked at first."""

    def __init__(self, folder: Path, left_out: Sequence[Path] = ()) -> None:
        self._folder = folder
        self._left_out = {path.resolve() for path in left_out}
        self._before = dict(self._files())

    def changed(self) -> Iterator[bytes]:
        """Yield what git says, and each file that is new, changed or gone since, with its text as far as it is not large."""
        yield b"git status:\n" + self._git() + b"\n"
        after = dict(self._files())
        left = LARGEST_SUM
        for path in sorted(after.keys() | self._before.keys()):
            if after.get(path) == self._before.get(path):
                continue
            name = os.fsencode(path)
            if path not in after:
                yield b"\n--- " + name + b" (gone)\n"
                continue
            size = after[path][1]
            yield b"\n--- " + name + b" (%d bytes)\n" % size
            content = self._content(path) if size <= min(LARGEST_FILE, left) else None
            if content is None:
                yield b"(not kept: no text, or too large)\n"
            else:
                left -= size
                yield content if content.endswith(b"\n") else content + b"\n"

    def _files(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Yield the regular files with when they were changed, and their size."""
        count = 0
        for place, folders, names in os.walk(self._folder):
            folders[:] = sorted(
                name
                for name in folders
                if name not in UNSEEN and Path(place, name).resolve() not in self._left_out
            )
            for name in sorted(names):
                if (count := count + 1) > MOST_FILES:
                    return
                path = Path(place, name)
                try:
                    about = path.lstat()
                except OSError:
                    continue  # it has gone meanwhile
                if stat.S_ISREG(about.st_mode):
                    yield str(path.relative_to(self._folder)), (about.st_mtime_ns, about.st_size)

    def _content(self, path: str) -> bytes | None:
        try:
            content = (self._folder / path).read_bytes()
        except OSError:
            return None
        return None if b"\0" in content else content

    def _git(self) -> bytes:
        from turnwire.adapter.workspace.git import Git, GitRefused  # noqa: PLC0415 - few recordings are made

        async def status() -> str:
            async with asyncio.timeout(GIT_S):
                return (await Git(self._folder, os.environ)("status", "--porcelain")).output
            raise AssertionError("it returns or raises")

        try:
            told = asyncio.run(status())
        except (GitRefused, TimeoutError):
            return b""
        return told.encode("utf-8", "surrogateescape")[:LARGEST_FILE]
