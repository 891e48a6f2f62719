"""Messages outside the conversation that change something: modes, compaction, tasks, models; and those of miriad-code."""

from collections.abc import Callable
from typing import Any

from turnwire.normalize.claude import notices, user_lines
from turnwire.normalize.claude.notices import notice
from turnwire.normalize.claude.state import ClaudeState
from turnwire.normalize.claude.tasks import AnyTaskMessage, why_lost
from turnwire.normalize.claude.turns import Failure
from turnwire.normalize.common.endings import LostReason
from turnwire.normalize.common.event_context import EventFields
from turnwire.normalize.events import (
    AgentEvent,
    CompactBoundary,
    Error,
    Injected,
    MessageChunk,
    Queued,
    Retraction,
)
from turnwire.normalize.events.limits import pieces
from turnwire.protocol.claude import incidents, system, tasks
from turnwire.protocol.claude.notices import ActiveGoal, ConversationReset, RateLimitEvent, ToolProgress
from turnwire.protocol.json_values import Json
from turnwire.protocol.miriad import system as miriad


def single(event: Callable[[EventFields, Any], AgentEvent]) -> Callable[[ClaudeState, Any], list[AgentEvent]]:
    """Return the handler of a message that becomes one event, whatever the state."""
    return lambda state, message: [event(state.place.here, message)]


def nothing(_state: ClaudeState, _message: object) -> list[AgentEvent]:
    """Ignore a known message without news: a heartbeat, a count, progress of a control request."""
    return []


def status(state: ClaudeState, message: system.Status) -> list[AgentEvent]:
    """Handle the CLI's status. A wait for the API is no news, but the prompts that it serves are."""
    turn = state.turns.current
    if turn is not None:
        turn.prompts |= dict.fromkeys(message.user_message_uuids)
    if message.status == "requesting" and message.permission_mode is None:
        return []
    events = state.session.mode(message.permission_mode)
    if message.status == "compacting":
        events.append(notice(state.place.here, "status", "Compacting the conversation"))
    if message.compact_result not in (None, "success"):
        events.append(notice(state.place.here, "status", f"Compacting: {message.compact_result}", "warning"))
    return events


def compacted(state: ClaudeState, message: system.CompactBoundary) -> list[AgentEvent]:
    """The conversation is a summary now."""
    done = message.compact_metadata or system.CompactMetadata()
    return [
        CompactBoundary(
            **state.place.here, trigger=done.trigger, pre_tokens=done.pre_tokens, post_tokens=done.post_tokens
        ),
        *state.context.reset(done.post_tokens),
    ]


def conversation_reset(state: ClaudeState, message: ConversationReset) -> list[AgentEvent]:
    """The conversation starts again from nothing."""
    told = notice(
        state.place.here,
        "conversation_reset",
        "The conversation begins anew",
        details={"trigger": message.trigger, "conversation_id": message.new_conversation_id},
    )
    return [told, *state.context.reset(None)]


def goal(state: ClaudeState, message: ActiveGoal) -> list[AgentEvent]:
    """The goal was set, looked at, or cleared."""
    if message.value is None:
        return [notice(state.place.here, "active_goal", "The goal is cleared")]
    known = message.value
    told = f"Goal: {known.condition}" + (f" ({known.last_reason})" if known.last_reason else "")
    details: dict[str, Json] = {
        "condition": known.condition,
        "iterations": known.iterations,
        "last_reason": known.last_reason,
    }
    return [notice(state.place.here, "active_goal", told, details=details)]


def rate_limit(state: ClaudeState, message: RateLimitEvent) -> list[AgentEvent]:
    """Handle a change of the account's rate limit. Published if the limit is reached or nearly reached."""
    event = notices.rate_limit_event(state.place.here, message)
    return [] if event is None else [event]


def commands_changed(state: ClaudeState, message: system.CommandsChanged) -> list[AgentEvent]:
    """The slash commands changed."""
    return state.session.commands(message.commands)


def local_output(state: ClaudeState, message: system.LocalCommandOutput) -> list[AgentEvent]:
    """A slash command printed something."""
    if state.repeated(message.uuid):
        return []
    turn = state.turns.current
    if turn is not None:
        turn.local_output.append(message.content)
        turn.active = True
    return [
        MessageChunk(
            **state.place.here, message_id=message.uuid, block_index=0, text=piece, source="local_command"
        )
        for piece in pieces(message.content)
    ]


def model_fallback(state: ClaudeState, message: system.ModelFallback) -> list[AgentEvent]:
    """Another model answers. Its context window is its own."""
    state.context.model(message.fallback_model)
    return [notices.model_fallback(state.place.here, message)]


def refusal_fallback(state: ClaudeState, message: incidents.ModelRefusalFallback) -> list[AgentEvent]:
    """A model refused and another one answers. The first one's text may be retracted."""
    state.context.model(message.fallback_model)
    events: list[AgentEvent] = [notices.refusal(state.place.here, message)]
    if message.retracted_message_uuids:
        events.append(Retraction(**state.place.here, message_uuids=message.retracted_message_uuids))
    return events


def task(state: ClaudeState, message: AnyTaskMessage) -> list[AgentEvent]:
    """Handle a message of a background task. When the task ends, its subagent's open calls end."""
    call_id = state.calls.id_of(message.tool_use_id)
    update = state.tasks.on_message(message, call_id, state.calls.parent_of)
    calls = state.tasks.calls(message.task_id)
    if isinstance(message, tasks.TaskStarted) and (message.is_backgrounded or len(calls) > 1):
        # A subagent that is sent on works in the background, and below the call that started it.
        for call_id in calls:
            state.calls.backgrounded(call_id)
    if not isinstance(message, tasks.TaskNotification):
        return [update]
    state.task_woke = True
    reason: LostReason = why_lost(message.status)
    return [*state.calls.task_over(calls, reason), update]


def tool_progress(state: ClaudeState, message: ToolProgress) -> list[AgentEvent]:
    """A tool is still at work."""
    return list(
        state.calls.progress(
            message.tool_use_id, message.tool_name, message.parent_tool_use_id, message.elapsed_time_seconds
        )
    )


def tool_result(state: ClaudeState, message: miriad.SystemToolResult) -> list[AgentEvent]:
    """Handle a tool's result in the form of miriad-code."""
    return user_lines.tool_result(state, message.tool_result, None, parent=None, uuid=message.uuid)


def failure(state: ClaudeState, message: miriad.SystemFailure) -> list[AgentEvent]:
    """Handle an error of miriad-code. It may be the reason why the open turn fails."""
    text = message.message or "The agent reports an error"
    turn = state.turns.current
    if turn is not None:
        turn.failure = Failure(text, told=True)
    return [Error(**state.place.here, error=text)]


def queued(state: ClaudeState, message: miriad.Queued) -> list[AgentEvent]:
    """Handle a queued prompt (miriad-code). Already published if we sent it."""
    if state.prompts.sees_input and message.position == state.prompts.waiting:
        return []
    return [Queued(**state.place.here, position=message.position)]


def injected(state: ClaudeState, message: miriad.Injected) -> list[AgentEvent]:
    """Waiting prompts joined the turn, or will start the next turn, which names them (miriad-code)."""
    count = max(message.message_count or 1, 1)
    turn = state.turns.current
    named: list[str] = []
    if turn is None:
        state.prompts.begin_with(count)
    else:
        named = [prompt.uuid for prompt in state.prompts.take_first(count) if prompt.uuid is not None]
        turn.prompts |= dict.fromkeys(named)
    return [
        Injected(
            **state.place.here,
            message_count=count,
            content_length=message.content_length,
            prompts=named or None,
        )
    ]
