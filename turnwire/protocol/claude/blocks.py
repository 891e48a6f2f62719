"""Content blocks: the parts of messages, in the vocabulary of the Messages API.

A block's `type` is the msgspec tag, so code matches on classes. A block of an unknown type
is an `UnknownBlock` with its raw value. It never affects its neighbours.
"""

from typing import TypeAlias

from msgspec import Struct, field

from turnwire.protocol.json_values import Foreign, Json, JsonObject, text_at
from turnwire.protocol.parsing import depth
from turnwire.protocol.quantities import Count


class Block(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="type"):
    """The base of every content block."""


class TextBlock(Block, frozen=True, gc=False, omit_defaults=False, tag="text"):
    """Text of the assistant, the user or a tool."""

    text: str = ""
    """The text, in whole."""


class ThinkingBlock(Block, frozen=True, gc=False, tag="thinking"):
    """Reasoning of the model."""

    thinking: str = ""
    """The reasoning, in whole."""
    signature: str | None = None
    """Signature that the API needs to accept the reasoning again."""


class RedactedThinkingBlock(Block, frozen=True, gc=False, tag="redacted_thinking"):
    """Reasoning that the API delivers encrypted."""

    data: str = ""
    """The ciphertext."""


class ToolUseBlock(Block, frozen=True, gc=False, omit_defaults=False, tag="tool_use"):
    """A call of a tool that the CLI runs."""

    id: str = ""
    """The call's id; the result names it in `tool_use_id`."""
    name: str = ""
    """The tool's name; `mcp__SERVER__TOOL` for tools of MCP servers."""
    input: JsonObject = field(default_factory=dict)
    """The arguments."""


class ServerToolUseBlock(Block, frozen=True, gc=False, omit_defaults=False, tag="server_tool_use"):
    """A call of a tool that the API itself runs, such as its web search."""

    id: str = ""
    """The call's id."""
    name: str = ""
    """The tool's name."""
    input: JsonObject | str = field(default_factory=dict)
    """The arguments; 1.0 leaves them the JSON text that was streamed."""

    @property
    def arguments(self) -> JsonObject:
        """The arguments as an object; empty if they are the text of something else."""
        if isinstance(self.input, dict):
            return self.input
        try:
            parsed = depth.parse(self.input)
        except (ValueError, RecursionError):
            return {}
        return parsed if isinstance(parsed, dict) else {}


class ToolResultBlock(Block, frozen=True, gc=False, tag="tool_result"):
    """A tool's result."""

    tool_use_id: str = ""
    """The call with this result."""
    content: "str | list[AnyBlock] | None" = None
    """The answer: text, or blocks (text, image, …)."""
    is_error: bool | None = None
    """True if the tool failed or was refused; absent or null otherwise."""


class ImageBlock(Block, frozen=True, gc=False, tag="image"):
    """An image."""

    source: JsonObject = field(default_factory=dict)
    """`{"type": "base64", "media_type", "data"}` or `{"type": "url", "url"}`."""


class DocumentBlock(Block, frozen=True, gc=False, tag="document"):
    """A document, such as a PDF."""

    source: JsonObject = field(default_factory=dict)
    """As for an image."""
    title: str | None = None
    """The document's name."""


class ToolReferenceBlock(Block, frozen=True, gc=False, tag="tool_reference"):
    """A tool that a search for tools has found, in its result."""

    tool_name: str | None = None
    """The tool."""


class UnknownBlock(Block, Foreign, frozen=True, gc=False, tag="\x00unknown"):
    """A block of another type, such as a `web_search_tool_result`, or no block at all; `raw` has it whole."""

    @property
    def type(self) -> str:
        """The block's own type; "" if it has none."""
        return text_at(self.raw, "type")

    @property
    def tool_use_id(self) -> str:
        """The call with this result, for blocks with a result (`*_tool_result`); "" otherwise."""
        return text_at(self.raw, "tool_use_id")

    @property
    def content(self) -> Json:
        """The block's `content`, of whatever shape."""
        return self.raw.get("content") if isinstance(self.raw, dict) else None


AnyBlock: TypeAlias = (
    TextBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolUseBlock
    | ServerToolUseBlock
    | ToolResultBlock
    | ImageBlock
    | DocumentBlock
    | ToolReferenceBlock
    | UnknownBlock
)
"""Every block; closed, so that a `match` over it can be closed."""

Content: TypeAlias = str | list[AnyBlock]
"""A message's content: text, or blocks."""


class CacheCreation(Struct, frozen=True, gc=False):
    """Tokens written to the cache, by how long it keeps them."""

    ephemeral_1h_input_tokens: Count = 0
    """Tokens cached for an hour, which cost more."""


class Usage(Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens of one API response or of one turn. Unused fields of the API are dropped."""

    input_tokens: Count = 0
    """Tokens sent that no cache had."""
    output_tokens: Count = 0
    """Tokens written by the model."""
    cache_creation_input_tokens: Count = 0
    """Tokens sent and written to the cache."""
    cache_read_input_tokens: Count = 0
    """Tokens read from the cache."""
    cache_creation: CacheCreation | None = None
    """Tokens written to the cache, by duration."""
    total_tokens: Count | None = None
    """Sent and written tokens together. Only Qwen Code reports it; its results count the whole session."""

    @property
    def context_tokens(self) -> int:
        """How much of the context window this response fills: the sum of all four counts."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_creation_input_tokens
            + self.cache_read_input_tokens
        )
