"""What the agent says and does: assistant lines, streamed pieces, and what user lines carry back."""

from collections.abc import Callable
from typing import Any

from normalize import lifecycle, user_lines
from normalize.events import AgentEvent, Error
from normalize.payload import ShowPlanPayload
from normalize.state import State
from normalize.texts import Source, Thread
from normalize.turns import Failure
from protocol import blocks, stream
from protocol.json_values import text_at
from protocol.messages import Assistant, StreamEvent

SYNTHETIC = "<synthetic>"
"""The model of lines that the CLI wrote in the model's name."""


def assistant(state: State, message: Assistant) -> list[AgentEvent]:
    """Publish what an assistant line adds to what was streamed."""
    parent, body = message.parent_tool_use_id, message.message
    events: list[AgentEvent] = []
    if parent is None:
        events += lifecycle.ensure(state)
        state.context.model(body.model)
    thread = state.thread(parent)
    events += thread.line(body.id)
    synthetic = body.model == SYNTHETIC
    source: Source | None = None
    if message.local_command_source is not None:
        source = "local_command"
    elif synthetic:
        source = "synthetic"
    said: list[str] = []
    for block in message.blocks:
        events += _block(state, thread, message, block, source)
        if isinstance(block, blocks.TextBlock):
            said.append(block.text)
    if message.error is not None or message.is_api_error_message:
        events += _failed(state, message, "\n".join(said))
    if parent is None:
        safe = bool(said) and not (synthetic or message.aborted or message.error)
        state.commit.assistant(message.uuid, body.id, safe=safe)
        if not synthetic:
            events += state.context.used(body.usage)
    return events


def _block(
    state: State, thread: Thread, message: Assistant, block: blocks.AnyBlock, source: Source | None
) -> list[AgentEvent]:
    message_id, parent = message.message.id, message.parent_tool_use_id
    match block:
        case blocks.TextBlock():
            return list(thread.whole(message_id, "text", block.text, source))
        case blocks.ThinkingBlock():
            return list(thread.whole(message_id, "thinking", block.thinking))
        case blocks.RedactedThinkingBlock():
            return [thread.redacted(message_id)]
        case blocks.ToolUseBlock() | blocks.ServerToolUseBlock():
            index = thread.index(message_id)
            opened = state.calls.open(
                block.id, block.name, block.input, parent=parent, message_id=message_id, block_index=index
            )
            events: list[AgentEvent] = [*opened]
            for call in opened:
                if isinstance(call.normalized, ShowPlanPayload):
                    events += state.requests.plan(
                        call.normalized, block.id, state.calls.find(block.id, block.name, block.input)
                    )
            return events
        case blocks.ToolResultBlock():
            thread.index(message_id)
            return user_lines.tool_result(state, block, None, parent=parent, uuid=None)
        case blocks.UnknownBlock(tool_use_id=call_id) if call_id:
            # The API's own tools answer within the assistant's message, such as web_search_tool_result.
            thread.index(message_id)
            failed = text_at(block.content, "type").endswith("_error")
            answer = blocks.ToolResultBlock(call_id, [block], failed or None)
            return user_lines.tool_result(state, answer, block.content, parent=parent, uuid=None)
        case _:
            thread.index(message_id)
            return [user_lines.odd_block(state, block, "assistant")]


def _failed(state: State, message: Assistant, text: str) -> list[AgentEvent]:
    """An error of the main thread is told with the end of its turn; a subagent has none, so its error is told now."""
    code, status = message.error, message.api_error_status
    turn = state.turns.current
    if message.parent_tool_use_id is None and turn is not None:
        turn.failure = Failure(text or code or "error", code, status)
        return []
    return [
        Error(
            **state.place.here,
            parent_tool_call_id=message.parent_tool_use_id,
            message_id=message.message.id,
            error=text or code or "error",
            code=code,
            status=status,
        )
    ]


def streamed(state: State, message: StreamEvent) -> list[AgentEvent]:
    """Publish a piece of a message that is being written; deltas of text come here only from subagents."""
    event = message.event
    handle = _STREAM.get(type(event))
    return [] if handle is None else handle(state, message, event)


def _message_start(state: State, message: StreamEvent, event: stream.MessageStart) -> list[AgentEvent]:
    events: list[AgentEvent] = []
    if message.parent_tool_use_id is None:
        events += lifecycle.ensure(state)
        state.context.model(event.message.model)
        state.stream_usage = event.message.usage
    return [*events, *state.thread(message.parent_tool_use_id).begin(event.message.id)]


def _block_start(state: State, message: StreamEvent, event: stream.ContentBlockStart) -> list[AgentEvent]:
    thread = state.thread(message.parent_tool_use_id)
    match event.content_block:
        case blocks.TextBlock(text=text):
            thread.open(event.index, "text")
            return list(thread.text(event.index, text))
        case blocks.ThinkingBlock(thinking=thinking):
            thread.open(event.index, "thinking")
            return list(thread.thinking(event.index, thinking))
        case _:
            thread.open(event.index, "other")
            return []


def _delta(state: State, message: StreamEvent, event: stream.ContentBlockDelta) -> list[AgentEvent]:
    thread = state.thread(message.parent_tool_use_id)
    match event.delta:
        case stream.TextDelta(text=text):
            return list(thread.text(event.index, text))
        case stream.ThinkingDelta(thinking=thinking):
            return list(thread.thinking(event.index, thinking))
        case _:
            return []


def _block_stop(state: State, message: StreamEvent, event: stream.ContentBlockStop) -> list[AgentEvent]:
    return list(state.thread(message.parent_tool_use_id).close(event.index))


def _message_delta(state: State, message: StreamEvent, event: stream.MessageDelta) -> list[AgentEvent]:
    usage, start = event.usage, state.stream_usage
    if message.parent_tool_use_id is not None or usage is None:
        return []
    if start is not None and usage.context_tokens == usage.output_tokens:
        # Some providers repeat only what the end of a message changes.
        usage = blocks.Usage(
            start.input_tokens,
            usage.output_tokens,
            start.cache_creation_input_tokens,
            start.cache_read_input_tokens,
        )
    return list(state.context.used(usage))


def _message_stop(state: State, message: StreamEvent, _: stream.MessageStop) -> list[AgentEvent]:
    abandoned = message.abandoned_blocks
    thread = state.thread(message.parent_tool_use_id)
    return list(thread.end(None if abandoned is None else abandoned.from_block_index))


# `Any`: the key of an entry is the type its function takes, which a dict cannot say.
_STREAM: dict[type, Callable[[State, StreamEvent, Any], list[AgentEvent]]] = {
    stream.MessageStart: _message_start,
    stream.ContentBlockStart: _block_start,
    stream.ContentBlockDelta: _delta,
    stream.ContentBlockStop: _block_stop,
    stream.MessageDelta: _message_delta,
    stream.MessageStop: _message_stop,
}
