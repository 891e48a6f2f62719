"""Read API calls and control messages from lines of Claude Code."""

import re
from collections.abc import Sequence

from turnwire.normalize.model_calls import (
    AnswerPart,
    CallBegan,
    CallMeasured,
    Exchange,
    ExchangeReaders,
    ModelCall,
    ModelCallReaders,
    PartSaid,
    PieceStreamed,
    RequestAnswered,
    RequestMade,
    RequestTakenBack,
    Tokens,
    ToolPart,
    ToolReturned,
)
from turnwire.protocol.claude.blocks import (
    AnyBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
)
from turnwire.protocol.claude.control import ControlCancelRequest, ControlRequest, ControlResponse
from turnwire.protocol.claude.messages import Assistant, StreamEvent, User
from turnwire.protocol.claude.requests import HookCallback
from turnwire.protocol.claude.stream import ContentBlockDelta, MessageDelta, MessageStart
from turnwire.protocol.json_values import text_at

_IN_MAIN = (PieceStreamed(None),)
"""The value for almost every line of a session, made once."""

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def _streamed(message: StreamEvent) -> Sequence[ModelCall]:
    event, parent = message.event, message.parent_tool_use_id
    if type(event) is ContentBlockDelta:
        return _IN_MAIN if parent is None else (PieceStreamed(parent),)
    if type(event) is MessageStart:
        head = event.message
        return (CallBegan(parent, head.id, head.model, _tokens(head.usage)),)
    if type(event) is MessageDelta:
        return (CallMeasured(parent, event.stop_reason, _tokens(event.usage)),)
    return ()


def _said(message: Assistant) -> Sequence[ModelCall]:
    body = message.message
    return (
        PartSaid(
            message.parent_tool_use_id,
            body.id,
            body.model,
            body.model == "<synthetic>",
            message.error,
            body.stop_reason,
            _tokens(body.usage),
            [part for block in message.blocks if (part := _part(block)) is not None],
        ),
    )


def _answered(message: User) -> Sequence[ModelCall]:
    return [
        ToolReturned(block.tool_use_id, block.content)
        for block in message.blocks
        if isinstance(block, ToolResultBlock)
    ]


def _part(block: AnyBlock) -> AnswerPart | ToolPart | None:
    match block:
        case TextBlock(text=text):
            return AnswerPart("text", text)
        case ThinkingBlock(thinking=thinking):
            return AnswerPart("reasoning", thinking)
        case ToolUseBlock(id=call_id, name=name, input=arguments):
            return ToolPart(call_id, name, arguments)
        case _:
            return None


def _tokens(usage: Usage | None) -> Tokens | None:
    if usage is None:
        return None
    return Tokens(
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_creation.ephemeral_1h_input_tokens if usage.cache_creation is not None else 0,
    )


def _asks(message: ControlRequest) -> Exchange:
    request = message.request
    reply = f"control_response.{request.subtype}"
    if request.subtype == "can_use_tool":
        reply = "permission_response"
    elif isinstance(request, HookCallback):
        event = text_at(request.input, "hook_event_name")
        # pre_tool_use for PreToolUse
        reply = f"hook_response.{_WORD.sub('_', event).lower() if event else 'unknown'}"
    return RequestMade(message.request_id, request.subtype, reply)


MODEL_CALLS: ModelCallReaders = {StreamEvent: _streamed, Assistant: _said, User: _answered}

EXCHANGES: ExchangeReaders = {
    ControlRequest: _asks,
    ControlResponse: lambda message: RequestAnswered(message.request_id),
    ControlCancelRequest: lambda _: RequestTakenBack(),
}
