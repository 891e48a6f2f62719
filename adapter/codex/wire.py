"""How `codex app-server` asks for permission and puts questions, and how it is answered; pure."""

from collections.abc import Sequence
from typing import assert_never

from msgspec.structs import replace

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.requests import (
    AgentRequest,
    Allow,
    Answer,
    Deny,
    Dismissed,
    Failure,
    HookOutput,
    QuestionRequest,
    Reply,
    ToolRequest,
    UnreadableRequest,
)
from turnwire.adapter.session.agent_wire import Asking
from turnwire.adapter.streams.wire import tool_request
from turnwire.normalize.inputs import Message
from turnwire.normalize.payloads.fields import fields
from turnwire.normalize.streams.core import StreamCore
from turnwire.normalize.streams.observations import PermissionAsked, QuestionAsked
from turnwire.protocol.codex import answers
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.json_wire import JsonLine


class CodexWire:
    """Requests of one server, by the names that the session's core has given them."""

    def __init__(self, core: StreamCore) -> None:
        self._core = core

    def requests(self, message: Message) -> Sequence[Asking]:
        """Return what the message asks for that the core has heard last."""
        if not isinstance(message, JsonLine):
            return []
        return [
            _tool(name, asked, message.value)
            if isinstance(asked, PermissionAsked)
            else _question(name, asked, message.value)
            for name, asked in self._core.asked_by(message)
        ]

    def replies(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> Sequence[Message]:
        """Return the line that tells the server the reply."""
        asked = None if isinstance(request, UnreadableRequest) else request.message
        if not isinstance(asked, dict):
            return []
        match reply:
            case Failure(reason):
                return [JsonLine("", answers.error(asked["id"], answers.FAILED, reason))]
            case Answer(action, content):
                said = answers.elicitation(action, content)
            case Dismissed():
                said = answers.elicitation(answers.CANCEL)
            case Allow() | Deny():
                said = _decided(asked, reply)
            case HookOutput():
                return []
            case _ as never:
                assert_never(never)
        return [JsonLine("", answers.result(asked, said))]


def _tool(name: str, asked: PermissionAsked, value: JsonObject) -> ToolRequest:
    request = replace(tool_request(name, asked), said=value, message=value)
    if asked.call.kind == "edit" and not request.call.paths:
        # nobody has heard which files the patch changes
        return replace(request, call=ToolCall("Edit", {}, "edit", untold=("file_path",)))
    return request


def _question(name: str, asked: QuestionAsked, value: JsonObject) -> AgentRequest:
    if asked.questions is None:
        return QuestionRequest(request_id=name, kind="elicitation", said=value, message=value)
    return ToolRequest(
        request_id=name,
        call=ToolCall("AskUserQuestion", {}, "question"),
        offers=(),
        questions=asked.questions,
        said=value,
        message=value,
    )


def _decided(asked: JsonObject, reply: Allow | Deny) -> JsonObject:
    params = fields(asked.get("params"))
    option = _option(reply)
    match asked.get("method"):
        case "item/tool/requestUserInput":
            given = reply.arguments.get("answers") if isinstance(reply, Allow) else None
            return answers.questions(params, fields(given))
        case "item/permissions/requestApproval":
            return answers.permissions(params, allow=isinstance(reply, Allow))
        case "mcpServer/elicitation/request":
            return answers.elicitation(option, {} if option == answers.ACCEPT else None)
        case _:
            return answers.decision(params, option)


def _option(reply: Allow | Deny) -> str:
    """Return the option that was chosen; a refusal that stops the turn is Codex's `cancel`."""
    if isinstance(reply, Allow):
        return reply.option_id or answers.ACCEPT
    return answers.CANCEL if reply.interrupt else reply.option_id or answers.DECLINE
