"""What the agent says and does: assistant lines, streamed pieces, and what user lines carry back."""

from normalize.claude import user_lines
from normalize.claude.state import State
from normalize.claude.texts import Source, Thread
from normalize.claude.tools import server as server_tools
from normalize.claude.turns import Failure, lifecycle
from normalize.events import AgentEvent, Error
from normalize.payloads import ShowPlanPayload
from protocol.claude import blocks, stream
from protocol.claude.messages import Assistant, StreamEvent
from protocol.json_values import JsonObject

SYNTHETIC = "<synthetic>"
"""The model of lines that the CLI wrote in the model's name."""


def assistant(state: State, message: Assistant) -> list[AgentEvent]:
    """Publish what an assistant line adds to what was streamed."""
    parent, body = message.parent_tool_use_id, message.message
    source: Source | None = None
    if body.model == SYNTHETIC:
        source = "synthetic" if message.local_command_source is None else "local_command"
        if parent is None and state.repeated(message.uuid):
            state.commit.assistant(message.uuid, body.id, safe=False)
            return []
    if parent is None:
        thread, events = state.main, lifecycle.ensure(state)
        state.context.model(body.model)
    else:
        thread, events = state.thread(parent), []
    if thread.streaming or body.id is None:
        events += thread.line(body.id)
    said = ""
    for block in message.blocks:
        events += _block(state, thread, message, block, source)
        if type(block) is blocks.TextBlock:
            said += block.text
    failed = message.is_api_error_message or message.error is not None
    if failed:
        events += _failed(state, message, said)
    if parent is None:
        safe = bool(said) and source is None and not (failed or message.aborted)
        state.commit.assistant(message.uuid, body.id, safe=safe)
        if source is None:
            # The end of a message that streams tells more, if it comes.
            events += state.context.used(body.usage, final=not thread.streaming)
    return events


def _block(
    state: State, thread: Thread, message: Assistant, block: blocks.AnyBlock, source: Source | None
) -> list[AgentEvent]:
    message_id, parent = thread.id_of(message.message.id), message.parent_tool_use_id
    match block:
        case blocks.TextBlock():
            return thread.whole(message_id, "text", block.text, source)
        case blocks.ThinkingBlock():
            return thread.whole(message_id, "thinking", block.thinking)
        case blocks.RedactedThinkingBlock():
            return [thread.redacted(message_id)]
        case blocks.ToolUseBlock():
            return _call(state, thread, message, (block.id, block.name, block.input))
        case blocks.ServerToolUseBlock():
            return _call(state, thread, message, (block.id, block.name, block.arguments))
        case blocks.ToolResultBlock():
            thread.index(message_id)
            return user_lines.tool_result(state, block, None, parent=parent, uuid=None)
        case blocks.UnknownBlock(tool_use_id=call_id) if call_id:
            thread.index(message_id)
            answer, structured = server_tools.result(block)
            return user_lines.tool_result(state, answer, structured, parent=parent, uuid=None)
        case _:
            if isinstance(block, blocks.UnknownBlock) and (call := server_tools.call(block)):
                return _call(state, thread, message, call)
            thread.index(message_id)
            return [user_lines.odd_block(state, block, "assistant")]


def _call(
    state: State, thread: Thread, message: Assistant, call: tuple[str, str, JsonObject]
) -> list[AgentEvent]:
    call_id, name, arguments = call
    message_id, parent = thread.id_of(message.message.id), message.parent_tool_use_id
    index = thread.index(message_id)
    opened = state.calls.open(
        call_id, name, arguments, parent=parent, message_id=message_id, block_index=index
    )
    events: list[AgentEvent] = [*opened]
    for call_event in opened:
        if isinstance(call_event.normalized, ShowPlanPayload):
            found = state.calls.find(call_id, name, arguments)
            events += state.requests.plan(call_event.normalized, call_id, found)
    return events


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
    """Publish a piece of a message that is being written."""
    event, parent = message.event, message.parent_tool_use_id
    thread = state.main if parent is None else state.thread(parent)
    if type(event) is stream.ContentBlockDelta:
        delta = event.delta
        if type(delta) is stream.TextDelta:
            return thread.text(event.index, delta.text)
        if type(delta) is stream.ThinkingDelta:
            return thread.thinking(event.index, delta.thinking)
        return []
    match event:
        case stream.ContentBlockStop():
            return thread.close(event.index)
        case stream.ContentBlockStart():
            return _block_start(thread, event)
        case stream.MessageStop():
            abandoned = message.abandoned_blocks
            return thread.end(None if abandoned is None else abandoned.from_block_index)
        case stream.MessageDelta():
            thread.finish()
            return _usage(state, event.usage) if parent is None else []
        case stream.MessageStart():
            events = thread.begin(event.message.id)
            return events if parent is not None else [*_message_start(state, event), *events]
        case _:
            return []


def _message_start(state: State, event: stream.MessageStart) -> list[AgentEvent]:
    state.context.model(event.message.model)
    state.stream_usage = event.message.usage
    return lifecycle.ensure(state)


def _block_start(thread: Thread, event: stream.ContentBlockStart) -> list[AgentEvent]:
    match event.content_block:
        case blocks.TextBlock(text=text):
            thread.open(event.index, "text")
            return thread.text(event.index, text) if text else []
        case blocks.ThinkingBlock(thinking=thinking):
            thread.open(event.index, "thinking")
            return thread.thinking(event.index, thinking) if thinking else []
        case _:
            thread.open(event.index, "other")
            return []


def _usage(state: State, usage: blocks.Usage | None) -> list[AgentEvent]:
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
