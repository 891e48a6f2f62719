"""Calls of the model, and requests between agent and host, as lines report them. Spans need these; events leave them out.

A family reads its own messages into these types (normalize/families.py). A family that reports nothing about its model has no
reader.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from turnwire.protocol.json_values import Json, JsonObject


class Tokens(NamedTuple):
    """Tokens sent to a call and written by it so far."""

    sent: int
    """Tokens sent that no cache had."""
    written: int
    """Tokens written by the model."""
    cache_read: int
    """Tokens sent that a cache had."""
    cache_written: int
    """Tokens sent and written to a cache."""
    cache_written_1h: int = 0
    """The part of the written cache tokens that the cache keeps for an hour."""

    @property
    def total(self) -> int:
        """Sum of sent and written tokens."""
        return self.sent + self.written + self.cache_read + self.cache_written


class CallBegan(NamedTuple):
    """The model starts to answer."""

    parent: str | None
    """The tool call whose subagent calls the model; None in the main thread."""
    message_id: str
    model: str
    tokens: Tokens | None


class PieceStreamed(NamedTuple):
    """A piece of the answer came."""

    parent: str | None


class CallMeasured(NamedTuple):
    """Facts known at the end of a streamed answer."""

    parent: str | None
    stop_reason: str | None
    tokens: Tokens | None


class AnswerPart(NamedTuple):
    """A part of the answer."""

    kind: Literal["text", "reasoning"]
    text: str


class ToolPart(NamedTuple):
    """A tool call in the answer."""

    call_id: str
    name: str
    arguments: JsonObject


class PartSaid(NamedTuple):
    """A whole part of the answer came, or a call of the model failed."""

    parent: str | None
    message_id: str | None
    model: str | None
    is_synthetic: bool
    """It is written in the model's name, and no answer of it."""
    error: str | None
    """Why the call failed."""
    stop_reason: str | None
    tokens: Tokens | None
    parts: Sequence[AnswerPart | ToolPart]


class ToolAsked(NamedTuple):
    """The arguments of a tool call, or more of them."""

    call_id: str
    """The agent's own id of the call."""
    arguments: JsonObject


class ToolReturned(NamedTuple):
    """The whole result of a tool call."""

    call_id: str
    """The agent's own id of the call."""
    content: Json


class CallsUntold(NamedTuple):
    """The agent does not report calls of its model. Its output between tool calls stands for them."""

    parent: str | None = None
    """The tool call whose subagent calls the model; None in the main thread."""
    tokens: Tokens | None = None
    """Tokens of the model's call that this line ends, for agents that attach them to a piece of text."""


ModelCall: TypeAlias = (
    CallBegan | PieceStreamed | CallMeasured | PartSaid | ToolAsked | ToolReturned | CallsUntold
)


class RequestMade(NamedTuple):
    """One side asks the other."""

    request_id: str
    name: str
    """The request's name."""
    reply: str
    """The name of its answer."""


class RequestAnswered(NamedTuple):
    """One side answers the other."""

    request_id: str


class RequestTakenBack(NamedTuple):
    """A request is taken back."""


Exchange: TypeAlias = RequestMade | RequestAnswered | RequestTakenBack

ModelCallReaders: TypeAlias = Mapping[type, Callable[[Any], Sequence[ModelCall]]]
"""Type of a message -> its facts about calls of the model. `Any`: the key is the type that the function takes, which a mapping
cannot express."""

ExchangeReaders: TypeAlias = Mapping[type, Callable[[Any], Exchange]]
"""The same of requests and answers."""
