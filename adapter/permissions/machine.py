"""Who may do what: the state machine of everything the CLI asks of us and waits for; pure.

`step(state, input, at)` returns the next state and the effects. Each request gets exactly one response, or none after
it was voided; nothing is allowed unless a human, a rule or a policy allows it; nothing waits once the process is gone.
What nobody understands (an unknown hook, an unknown request, an answer that does not fit) never means allow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from adapter.hooks import answers as hook_answers
from adapter.hooks.settings import find_hook
from adapter.permissions import answers
from adapter.permissions.answers import InvalidAnswer, Outcome, Question
from adapter.permissions.decisions import (
    Abandon,
    Answered,
    Asked,
    CancelledByCli,
    Decide,
    Disconnected,
    Effect,
    GitChecked,
    HookRan,
    Overloaded,
    PermissionAnswer,
    PermissionInput,
    ProcessEnded,
    Refuse,
    Remember,
    Respond,
    RunGitCheck,
    RunHook,
    StartTimer,
    Stopping,
    StopTimer,
    TimedOut,
    TurnEnded,
    Void,
    Voided,
)
from adapter.permissions.grants import Grant
from adapter.permissions.policies import (
    PRE_TOOL,
    STOP,
    PermissionSettings,
    is_allowed_by_plan,
    judge_by_rule,
    judge_call,
)
from normalize.claude.requests.suggestions import INTERACTIVE
from normalize.vocabulary import VoidReason
from protocol.claude.answers import Allow, answer_permission
from protocol.claude.control import failure
from protocol.claude.requests import CanUseTool, Elicitation, HookCallback, RequestUserDialog
from protocol.json_values import text_at

MAX_SETTLED = 1000
"""Requests whose outcome is remembered, for those who answer late."""

MAX_STOP_BLOCKS = 1
"""Times in a turn that the agent is sent back for uncommitted changes."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that has no response yet."""

    request: CanUseTool | Question | HookCallback
    asked_at: float
    waits_for: Literal["human", "machine"]


@dataclass(frozen=True, slots=True)
class State:
    """Everything that is known; replaced, never changed."""

    settings: PermissionSettings
    pending: Mapping[str, Pending] = field(default_factory=dict)
    settled: Mapping[str, str] = field(default_factory=dict)
    """What became of requests, in words; the newest MAX_SETTLED."""
    grants: tuple[Grant, ...] = ()
    stop_blocks: int = 0
    overloaded: bool = False
    """It was told that too many requests wait."""
    stopping: bool = False
    ended: bool = False

    @property
    def waiting_for_humans(self) -> tuple[str, ...]:
        """The requests that a frontend can answer."""
        return tuple(name for name, pending in self.pending.items() if pending.waits_for == "human")


Step: TypeAlias = tuple[State, list[Effect]]


def step(state: State, happened: PermissionInput, at: float) -> Step:
    """Return what follows from an input at a time in seconds."""
    match happened:
        case Asked():
            return _asked(state, happened, at)
        case Answered():
            return _answered(state, happened, at)
        case CancelledByCli(request_id, reason):
            return _cancelled(state, request_id, reason)
        case TimedOut(request_id):
            return _timed_out(state, request_id, at)
        case HookRan():
            return _hook_ran(state, happened)
        case GitChecked():
            return _git_checked(state, happened, at)
        case Voided(request_id, reason):
            return _void(state, [request_id], reason)
        case Stopping():
            return _stopping(state, at)
        case TurnEnded():
            return replace(state, stop_blocks=0), []
        case ProcessEnded():
            state, effects = _void(state, list(state.pending), "process_exited")
            return replace(state, ended=True), effects
        case Disconnected():
            return state, []


def _asked(state: State, asked: Asked, at: float) -> Step:
    request_id, request = asked.request_id, asked.request
    if request_id in state.pending or request_id in state.settled:
        return state, []  # the CLI lists what still waits when it is initialised again
    if state.ended:
        return _settle(state, request_id, "void"), [Void(request_id, "process_exited")]
    match request:
        case CanUseTool() | Elicitation() | RequestUserDialog() if state.stopping:
            return _finish(state, request_id, _stopped(request_id, request, 0))
        case CanUseTool():
            after, effects = _tool_asked(state, asked, request, at)
        case HookCallback():
            after, effects = _hook_asked(state, asked, request, at)
        case Elicitation() | RequestUserDialog():
            after, effects = _wait_for_human(state, request_id, request, at)
        case _:
            refusal = failure(request_id, f"turnwire does not answer {request.subtype or 'this request'}")
            return _settle(state, request_id, "refused"), [Respond(refusal)]
    if len(after.pending) > state.settings.max_pending:
        return _refuse_one_more(state, request_id, request)
    return after, effects


def _refuse_one_more(state: State, request_id: str, request: CanUseTool | Question | HookCallback) -> Step:
    """Answer what would have to wait while too much waits: nobody can look at it, and memory is not for the CLI to fill."""
    match request:
        case CanUseTool():
            outcome = answers.deny(request_id, answers.TOO_MANY, "turnwire", 0)
        case HookCallback():
            hook = find_hook(state.settings.hooks, request.callback_id)
            name = hook.name if hook else request.callback_id
            outcome = hook_answers.answer_configured(
                HookRan(request_id, error=answers.TOO_MANY), request, name
            )
        case Elicitation() | RequestUserDialog():
            outcome = answers.dismiss(request_id, request, answers.TOO_MANY, "turnwire", 0)
    after, effects = _finish(state, request_id, outcome)
    if not state.overloaded:
        effects.append(Overloaded(state.settings.max_pending))
    return replace(after, overloaded=True), effects


def _tool_asked(state: State, asked: Asked, request: CanUseTool, at: float) -> Step:
    request_id, tool = asked.request_id, request.tool_name
    verdict = judge_by_rule(state.settings, tool, request.input, asked.real_paths)
    if verdict is not None and verdict.behavior == "deny":
        return _finish(state, request_id, answers.deny(request_id, verdict.reason, verdict.by, 0))
    by = None
    if verdict is not None and verdict.behavior == "allow" and not request.requires_user_interaction:
        by = verdict.by
    elif verdict is None and tool not in INTERACTIVE and _is_granted(state, request):
        by = "remembered"
    elif (
        verdict is None
        and not request.requires_user_interaction
        and is_allowed_by_plan(state.settings, tool, request.decision_reason_type)
    ):
        by = "policy:plan"
    if by is None:
        return _wait_for_human(state, request_id, request, at)
    allowed = answer_permission(request_id, Allow(request.input))
    return _finish(state, request_id, Outcome(allowed, hook_answers.decision(request_id, "allow", by)))


def _is_granted(state: State, request: CanUseTool) -> bool:
    return not request.requires_user_interaction and any(
        grant.covers(request.tool_name, request.input) for grant in state.grants
    )


def _hook_asked(state: State, asked: Asked, request: HookCallback, at: float) -> Step:
    request_id = asked.request_id
    if request.callback_id == PRE_TOOL:
        tool, mode = text_at(request.input, "tool_name"), text_at(request.input, "permission_mode")
        arguments = request.input.get("tool_input")
        verdict = judge_call(
            state.settings,
            state.grants,
            tool,
            arguments if isinstance(arguments, dict) else {},
            mode,
            real_paths=asked.real_paths,
        )
        return _finish(state, request_id, hook_answers.answer_judged(request_id, verdict))
    if request.callback_id == STOP:
        by = f"policy:{state.settings.policy}"
        if state.stop_blocks >= MAX_STOP_BLOCKS or request.input.get("stop_hook_active") is True:
            return _finish(state, request_id, hook_answers.answer_stop(request_id, (), by, 0))
        return _wait_for_machine(state, request_id, request, at), [RunGitCheck(request_id)]
    hook = find_hook(state.settings.hooks, request.callback_id)
    if hook is None:
        return _finish(state, request_id, hook_answers.answer_unknown(request_id, request))
    return _wait_for_machine(state, request_id, request, at), [RunHook(request_id, hook, request.input)]


def _answered(state: State, answered: Answered, at: float) -> Step:
    request_id, answer, by = answered.request_id, answered.answer, answered.by
    pending = state.pending.get(request_id)
    if pending is None:
        return state, [_refusal(state, request_id)]
    waited = _milliseconds(pending, at)
    try:
        match pending.request, answer:
            case HookCallback(), _:
                return state, [
                    Refuse("unknown_request", f"{request_id} is answered by a hook, not by people")
                ]
            case CanUseTool() as request, PermissionAnswer():
                outcome = answers.answer_tool(request_id, request, answer, by, waited)
            case _, PermissionAnswer():
                raise InvalidAnswer("this is a question; answer it with question.answer")
            case CanUseTool(tool_name="AskUserQuestion") as request, _:
                outcome = answers.answer_user_question(request_id, request, answer, by, waited)
            case CanUseTool(), _:
                raise InvalidAnswer("this is a permission request; answer it with permission.respond")
            case question, _:
                outcome = answers.answer_question(request_id, question, answer, by, waited)
    except InvalidAnswer as error:
        return state, [Refuse("invalid_answer", str(error), error.field)]
    return _finish(state, request_id, outcome)


def _cancelled(state: State, request_id: str, reason: VoidReason) -> Step:
    pending = state.pending.get(request_id)
    state, effects = _void(state, [request_id], reason)
    if pending is not None and state.settings.answers_cancelled and isinstance(pending.request, CanUseTool):
        # 1.0 goes on waiting for the answer to what it has cancelled, and its turn never ends without
        effects.append(Respond(answers.deny(request_id, answers.DENIED, "cancelled", 0).response))
    return state, effects


def _timed_out(state: State, request_id: str, at: float) -> Step:
    pending = state.pending.get(request_id)
    if pending is None or isinstance(pending.request, HookCallback):
        return state, []
    waited = _milliseconds(pending, at)
    outcome = answers.dismiss(request_id, pending.request, answers.TIMED_OUT, "timeout", waited)
    return _finish(state, request_id, outcome)


def _stopping(state: State, at: float) -> Step:
    state, effects = replace(state, stopping=True), []
    for request_id, pending in state.pending.items():
        if not isinstance(pending.request, HookCallback):
            waited = _milliseconds(pending, at)
            state, more = _finish(state, request_id, _stopped(request_id, pending.request, waited))
            effects += more
    return state, effects


def _stopped(request_id: str, request: CanUseTool | Question, waited: int) -> Outcome:
    return answers.dismiss(request_id, request, answers.STOPPED, "turnwire", waited)


def _hook_ran(state: State, ran: HookRan) -> Step:
    pending = state.pending.get(ran.request_id)
    if pending is None or not isinstance(pending.request, HookCallback):
        return state, []
    hook = find_hook(state.settings.hooks, pending.request.callback_id)
    outcome = hook_answers.answer_configured(ran, pending.request, hook.name if hook else "hook")
    return _finish(state, ran.request_id, outcome)


def _git_checked(state: State, checked: GitChecked, at: float) -> Step:
    pending = state.pending.get(checked.request_id)
    if pending is None:
        return state, []
    by = f"policy:{state.settings.policy}"
    if checked.changes:
        state = replace(state, stop_blocks=state.stop_blocks + 1)
    outcome = hook_answers.answer_stop(checked.request_id, checked.changes, by, _milliseconds(pending, at))
    return _finish(state, checked.request_id, outcome)


def _wait_for_human(state: State, request_id: str, request: CanUseTool | Question, at: float) -> Step:
    pending = {**state.pending, request_id: Pending(request, at, "human")}
    seconds = state.settings.answer_timeout
    return replace(state, pending=pending), [] if seconds is None else [StartTimer(request_id, seconds)]


def _wait_for_machine(state: State, request_id: str, request: HookCallback, at: float) -> State:
    return replace(state, pending={**state.pending, request_id: Pending(request, at, "machine")})


def _finish(state: State, request_id: str, outcome: Outcome) -> Step:
    """Answer a request: the decision is told before the response is written."""
    effects: list[Effect] = [Decide(outcome.decision), Respond(outcome.response)]
    if request_id in state.pending and state.pending[request_id].waits_for == "human":
        effects.append(StopTimer(request_id))
    if outcome.grants:
        effects.append(Remember(outcome.grants))
        state = replace(state, grants=(*state.grants, *(grant for grant, _ in outcome.grants)))
    decision = outcome.decision
    words = f"{decision.by} has already decided: {decision.option_id or decision.behavior}"
    return _settle(state, request_id, words), effects


def _void(
    state: State,
    requests: list[str],
    reason: VoidReason,
) -> Step:
    effects: list[Effect] = []
    for request_id in requests:
        pending = state.pending.get(request_id)
        if pending is not None:
            end = StopTimer(request_id) if pending.waits_for == "human" else Abandon(request_id)
            effects += [Void(request_id, reason), end]
            state = _settle(state, request_id, "void")
    return state, effects


def _settle(state: State, request_id: str, words: str) -> State:
    settled = {**state.settled, request_id: words}
    if len(settled) > MAX_SETTLED:
        del settled[next(iter(settled))]
    pending = {name: one for name, one in state.pending.items() if name != request_id}
    overloaded = state.overloaded and len(pending) > state.settings.max_pending // 2
    return replace(state, pending=pending, settled=settled, overloaded=overloaded)


def _refusal(state: State, request_id: str) -> Refuse:
    match state.settled.get(request_id):
        case None:
            return Refuse("unknown_request", f"there is no request {request_id}", "pending_id")
        case "void":
            return Refuse("cancelled", f"{request_id} waits no more: the agent took it back or has gone")
        case words:
            return Refuse("already_answered", words)


def _milliseconds(pending: Pending, at: float) -> int:
    return max(0, round((at - pending.asked_at) * 1000))
