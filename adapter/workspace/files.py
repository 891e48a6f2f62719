"""Look into a workspace: list one of its folders, read one of its files.

The agent may write links while we look. So a path is resolved once, and what it names must be inside. Then each of its
folders is opened from the one above without following any link. What became a link meanwhile is refused.
"""

import base64
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from heapq import nsmallest
from pathlib import Path
from typing import Literal

from msgspec import Struct

from turnwire.protocol.errors import TurnwireError

MAX_ENTRIES = 2000
"""Entries of a folder that are listed."""

MAX_LOOK = 50_000
"""Entries of a folder that are looked at."""

MAX_TEXT = 1 << 20
"""Bytes of a file that are read."""

MAX_IMAGE = 4 << 20
"""Bytes of an image; a larger one is only told of."""

IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
"""First bytes of the images that browsers show without running anything."""

OURS = frozenset({".git", ".turnwire"})
"""Folders that are not listed: git's own, and what turnwire puts into a workspace."""

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How folders on the way are opened. Where there is O_PATH, one that can only be entered is enough."""

Hidden = Callable[[Path], bool]
"""Tells whether a real path is one that is never shown."""


class NotShown(TurnwireError):
    """A path names nothing that can be shown; says why."""


class Entry(Struct, frozen=True):
    """What is in a folder."""

    name: str
    kind: Literal["folder", "file", "link", "other"]
    size: int | None
    """Bytes of a file."""


class Folder(Struct, frozen=True):
    """A folder of a workspace: folders first, by name."""

    entries: Sequence[Entry]
    complete: bool
    """Whether these are all."""


class Content(Struct, frozen=True):
    """What is in a file."""

    size: int
    text: str | None
    """None for one that is no text."""
    media_type: str | None
    """The type of an image that is small enough."""
    base64: str | None
    """Its bytes."""
    cut: bool
    """Whether there is more than `text` has."""


def list_folder(workspace: Path, path: str, hidden: Hidden, *, max_entries: int = MAX_ENTRIES) -> Folder:
    """List a folder by its path from the workspace, empty for the workspace itself. Raises NotShown."""
    with _opened(workspace, path, hidden, os.O_RDONLY | os.O_DIRECTORY) as (real, descriptor):
        found: list[Entry] = []
        complete = True
        with os.scandir(descriptor) as entries:
            for number, entry in enumerate(entries):
                if number >= MAX_LOOK:
                    complete = False
                    break
                if entry.name not in OURS and _is_utf8(entry.name) and not hidden(real / entry.name):
                    found.append(_entry(entry))
    listed = nsmallest(
        max_entries, found, key=lambda one: (one.kind != "folder", one.name.casefold(), one.name)
    )
    return Folder(listed, complete and len(found) <= max_entries)


def read_file(workspace: Path, path: str, hidden: Hidden, *, max_text: int = MAX_TEXT) -> Content:
    """Read a file by its path from the workspace. Raises NotShown."""
    # without O_NONBLOCK a pipe that nobody writes would hold us
    with _opened(workspace, path, hidden, os.O_RDONLY | os.O_NONBLOCK) as (_, descriptor):
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise NotShown(f"{path!r} is a folder, a pipe, a socket or a device; choose a file")
        if about.st_dev in _of_the_kernel():
            raise NotShown(f"{path!r} is made by the kernel, not kept in a file")
        start = _read(descriptor, max_text + 1)
        if (image := _image(start)) is not None:
            whole = start + _read(descriptor, MAX_IMAGE + 1 - len(start))
            if len(whole) <= MAX_IMAGE:
                return Content(about.st_size, None, image, base64.b64encode(whole).decode(), cut=False)
            return Content(about.st_size, None, None, None, cut=True)
    cut = len(start) > max_text
    return Content(max(about.st_size, len(start)), _text(start[:max_text], cut=cut), None, None, cut=cut)


@contextmanager
def _opened(workspace: Path, path: str, hidden: Hidden, flags: int) -> Iterator[tuple[Path, int]]:
    """Open what a path names, all of it inside of the workspace, with its real path. Raises NotShown."""
    try:
        root = workspace.resolve(strict=True)
        real = (root / path).resolve(strict=True)
        if not real.is_relative_to(root) or any(part in OURS for part in real.relative_to(root).parts):
            raise NotShown(f"{path!r} is not a file of the workspace, or a link leads out of it")
        if hidden(real):
            raise NotShown(f"{path!r} holds secrets, or is turnwire's own; look there yourself")
        descriptor = _walk(real, flags)
        try:
            yield real, descriptor
        finally:
            os.close(descriptor)
    except (OSError, RuntimeError, ValueError) as error:
        # a NUL, links in a circle, a name that is too long, one that is gone or became a link
        raise NotShown(f"{path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _walk(real: Path, flags: int) -> int:
    above, *names = real.parts
    descriptor = os.open(above, _FOLDER)
    for number, name in enumerate(names, start=1):
        how = flags | os.O_NOFOLLOW | os.O_CLOEXEC if number == len(names) else _FOLDER
        try:
            below = os.open(name, how, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor


def _of_the_kernel() -> set[int]:
    """Return the devices of /proc and /sys: their files show what a process may see that reads them, which is turnwire."""
    found: set[int] = set()
    for place in ("/proc", "/sys"):
        try:
            device = Path(place).stat().st_dev
        except OSError:
            continue
        if device != Path("/").stat().st_dev:
            found.add(device)
    return found


def _read(descriptor: int, most: int) -> bytes:
    read = bytearray()
    while len(read) < most and (chunk := os.read(descriptor, most - len(read))):
        read += chunk
    return bytes(read)


def _entry(entry: "os.DirEntry[str]") -> Entry:
    try:
        mode = entry.stat(follow_symlinks=False)
    except OSError:
        return Entry(entry.name, "other", None)
    if stat.S_ISDIR(mode.st_mode):
        return Entry(entry.name, "folder", None)
    if stat.S_ISREG(mode.st_mode):
        return Entry(entry.name, "file", mode.st_size)
    return Entry(entry.name, "link" if stat.S_ISLNK(mode.st_mode) else "other", None)


def _image(start: bytes) -> str | None:
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for head, kind in IMAGES.items() if start.startswith(head)), None)


def _text(read: bytes, *, cut: bool) -> str | None:
    """Return the text; None for what is none. The last character of a file that is cut may be half there."""
    if b"\0" in read:
        return None
    try:
        return read.decode()
    except UnicodeDecodeError as error:
        if cut and error.start >= len(read) - 3:
            return read[: error.start].decode()
        return None


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
