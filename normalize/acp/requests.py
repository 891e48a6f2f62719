"""What the agent asks and waits for: leave to call a tool, and answers of a human.

Each request is published once, and its end once: answered by us, taken back by the agent, or void because its call or
its turn is over. Ids begin anew in each process, so a request's own name is that of its turn and its id.
"""

import json
from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from turnwire.normalize.acp.agents import OWN_REQUESTS, Quirks
from turnwire.normalize.acp.calls import Call
from turnwire.normalize.acp.own_requests import Form
from turnwire.normalize.acp.tool_call_state import ToolCallState
from turnwire.normalize.acp.tools import command_title, name_of, payload, questions, title_of
from turnwire.normalize.common import outcomes
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.events import (
    AgentEvent,
    PermissionOption,
    QuestionRequest,
)
from turnwire.normalize.events import (
    PermissionRequest as PermissionEvent,
)
from turnwire.normalize.inputs import Decision
from turnwire.normalize.payloads import (
    CodeSearchPayload,
    HttpRequestPayload,
    McpToolPayload,
    ModifyFilePayload,
    NormalizedPayload,
    ReadFilePayload,
    ShellExecPayload,
)
from turnwire.normalize.payloads.fields import fields, shallow, text
from turnwire.normalize.vocabulary import VoidReason
from turnwire.protocol.acp.messages import Id, Option, PermissionRequest, Request, Response
from turnwire.protocol.acp.updates import ToolCallUpdate
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.visible import visible

Asked: TypeAlias = PermissionRequest | Request
"""A request of the agent that a human, a rule or a policy answers."""
Kind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
Action = Literal["command", "file_write", "file_read", "network", "mcp_tool", "other"]


MOST_NAMED = 1000
"""Names that are remembered."""

MOST_SHOWN = 10
"""Calls that the title of a request for several names."""

LONGEST_OF_MANY = 200
"""Characters of each in it."""


class Pending(Struct, gc=False):
    """A request that nobody has answered."""

    pending_id: str
    asked: Asked
    """As the agent wrote it."""
    tool_call_id: str | None
    tool_name: str | None
    also: tuple[Call, ...] = ()
    """Further calls that the same answer decides."""
    about: ToolCallUpdate | None = None
    """All that was told of the call that leave is asked for."""
    permission: PermissionRequest | None = None
    """A permission request as the protocol has it, whatever the agent has made of it."""
    published: PermissionEvent | QuestionRequest | None = None
    """The event that asked."""
    decided: bool = False
    """It was told who answered it; the answer itself is no news."""

    @property
    def calls(self) -> tuple[str, ...]:
        """The calls that the answer decides, by their ids."""
        named = () if self.tool_call_id is None else (self.tool_call_id,)
        return (*named, *(call.id for call in self.also))


def name_of_request(place: EventContext, request_id: Id) -> str:
    """Return what a request is called: unique among all processes of a session, as its turn is."""
    said = request_id if isinstance(request_id, str) else json.dumps(request_id)
    return f"{place.here['operation_id'] or place.here['session_id'] or 'session'}/{said[:200]}"


def kind_of(option: Option) -> Kind:
    """Return what an option means; one of a kind that is not known refuses."""
    match option.kind:
        case "allow_once" | "allow_always" | "reject_once" | "reject_always":
            return option.kind
        case _:
            return "reject_once"


def permission(
    place: EventContext,
    pending_id: str,
    asked: PermissionRequest,
    facts: ToolCallState,
    quirks: Quirks,
    *,
    tool_call_id: str | None,
    also: Sequence[Call] = (),
) -> PermissionEvent:
    """Return the event of a permission request; of one for several calls, the title names them all."""
    made = payload(facts, quirks)
    action, details = _action(made)
    params = asked.params
    own = visible((params.title or "").strip()) or (title_of(facts, made) if facts.title.strip() else "")
    title = command_title(facts, made) or own or title_of(facts, made)
    if also:
        told = [(call, payload(call.facts, quirks)) for call in also]
        titles = [*(command_title(call.facts, one) or call.title for call, one in told), title]
        action, details = "other", {"calls": titles}
        title = _joined(titles)
    return PermissionEvent(
        **place.here,
        parent_tool_call_id=facts.parent,
        pending_id=pending_id,
        tool_call_id=tool_call_id,
        tool_name=name_of(facts),
        permission_title=title,
        agent_title=own if own and own != title and not also else None,
        permission_options=[
            PermissionOption(option_id=option.option_id, name=option.name, kind=kind_of(option))
            for option in asked.options
        ],
        action_type=action,
        action_details=details or None,
        tool_input=fields(shallow(facts.raw_input)) or None,
        normalized=made,
        reason=params.description,
    )


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


def _action(made: NormalizedPayload) -> tuple[Action, dict[str, object]]:
    match made:
        case ShellExecPayload(shell_exec=body):
            return "command", _filled(command=body.command, cwd=body.work_dir, description=body.description)
        case ModifyFilePayload(modify_file=body):
            return "file_write", _filled(path=body.file_path)
        case ReadFilePayload(read_file=body):
            return "file_read", _filled(path=body.file_path)
        case CodeSearchPayload(code_search=body):
            return "file_read", _filled(path=body.path, pattern=body.pattern or body.query)
        case HttpRequestPayload(http_request=body):
            return "network", _filled(url=body.url, query=body.query)
        case McpToolPayload(mcp_tool=body):
            return "mcp_tool", _filled(server=body.server, tool=body.tool)
        case _:
            return "other", {}


def _joined(titles: Sequence[str]) -> str:
    shown = [title[:LONGEST_OF_MANY] for title in titles]
    if len(shown) > MOST_SHOWN:
        shown = [*shown[: MOST_SHOWN - 1], f"{len(shown) - MOST_SHOWN + 1} more"]
    return f"{len(titles)} calls: {', '.join(shown)}"


def _filled(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value}


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
        """Return what a new request is called: another name each time, also where an agent uses an id again."""
        name = name_of_request(self._place, request_id)
        times = (self._named.get(name) or 0) + 1
        self._named.put(name, times)
        return name if times == 1 else f"{name}#{times}"

    def add(self, pending: Pending) -> list[AgentEvent]:
        """Keep a request; one that has its name already will never be answered."""
        before = self.pending.get(pending.pending_id)
        if before is not None:
            self._let_go(before)
        self.pending[pending.pending_id] = pending
        for call_id in pending.calls:
            self._of_calls.setdefault(call_id, {})[pending.pending_id] = None
        return [] if before is None or before.decided else [outcomes.void(self._place, before, "cancelled")]

    def find(self, request_id: Id) -> Pending | None:
        """Return the request of an id: of several, one that was decided and waits for its answer, or else the newest."""
        found = [
            one
            for one in self.pending.values()
            if one.asked.id == request_id and type(one.asked.id) is type(request_id)
        ]
        decided = next((one for one in found if one.decided), None)
        return decided or (found[-1] if found else None)

    def on_decision(self, pending: Pending, decision: Decision) -> list[AgentEvent]:
        """Somebody decided; who and how is known."""
        if pending.decided or decision.behavior in ("pass", "error"):
            return []
        pending.decided = True
        behavior: outcomes.Behavior = "deny"
        if decision.behavior in ("allow", "ask", "answer"):
            behavior = decision.behavior
        return [outcomes.resolution(self._place, pending, decision, behavior)]

    def on_response(self, pending: Pending, response: Response) -> list[AgentEvent]:
        """We answered; the decision itself, if it was told before, is not told again."""
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
        """The call goes on, or has ended: somebody whom we did not hear gave leave, or refused it."""
        found = [self.pending[name] for name in self._of_calls.get(tool_call_id, ())]
        for one in found:
            self._let_go(one)
        return [
            outcomes.resolved(self._place, one, "deny" if denied else "allow")
            for one in found
            if not one.decided
        ]

    def void(self, reason: VoidReason, only: Pending | None = None) -> list[AgentEvent]:
        """What waits will not be answered any more."""
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
    """Return what choosing an option means; one that was not offered is no leave."""
    chosen = next((option for option in asked.options if option.option_id == option_id), None)
    return "allow" if chosen is not None and kind_of(chosen).startswith("allow") else "deny"
