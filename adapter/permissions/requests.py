"""Requests of agents and their answers, independent of families; pure values.

A family reads its messages into these (adapter/session/agent_wire.py), the permission machine decides in these alone, and
the family writes the reply as its messages. The fields say what rules, policies and humans need to know. The audit
trail records `said`. `message` belongs to the family; only the family reads it.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct, field

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.grants import Grant
from turnwire.normalize.events.control_events import PermissionOption
from turnwire.normalize.payloads.work import Question
from turnwire.protocol.json_values import Json, JsonObject


class Offer(Struct, frozen=True):
    """One of the options of a request, and what choosing it has remembered."""

    option: PermissionOption
    """As it is published."""
    grants: tuple[tuple[Grant, str], ...] = ()
    """What it allows from then on, each with its destination."""
    changes: Sequence[JsonObject] = ()
    """What the agent is to remember, as it takes it: permission updates, each with its destination."""
    destination: str | None = None
    """Where all of it is kept beyond the session, or for the session alone; None for nothing, and for several places."""
    is_movable: bool = False
    """Whether it has something remembered for which an answer may name another destination."""

    def moved(self, destination: str) -> "Offer":
        """Return it with everything remembered in another place."""
        return Offer(
            self.option,
            tuple((grant, destination) for grant, _ in self.grants),
            [{**change, "destination": destination} for change in self.changes],
            destination,
        )


class ToolRequest(Struct, frozen=True, kw_only=True):
    """The agent waits for permission to call a tool."""

    request_id: str
    """Names it in answers."""
    call: ToolCall
    """What it wants to do."""
    also: Sequence[ToolCall] = ()
    """What it wants to do besides, of an agent that asks once for several calls: the answer lets all of them run, or none."""
    offers: Sequence[Offer]
    """What can be answered."""
    wants_human: bool = False
    """True when no rule or policy may allow it."""
    is_host: bool = False
    """True of a host that the sandbox does not know: rules and earlier answers may allow it, policies not."""
    is_asked_by_user: bool = False
    """True when it is asked for a reason of the user's or of safety, not for the permission mode."""
    is_editable: bool = True
    """Whether the agent takes other arguments than it asked about."""
    modes: Sequence[str] = ()
    """Permission modes that an approval can switch to."""
    destinations: Sequence[str] = ()
    """Where an always-answer can be remembered."""
    questions: Sequence[Question] = ()
    """What is asked, of a tool that is a question."""
    said: JsonObject = field(default_factory=dict)
    """What the agent said, for the audit trail."""
    message: object = None
    """The same as the family's wire has it; for the family alone."""

    @property
    def calls(self) -> Sequence[ToolCall]:
        """All calls of the request."""
        return (self.call, *self.also)

    def offer(self, option_id: str) -> Offer | None:
        """Return an offer by its option; None when it was not made."""
        for offer in self.offers:
            if offer.option.option_id == option_id:
                return offer
        return None

    def option_of(self, *kinds: str) -> str | None:
        """Return the first option of the first of these kinds that is offered; None when none is."""
        for kind in kinds:
            for offer in self.offers:
                if offer.option.kind == kind:
                    return offer.option.option_id
        return None


class QuestionRequest(Struct, frozen=True, kw_only=True):
    """An MCP server or the agent itself asks a human, and waits."""

    request_id: str
    """Names it in answers."""
    kind: Literal["elicitation", "dialog"]
    """A form (or an address to visit), or a dialog of the agent's own."""
    said: JsonObject = field(default_factory=dict)
    """What the agent said, for the audit trail."""
    message: object = None
    """The same as the family's wire has it; for the family alone."""


class HookRequest(Struct, frozen=True, kw_only=True):
    """A hook that was registered with the agent fires."""

    request_id: str
    """Names it."""
    callback: str
    """Which hook: PRE_TOOL and STOP of the policies, or one of the configuration."""
    event: str
    """PreToolUse, Stop, … as hooks of the configuration call it."""
    call: ToolCall | None = None
    """What is about to be called, of hooks about tools."""
    unasked: Literal["nothing", "edits", "everything"] = "nothing"
    """What the agent's permission mode lets through, which a human has switched to."""
    is_repeated: bool = False
    """True when the agent was sent back by this hook already (Stop)."""
    payload: JsonObject = field(default_factory=dict)
    """What a hook of the configuration is given."""
    about: ToolRequest | None = None
    """The request that it looks at before anybody is asked; None of a hook that the agent itself has fired."""
    said: JsonObject = field(default_factory=dict)
    """What the agent said, for the audit trail."""
    message: object = None
    """The same as the family's wire has it; for the family alone."""


class OtherRequest(Struct, frozen=True, kw_only=True):
    """Something that turnwire does not do for an agent."""

    request_id: str
    """Names it."""
    name: str
    """What the agent calls it; "" when it does not say."""
    said: JsonObject = field(default_factory=dict)
    """What the agent said, for the audit trail."""
    message: object = None
    """The same as the family's wire has it; for the family alone."""


class UnreadableRequest(Struct, frozen=True, kw_only=True):
    """A request that cannot be read; the agent still waits for an answer."""

    request_id: str
    """Names it."""
    reason: str
    """Why."""
    message: object = None
    """The same as the family's wire has it; for the family alone."""


class TakenBack(Struct, frozen=True):
    """The agent wants no answer to a request any more."""

    request_id: str
    """The request."""


AgentRequest: TypeAlias = ToolRequest | QuestionRequest | HookRequest | OtherRequest
"""What the permission machine answers."""

Waiting: TypeAlias = ToolRequest | QuestionRequest | HookRequest
"""What may wait for an answer."""

ForHumans: TypeAlias = ToolRequest | QuestionRequest
"""What a human can answer."""


# Replies


class Allow(Struct, frozen=True):
    """The tool may run."""

    arguments: JsonObject
    """What it is to be called with: as asked, or edited."""
    option_id: str | None = None
    """The option that a human chose; None when a rule, a policy or an earlier answer decided."""
    changes: Sequence[JsonObject] = ()
    """What that option has the agent remember."""
    mode: str | None = None
    """Permission mode to go on in."""


class Deny(Struct, frozen=True):
    """The tool must not run."""

    message: str
    """The message to the agent."""
    interrupt: bool = False
    """Stop the turn as well."""
    option_id: str | None = None
    """The option that a human chose; None when nobody did."""


class Answer(Struct, frozen=True):
    """What a human says to a question."""

    action: Literal["accept", "decline", "cancel"]
    """Answered, or not."""
    content: Json = None
    """The answer."""


class Dismissed(Struct, frozen=True):
    """Nobody answers the question."""


class HookOutput(Struct, frozen=True):
    """What a hook answers, in the words in which hooks of the configuration do."""

    output: JsonObject
    """{} for no opinion."""


class Failure(Struct, frozen=True):
    """There is no answer."""

    reason: str
    """Why."""


Reply: TypeAlias = Allow | Deny | Answer | Dismissed | HookOutput | Failure
