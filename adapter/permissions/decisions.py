"""The vocabulary of the permission state machine: what happens to it, and what it wants done.

Inputs are facts, effects are imperatives. Nothing here acts; adapter/permissions/machine.py decides, adapter/session/executor.py does.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field

from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.permissions.grants import Grant
from turnwire.adapter.permissions.requests import (
    AgentRequest,
    HookRequest,
    Reply,
    ToolRequest,
    UnreadableRequest,
)
from turnwire.normalize.events import PermissionRequest
from turnwire.normalize.inputs import Decision
from turnwire.normalize.vocabulary import VoidReason
from turnwire.protocol.json_values import Json, JsonObject

if TYPE_CHECKING:  # who only speaks of requests judges none
    from turnwire.adapter.permissions.policies import PermissionSettings, Verdict


class PermissionAnswer(Struct, frozen=True):
    """A frontend's answer to a permission request."""

    option_id: str
    """One of the options that were offered."""
    updated_input: JsonObject | None = None
    """The tool's arguments, edited."""
    message: str | None = None
    """What to tell the agent, on rejecting."""
    interrupt: bool = False
    """On rejecting, also stop the turn."""
    destination: str | None = None
    """Where to remember an always-answer, instead of the option's own place."""
    mode: str | None = None
    """Permission mode to go on in, on approving (a plan, mostly)."""


class QuestionAnswer(Struct, frozen=True):
    """A frontend's answer to a question, an elicitation or a dialog."""

    answers: dict[str, str | list[str]] | None = None
    """Question to label or labels, of AskUserQuestion."""
    action: Literal["accept", "decline", "cancel"] = "accept"
    """Answer it, or not."""
    content: Json = None
    """The answer, of an elicitation or a dialog."""
    message: str | None = None
    """What to tell the agent, on declining."""


# Inputs


class Asked(Struct, frozen=True):
    """The agent asked, or says of an older request that it still waits."""

    request: AgentRequest
    real_paths: Mapping[str, str | None] | None = field(default_factory=dict)
    """Where the paths among a tool's arguments lead, links followed; by their absolute spelling. None where the request is so large that rules are read elsewhere."""


class Judged(Struct, frozen=True):
    """The rules have been read about a request that was too large to do it at once."""

    request_id: str
    verdicts: "Sequence[Verdict | None]"
    """What they say about each of its calls."""
    real_paths: Mapping[str, str | None]
    """Where its paths led."""


class HostAsked(Struct, frozen=True):
    """The sandbox does not know a host that the agent wants to reach: what is asked, and the event that asks it."""

    request: ToolRequest
    event: PermissionRequest


class Answered(Struct, frozen=True):
    """A frontend answered."""

    request_id: str
    answer: PermissionAnswer | QuestionAnswer
    by: str


class CancelledByAgent(Struct, frozen=True):
    """The agent took a request back."""

    request_id: str
    reason: VoidReason = "cancelled"


class TimedOut(Struct, frozen=True):
    """The time that a human had is over."""

    request_id: str


class HookRan(Struct, frozen=True):
    """A configured hook answered, or failed."""

    request_id: str
    output: JsonObject | None = None
    error: str | None = None


class GitChecked(Struct, frozen=True):
    """The workspace was looked at; no changes where there is no repository."""

    request_id: str
    changes: tuple[str, ...] = ()


class Stopping(Struct, frozen=True):
    """turnwire is about to stop the agent, so nobody can answer any more."""


class Voided(Struct, frozen=True):
    """A request needs no answer any more: it was published as cancelled, or the tool has run without one."""

    request_id: str
    reason: VoidReason


class TurnEnded(Struct, frozen=True):
    """A turn is complete."""


class ProcessEnded(Struct, frozen=True):
    """The agent has exited."""


PermissionInput: TypeAlias = (
    Asked
    | Judged
    | Answered
    | CancelledByAgent
    | TimedOut
    | HookRan
    | GitChecked
    | Voided
    | Stopping
    | TurnEnded
    | ProcessEnded
)


# Effects


class NoteAsked(Struct, frozen=True):
    """Write down that the agent asked, or tried to."""

    request: AgentRequest | UnreadableRequest


class Respond(Struct, frozen=True):
    """Tell the agent."""

    request: AgentRequest | UnreadableRequest
    reply: Reply


class Decide(Struct, frozen=True):
    """Tell the core and the audit trail."""

    decision: Decision


class Void(Struct, frozen=True):
    """A request waits no more, and was not answered."""

    request_id: str
    reason: VoidReason


class StartTimer(Struct, frozen=True):
    """Say TimedOut after so many seconds."""

    request_id: str
    seconds: float


class StopTimer(Struct, frozen=True):
    """Say it no more: the request has its end."""

    request_id: str


class Refuse(Struct, frozen=True):
    """The answer does not count; its sender gets an error."""

    request_id: str
    by: str
    code: Literal["already_answered", "unknown_request", "cancelled", "invalid_answer"]
    message: str
    field: str | None = None


class Judge(Struct, frozen=True):
    """Read the rules about a large request, then say Judged."""

    request: ToolRequest | HookRequest
    settings: "PermissionSettings"


class RunHook(Struct, frozen=True):
    """Run a configured hook, then say HookRan."""

    request_id: str
    hook: HookSetting
    payload: JsonObject


class RunGitCheck(Struct, frozen=True):
    """Look for uncommitted changes, then say GitChecked."""

    request_id: str


class Abandon(Struct, frozen=True):
    """Stop the hook or check that runs for a request."""

    request_id: str


class Remember(Struct, frozen=True):
    """Remember permanent permissions, each with its destination."""

    grants: tuple[tuple[Grant, str], ...]


class Overloaded(Struct, frozen=True):
    """Tell that requests are refused since too many wait; once, until half of them wait no more."""

    limit: int


Effect: TypeAlias = (
    NoteAsked
    | Respond
    | Decide
    | Void
    | StartTimer
    | StopTimer
    | Judge
    | Refuse
    | RunHook
    | RunGitCheck
    | Abandon
    | Remember
    | Overloaded
)
