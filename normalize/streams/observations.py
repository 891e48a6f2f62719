"""The meaning of an agent's line, independent of its wire. A reader makes these, and the core makes events of them.

All ids are the agent's own. A reader keeps no turns, open calls or sums: that is the core's work.
"""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from turnwire.normalize.common.event_context import EventFields
from turnwire.normalize.common.tokens import Tokens
from turnwire.normalize.events import AgentEvent, Model, Outcome
from turnwire.normalize.events.control_events import PermissionOption
from turnwire.normalize.payloads.files import ContentPart
from turnwire.normalize.payloads.work import Question, TodoItem
from turnwire.protocol.json_values import Json, JsonObject

Kind = Literal["read", "search", "edit", "delete", "move", "execute", "fetch", "other"]
"""What a tool does. None: derive it from the name and the arguments."""


class SessionStarted(Struct, frozen=True, kw_only=True):
    """The agent names the conversation, or more facts about itself. None means unchanged."""

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
    """The conversation continues an earlier one."""


class TurnStarted(Struct, frozen=True, kw_only=True):
    """A turn begins. Readers may leave it out: a prompt, a text or a call also begins one."""

    origin: Literal["user", "queued", "background", "autonomous"] = "user"


class Prompt(Struct, frozen=True):
    """The user wrote a prompt. It joins the open turn, or begins one."""

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
    """The call whose subagent writes."""


class TextWhole(Struct, frozen=True):
    """A whole text, or a whole thought. After pieces with the same id, only the missing part is published."""

    text: str
    id: str | None = None
    is_thought: bool = False
    parent: str | None = None


class Retracted(Struct, frozen=True):
    """Texts that no longer count, for example half an answer that arrives again under another id."""

    ids: tuple[str, ...]


class Change(Struct, frozen=True, kw_only=True):
    """A change of one file: a unified diff, or texts. Only the path if an agent reports neither."""

    path: str
    kind: Literal["create", "edit", "delete"] = "edit"
    diff: str | None = None
    """A unified diff of this file, with or without its head; its line numbers are the file's own."""
    old: str | None = None
    new: str | None = None


class ToolCalled(Struct, frozen=True, kw_only=True):
    """A call begins. Repeated while the call runs, it updates the call."""

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
    """Standard output, if the agent separates it from standard error."""
    stderr: str | None = None
    error: str | None = None
    """Why it failed."""
    changes: Sequence[Change] = ()


class PermissionAsked(Struct, frozen=True, kw_only=True):
    """The agent waits for permission for a call."""

    id: str
    """The request's own id, which differs from ids of calls."""
    call: ToolCalled
    """The call, with the fields that the request has."""
    options: Sequence[PermissionOption] = ()
    reason: str | None = None
    paths: Sequence[str] = ()
    """Files that the call touches, in addition to those of its changes."""


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
    """The plan in Markdown, or a comment on the list."""
    id: str | None = None


class Usage(Tokens, frozen=True, kw_only=True):
    """Tokens, and what they cover."""

    of: Literal["call", "turn", "thread"]
    """What the figures cover: one call of the model, the turn so far, or the conversation since its beginning."""


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
    """A fact worth publishing that has no event type."""

    kind: str
    text: str
    level: Literal["info", "warning", "error"] = "info"
    details: JsonObject | None = None


class Event(Struct, frozen=True):
    """An event that the reader makes itself. It has no effect on turns and calls."""

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
"""Every kind of observation."""
