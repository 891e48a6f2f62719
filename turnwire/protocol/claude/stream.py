"""Events of the Messages API as `stream_event` lines carry them: a message that grows, block by block.

The order is message_start, then for each block start, deltas, stop; then message_delta and message_stop. The CLI
writes the finished block as an `assistant` line between the last delta and content_block_stop.
"""

from typing import TypeAlias

from msgspec import Struct

from turnwire.protocol.claude.blocks import AnyBlock, UnknownBlock, Usage
from turnwire.protocol.json_values import Foreign, text_at
from turnwire.protocol.quantities import Count


class Delta(Struct, frozen=True, gc=False, omit_defaults=False, tag_field="type"):
    """The base of what is added to a block."""


class TextDelta(Delta, frozen=True, gc=False, tag="text_delta"):
    """More text. May end or begin with half a surrogate pair: see `turnwire.protocol.text.rejoin`."""

    text: str = ""
    """The text to append."""


class ThinkingDelta(Delta, frozen=True, gc=False, tag="thinking_delta"):
    """More reasoning. May be cut in the middle of a surrogate pair, like text."""

    thinking: str = ""
    """The reasoning to append."""


class InputJsonDelta(Delta, frozen=True, gc=False, tag="input_json_delta"):
    """More of a tool call's arguments, as JSON text."""

    partial_json: str = ""
    """The JSON text to append."""


class SignatureDelta(Delta, frozen=True, gc=False, tag="signature_delta"):
    """The signature of a thinking block."""

    signature: str = ""
    """The signature."""


class UnknownDelta(Delta, Foreign, frozen=True, gc=False, tag="\x00unknown"):
    """A delta of another type, such as `citations_delta`."""

    @property
    def type(self) -> str:
        """The delta's own type; "" if it has none."""
        return text_at(self.raw, "type")


AnyDelta: TypeAlias = TextDelta | ThinkingDelta | InputJsonDelta | SignatureDelta | UnknownDelta


class ApiEvent(Struct, frozen=True, gc=False, omit_defaults=False, tag_field="type"):
    """The base of every event of the API's stream."""


class StartedMessage(Struct, frozen=True, gc=False, omit_defaults=True):
    """The head of a message that begins. 1.0 and 2.0 put the first block into `content` here; it comes again."""

    id: str = ""
    """The API's message id; the `assistant` lines of this message carry the same one."""
    model: str = ""
    """The model that answers."""
    usage: Usage | None = None
    """Tokens so far."""


class MessageStart(ApiEvent, frozen=True, gc=False, tag="message_start"):
    """A message begins."""

    message: StartedMessage = StartedMessage()
    """Its head."""


class ContentBlockStart(ApiEvent, frozen=True, gc=False, tag="content_block_start"):
    """A block begins."""

    index: Count = 0
    """The block's place in the message, from 0."""
    content_block: AnyBlock = UnknownBlock(None)
    """The block, empty as yet."""


class ContentBlockDelta(ApiEvent, frozen=True, gc=False, tag="content_block_delta"):
    """A block grows."""

    index: Count = 0
    """The block's place in the message, from 0."""
    delta: AnyDelta = UnknownDelta(None)
    """What is added."""


class ContentBlockStop(ApiEvent, frozen=True, gc=False, tag="content_block_stop"):
    """A block is whole."""

    index: Count = 0
    """The block's place in the message, from 0."""


class Stopped(Struct, frozen=True, gc=False, omit_defaults=True):
    """What the end of a message changes of its head."""

    stop_reason: str | None = None
    """Why the model stopped: end_turn, tool_use, max_tokens or another word of the API."""


class MessageDelta(ApiEvent, frozen=True, gc=False, tag="message_delta"):
    """The end of a message is known."""

    delta: Stopped = Stopped()
    """What is new of the message."""
    usage: Usage | None = None
    """Tokens of the whole message."""

    @property
    def stop_reason(self) -> str | None:
        """Why the model stopped, if it says so."""
        return self.delta.stop_reason or None


class MessageStop(ApiEvent, frozen=True, gc=False, tag="message_stop"):
    """A message ends."""


class UnknownApiEvent(ApiEvent, Foreign, frozen=True, gc=False, tag="\x00unknown"):
    """An event of another type, such as `ping` or `error`."""

    @property
    def type(self) -> str:
        """The event's own type; "" if it has none."""
        return text_at(self.raw, "type")


AnyApiEvent: TypeAlias = (
    MessageStart
    | ContentBlockStart
    | ContentBlockDelta
    | ContentBlockStop
    | MessageDelta
    | MessageStop
    | UnknownApiEvent
)
