"""What a record of an agent's own file says, in words that all of them have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, TypeAlias

from turnwire.protocol.json_values import Json, JsonObject


class ConversationNamed(NamedTuple):
    """The conversation says what it is."""

    session_id: str | None = None
    folder: str | None = None
    version: str | None = None
    model: str | None = None
    git_branch: str | None = None


class Titled(NamedTuple):
    """It was given a title."""

    title: str


class Prompted(NamedTuple):
    """A human said something."""

    text: str


class Answered(NamedTuple):
    """The model said something."""

    text: str


class Thought(NamedTuple):
    """The model thought."""

    text: str


class ToolCalled(NamedTuple):
    """A tool was called."""

    call: str
    name: str
    kind: str
    """In the protocol's words: read, edit, execute, search, fetch, other, …"""
    title: str
    arguments: JsonObject


class Change(NamedTuple):
    """A file as it was and is, or the passages that changed."""

    path: str
    before: str | None
    """None of a file that was made."""
    after: str | None
    """None of one that was removed."""
    hunks: str | None = None
    """The unified diff with the file's own line numbers, where the agent keeps one."""


class ToolReturned(NamedTuple):
    """A tool has given its result."""

    call: str
    output: str
    failed: bool = False
    exit_code: int | None = None
    changes: Sequence[Change] = ()
    raw: Mapping[str, Json] = MappingProxyType({})
    """More of its result, in the agent's own fields."""


class TokensUsed(NamedTuple):
    """A call of the model took tokens."""

    key: str
    model: str
    sent: int
    """Without those of the cache."""
    written: int
    cache_read: int = 0
    cache_written: int = 0
    context: int | None = None
    """Tokens in the model's context after it, where the file tells the window's size."""
    window: int | None = None
    """The size of the window."""
    cost_usd: float | None = None
    """Dollars, where the agent says."""
    is_sum: bool = False
    """It counts the whole conversation, and no turn of it alone."""


class Compacted(NamedTuple):
    """What was said before was replaced by a summary."""


class Failed(NamedTuple):
    """The agent told of an error."""

    text: str


class TurnFailed(NamedTuple):
    """The turn has ended with an error."""

    text: str
    status: int | None = None
    """The HTTP status of the model's API."""


class TurnEnded(NamedTuple):
    """The turn has ended."""

    reason: Literal["end_turn", "cancelled"] = "end_turn"


Step: TypeAlias = (
    ConversationNamed
    | Titled
    | Prompted
    | Answered
    | Thought
    | ToolCalled
    | ToolReturned
    | TokensUsed
    | Compacted
    | Failed
    | TurnFailed
    | TurnEnded
)


@dataclass(frozen=True, slots=True)
class Record:
    """What one message of a file says."""

    message: str | None = None
    """Its id; None for what is no message."""
    steps: Sequence[Step] = ()
    parent: str | None = None
    """The message before it, where the file says so; else the one that came before it."""
    back_to: str | None = None
    """The conversation goes back to before this message."""
    back_by: int = field(default=0)
    """The conversation goes back by so many prompts."""


class RecordReader(Protocol):
    """Reads the records of one file, in order."""

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return what a record says."""
        ...
