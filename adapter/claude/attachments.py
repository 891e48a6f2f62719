"""A prompt's content in the CLI's blocks: images as they are, anything else saved and named in the text."""

import base64
from collections.abc import Sequence
from pathlib import Path

from turnwire.adapter.session.attachments import (
    Attachment,
    AttachmentFolder,
    AttachmentKind,
    AttachmentSettings,
    check,
    sniff,
)
from turnwire.protocol.claude.blocks import AnyBlock, ImageBlock, TextBlock


def compose(
    folder: AttachmentFolder, text: str, attachments: Sequence[Attachment], settings: AttachmentSettings
) -> str | list[AnyBlock]:
    """Return a prompt's content, saving what has to be saved.

    Raises:
        AttachmentRefused: one of them is not taken; none is saved then.
        OSError: one of them cannot be saved.
    """
    check(attachments, settings)
    images: list[AnyBlock] = []
    saved: list[Path] = []
    for attachment in attachments:
        kind = sniff(attachment.content)
        if kind is not None and settings.mode == "blocks":
            images.append(_image(kind, attachment.content))
        else:
            saved.append(folder.save(attachment, kind))
    references = "\n".join(f"- {path}" for path in saved)
    if references:
        text = f"Attached files, to be read from the workspace:\n{references}\n\n{text}"
    if not images:
        return text
    # the API wants no empty text block
    return [*images, TextBlock(text)] if text else images


def _image(kind: AttachmentKind, content: bytes) -> ImageBlock:
    encoded = base64.b64encode(content).decode("ascii")
    return ImageBlock(source={"type": "base64", "media_type": kind.media_type, "data": encoded})
