"""How Claude Code asks and is answered: control requests as the permission machine's, its replies as control responses; pure."""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, assert_never

from turnwire.adapter.claude.version import PERMISSION_MODES
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.grants import Grant
from turnwire.adapter.permissions.policies import APPROVES
from turnwire.adapter.permissions.requests import (
    AgentRequest,
    Allow,
    Answer,
    Deny,
    Dismissed,
    Failure,
    HookOutput,
    HookRequest,
    Offer,
    OtherRequest,
    QuestionRequest,
    Reply,
    TakenBack,
    ToolRequest,
    UnreadableRequest,
)
from turnwire.adapter.session.agent_wire import Asking
from turnwire.normalize.claude.requests.options import DESTINATIONS, options, updates
from turnwire.normalize.claude.requests.suggestions import suggestions
from turnwire.normalize.claude.tool_kinds import kind_of
from turnwire.normalize.events.control_events import PermissionOption
from turnwire.normalize.inputs import Message
from turnwire.normalize.payloads.fields import fields, objects
from turnwire.normalize.payloads.questions import questions
from turnwire.normalize.vocabulary import ALWAYS_MODE
from turnwire.protocol.claude import answers
from turnwire.protocol.claude.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    failure,
    name_of,
    success,
)
from turnwire.protocol.claude.decode import message_of
from turnwire.protocol.claude.encode import to_json
from turnwire.protocol.claude.requests import (
    CanUseTool,
    Elicitation,
    HookCallback,
    McpMessage,
    RequestUserDialog,
)
from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.protocol.malformed import Malformed

HUMAN_REASONS = frozenset({"rule", "hook", "safetyCheck"})
"""Types of the reasons to ask that come from the user or concern safety, not the permission mode."""

Unasked: TypeAlias = Literal["nothing", "edits", "everything"]

_UNASKED: dict[str, Unasked] = {"acceptEdits": "edits", "bypassPermissions": "everything"}


_ASKING = frozenset({ControlRequest, ControlCancelRequest, ControlResponse, Malformed})
"""What may ask for something or take it back; to compare four types costs each line more than to look into a set."""


class ClaudeWire:
    """The control protocol."""

    def requests(self, message: Message) -> Sequence[Asking]:
        """Return what a message asks for or takes back; those that still wait, in the answer to `initialize` (2.1.330)."""
        if type(message) not in _ASKING:
            return ()
        match message:
            case ControlRequest():
                return _asked(message)
            case ControlCancelRequest(request_id):
                return [TakenBack(request_id)]
            case ControlResponse(response=body):
                waiting = (*body.pending_permission_requests, *body.pending_user_dialog_requests)
                return [one for value in waiting for one in _reopened(value)]
            case Malformed(reason=reason, asks=str() | int() as own_id):
                return [UnreadableRequest(request_id=name_of(own_id), reason=reason, message=message)]
            case _:
                return []

    def replies(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> Sequence[ControlResponse]:
        """Return the control response to a request."""
        name = _own_id(request)
        match reply:
            case Allow(arguments, _, changes, mode):
                remembered = [*changes]
                if mode is not None:
                    remembered.append({"type": "setMode", "mode": mode, "destination": "session"})
                allowed = answers.Allow(arguments, remembered or None)
                return [answers.answer_permission(name, allowed)]
            case Deny(message, interrupt):
                return [answers.answer_permission(name, answers.Deny(message, interrupt or None))]
            case Answer() | Dismissed():
                return [success(name, _answer(request, reply))]
            case HookOutput(output):
                return [success(name, output)]
            case Failure(reason):
                return [failure(name, reason)]
            case _ as never:
                assert_never(never)


def _own_id(request: AgentRequest | UnreadableRequest) -> Json:
    """Return the id of a request as the CLI wrote it: it knows no name of ours."""
    match request.message:
        case ControlRequest(own_id=own_id) | Malformed(asks=own_id):
            return own_id
        case _:
            return request.request_id


def _asked(message: ControlRequest) -> Sequence[Asking]:
    match message.request:
        case McpMessage():
            return []  # for a hosted server (adapter/claude/mcp_requests.py)
        case CanUseTool() as request:
            return [_tool(message, request)]
        case HookCallback() as request:
            return [_hook(message, request)]
        case Elicitation() | RequestUserDialog() as request:
            kind: Literal["elicitation", "dialog"] = (
                "elicitation" if isinstance(request, Elicitation) else "dialog"
            )
            return [
                QuestionRequest(
                    request_id=message.request_id, kind=kind, said=to_json(request), message=message
                )
            ]
        case request:
            return [
                OtherRequest(
                    request_id=message.request_id,
                    name=request.subtype,
                    said=to_json(request),
                    message=message,
                )
            ]


def _reopened(value: JsonObject) -> Sequence[Asking]:
    message = message_of(value)
    return _asked(message) if isinstance(message, ControlRequest) else []


def _tool(message: ControlRequest, request: CanUseTool) -> ToolRequest:
    offered = suggestions(request)
    call = ToolCall(request.tool_name, request.input, kind_of(request.tool_name))
    return ToolRequest(
        request_id=message.request_id,
        call=call,
        offers=[_offer(option, offered) for option in options(offered)],
        wants_human=bool(request.requires_user_interaction),
        is_asked_by_user=request.decision_reason_type in HUMAN_REASONS
        and request.decision_reason != APPROVES,
        modes=PERMISSION_MODES,
        destinations=tuple(DESTINATIONS),
        questions=questions(request.input) if call.kind == "question" else (),
        said=to_json(request),
        message=message,
    )


def _offer(option: PermissionOption, suggested: Sequence[JsonObject]) -> Offer:
    changes = updates(option.option_id, suggested)
    places = {text_at(change, "destination") for change in changes if change.get("type") != "setMode"} - {""}
    kept = places - {"session"} or places
    return Offer(
        option,
        tuple(granted(changes)),
        changes,
        kept.pop() if len(kept) == 1 else None,
        is_movable=bool(changes) and not option.option_id.startswith(ALWAYS_MODE),
    )


def granted(changes: Iterable[JsonObject]) -> list[tuple[Grant, str]]:
    """Return the grants in permission updates, each with its destination."""
    return [
        (Grant(text_at(rule, "toolName"), text_at(rule, "ruleContent")), text_at(change, "destination"))
        for change in changes
        if change.get("type") == "addRules" and change.get("behavior") == "allow"
        for rule in objects(change, "rules")
        if text_at(rule, "toolName")
    ]


def _hook(message: ControlRequest, request: HookCallback) -> HookRequest:
    event, tool = text_at(request.input, "hook_event_name"), text_at(request.input, "tool_name")
    call = ToolCall(tool, fields(request.input.get("tool_input")), kind_of(tool))
    return HookRequest(
        request_id=message.request_id,
        callback=request.callback_id,
        event=event,
        call=call,
        unasked=_UNASKED.get(text_at(request.input, "permission_mode"), "nothing"),
        is_repeated=request.input.get("stop_hook_active") is True,
        payload=request.input,
        said=to_json(request),
        message=message,
    )


def _answer(request: AgentRequest | UnreadableRequest, reply: Answer | Dismissed) -> JsonObject:
    is_form = isinstance(request, QuestionRequest) and request.kind == "elicitation"
    match reply:
        case Answer(action, content) if is_form:
            said: JsonObject = {"action": action}
            return said if content is None else {**said, "content": content}
        case Dismissed() if is_form:
            return {"action": "cancel"}
        case Answer("accept", content):
            return {"behavior": "completed", "result": content}
        case _:
            return {"behavior": "cancelled"}
