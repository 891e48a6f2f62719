"""What a line of an agent tells, in words that no wire has: a reader makes these, and the core makes events of them.

All ids are the agent's own. A reader says what a line tells and keeps no turns, no open calls and no sums: that is the core's.
"""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from turnwire.normalize.common.event_context import EventFields
from turnwire.normalize.events import AgentEvent, Model, Outcome
from turnwire.normalize.events.control_events import PermissionOption
from turnwire.normalize.payloads.files import ContentPart
from turnwire.normalize.payloads.work import Question, TodoItem
from turnwire.protocol.json_values import Json, JsonObject

Kind = Literal["read", "search", "edit", "delete", "move", "execute", "fetch", "other"]
"""What a tool does; None in its place lets the name and the arguments tell."""


class SessionStarted(Struct, frozen=True, kw_only=True):
    """The agent says which conversation it is, or more of itself. What is None is as it was."""

    id: str | None = None
    model: str | None = None
    cwd: str | None = None
    version: str | None = None
    agent: str | None = None
    mode: str | None = None
    tools: list[str] | None = None
    models: list[Model] | None = None
    """Models that can be chosen."""
    resumed: bool = False
    """It goes on with an earlier conversation."""


class TurnStarted(Struct, frozen=True, kw_only=True):
    """A turn begins. A reader need not say it: a prompt, a text or a call begins one as well."""

    origin: Literal["user", "queued", "background", "autonomous"] = "user"


class Prompt(Struct, frozen=True):
    """The user said something. It begins a turn where none is open, and joins the open one."""

    text: str
    id: str | None = None
    parts: list[ContentPart] | None = None
    synthetic: bool = False
    """The agent made it up itself."""


class TextPiece(Struct, frozen=True):
    """A piece of a text, or of a thought. Pieces without an id that follow each other are one message."""

    text: str
    id: str | None = None
    is_thought: bool = False
    parent: str | None = None
    """The call whose subagent speaks."""


class TextWhole(Struct, frozen=True):
    """A whole text, or a whole thought. After pieces of the same id, only what they have not told is told."""

    text: str
    id: str | None = None
    is_thought: bool = False
    parent: str | None = None


class Retracted(Struct, frozen=True):
    """Texts that no longer count: half an answer, for example, that comes again under another id."""

    ids: tuple[str, ...]


class Change(Struct, frozen=True, kw_only=True):
    """A change of one file: a unified diff, or texts; only the path where an agent tells neither."""

    path: str
    kind: Literal["create", "edit", "delete"] = "edit"
    diff: str | None = None
    """A unified diff of this file, with or without its head; its line numbers are the file's own."""
    old: str | None = None
    new: str | None = None


class ToolCalled(Struct, frozen=True, kw_only=True):
    """A call begins; told again while it runs, it is news of the call."""

    id: str
    name: str
    arguments: Json = None
    kind: Kind | None = None
    title: str = ""
    """One line for humans, where the agent has one."""
    parent: str | None = None
    mcp: tuple[str, str] | None = None
    """Of a tool of an MCP server: the server, and the tool as the server calls it."""
    work_dir: str | None = None
    changes: Sequence[Change] = ()


class ToolOutput(Struct, frozen=True):
    """A running call has shown more."""

    id: str
    text: str
    is_all: bool = False
    """The text is all that it has shown so far."""


class ToolEnded(Struct, frozen=True, kw_only=True):
    """A call has ended. If its beginning was not seen, this is the beginning as well."""

    id: str
    name: str = ""
    status: Literal["complete", "failed", "denied", "interrupted"] = "complete"
    output: Json = None
    """Its result: a text, or whatever the tool gives."""
    exit_code: int | None = None
    signal: str | None = None
    stdout: str | None = None
    """Standard output, where the two are told apart."""
    stderr: str | None = None
    error: str | None = None
    """Why it failed."""
    changes: Sequence[Change] = ()


class PermissionAsked(Struct, frozen=True, kw_only=True):
    """The agent waits for permission to do what a call does."""

    id: str
    """The request's own id: different from those of calls."""
    call: ToolCalled
    """The call, with the fields that the request has."""
    options: Sequence[PermissionOption] = ()
    reason: str | None = None
    paths: Sequence[str] = ()
    """Files that it touches beside those of the call's changes."""


class QuestionAsked(Struct, frozen=True, kw_only=True):
    """The agent, or an MCP server, asks a human and waits."""

    id: str
    questions: list[Question] | None = None
    message: str | None = None
    schema: Json = None
    call_id: str | None = None
    mcp_server: str | None = None


class Answered(Struct, frozen=True, kw_only=True):
    """A request was answered, or taken back."""

    id: str
    behavior: Literal["allow", "deny", "answer", "cancelled"]
    option_id: str | None = None
    message: str | None = None


class PlanShown(Struct, frozen=True, kw_only=True):
    """The agent's list of things to do, whole; or a plan in words."""

    items: list[TodoItem] | None = None
    text: str | None = None
    """The plan in Markdown, or what is said of the list."""
    id: str | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens. Those of the cache are not among those sent."""

    of: Literal["call", "turn", "thread"]
    """What it counts: one call of the model, the turn so far, or the conversation since its beginning."""
    sent: int = 0
    received: int = 0
    cache_read: int | None = None
    cache_written: int | None = None
    cost_usd: float | None = None


class ContextUsed(Struct, frozen=True, kw_only=True):
    """How full the context is."""

    used: int
    size: int
    model: str | None = None


class Retry(Struct, frozen=True, kw_only=True):
    """A call of the model failed and is tried again."""

    message: str | None = None
    status: int | None = None
    attempt: int = 1
    most: int | None = None
    delay_ms: float | None = None


class Failure(Struct, frozen=True, kw_only=True):
    """Something failed. It ends no turn; a turn that ends as failed without a reason has this one."""

    message: str
    status: int | None = None
    code: str | None = None


class TurnEnded(Struct, frozen=True, kw_only=True):
    """The turn is over."""

    outcome: Outcome = "completed"
    message: str | None = None
    """Why it failed."""
    status: int | None = None
    """HTTP status of a failed call of the model."""
    code: str | None = None
    """authentication_failed, rate_limit, …, as in the event `error`."""
    stop_reason: str | None = None
    duration_ms: int | None = None
    duration_api_ms: int | None = None
    num_turns: int | None = None


class Noticed(Struct, frozen=True, kw_only=True):
    """Something worth telling that has no event of its own."""

    kind: str
    text: str
    level: Literal["info", "warning", "error"] = "info"
    details: JsonObject | None = None


class Event(Struct, frozen=True):
    """An event that the reader makes itself, of a kind that says nothing of turns and calls."""

    make: Callable[[EventFields], AgentEvent]
    """Gets the fields that say where it belongs: `lambda here: RateLimit(**here, …)`."""


Observation: TypeAlias = (
    SessionStarted
    | TurnStarted
    | Prompt
    | TextPiece
    | TextWhole
    | Retracted
    | ToolCalled
    | ToolOutput
    | ToolEnded
    | PermissionAsked
    | QuestionAsked
    | Answered
    | PlanShown
    | Usage
    | ContextUsed
    | Retry
    | Failure
    | TurnEnded
    | Noticed
    | Event
)
"""Whatever a line tells."""
