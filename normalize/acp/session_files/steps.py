"""Steps of a conversation: what a record of an agent's own file says, in terms shared by all agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, TypeAlias

from turnwire.protocol.json_values import Json, JsonObject


class ConversationNamed(NamedTuple):
    """The conversation's id, folder, model and other head facts."""

    session_id: str | None = None
    folder: str | None = None
    version: str | None = None
    model: str | None = None
    git_branch: str | None = None


class ContinuesFrom(NamedTuple):
    """The conversation goes on from another one, whose messages are not in the file."""

    session_id: str


class Titled(NamedTuple):
    """The conversation got a title."""

    title: str


class Prompted(NamedTuple):
    """The user sent a prompt."""

    text: str


class Answered(NamedTuple):
    """The model answered."""

    text: str


class Thought(NamedTuple):
    """The model reasoned."""

    text: str


class ToolCalled(NamedTuple):
    """The model called a tool."""

    call: str
    name: str
    kind: str
    """The protocol's word: read, edit, execute, search, fetch, other, …"""
    title: str
    arguments: JsonObject


class Change(NamedTuple):
    """A change of a file: its text before and after, or the changed passages."""

    path: str
    before: str | None
    """None for a new file."""
    after: str | None
    """None for a removed file."""
    hunks: str | None = None
    """Unified diff with the file's real line numbers, if the agent stores one."""


class ToolReturned(NamedTuple):
    """A tool returned its result."""

    call: str
    output: str
    failed: bool = False
    exit_code: int | None = None
    changes: Sequence[Change] = ()
    raw: Mapping[str, Json] = MappingProxyType({})
    """Further result fields in the agent's own format."""


class TokensUsed(NamedTuple):
    """A model call used tokens."""

    key: str
    model: str
    sent: int
    """Input tokens, without cached ones."""
    written: int
    cache_read: int = 0
    cache_written: int = 0
    context: int | None = None
    """Tokens in the model's context after the call, if the file has the window's size."""
    window: int | None = None
    """Size of the context window."""
    cost_usd: float | None = None
    """Cost in dollars, if reported."""
    is_sum: bool = False
    """True if it is the sum of the whole conversation instead of one call."""


class Compacted(NamedTuple):
    """A summary replaced the earlier conversation."""


class Failed(NamedTuple):
    """The agent reported an error."""

    text: str


class TurnFailed(NamedTuple):
    """The turn ended with an error."""

    text: str
    status: int | None = None
    """HTTP status of the model's API."""


class TurnEnded(NamedTuple):
    """The turn ended."""

    reason: Literal["end_turn", "cancelled"] = "end_turn"


Step: TypeAlias = (
    ConversationNamed
    | ContinuesFrom
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
    """The steps of one record, and its place in the conversation."""

    message: str | None = None
    """The message's id; None if the record is not a message."""
    steps: Sequence[Step] = ()
    parent: str | None = None
    """Parent message. None: the previous message."""
    back_to: str | None = None
    """The conversation goes back to before this message."""
    back_by: int = field(default=0)
    """The conversation goes back by this many prompts."""


class RecordReader(Protocol):
    """Reads the records of one file, in order."""

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return the meaning of a record."""
        ...
