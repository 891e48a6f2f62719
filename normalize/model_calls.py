"""What lines tell of calls of the model, and of what agent and host ask each other: for spans, which want what events leave out.

A family reads its own messages into these (normalize/families.py); a family that tells nothing of its model has no such reader.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from turnwire.protocol.json_values import Json, JsonObject


class Tokens(NamedTuple):
    """What a call was sent, and has written so far."""

    sent: int
    """Tokens sent that no cache had."""
    written: int
    """Tokens written by the model."""
    cache_read: int
    """Tokens sent that a cache had."""
    cache_written: int
    """Tokens sent and written to a cache."""
    cache_written_1h: int = 0
    """Those of them that the cache keeps for an hour."""

    @property
    def total(self) -> int:
        """The sum of what was sent and written."""
        return self.sent + self.written + self.cache_read + self.cache_written


class CallBegan(NamedTuple):
    """The model begins to answer."""

    parent: str | None
    """The tool call whose subagent it is; None in the main thread."""
    message_id: str
    model: str
    tokens: Tokens | None


class PieceStreamed(NamedTuple):
    """A piece of the answer came."""

    parent: str | None


class CallMeasured(NamedTuple):
    """What is known at the end of a streamed answer."""

    parent: str | None
    stop_reason: str | None
    tokens: Tokens | None


class AnswerPart(NamedTuple):
    """A part of what was said."""

    kind: Literal["text", "reasoning"]
    text: str


class ToolPart(NamedTuple):
    """A tool call that is part of what was said."""

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


class ToolReturned(NamedTuple):
    """The whole result of a tool call."""

    call_id: str
    content: Json


class CallsUntold(NamedTuple):
    """The agent tells no calls of its model: what it says between calls of tools stands for them."""

    parent: str | None = None
    """The tool call whose subagent it is; None in the main thread."""
    tokens: Tokens | None = None
    """What a call of the model took that this line ends, of agents that say so on a piece of text."""


ModelCall: TypeAlias = CallBegan | PieceStreamed | CallMeasured | PartSaid | ToolReturned | CallsUntold


class RequestMade(NamedTuple):
    """One side asks the other."""

    request_id: str
    name: str
    """What is asked."""
    reply: str
    """What its answer is called."""


class RequestAnswered(NamedTuple):
    """One side answers the other."""

    request_id: str


class RequestTakenBack(NamedTuple):
    """A request is taken back."""


Exchange: TypeAlias = RequestMade | RequestAnswered | RequestTakenBack

ModelCallReaders: TypeAlias = Mapping[type, Callable[[Any], Sequence[ModelCall]]]
"""Type of a message -> what it tells of the model. `Any`: the key is the type its function takes, which a mapping cannot say."""

ExchangeReaders: TypeAlias = Mapping[type, Callable[[Any], Exchange]]
"""The same of requests and answers."""
