"""Files that go with a prompt: images as the agent takes them, or saved in the workspace with references in the prompt (spec 3).

What a file is, its content decides; what it is called comes from a frontend and is never trusted with a path. Saved files
live in .turnwire/attachments/SESSION/ under names of ours, and are removed with the session.
"""

import base64
import binascii
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
    """An attachment that is not taken; says which, why, and what to do."""


class Attachment(Struct, frozen=True):
    """A file as a frontend sends it."""

    content: bytes
    """Its bytes."""
    name: str | None = None
    """What the frontend calls it; only its last part is used."""


class AttachmentSettings(Struct, frozen=True, kw_only=True):
    """What is taken, and how it reaches the agent."""

    mode: Literal["blocks", "files"] = "blocks"
    """blocks: images as content blocks, anything else as a file; files: everything as a file."""
    max_count: int = 20
    """Files of one prompt."""
    max_size: int = 5 * 1024 * 1024
    """Bytes of one file; the API takes images of 5 MiB."""
    max_total: int = 20 * 1024 * 1024
    """Bytes of all files of one prompt."""


class AttachmentKind(NamedTuple):
    """What a file is."""

    media_type: str
    extension: str


def decode_attachment(text: str, name: str | None = None) -> Attachment:
    """Return the attachment of a base64 text; raises AttachmentRefused."""
    try:
        return Attachment(base64.b64decode(text, validate=True), name)
    except (binascii.Error, ValueError):
        raise AttachmentRefused(f"the attachment {name or 'without a name'} is not valid base64") from None


def sniff(content: bytes) -> AttachmentKind | None:
    """Return what kind of image a content is; None when it is none that the API takes."""
    for signature, offset, media_type, extension in _SIGNATURES:
        if content.startswith(signature, offset) and (offset == 0 or content.startswith(b"RIFF")):
            return AttachmentKind(media_type, extension)
    return None


def check(attachments: Sequence[Attachment], settings: AttachmentSettings) -> None:
    """Raise AttachmentRefused for what is too many, too large or empty."""
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
        """Remove what was saved, and the folders that are empty then."""
        shutil.rmtree(self.path, ignore_errors=True)
        for folder in (self.path.parent, self.path.parent.parent):
            try:
                folder.rmdir()
            except OSError:
                return

    def save(self, attachment: Attachment, kind: AttachmentKind | None) -> Path:
        """Save a file and return its path in the workspace; raises AttachmentRefused and OSError."""
        self._make_folder()
        name = _safe(attachment.name or "", "file")
        if kind is not None and Path(name).suffix.lower() not in (kind.extension, ".jpeg"):
            name += kind.extension
        path, descriptor = self._create(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(attachment.content)
        return path.relative_to(self._workspace)

    def _create(self, name: str) -> tuple[Path, int]:
        """A session that is resumed finds the files of its past; none is ever overwritten."""
        while True:
            self._count += 1
            path = self.path / f"{self._count:03d}-{name}"
            try:
                return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            except FileExistsError:
                continue

    def _make_folder(self) -> None:
        for folder in (self.path.parent.parent, self.path.parent, self.path):
            if folder.is_symlink():
                raise AttachmentRefused(f"{folder} is a link and may lead out of the workspace; remove it")
            folder.mkdir(exist_ok=True)
        ignore = self.path.parent.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")


def _safe(name: str, default: str) -> str:
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return _UNSAFE.sub("_", last).strip("._")[:_MAX_NAME] or default
