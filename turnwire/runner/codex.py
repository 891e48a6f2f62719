"""What a run of Codex may be asked for with, and what its prompt is there."""

from turnwire.protocol.claude.messages import User
from turnwire.protocol.codex import requests
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.runner.acp import content_blocks
from turnwire.runner.wire import RunParams


class CodexParams(RunParams, frozen=True, kw_only=True):
    """Those of every run; without a model Codex takes its own."""

    def check(self, message: User) -> None:
        """Raise ValueError for what Codex has no place for."""
        given = {
            "thinking_disabled": bool(self.thinking_disabled),
            "user_agent": self.user_agent is not None,
        }
        if nowhere := [name for name, is_given in given.items() if is_given]:
            raise ValueError(f"{', '.join(nowhere)}: Codex has no place for this; leave it out")
        inputs(message)


def inputs(message: User) -> tuple[JsonObject, ...]:
    """Return a prompt as Codex's inputs; raises ValueError for what is neither text nor an image."""
    return tuple(_input(block) for block in content_blocks(message))


def _input(block: JsonObject) -> JsonObject:
    if block["type"] == "text":
        return requests.words(text_at(block, "text"))
    url = f"data:{text_at(block, 'mimeType')};base64,{text_at(block, 'data')}"
    return {"type": "image", "url": url}
