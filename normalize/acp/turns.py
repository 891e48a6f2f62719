"""Turns: from a prompt to its response. A session has at most one open turn. Each turn starts once and ends once."""

from collections.abc import Iterable

from turnwire.normalize.acp.session import Prompt, Session, Turn
from turnwire.normalize.acp.state import State, notice
from turnwire.normalize.common.endings import FAILED_TURNS, Origin, exit_sentence
from turnwire.normalize.common.problems import CANCELLED, Problem, problem
from turnwire.normalize.events import (
    AgentEvent,
    AgentPlan,
    Complete,
    CompleteData,
    Error,
    Injected,
    MessageChunk,
    Notice,
    Outcome,
    PermissionRequest,
    QuestionRequest,
    Queued,
    Reasoning,
    ToolCall,
    ToolUpdate,
    TurnStarted,
    UserMessage,
    Withdrawn,
)
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads.fields import text
from turnwire.normalize.payloads.files import ContentPart
from turnwire.protocol.acp.messages import Id, RpcError
from turnwire.protocol.json_values import JsonObject

_OUTCOMES: dict[str, Outcome] = {
    "end_turn": "completed",
    "max_tokens": "max_tokens",
    "max_turn_requests": "max_turns",
    "refusal": "refusal",
    "cancelled": "interrupted",
    "canceled": "interrupted",
    "error": "error",
}
_NO_OUTPUT = "The agent ended the turn without a word, a tool call or an error: its request to the model may have failed."
_OUTPUT = frozenset(
    {
        MessageChunk,
        Reasoning,
        ToolCall,
        ToolUpdate,
        AgentPlan,
        PermissionRequest,
        QuestionRequest,
        Error,
        Notice,
    }
)


def has_output(events: Iterable[AgentEvent]) -> bool:
    """Return whether a turn's events contain anything useful to the user."""
    return any(type(event) in _OUTPUT and not _is_title(event) for event in events)


def _is_title(event: AgentEvent) -> bool:
    """Return whether an event is a title that the agent chose itself. Kimi's title is the first prompt."""
    return isinstance(event, Notice) and event.kind == "session_title_changed"


def start(
    state: State, session: Session, origin: Origin, prompts: list[str], waiting: list[Id]
) -> TurnStarted:
    """Open a turn. There must be none."""
    session.turn = Turn(f"turn-{state.next_turn}", origin, prompts, waiting)
    state.next_turn += 1
    session.had_turns = True
    session.usage.has_calls = False
    session.place.enter_turn(session.turn.id)
    return TurnStarted(**session.place.here, origin=origin, prompts=[*prompts] or None)


def ensure(state: State, session: Session) -> list[AgentEvent]:
    """Open a turn, unless one is open or this is replay.

    If we see our own requests, updates after the answer belong to no turn.
    """
    if session.turn is not None:
        return []
    events = session.began()
    if session.history or state.sees_input:
        return events
    return [*events, *session.texts.pause(), start(state, session, "user", [], [])]


def prompted(
    state: State, session: Session, prompt: Prompt, parts: list[ContentPart] | None
) -> list[AgentEvent]:
    """We sent a prompt: it opens a turn, joins the open one, or waits."""
    events = [*end_replay(session), *session.began()]
    said = [prompt.uuid] if prompt.uuid else []
    turn = session.turn
    if turn is None:
        events += session.texts.pause()
        events += session.calls.turn_over("no_result", succeeded=True)
        origin: Origin = "autonomous" if prompt.is_own else "user"
        events.append(start(state, session, origin, said, [prompt.request_id]))
    elif session.quirks.joins_prompts:
        turn.waiting.append(prompt.request_id)
        turn.prompts += said
        events.append(_joined(session, prompt))
    else:
        session.queue.append(prompt)
        events.append(Queued(**session.place.here, position=len(session.queue), prompt=prompt.uuid))
    session.echoes = [*session.echoes[-63:], prompt.text]
    message = UserMessage(
        **session.place.here,
        text=prompt.text,
        uuid=prompt.uuid,
        parts=parts,
        synthetic=True if prompt.is_own else None,
    )
    return [*events, message]


def end_replay(session: Session) -> list[AgentEvent]:
    """End replay: updates from here on are new."""
    if session.history is None:
        return []
    events = session.texts.pause()
    events += session.calls.turn_over("no_result", succeeded=True)
    was_suppressing = session.suppresses_replay
    session.history, session.suppresses_replay, session.load_answered = None, False, False
    return [] if was_suppressing else events


def left_open(session: Session) -> list[AgentEvent]:
    """End the open text and the open calls: no further updates will arrive."""
    return [*session.texts.pause(), *session.calls.turn_over("no_result", succeeded=False)]


def on_response(
    state: State, session: Session, request_id: Id, result: JsonObject | None, error: RpcError | None
) -> list[AgentEvent]:
    """A prompt of this session was answered: at last by the open turn's end, or it never had a turn."""
    turn = session.turn
    if turn is None:
        return []  # it has ended otherwise, and nothing waits where none is open
    if request_id in turn.waiting:
        turn.waiting.remove(request_id)
        if result is not None and text(result, "messageId") and not text(result, "stopReason"):
            return []  # version 2: the prompt is heard; the turn's end is told apart
        if turn.waiting and error is None:
            return []
        return on_exit(state, session, result or {}, error)
    waiting = next((prompt for prompt in session.queue if prompt.request_id == request_id), None)
    if waiting is None:
        return []
    session.queue.remove(waiting)
    if error is not None:
        failed = problem(error)
        return [
            Withdrawn(**session.place.here, prompt=waiting.uuid or str(request_id)),
            Error(**session.place.here, error=failed.message, code=failed.code, status=failed.status),
        ]
    turn.prompts += [waiting.uuid] if waiting.uuid else []
    return [_joined(session, waiting)]


def on_exit(
    state: State, session: Session, result: JsonObject, error: RpcError | None = None
) -> list[AgentEvent]:
    """End the open turn according to its response, and start the turn of the waiting prompt."""
    turn = session.turn
    if turn is None:
        return []
    reason = text(result, "stopReason")
    failed = None if error is None else problem(error)
    outcome: Outcome = _OUTCOMES.get(reason or "end_turn", "completed")
    if error is not None:
        outcome = "interrupted" if turn.is_cancelled or error.code == CANCELLED else "error"
    if outcome == "interrupted" and not turn.is_cancelled and session.quirks.was_refused(result):
        outcome = "completed"
    told = session.quirks.failure(turn, result) if outcome == "completed" else None
    if told is not None:
        outcome = "error"
        failed = problem(told) if told.message else None
    events = session.texts.pause()
    interrupted = outcome == "interrupted"
    events += session.calls.turn_over(
        "interrupted" if interrupted else "no_result", succeeded=outcome == "completed"
    )
    events += session.requests.void("interrupted" if interrupted else "turn_ended")
    if outcome == "completed" and not turn.has_output and not has_output(events):
        events.append(notice(session.place.here, "no_output", _NO_OUTPUT, "warning"))
    events += session.usage.context(result.get("_meta"))
    events += _complete(session, turn, outcome, result, reason=reason, failed=failed)
    if session.queue:
        waiting = session.queue.pop(0)
        said = [waiting.uuid] if waiting.uuid else []
        events.append(start(state, session, "queued", said, [waiting.request_id]))
    return events


def by_process(session: Session, end: Ended) -> list[AgentEvent]:
    """The process is gone: end everything open in a session."""
    events = [] if session.history is None else end_replay(session)
    events += session.texts.pause()
    events += session.calls.turn_over("process_exited", succeeded=False)
    events += session.requests.void("process_exited")
    turn = session.turn
    if turn is not None:
        outcome: Outcome = "hung" if end.reason == "hung" else "process_exited"
        # who stops a session cancels its turn first, which nobody asked for
        if turn.is_cancelled and end.reason not in ("hung", "stopped"):
            outcome = "interrupted"
        failed = None if outcome == "interrupted" else Problem(exit_sentence(end), outcome)
        events += _complete(session, turn, outcome, {}, failed=failed, end=end)
    for prompt in session.queue:
        events.append(Withdrawn(**session.place.here, prompt=prompt.uuid or str(prompt.request_id)))
    session.process_over()
    return events


def _complete(
    session: Session,
    turn: Turn,
    outcome: Outcome,
    result: JsonObject,
    *,
    reason: str | None = None,
    failed: Problem | None = None,
    end: Ended | None = None,
) -> list[AgentEvent]:
    """End a turn. end: its process has ended, and so no response told of the turn."""
    bill = session.usage.bill(result, goes_on=session.is_loaded)
    is_error = outcome in FAILED_TURNS or (end is not None and failed is not None)
    words = failed.message if failed is not None else FAILED_TURNS.get(outcome)
    errors = [words] if words is not None and is_error else None
    spent, total = bill.turn, bill.total
    data = CompleteData(
        outcome=outcome,
        is_error=is_error,
        cost_usd=bill.cost_usd,
        total_cost_usd=bill.total_cost_usd,
        input_tokens=None if spent is None else spent.sent,
        output_tokens=None if spent is None else spent.received,
        cache_read_input_tokens=None if spent is None else spent.cache_read,
        cache_creation_input_tokens=None if spent is None else spent.cache_written,
        tokens_of="last_call" if bill.is_of_last_call else None,
        total_input_tokens=None if total is None else total.sent,
        total_output_tokens=None if total is None else total.received,
        errors=errors,
        api_error_status=None if failed is None else failed.status,
        stop_reason=reason,
        prompts=[*turn.prompts] or None,
        origin=turn.origin,
        exit_code=None if end is None else end.exit_code,
        signal=None if end is None else end.signal,
        stderr_tail=None if end is None else end.stderr_tail or None,
    )
    session.turn = None
    error = words if is_error else None
    events: list[AgentEvent] = [Complete(**session.place.here, data=data, error=error)]
    if error is not None:
        code = failed.code if failed is not None else outcome
        status = None if failed is None else failed.status
        events.append(Error(**session.place.here, error=error, code=code, status=status))
    session.place.enter_turn(None)
    return events


def _joined(session: Session, prompt: Prompt) -> Injected:
    return Injected(
        **session.place.here,
        message_count=1,
        content_length=len(prompt.text) or None,
        prompts=[prompt.uuid] if prompt.uuid else None,
    )
