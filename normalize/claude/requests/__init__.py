"""Requests of the CLI to its host: permission for a tool, questions to a human, hooks.

Each request is published once, and so is its end. It ends when we answer, when the CLI cancels it, or when it becomes void
because the tool has answered or the turn is over.
"""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from turnwire.normalize.claude import tools
from turnwire.normalize.claude.calls import Call, Calls
from turnwire.normalize.claude.requests import dialog as permission_dialog
from turnwire.normalize.claude.requests import hook_answers
from turnwire.normalize.common import outcomes
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.events import (
    AgentEvent,
    HookActivity,
    PermissionRequest,
    QuestionRequest,
)
from turnwire.normalize.inputs import Decision
from turnwire.normalize.payloads import AskUserPayload, ShowPlanPayload
from turnwire.normalize.vocabulary import VoidReason
from turnwire.protocol.claude import control, requests
from turnwire.protocol.claude.answers import Deny, read_permission
from turnwire.protocol.claude.decode import message_of
from turnwire.protocol.json_values import JsonObject, text_at

MAX_SETTLED = 1000
"""Requests that are remembered beyond their end."""


class Pending(Struct, gc=False):
    """An open request."""

    pending_id: str
    kind: Literal["permission", "question", "hook"]
    tool_call_id: str | None = None
    tool_name: str | None = None
    input: JsonObject | None = None
    """The arguments of the call that needs permission."""
    hook_event: str | None = None
    name: str | None = None
    parent: str | None = None
    """The call whose subagent sends the request."""
    published: PermissionRequest | QuestionRequest | None = None
    """The event that asked; None of a hook."""
    background: bool = False
    """The request may outlive the turn: a background subagent sent it, or a server or dialog that does not name its caller."""


class Requests:
    """The requests that are pending."""

    def __init__(self, place: EventContext, calls: Calls) -> None:
        self._place = place
        self._calls = calls
        self._pending: dict[str, Pending] = {}
        self._settled: BoundedDict[None] = BoundedDict(MAX_SETTLED)
        """Ids of requests of this process that are settled."""
        self._ahead = outcomes.DecidedAhead()
        self._plans: set[str] = set()
        self.hooks_edit = True
        """Whether the CLI honours arguments from a hook. 2.0.14 does and 1.0 does not, though neither reveals its version."""

    @property
    def waiting(self) -> bool:
        """Something waits for an answer, or a plan was shown in this turn."""
        return bool(self._pending or self._plans)

    @property
    def for_humans(self) -> tuple[str, ...]:
        """Requests that were published as a question or a permission request."""
        return tuple(name for name, pending in self._pending.items() if pending.kind != "hook")

    def on_request(self, request_id: str, request: requests.AnyRequest) -> list[AgentEvent]:
        """The CLI asks; a request of a kind that needs no human gives no event."""
        if request_id in self._pending or request_id in self._settled:
            return []  # listed as still waiting while its end was on its way
        events = self._published(request_id, request)
        pending = self._pending.get(request_id)
        if pending is not None:
            pending.published = next(
                (event for event in events if isinstance(event, PermissionRequest | QuestionRequest)), None
            )
        return self._ahead.settle(events, self.on_decision)

    def _published(self, request_id: str, request: requests.AnyRequest) -> list[AgentEvent]:
        match request:
            case requests.CanUseTool():
                return self._tool(request_id, request)
            case requests.HookCallback():
                return [self._hook(request_id, request)]
            case requests.Elicitation():
                # it does not say whose it is: a background subagent waits for it beyond the result, and the rest the
                # CLI takes back itself, with the call that asked
                self._pending[request_id] = Pending(request_id, "question", background=True)
                return [
                    QuestionRequest(
                        **self._place.here,
                        pending_id=request_id,
                        kind="elicitation",
                        message=request.message,
                        requested_schema=request.requested_schema,
                        mode=request.mode,
                        url=request.url,
                        mcp_server=request.mcp_server_name or None,
                    )
                ]
            case requests.RequestUserDialog():
                call_id = self._calls.id_of(request.tool_use_id)
                self._pending[request_id] = Pending(request_id, "question", call_id, background=True)
                return [
                    QuestionRequest(
                        **self._place.here,
                        pending_id=request_id,
                        kind="dialog",
                        tool_call_id=call_id,
                        message=request.dialog_kind,
                        details=request.payload,
                    )
                ]
            case _:
                return []

    def reopened(self, value: JsonObject) -> list[AgentEvent]:
        """A request of the CLI's past still waits (2.1.330, in the answer to `initialize`)."""
        message = message_of(value)
        return (
            self.on_request(message.request_id, message.request)
            if isinstance(message, control.ControlRequest)
            else []
        )

    def on_response(self, response: control.ControlResponse) -> list[AgentEvent]:
        """Handle our response to the CLI. The decision is published only if it was not published before."""
        pending = self._settle(response.request_id)
        if pending is None:
            return []
        if pending.kind == "hook":
            return [
                self._activity(pending, "answered", *hook_answers.outcome(response)),
                *self._edited_by_hook(pending, hook_answers.updated_input(response)),
            ]
        if pending.kind == "question" and pending.tool_call_id is None:
            return [outcomes.resolved(self._place, pending, "answer")]
        answer = read_permission(response)
        if answer is None or isinstance(answer, Deny):
            self._calls.left(pending.tool_call_id, "denied")
            message = answer.message if answer is not None else response.error
            interrupt = answer.interrupt if answer is not None else None
            return [
                outcomes.resolved(self._place, pending, "deny", message=message or None, interrupt=interrupt)
            ]
        self._calls.left(pending.tool_call_id, "allowed")
        resolved = outcomes.resolved(
            self._place, pending, "answer" if pending.kind == "question" else "allow"
        )
        return [resolved, *self._edited(pending, answer.updated_input)]

    def on_decision(self, decision: Decision) -> list[AgentEvent]:
        """Handle a decision."""
        pending, behavior = self._pending.get(decision.pending_id), decision.behavior
        if pending is None:
            if decision.unasked:
                self._ahead.put(decision)
            return []
        if pending.kind == "hook":
            self._settle(decision.pending_id)
            outcome = "success" if behavior == "pass" else behavior
            return [
                self._activity(pending, "answered", outcome, decision.message),
                *self._edited_by_hook(pending, decision.updated_input),
            ]
        if behavior == "pass" or behavior == "error":  # noqa: PLR1714 - a type checker narrows this alone
            return []
        self._settle(decision.pending_id)
        self._calls.left(pending.tool_call_id, "denied" if behavior == "deny" else "allowed")
        return [
            outcomes.resolution(self._place, pending, decision, behavior),
            *self._edited(pending, decision.updated_input),
        ]

    def on_cancel(self, request_id: str, reason: VoidReason) -> list[AgentEvent]:
        """Handle the CLI's cancellation of a request."""
        pending = self._settle(request_id)
        if pending is None:
            return []
        if pending.kind != "hook":
            self._calls.left(pending.tool_call_id, "cancelled")
        return self._void(pending, reason)

    def tool_ended(self, tool_call_id: str, *, denied: bool) -> list[AgentEvent]:
        """The tool has answered, so permission was given or refused without us seeing it."""
        if not self._pending:
            return []
        settled = [p for p in self._pending.values() if p.tool_call_id == tool_call_id and p.kind != "hook"]
        if not settled:
            return []
        for pending in settled:
            self._settle(pending.pending_id)
        return [outcomes.resolved(self._place, pending, "deny" if denied else "allow") for pending in settled]

    def turn_over(self, reason: VoidReason, lost: Collection[str]) -> list[AgentEvent]:
        """End the requests of this turn: they will not be answered. `lost`: the turn's calls without a result."""
        self._plans.clear()
        if not self._pending and reason != "process_exited":
            return []
        over = [
            pending
            for pending in self._pending.values()
            if not pending.background or pending.tool_call_id in lost or reason == "process_exited"
        ]
        for pending in over:
            self._settle(pending.pending_id)
        return [event for pending in over for event in self._void(pending, reason)]

    def forget_names(self) -> None:
        """The process is gone: the next one may name its own requests the same."""
        self._settled.clear()

    def _settle(self, request_id: str) -> Pending | None:
        pending = self._pending.pop(request_id, None)
        if pending is not None:
            self._settled.put(request_id, None)
        return pending

    def _tool(self, request_id: str, request: requests.CanUseTool) -> list[AgentEvent]:
        call = self._calls.find(request.tool_use_id, request.tool_name, request.input)
        if call is not None:
            call.permission_outcome = "asked"
        if call is not None and call.input == request.input:
            payload, title = call.payload, call.title
        else:
            payload = self._calls.work_dir.placed(tools.call(request.tool_name, request.input))
            title = tools.title_of(request.tool_name, payload)
        tool_call_id = self._calls.id_of(request.tool_use_id) if call is None else call.id
        background = request.agent_id is not None or (call is not None and call.background)
        if isinstance(payload, AskUserPayload):
            self._pending[request_id] = Pending(
                request_id, "question", tool_call_id, request.tool_name, background=background
            )
            return [
                QuestionRequest(
                    **self._place.here,
                    parent_tool_call_id=None if call is None else call.parent,
                    pending_id=request_id,
                    kind="ask_user",
                    tool_call_id=tool_call_id,
                    questions=payload.ask_user.questions,
                )
            ]
        self._pending[request_id] = Pending(
            request_id, "permission", tool_call_id, request.tool_name, request.input, background=background
        )
        events: list[AgentEvent] = []
        if isinstance(payload, ShowPlanPayload):
            events += self.plan(payload, tool_call_id, call)
        events.append(
            permission_dialog.request(
                self._place.here,
                request_id,
                request,
                title=title,
                payload=payload,
                call=call,
                tool_call_id=tool_call_id,
            )
        )
        return events

    def plan(self, payload: ShowPlanPayload, tool_call_id: str | None, call: Call | None) -> list[AgentEvent]:
        """Publish a plan once. Some versions have it in the call, some in the permission request."""
        key = tool_call_id or ""
        if not payload.show_plan.plan or key in self._plans:
            return []
        self._plans.add(key)
        return [permission_dialog.plan(self._place.here, payload.show_plan, tool_call_id, call)]

    def _edited(self, pending: Pending, arguments: JsonObject | None) -> list[AgentEvent]:
        """Publish a call again if it runs with other arguments than the request had. For a question the new arguments are its
        answers.
        """
        if pending.kind != "permission" or arguments is None or arguments == pending.input:
            return []
        return [*self._calls.edited(pending.tool_call_id, arguments)]

    def _edited_by_hook(self, pending: Pending, arguments: JsonObject | None) -> list[AgentEvent]:
        """A hook before the call may replace its arguments, too."""
        if pending.hook_event != "PreToolUse" or arguments is None or not self.hooks_edit:
            return []
        return [*self._calls.edited(pending.tool_call_id, arguments)]

    def _hook(self, request_id: str, request: requests.HookCallback) -> HookActivity:
        call_id = self._calls.id_of(request.tool_use_id)
        pending = Pending(
            request_id,
            "hook",
            call_id if text_at(request.input, "tool_name") else None,
            text_at(request.input, "tool_name") or None,
            hook_event=text_at(request.input, "hook_event_name") or None,
            name=request.callback_id or None,
            parent=self._calls.parent_of(call_id),
        )
        self._pending[request_id] = pending
        return self._activity(pending, "callback")

    def _activity(
        self,
        pending: Pending,
        phase: Literal["callback", "answered"],
        outcome: str | None = None,
        output: str | None = None,
    ) -> HookActivity:
        here = self._place.here
        return HookActivity(
            session_id=here["session_id"],
            operation_id=here["operation_id"],
            parent_tool_call_id=pending.parent,
            phase=phase,
            hook_event=pending.hook_event,
            hook_id=pending.pending_id,
            hook_name=pending.name,
            tool_call_id=pending.tool_call_id,
            tool_name=pending.tool_name,
            outcome=outcome,
            output=output,
        )

    def _void(self, pending: Pending, reason: VoidReason) -> list[AgentEvent]:
        return [] if pending.kind == "hook" else [outcomes.void(self._place, pending, reason)]
