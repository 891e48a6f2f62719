"""Convert a prompt in Claude Code's form to a session's text and images. Pure."""

from turnwire.adapter.session.attachments import Attachment, AttachmentRefused, decode_attachment
from turnwire.protocol.claude.blocks import ImageBlock, TextBlock
from turnwire.protocol.claude.messages import User
from turnwire.protocol.json_values import text_at


def read_prompt(prompt: User) -> tuple[str, list[Attachment]]:
    """Return the text and the images. Raises AttachmentRefused for content that other agents do not accept."""
    texts: list[str] = []
    images: list[Attachment] = []
    for number, block in enumerate(prompt.blocks):
        match block:
            case TextBlock(text=text):
                texts.append(text)
            case ImageBlock(source=source) if text_at(source, "type") == "base64":
                images.append(decode_attachment(text_at(source, "data")))
            case _:
                raise AttachmentRefused(
                    f"an agent of another family takes only text and base64 images - at `$.message.content[{number}]`"
                )
    text = "\n".join(texts)
    if not text.strip() and not images:
        raise AttachmentRefused("a prompt needs message.content: text that is not empty, or a list of blocks")
    return text, images
