"""Handle `session/update`, kind by kind."""

import json
import re
from collections.abc import Callable
from typing import Any, Literal

from turnwire.normalize.acp import turns
from turnwire.normalize.acp.agents import SAFE
from turnwire.normalize.acp.session import Session
from turnwire.normalize.acp.state import State, notice
from turnwire.normalize.common.content_parts import part, prompt_of
from turnwire.normalize.common.problems import problem
from turnwire.normalize.common.texts import Kind
from turnwire.normalize.events import (
    AgentEvent,
    AgentPlan,
    ApiRetry,
    CompactBoundary,
    ToolUpdate,
    Unknown,
    UserMessage,
)
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.normalize.payloads.work import TodoItem, todo_lines
from turnwire.normalize.tool_calls.call_payloads import entries
from turnwire.normalize.tool_calls.tool_call_state import parent_of
from turnwire.protocol.acp import updates
from turnwire.protocol.acp.content import TextContent, UnknownContent
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

Handler = Callable[[State, Session, Any], list[AgentEvent]]

_INJECTED = ("<session_context>", "[Function Response:", "<system-reminder>", "<environment_context>")
"""Beginnings of text that agents themselves insert among the user's messages."""
_ATTEMPT = re.compile(r"(\d{1,6})\s*/\s*(\d{1,6})")
_LEVELS: dict[str, Literal["warning", "error"]] = {"warning": "warning", "error": "error"}


def said(state: State, session: Session, update: updates.Chunk) -> list[AgentEvent]:
    """Handle a piece of the agent's text."""
    return _spoken(state, session, "text", update)


def thought(state: State, session: Session, update: updates.Chunk) -> list[AgentEvent]:
    """The agent thinks something."""
    return _spoken(state, session, "thinking", update)


def _spoken(state: State, session: Session, kind: Kind, update: updates.Chunk) -> list[AgentEvent]:
    content, parent = update.content, None
    words = content.text if isinstance(content, TextContent) else None
    if isinstance(content, UnknownContent) and isinstance(content.raw, str):
        words = content.raw  # a text without its block
    events: list[AgentEvent] = []
    if session.quirks is not SAFE and kind == "text" and words is not None:
        events = parse_quirk_text(session, words)
    if session.turn is None and not events:
        events = turns.ensure(state, session)
    if update.meta is not None:
        parent = session.calls.id_of(parent_of(update.meta))
        session.usage.chunk(update.meta)
    if words is not None:
        return events + session.texts.say(kind, words, update.message_id, parent, session.history)
    if isinstance(content, UnknownContent) and content.raw is None:
        return events
    return events + session.texts.show([part(content)], update.message_id, parent, session.history)


def parse_quirk_text(session: Session, words: str) -> list[AgentEvent]:
    """Handle facts that some agents write as text because the protocol has no update for them. The text is published too."""
    quirks = session.quirks
    mode = quirks.mode_in(words)
    if mode is not None:
        return session.mode_is(mode)
    if session.turn is not None and not session.history:
        quirks.note_text(session.turn, words)
    return []


def user_said(state: State, session: Session, update: updates.UserMessageChunk) -> list[AgentEvent]:
    """Handle a user message from the agent: replayed, or the echo of our own prompt."""
    begins = session.turn is None and not state.sees_input and session.history is None
    if begins and not session.is_new:
        session.history = True
    events = session.began()
    events += session.texts.pause()
    words, parts = prompt_of([update.content])
    if not session.history and words and any(words in echo for echo in session.echoes):
        return events
    if not words and not parts:
        return events
    if begins and session.is_new:
        events.append(turns.start(state, session, "user", [], []))
    return [
        *events,
        UserMessage(
            **session.place.here,
            message_id=update.message_id,
            history=session.history,
            text=words,
            parts=parts,
            synthetic=True if words.startswith(_INJECTED) else None,
        ),
    ]


def user_message(state: State, session: Session, update: updates.UserMessage) -> list[AgentEvent]:
    """Handle a prompt's arrival (version 2). Its turn starts, unless it started when we sent the prompt."""
    words, parts = prompt_of(update.content or [])
    if words in session.echoes and not session.history:
        session.echoes.remove(words)
        return []
    events = session.began()
    uuid = update.message_id
    if session.turn is None and not session.history and not state.sees_input:
        events.append(turns.start(state, session, "user", [uuid] if uuid else [], []))
    return [
        *events,
        UserMessage(
            **session.place.here, history=session.history, message_id=uuid, text=words, uuid=uuid, parts=parts
        ),
    ]


def agent_message(state: State, session: Session, update: updates.Whole) -> list[AgentEvent]:
    """Version 2: a whole message, in the place of its chunks."""
    kind: Kind = "thinking" if isinstance(update, updates.AgentThought) else "text"
    words, _ = prompt_of(update.content or [])
    events = turns.ensure(state, session)
    return events + session.texts.whole(
        kind, words, update.message_id, session.calls.id_of(parent_of(update.meta)), session.history
    )


def call(state: State, session: Session, update: updates.ToolCallUpdate) -> list[AgentEvent]:
    """News of a tool call."""
    update = session.calls.ours(update)
    known = session.calls.find(update.tool_call_id)
    if known is None and not session.calls.is_news(update):
        return []
    events = turns.ensure(state, session) + session.texts.pause()
    session.usage.has_calls = True
    runs = update.status == "in_progress" or bool(update.content)
    if known is not None and not state.sees_input and runs and update.status not in ("completed", "failed"):
        events += session.requests.settled(update.tool_call_id, denied=False)
    return events + _about_calls(session, session.calls.on_update(update, history=session.history))


def _about_calls(session: Session, told: list[AgentEvent]) -> list[AgentEvent]:
    """Return the events of calls. Before a call's end comes the end of its permission request, if its answer was not seen."""
    if not session.requests.pending:
        return told
    events: list[AgentEvent] = []
    for event in told:
        if isinstance(event, ToolUpdate) and event.tool_status != "running":
            events += session.requests.settled(event.tool_call_id, denied=event.reason == "denied")
        events.append(event)
    return events


def terminal(state: State, session: Session, update: updates.TerminalUpdate) -> list[AgentEvent]:
    """Version 2: a terminal of a call."""
    found = session.calls.by_terminal(update.terminal_id)
    if found is None:
        return []
    del state
    facts = found.facts
    facts.command = update.command or facts.command
    if update.output is not None:
        facts.terminal, facts.terminal_size = [], 0
        facts.show_bytes(text(fields(update.output), "data") or "")
    if update.exit_status is not None:
        facts.exited(whole(update.exit_status, "exitCode"), text(update.exit_status, "signal"))
    return session.calls.shown(found)


def terminal_output(state: State, session: Session, update: updates.TerminalOutputChunk) -> list[AgentEvent]:
    """Version 2: a terminal of a call shows more."""
    del state
    found = session.calls.by_terminal(update.terminal_id)
    if found is None:
        return []
    found.facts.show_bytes(update.data)
    return session.calls.shown(found)


def call_content(state: State, session: Session, update: updates.ToolCallContentChunk) -> list[AgentEvent]:
    """Version 2: a call shows one thing more."""
    known = session.calls.find(session.calls.id_of(update.tool_call_id))
    if known is None:
        return []
    whole = [*known.facts.content, update.content]
    return call(state, session, updates.ToolCallUpdate(tool_call_id=update.tool_call_id, content=whole))


def noticed(_state: State, session: Session, update: updates.Notice) -> list[AgentEvent]:
    """Version 2: something that a human should know."""
    words = "\n".join(filter(None, (update.title, update.description)))
    level: Literal["info", "warning", "error"] = _LEVELS.get(update.severity or "", "info")
    return [notice(session.place.here, "notice", words, level)] if words else []


def compaction(_state: State, session: Session, update: updates.CompactionUpdate) -> list[AgentEvent]:
    """Version 2: a summary takes the place of the conversation so far."""
    match update.status:
        case "completed":
            return [*session.texts.pause(), CompactBoundary(**session.place.here)]
        case "failed":
            words = f"The conversation could not be summarised: {update.error or 'no reason given'}"
            return [notice(session.place.here, "compaction_failed", words, "warning")]
        case _:
            return []


def plan(state: State, session: Session, update: updates.Plan) -> list[AgentEvent]:
    """The agent's list of things to do."""
    return _plan(state, session, entries(objects({"": update.entries or []}, "")), None)


def plan_update(state: State, session: Session, update: updates.PlanUpdate) -> list[AgentEvent]:
    """One of several plans."""
    body = update.plan
    plan_id = text(body, "planId", "id")
    if isinstance(body.get("entries"), list):
        return _plan(state, session, entries(objects(body, "entries")), plan_id)
    words = text(body, "content", "markdown")
    uri = text(body, "uri")
    if words is None and uri is None:
        return [_unknown(session, "plan_update", fields(body))]
    return [
        *turns.ensure(state, session),
        *session.texts.pause(),
        AgentPlan(
            **session.place.here,
            history=session.history,
            plan_content=words or "",
            plan_file_path=uri,
            plan_id=plan_id,
        ),
    ]


def plan_removed(state: State, session: Session, update: updates.PlanRemoved) -> list[AgentEvent]:
    """A plan is no more."""
    return _plan(state, session, [], update.plan_id or None)


def _plan(state: State, session: Session, items: list[TodoItem], plan_id: str | None) -> list[AgentEvent]:
    return [
        *turns.ensure(state, session),
        *session.texts.pause(),
        AgentPlan(
            **session.place.here,
            history=session.history,
            plan_content="\n".join(todo_lines(items)),
            plan_id=plan_id,
            items=items,
        ),
    ]


def commands(_state: State, session: Session, update: updates.AvailableCommandsUpdate) -> list[AgentEvent]:
    """The slash commands."""
    return [*_told_beside(session), *session.commands(list(update.available_commands or []))]


def mode(_state: State, session: Session, update: updates.CurrentModeUpdate) -> list[AgentEvent]:
    """The mode."""
    return session.mode_is(update.current_mode_id)


def options(state: State, session: Session, update: updates.ConfigOptionUpdate) -> list[AgentEvent]:
    """The options."""
    return [*_told_beside(session), *session.options_are(update.config_options, state.agent)]


def usage(_state: State, session: Session, update: updates.UsageUpdate) -> list[AgentEvent]:
    """Handle context and cost. Agents send this between two answers of the model, so the following text is another message."""
    return [*_told_beside(session), *session.texts.pause(), *session.usage.update(update)]


def info(_state: State, session: Session, update: updates.SessionInfoUpdate) -> list[AgentEvent]:
    """Handle the session's title, and members that agents add here."""
    events = _told_beside(session)
    codex = fields(fields(update.meta).get("codex"))
    failed, status = fields(codex.get("error")), fields(codex.get("threadStatus"))
    if failed:
        events += _retry(session, failed)
    if status and session.turn is not None:
        session.turn.has_failed = status.get("type") == "systemError"
    if session.is_titled(update.title):
        events.append(notice(session.place.here, "session_title_changed", update.title or ""))
    return events


def idle_or_not(state: State, session: Session, update: updates.StateUpdate) -> list[AgentEvent]:
    """Handle the session's state (version 2)."""
    match update.state:
        case "running" | "requires_action" if session.turn is not None:
            session.turn.is_active = True
            return []
        case "running" if not session.history:
            events = [*session.began(), turns.start(state, session, "autonomous", [], [])]
            return [*events, *idle_or_not(state, session, update)]
        case "idle" if update.stop_reason or update.error is not None or _was_active(session):
            told: JsonObject = {"stopReason": update.stop_reason, "usage": update.usage, "_meta": update.meta}
            error = None
            if update.error is not None:
                error = RpcError(data=update.error)
            return turns.on_exit(state, session, told, error)
        case _:
            return []


def _was_active(session: Session) -> bool:
    return session.turn is not None and session.turn.is_active


def settled(session: Session) -> list[AgentEvent]:
    """Return the ends of calls that began with their end, because another update follows."""
    return _about_calls(session, session.calls.settle())


def _told_beside(session: Session) -> list[AgentEvent]:
    """Handle an update outside the conversation. If the load was not seen, replay ends once a response that may answer it has
    arrived.
    """
    return turns.end_replay(session) if session.history and session.load_answered else []


def _retry(session: Session, failed: JsonObject) -> list[AgentEvent]:
    words = text(failed, "message") or ""
    details = text(failed, "additionalDetails")
    kind = fields(failed.get("codexErrorInfo"))
    status = next(
        (whole(fields(told), "httpStatusCode") for told in kind.values() if isinstance(told, dict)), None
    )
    if failed.get("willRetry") is True:
        found = _ATTEMPT.search(words[:200])
        return [
            ApiRetry(
                **session.place.here,
                attempt=int(found[1]) if found else 1,
                max_retries=int(found[2]) if found else None,
                status=status,
                error=details or words or None,
            )
        ]
    told = problem(RpcError(message=words, data=details))
    return [notice(session.place.here, "error", told.message, "error", failed)]


def _unknown(session: Session, kind: str, raw: Any) -> AgentEvent:
    return Unknown(**session.place.here, message_type=f"session/update/{kind}", raw=json.dumps(raw))


HANDLERS: dict[type, Handler] = {
    updates.AgentMessageChunk: said,
    updates.AgentThoughtChunk: thought,
    updates.UserMessageChunk: user_said,
    updates.UserMessage: user_message,
    updates.AgentMessage: agent_message,
    updates.AgentThought: agent_message,
    updates.ToolCall: call,
    updates.ToolCallUpdate: call,
    updates.TerminalUpdate: terminal,
    updates.Plan: plan,
    updates.PlanUpdate: plan_update,
    updates.PlanRemoved: plan_removed,
    updates.AvailableCommandsUpdate: commands,
    updates.CurrentModeUpdate: mode,
    updates.ConfigOptionUpdate: options,
    updates.UsageUpdate: usage,
    updates.SessionInfoUpdate: info,
    updates.StateUpdate: idle_or_not,
    updates.TerminalOutputChunk: terminal_output,
    updates.ToolCallContentChunk: call_content,
    updates.Notice: noticed,
    updates.CompactionUpdate: compaction,
    updates.CompactionSummaryChunk: lambda *_: [],  # a piece of the summary, which is the model's own
}
"""Kind of update -> its handler, for all known kinds."""

OF_THE_PAST = frozenset(
    {
        said,
        thought,
        user_said,
        user_message,
        agent_message,
        call,
        call_content,
        terminal,
        terminal_output,
        plan,
        plan_update,
        plan_removed,
    }
)
"""Updates of the conversation, which a replay may repeat."""
