"""How turns end: by a result, by the next turn where a version withholds the result, or with the process.

The order at the end of a turn: pending tool updates, void requests, context window, text that only the result has,
complete, error.
"""

from msgspec.structs import replace

from turnwire.normalize.claude.costs import CostReport
from turnwire.normalize.claude.state import ClaudeState
from turnwire.normalize.claude.turns import Turn, outcomes
from turnwire.normalize.claude.turns.prompts import Prompt
from turnwire.normalize.claude.turns.starting import start
from turnwire.normalize.common.endings import LostReason, exit_sentence, exited
from turnwire.normalize.events import (
    AgentEvent,
    CompleteData,
    Error,
    MessageChunk,
    Outcome,
    Withdrawn,
)
from turnwire.normalize.events.limits import pieces
from turnwire.normalize.inputs import Ended
from turnwire.normalize.vocabulary import VoidReason
from turnwire.protocol.claude.results import Result


def result(state: ClaudeState, message: Result) -> list[AgentEvent]:
    """End the turn. A result without a turn forms its own turn (a failing resume); a repeated result is ignored."""
    turn = state.turns.current
    if turn is not None:
        state.last_result = message.uuid
        if (
            turn.prompts
            and _is_of_a_task(message)
            and turn.prompts.keys().isdisjoint(message.user_message_uuids)
        ):
            return _by_a_task(state, turn, message)
        return _by_result(state, turn, message)
    if message.uuid is not None and message.uuid == state.last_result:
        return []
    turn, started = start(state)
    state.last_result = message.uuid
    return [started, *_by_result(state, turn, message)]


def _is_of_a_task(message: Result) -> bool:
    """Return whether the CLI itself began what this is the result of: it had heard from a background task."""
    return message.origin is not None and message.origin.get("kind") == "task-notification"


def _by_a_task(state: ClaudeState, turn: Turn, message: Result) -> list[AgentEvent]:
    """Handle the result of a background task while a prompt waits for its own.

    Where nothing was said, the turn goes on. Otherwise what was said is a turn without the prompt, which gets the next one: at once
    where the CLI reported that the prompt waits, else when something begins.
    """
    if not turn.active and not message.text and not message.is_error:
        return []
    prompts, turn.prompts = turn.prompts, {}
    events = _by_result(state, turn, message)
    if turn.unserved.issuperset(prompts):
        _, started = state.turns.start("queued", [*prompts])
        return [*events, started]
    for uuid in prompts:
        state.prompts.wait(Prompt(uuid, ""))
    return events


def _by_result(state: ClaudeState, turn: Turn, message: Result) -> list[AgentEvent]:
    outcome = outcomes.outcome_of(message, interrupted=turn.interrupted)
    interrupted = outcome == "interrupted"
    events = _leave_open_ends(
        state, "interrupted" if interrupted else "no_result", succeeded=outcome == "completed"
    )
    state.commit.result()
    events += state.main.over(None if interrupted else message.text or "")
    events += state.context.result(message)
    events += _text(state, turn, message)
    is_error = outcomes.is_error(message, outcome)
    errors = outcomes.errors(message, outcome, turn.failure) if is_error else []
    prompts = [*turn.prompts]
    if message.user_message_uuids:
        prompts = [*dict.fromkeys([*prompts, *message.user_message_uuids])]
    bill: CostReport = state.costs.bill(message)
    data = CompleteData(
        outcome=outcome,
        is_error=is_error,
        cost_usd=bill.cost_usd,
        total_cost_usd=bill.total_cost_usd,
        duration_ms=_whole(message.duration_ms),
        duration_api_ms=_whole(message.duration_api_ms),
        num_turns=message.num_turns,
        input_tokens=bill.input_tokens,
        output_tokens=bill.output_tokens,
        cache_read_input_tokens=bill.cache_read_input_tokens,
        cache_creation_input_tokens=bill.cache_creation_input_tokens,
        total_input_tokens=bill.total_input_tokens,
        total_output_tokens=bill.total_output_tokens,
        last_message_uuid=state.commit.last,
        resume_token=state.commit.resume_token,
    )
    # a call with more than 15 named arguments makes a dictionary of them, at three times the cost of two calls
    data = replace(
        data,
        all_tokens=bill.all_tokens,
        errors=errors or None,
        api_error_status=message.api_error_status,
        subtype=message.subtype or None,
        stop_reason=message.stop_reason,
        structured_output=message.structured_output,
        permission_denials=message.permission_denials or None,
        prompts=prompts or None,
        origin="background" if _is_of_a_task(message) else turn.origin,
    )
    error: Error | None = None
    if errors:
        error = Error(
            **state.place.here,
            error="; ".join(errors),
            code=outcomes.code(message, turn.failure),
            status=message.api_error_status or (turn.failure.status if turn.failure else None),
        )
    events += _complete(state, turn, data, error)
    return events


def withheld(state: ClaudeState, turn: Turn) -> list[AgentEvent]:
    """End the open turn without its result: the next one has begun (2.1.101 with background agents)."""
    events = _leave_open_ends(
        state, "interrupted" if turn.interrupted else "no_result", succeeded=not turn.interrupted
    )
    state.commit.result()
    events += state.context.show()
    data = CompleteData(
        outcome="interrupted" if turn.interrupted else "completed",
        is_error=False,
        last_message_uuid=state.commit.last,
        resume_token=state.commit.resume_token,
        prompts=[*turn.prompts] or None,
        origin=turn.origin,
    )
    data = replace(_by_lines(state, data), tokens_of="lines")
    return [*events, *_complete(state, turn, data, None)]


def by_process(state: ClaudeState, end: Ended) -> list[AgentEvent]:
    """The process is gone: end the open turn and all that still waited, and say so."""
    events = _process_over(state, end)
    state.requests.forget_names()
    return events


def _process_over(state: ClaudeState, end: Ended) -> list[AgentEvent]:
    updates = state.calls.process_over()
    events: list[AgentEvent] = [*updates, *state.requests.turn_over("process_exited", ())]
    state.commit.discard()
    turn = state.turns.current
    if turn is not None:
        outcome: Outcome = "hung" if end.reason == "hung" else "process_exited"
        # Qwen Code 0.15 ends without a result; who stops a session interrupts its turn first, which nobody asked for
        if turn.interrupted and end.reason not in ("hung", "stopped"):
            outcome = "interrupted"
        is_error = outcome != "interrupted"
        errors = [*([turn.failure.message] if turn.failure else []), exit_sentence(end)]
        data = CompleteData(
            outcome=outcome,
            is_error=is_error,
            last_message_uuid=state.commit.last,
            resume_token=state.commit.resume_token,
            errors=errors if is_error else None,
            prompts=[*turn.prompts] or None,
            origin=turn.origin,
            exit_code=end.exit_code,
            signal=end.signal,
            stderr_tail=end.stderr_tail or None,
        )
        code = turn.failure.code if turn.failure and turn.failure.code else outcome
        error = Error(**state.place.here, error="; ".join(errors), code=code) if is_error else None
        events += _complete(state, turn, _by_lines(state, data), error)
    events += [Withdrawn(**state.place.here, prompt=uuid) for uuid in state.prompts.forget()]
    events.append(replace(exited(state.place.session_id, end), operation_id=state.place.here["operation_id"]))
    state.tasks.forget()
    state.sent_requests.clear()
    state.forget_turn()
    state.resumes()
    return events


def killed(state: ClaudeState) -> list[AgentEvent]:
    """End the turn of a process that was killed: the `init` of another process follows in the same log.

    Where our own prompts are seen, the end of a process is seen, too, and an `init` of another session is not a new process.
    """
    turn = state.turns.current
    if turn is None or not turn.began or turn.prompts:
        return []
    return _process_over(state, Ended("exited"))


def _leave_open_ends(state: ClaudeState, reason: LostReason, *, succeeded: bool) -> list[AgentEvent]:
    updates = state.calls.turn_over(reason, succeeded=succeeded)
    if not updates and not state.requests.waiting:
        return []
    void: VoidReason = "interrupted" if reason == "interrupted" else "turn_ended"
    return [*updates, *state.requests.turn_over(void, {update.tool_call_id for update in updates})]


def _text(state: ClaudeState, turn: Turn, message: Result) -> list[AgentEvent]:
    """Publish the result's text unless the main thread has published it. Some commands and answers are only in the result."""
    text = message.text
    if not text or state.main.spoken or text in turn.local_output:
        return []
    return [
        MessageChunk(**state.place.here, message_id=message.uuid, block_index=0, text=piece, source="result")
        for piece in pieces(text)
    ]


def _by_lines(state: ClaudeState, data: CompleteData) -> CompleteData:
    """Add the tokens that the lines of a turn without a result tell."""
    bill = state.costs.bill_lines()
    return replace(
        data,
        input_tokens=bill.input_tokens,
        output_tokens=bill.output_tokens,
        cache_read_input_tokens=bill.cache_read_input_tokens,
        cache_creation_input_tokens=bill.cache_creation_input_tokens,
        all_tokens=bill.all_tokens,
    )


def _complete(state: ClaudeState, turn: Turn, data: CompleteData, error: Error | None) -> list[AgentEvent]:
    """Complete the turn. An error that did not fail the turn is published before its end. An interrupt is not an error.

    Some versions report an interrupt as an API error.
    """
    events: list[AgentEvent] = []
    if turn.failure is not None and not turn.failure.told and error is None and data.outcome != "interrupted":
        failure = turn.failure
        events.append(
            Error(**state.place.here, error=failure.message, code=failure.code, status=failure.status)
        )
    events.append(state.turns.complete(data))
    if error is not None:
        events.append(error)
    state.turns.permission_outcome()
    state.forget_turn()
    return events


def _whole(milliseconds: float | None) -> int | None:
    return None if milliseconds is None else round(milliseconds)
