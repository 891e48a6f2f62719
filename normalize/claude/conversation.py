"""The agent's output: assistant lines, streamed pieces, and the contents of user lines."""

from collections.abc import Callable
from typing import Any

from turnwire.normalize.claude import user_lines
from turnwire.normalize.claude.state import ClaudeState
from turnwire.normalize.claude.texts import Source, Thread
from turnwire.normalize.claude.tools import server as server_tools
from turnwire.normalize.claude.turns import Failure, lifecycle
from turnwire.normalize.events import AgentEvent, Error
from turnwire.normalize.payloads import ShowPlanPayload
from turnwire.protocol.claude import blocks
from turnwire.protocol.claude.messages import Assistant, StreamEvent
from turnwire.protocol.claude.stream import (
    ContentBlockDelta,
    ContentBlockStart,
    ContentBlockStop,
    MessageDelta,
    MessageStart,
    MessageStop,
    TextDelta,
    ThinkingDelta,
)
from turnwire.protocol.json_values import JsonObject

SYNTHETIC = "<synthetic>"
"""The model of lines that the CLI wrote in the model's name."""


def assistant(state: ClaudeState, message: Assistant) -> list[AgentEvent]:
    """Publish the parts of an assistant line that were not streamed."""
    parent, body = state.calls.id_of(message.parent_tool_use_id), message.message
    source: Source | None = None
    if body.model == SYNTHETIC:
        source = "synthetic" if message.local_command_source is None else "local_command"
        if parent is None and (state.repeated(message.uuid) or _says_failure_again(state, message)):
            state.commit.assistant(message.uuid, body.id, safe=False)
            return []
    if parent is None:
        thread, events = state.main, lifecycle.ensure(state)
        state.context.model(body.model)
    else:
        thread, events = state.thread(parent), []
    message_id, withdrawn = thread.line(body.id, complains=source == "synthetic")
    events += withdrawn
    said = ""
    for block in message.blocks:
        if type(block) is blocks.TextBlock:
            events += thread.whole(message_id, "text", block.text, source)
            said += block.text
        elif type(block) is blocks.ThinkingBlock:
            events += thread.whole(message_id, "thinking", block.thinking)
        elif type(block) is blocks.ToolUseBlock:
            call = (block.id, block.name, block.input)
            events += _call(state, thread, message_id, parent, call, uuid=message.uuid)
        else:
            events += _other_block(state, thread, message_id, parent, block, uuid=message.uuid)
    if state.calls.early:
        events += state.calls.line_over()
    error = message.error
    failed = message.is_api_error_message or error is not None
    if failed:
        events += _failed(state, message, parent, message_id, said)
    if parent is None:
        safe = bool(said) and source is None and not (failed or message.aborted)
        state.commit.assistant(message.uuid, body.id, safe=safe)
        if source is None:
            # The end of a message that streams tells more, if it comes.
            events += state.context.used(body.usage, final=not thread.streaming)
    if source is None:
        state.costs.line(message_id or message.uuid or "", body.usage, of_main=parent is None)
    return events


def _says_failure_again(state: ClaudeState, message: Assistant) -> bool:
    """Return whether a line is the complaint of the line before again, under another id: limits are told so (2.1)."""
    turn = state.turns.current
    if turn is None or turn.failure is None or not (message.is_api_error_message or message.error):
        return False
    return [block.text for block in message.blocks if type(block) is blocks.TextBlock] == [
        turn.failure.message
    ]


def _other_block(
    state: ClaudeState,
    thread: Thread,
    message_id: str | None,
    parent: str | None,
    block: blocks.AnyBlock,
    *,
    uuid: str | None,
) -> list[AgentEvent]:
    match block:
        case blocks.RedactedThinkingBlock():
            return [thread.redacted(message_id)]
        case blocks.ServerToolUseBlock():
            return _call(
                state, thread, message_id, parent, (block.id, block.name, block.arguments), uuid=uuid
            )
        case blocks.ToolResultBlock():
            thread.index(message_id)
            return user_lines.tool_result(state, block, None, parent=parent, uuid=None, waits=False)
        case blocks.UnknownBlock(tool_use_id=call_id) if call_id:
            thread.index(message_id)
            answer, structured = server_tools.result(block)
            return user_lines.tool_result(state, answer, structured, parent=parent, uuid=None, waits=False)
        case _:
            if isinstance(block, blocks.UnknownBlock) and (call := server_tools.call(block)):
                return _call(state, thread, message_id, parent, call, uuid=uuid)
            thread.index(message_id)
            return [user_lines.odd_block(state, block, "assistant")]


def _call(
    state: ClaudeState,
    thread: Thread,
    message_id: str | None,
    parent: str | None,
    call: tuple[str, str, JsonObject],
    *,
    uuid: str | None,
) -> list[AgentEvent]:
    own, name, arguments = call
    index = thread.index(message_id)
    opened = state.calls.open(
        own, name, arguments, parent=parent, message_id=message_id, block_index=index, uuid=uuid
    )
    events: list[AgentEvent] = [*opened]
    for call_event in opened:
        if type(call_event.normalized) is ShowPlanPayload:
            found = state.calls.find(own, name, arguments)
            events += state.requests.plan(call_event.normalized, call_event.tool_call_id, found)
    if opened and state.calls.early and (early := state.calls.early.pop(own, None)) is not None:
        events += user_lines.tool_result(
            state,
            early.block,
            early.structured,
            parent=early.parent,
            uuid=early.uuid,
            permission_outcome=early.permission_outcome,
        )
    return events


def _failed(
    state: ClaudeState, message: Assistant, parent: str | None, message_id: str | None, text: str
) -> list[AgentEvent]:
    """Publish a subagent's error at once: its turn has no end of its own. The main thread's error is published with the end of the
    turn.
    """
    code, status = message.error, message.api_error_status
    turn = state.turns.current
    if parent is None and turn is not None:
        turn.failure = Failure(text or code or "error", code, status)
        return []
    return [
        Error(
            **state.place.here,
            parent_tool_call_id=parent,
            message_id=message_id,
            error=text or code or "error",
            code=code,
            status=status,
        )
    ]


def streamed(state: ClaudeState, message: StreamEvent) -> list[AgentEvent]:
    """Publish a streamed piece of a message."""
    event, parent = message.event, message.parent_tool_use_id
    thread = state.main if parent is None else state.thread(state.calls.id_of(parent) or parent)
    if type(event) is ContentBlockDelta:
        delta = event.delta
        if type(delta) is TextDelta:
            return thread.text(event.index, delta.text)
        if type(delta) is ThinkingDelta:
            return thread.thinking(event.index, delta.thinking)
        return []
    handler = _STREAMED.get(type(event))
    return [] if handler is None else handler(state, thread, message, event)


def _message_start(
    state: ClaudeState, thread: Thread, message: StreamEvent, event: MessageStart
) -> list[AgentEvent]:
    started = event.message
    if message.parent_tool_use_id is not None:
        events = thread.begin(started.id)
    else:
        state.context.model(started.model)
        state.stream_usage = started.usage
        events = lifecycle.ensure(state) + thread.begin(started.id)
    state.costs.line(thread.message_id or "", started.usage, of_main=message.parent_tool_use_id is None)
    return events


def _block_start(
    _state: ClaudeState, thread: Thread, _message: StreamEvent, event: ContentBlockStart
) -> list[AgentEvent]:
    block = event.content_block
    if type(block) is blocks.TextBlock:
        thread.open(event.index, "text")
        return thread.text(event.index, block.text) if block.text else []
    if type(block) is blocks.ThinkingBlock:
        thread.open(event.index, "thinking")
        return thread.thinking(event.index, block.thinking) if block.thinking else []
    thread.open(event.index, "other")
    return []


def _block_stop(
    _state: ClaudeState, thread: Thread, _message: StreamEvent, event: ContentBlockStop
) -> list[AgentEvent]:
    return thread.close(event.index)


def _message_delta(
    state: ClaudeState, thread: Thread, message: StreamEvent, event: MessageDelta
) -> list[AgentEvent]:
    thread.finish()
    is_main = message.parent_tool_use_id is None
    state.costs.line(thread.message_id or "", event.usage, of_main=is_main)
    return _usage(state, event.usage) if is_main else []


def _message_stop(
    _state: ClaudeState, thread: Thread, message: StreamEvent, _event: MessageStop
) -> list[AgentEvent]:
    abandoned = message.abandoned_blocks
    return thread.end(None if abandoned is None else abandoned.from_block_index)


_STREAMED: dict[type, Callable[[ClaudeState, Thread, StreamEvent, Any], list[AgentEvent]]] = {
    MessageStart: _message_start,
    ContentBlockStart: _block_start,
    ContentBlockStop: _block_stop,
    MessageDelta: _message_delta,
    MessageStop: _message_stop,
}
"""Stream event that begins or ends something -> its handler."""


def _usage(state: ClaudeState, usage: blocks.Usage | None) -> list[AgentEvent]:
    start = state.stream_usage
    if usage is not None and start is not None and usage.context_tokens == usage.output_tokens:
        # Some providers repeat only what the end of a message changes.
        usage = blocks.Usage(
            start.input_tokens,
            usage.output_tokens,
            start.cache_creation_input_tokens,
            start.cache_read_input_tokens,
        )
    return state.context.used(usage)
