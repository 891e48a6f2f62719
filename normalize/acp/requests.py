"""The agent's requests that wait for an answer: permission for a tool call, and questions to a human.

Each request is published once, and so is its end. It ends when we answer, when the agent cancels it, or when it becomes void
because its call or
its turn is over. Each process numbers its requests from the start, so a request's name contains its turn and its id.
"""

import json
from typing import Literal, TypeAlias

from msgspec import Struct

from turnwire.normalize.acp.agents import OWN_REQUESTS
from turnwire.normalize.acp.own_requests import Form
from turnwire.normalize.common import outcomes
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.events import (
    AgentEvent,
    QuestionRequest,
)
from turnwire.normalize.events import (
    PermissionRequest as PermissionEvent,
)
from turnwire.normalize.inputs import Decision
from turnwire.normalize.payloads.fields import fields, shallow, text
from turnwire.normalize.payloads.questions import questions
from turnwire.normalize.tool_calls.open_calls import Call
from turnwire.normalize.tool_calls.permission_event import kind_of
from turnwire.normalize.vocabulary import VoidReason
from turnwire.protocol.acp.messages import Id, PermissionRequest, Request, Response
from turnwire.protocol.acp.updates import ToolCallUpdate
from turnwire.protocol.json_values import JsonObject

Asked: TypeAlias = PermissionRequest | Request
"""A request of the agent that a human, a rule or a policy answers."""


MOST_NAMED = 1000
"""Names that are remembered."""


class Pending(Struct, gc=False):
    """A request without an answer."""

    pending_id: str
    asked: Asked
    """As the agent wrote it."""
    tool_call_id: str | None
    tool_name: str | None
    also: tuple[Call, ...] = ()
    """Further calls that the same answer decides."""
    about: ToolCallUpdate | None = None
    """Everything known about the call that needs permission."""
    permission: PermissionRequest | None = None
    """A permission request as the protocol has it, whatever the agent has made of it."""
    published: PermissionEvent | QuestionRequest | None = None
    """The event that asked."""
    decided: bool = False
    """The decision was published, so the answer is not published again."""

    @property
    def calls(self) -> tuple[str, ...]:
        """The calls that the answer decides, by their ids."""
        named = () if self.tool_call_id is None else (self.tool_call_id,)
        return (*named, *(call.id for call in self.also))


def name_of_request(place: EventContext, request_id: Id) -> str:
    """Return a request's name. It is unique among all processes of a session, as its turn is."""
    said = request_id if isinstance(request_id, str) else json.dumps(request_id)
    return f"{place.here['operation_id'] or place.here['session_id'] or 'session'}/{said[:200]}"


def question(place: EventContext, pending_id: str, params: JsonObject) -> QuestionRequest:
    """Return the event of an elicitation."""
    listed = questions(params)
    return QuestionRequest(
        **place.here,
        pending_id=pending_id,
        kind="elicitation",
        tool_call_id=text(params, "toolCallId"),
        questions=listed or None,
        message=text(params, "message"),
        requested_schema=shallow(params.get("requestedSchema")),
        mode=text(params, "mode"),
        url=text(params, "url"),
    )


class Requests:
    """The requests of one session that are pending."""

    def __init__(self, place: EventContext) -> None:
        self._place = place
        self.pending: dict[str, Pending] = {}
        self._of_calls: dict[str, dict[str, None]] = {}
        """Names of requests by the call that waits."""
        self._named: BoundedDict[int] = BoundedDict(MOST_NAMED)
        """How often a name was given."""

    def name(self, request_id: Id) -> str:
        """Return the name of a new request. It differs each time, even if an agent reuses an id."""
        name = name_of_request(self._place, request_id)
        times = (self._named.get(name) or 0) + 1
        self._named.put(name, times)
        return name if times == 1 else f"{name}#{times}"

    def add(self, pending: Pending) -> list[AgentEvent]:
        """Add a request. An older request with the same name will never be answered and becomes void."""
        before = self.pending.get(pending.pending_id)
        if before is not None:
            self._let_go(before)
        self.pending[pending.pending_id] = pending
        for call_id in pending.calls:
            self._of_calls.setdefault(call_id, {})[pending.pending_id] = None
        return [] if before is None or before.decided else [outcomes.void(self._place, before, "cancelled")]

    def find(self, request_id: Id) -> Pending | None:
        """Return the request with an id. If there are several: the one that was decided and waits for its answer, else the newest."""
        found = [
            one
            for one in self.pending.values()
            if one.asked.id == request_id and type(one.asked.id) is type(request_id)
        ]
        decided = next((one for one in found if one.decided), None)
        return decided or (found[-1] if found else None)

    def on_decision(self, pending: Pending, decision: Decision) -> list[AgentEvent]:
        """Handle a decision, with its decider."""
        if pending.decided or decision.behavior in ("pass", "error"):
            return []
        pending.decided = True
        behavior: outcomes.Behavior = "deny"
        if decision.behavior in ("allow", "ask", "answer"):
            behavior = decision.behavior
        return [outcomes.resolution(self._place, pending, decision, behavior)]

    def on_response(self, pending: Pending, response: Response) -> list[AgentEvent]:
        """Handle our response. The decision is published only if it was not published before."""
        self._let_go(pending)
        if pending.decided:
            return []
        if response.error is not None:
            return [outcomes.resolved(self._place, pending, "deny", message=response.error.message or None)]
        if pending.permission is None:
            own = OWN_REQUESTS.get(getattr(pending.asked, "method", ""))
            said = (
                own.action(response.result)
                if isinstance(own, Form)
                else text(fields(response.result), "action")
            )
            return [outcomes.resolved(self._place, pending, "answer", message=said)]
        outcome = fields(fields(response.result).get("outcome"))
        option_id = text(outcome, "optionId")
        if option_id is None:
            return [outcomes.void(self._place, pending, "cancelled")]
        return [
            outcomes.resolved(
                self._place, pending, leave_of(pending.permission, option_id), option_id=option_id
            )
        ]

    def settled(self, tool_call_id: str, *, denied: bool) -> list[AgentEvent]:
        """The call continues or has ended: someone outside this stream allowed or denied it."""
        found = [self.pending[name] for name in self._of_calls.get(tool_call_id, ())]
        for one in found:
            self._let_go(one)
        return [
            outcomes.resolved(self._place, one, "deny" if denied else "allow")
            for one in found
            if not one.decided
        ]

    def void(self, reason: VoidReason, only: Pending | None = None) -> list[AgentEvent]:
        """Void pending requests: they will not be answered."""
        found = [*self.pending.values()] if only is None else [only]
        for one in found:
            self._let_go(one)
        return [outcomes.void(self._place, one, reason) for one in found if not one.decided]

    def _let_go(self, pending: Pending) -> None:
        self.pending.pop(pending.pending_id, None)
        for call_id in pending.calls:
            names = self._of_calls.get(call_id, {})
            names.pop(pending.pending_id, None)
            if not names:
                self._of_calls.pop(call_id, None)


def leave_of(asked: PermissionRequest, option_id: str) -> Literal["allow", "deny"]:
    """Return what a chosen option means. An option that was not offered denies."""
    chosen = next((option for option in asked.options if option.option_id == option_id), None)
    return "allow" if chosen is not None and kind_of(chosen).startswith("allow") else "deny"
