"""What a run of an agent of the Agent Client Protocol may be asked for with, and what its prompt is there."""

from turnwire.protocol.claude.blocks import AnyBlock, ImageBlock, TextBlock
from turnwire.protocol.claude.messages import User
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.runner.wire import RunParams


class AcpParams(RunParams, frozen=True, kw_only=True):
    """Those of every run; without a model the agent takes its own."""

    def check(self, message: User) -> None:
        """Raise ValueError for what the protocol has no place for."""
        given = {
            "system_prompt": self.system_prompt is not None,
            "effort": self.effort is not None,
            "thinking_disabled": bool(self.thinking_disabled),
            "user_agent": self.user_agent is not None,
        }
        if nowhere := [name for name, is_given in given.items() if is_given]:
            raise ValueError(
                f"{', '.join(nowhere)}: the Agent Client Protocol has no place for this; leave it out"
            )
        content_blocks(message)


def content_blocks(message: User) -> tuple[JsonObject, ...]:
    """Return a prompt's content blocks in the protocol's form; raises ValueError for what is neither text nor an image."""
    blocks = tuple(_block(block, number) for number, block in enumerate(message.blocks))
    if not blocks:
        raise ValueError("the message is empty - at `$.message`")
    return blocks


def _block(block: AnyBlock, number: int) -> JsonObject:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": text}
        case ImageBlock(source=source) if source.get("type") == "base64":
            media_type, encoded = text_at(source, "media_type"), text_at(source, "data")
            if media_type and encoded:
                return {"type": "image", "mimeType": media_type, "data": encoded}
            raise ValueError(f"an image needs media_type and data - at `$.message.content[{number}]`")
        case _:
            raise ValueError(
                "an agent of the Agent Client Protocol is told text and base64 images, "
                f"nothing else - at `$.message.content[{number}]`"
            )
