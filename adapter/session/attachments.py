"""Files that go with a prompt: images as the agent takes them, or saved in the workspace with references in the prompt.

The content of a file decides its type. Its name comes from a frontend and is never used as a path. Saved files
live in .turnwire/attachments/SESSION/ under names that turnwire chooses, and are removed with the session.
"""

import base64
import binascii
import contextlib
import errno
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

from turnwire.protocol.errors import TurnwireError

FOLDER = Path(".turnwire/attachments")
"""Where attachments are saved, in the workspace."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png", ".png"),
    (b"\xff\xd8\xff", 0, "image/jpeg", ".jpg"),
    (b"GIF87a", 0, "image/gif", ".gif"),
    (b"GIF89a", 0, "image/gif", ".gif"),
    (b"WEBP", 8, "image/webp", ".webp"),
)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_NAME = 80


class AttachmentRefused(TurnwireError, ValueError):
    """A refused attachment. The message says which, why, and what to do."""


class Attachment(Struct, frozen=True):
    """A file as a frontend sends it."""

    content: bytes
    """Its bytes."""
    name: str | None = None
    """The frontend's name for it. Only its last part is used."""


class AttachmentSettings(Struct, frozen=True, kw_only=True):
    """Accepted attachments, and how they reach the agent."""

    mode: Literal["blocks", "files"] = "blocks"
    """blocks: images as content blocks, anything else as a file; files: everything as a file."""
    max_count: int = 20
    """Files of one prompt."""
    max_size: int = 5 * 1024 * 1024
    """Most bytes of one file. The API accepts images of 5 MiB."""
    max_total: int = 20 * 1024 * 1024
    """Bytes of all files of one prompt."""


class AttachmentKind(NamedTuple):
    """The kind of a file."""

    media_type: str
    extension: str


def decode_attachment(text: str, name: str | None = None) -> Attachment:
    """Return the attachment of a base64 text; raises AttachmentRefused."""
    try:
        return Attachment(base64.b64decode(text, validate=True), name)
    except (binascii.Error, ValueError):
        raise AttachmentRefused(f"the attachment {name or 'without a name'} is not valid base64") from None


def sniff(content: bytes) -> AttachmentKind | None:
    """Return the image type of a content; None if it is no image that the API accepts."""
    for signature, offset, media_type, extension in _SIGNATURES:
        if content.startswith(signature, offset) and (offset == 0 or content.startswith(b"RIFF")):
            return AttachmentKind(media_type, extension)
    return None


def check(attachments: Sequence[Attachment], settings: AttachmentSettings) -> None:
    """Raise AttachmentRefused for attachments that are too many, too large or empty."""
    if len(attachments) > settings.max_count:
        raise AttachmentRefused(
            f"{len(attachments)} attachments; at most {settings.max_count} go with a prompt"
        )
    for number, attachment in enumerate(attachments, 1):
        size = len(attachment.content)
        if not size or size > settings.max_size:
            what = attachment.name or f"attachment {number}"
            raise AttachmentRefused(f"{what} has {size} bytes; 1 to {settings.max_size} are allowed")
    total = sum(len(attachment.content) for attachment in attachments)
    if total > settings.max_total:
        raise AttachmentRefused(
            f"the attachments have {total} bytes; at most {settings.max_total} are allowed"
        )


class AttachmentFolder:
    """Where the attachments of one session are saved."""

    def __init__(self, workspace: Path, session: str) -> None:
        self.path = workspace / FOLDER / _safe(session, "session")
        self._workspace = workspace
        self._count = 0

    def remove(self) -> None:
        """Remove the saved files, and folders that are then empty."""
        shutil.rmtree(self.path, ignore_errors=True)
        for folder in (self.path.parent, self.path.parent.parent):
            try:
                folder.rmdir()
            except OSError:
                return

    def save(self, attachment: Attachment, kind: AttachmentKind | None) -> Path:
        """Save a file and return its path in the workspace; raises AttachmentRefused and OSError."""
        name = _safe(attachment.name or "", "file")
        if kind is not None and Path(name).suffix.lower() not in (kind.extension, ".jpeg"):
            name += kind.extension
        folder = self._open_folder()
        try:
            saved, descriptor = self._create(name, folder)
        finally:
            os.close(folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(attachment.content)
        return (self.path / saved).relative_to(self._workspace)

    def _create(self, name: str, folder: int) -> tuple[str, int]:
        """Create a new file. A resumed session finds its earlier files; none is ever overwritten."""
        while True:
            self._count += 1
            numbered = f"{self._count:03d}-{name}"
            try:
                return numbered, os.open(numbered, _NEW_FILE, 0o600, dir_fd=folder)
            except FileExistsError:
                continue

    def _open_folder(self) -> int:
        """Create the missing folders and return a descriptor of the last.

        Each is opened below the one before without following links, so that none can be exchanged meanwhile.
        """
        descriptor = os.open(self._workspace, _FOLDER)
        try:
            for number, name in enumerate(self.path.relative_to(self._workspace).parts):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
                try:
                    below = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
                except OSError as error:
                    if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                        raise
                    raise AttachmentRefused(
                        f"{name} is not a folder of the workspace, but a link or a file; remove it"
                    ) from None
                os.close(descriptor)
                descriptor = below
                if number == 0:
                    _ignore_all(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _ignore_all(folder: int) -> None:
    """Have git ignore a folder. Whatever is there under the name already stays, a link that leads nowhere too."""
    try:
        descriptor = os.open(".gitignore", _NEW_FILE, 0o644, dir_fd=folder)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("*\n")


def _safe(name: str, default: str) -> str:
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return _UNSAFE.sub("_", last).strip("._")[:_MAX_NAME] or default
