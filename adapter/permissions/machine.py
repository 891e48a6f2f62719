"""The permission state machine: every request that an agent waits for; pure.

`step(state, input, at)` returns the next state and the effects. Each request gets exactly one response, or none after
it was voided; nothing is allowed unless a human, a rule or a policy allows it; nothing waits once the process is gone.
Nothing unknown means allow: not an unknown hook, an unknown request, or an answer that does not fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from turnwire.adapter.hooks import hook_answers
from turnwire.adapter.hooks.settings import find_hook
from turnwire.adapter.permissions import answers
from turnwire.adapter.permissions.answers import InvalidAnswer, Outcome
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.decisions import (
    Abandon,
    Answered,
    Asked,
    CancelledByAgent,
    Decide,
    Effect,
    GitChecked,
    HookRan,
    Judge,
    Judged,
    Overloaded,
    PermissionAnswer,
    PermissionInput,
    ProcessEnded,
    QuestionAnswer,
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
from turnwire.adapter.permissions.grants import Grant
from turnwire.adapter.permissions.policies import (
    NOWHERE,
    PRE_TOOL,
    STOP,
    PermissionSettings,
    Verdict,
    is_allowed_by_plan,
    is_left_to_agent,
    judge_by_policy,
    judge_call,
    judge_request,
)
from turnwire.adapter.permissions.requests import (
    Allow,
    Failure,
    ForHumans,
    HookRequest,
    OtherRequest,
    QuestionRequest,
    ToolRequest,
    Waiting,
)
from turnwire.normalize.events import RememberedRule
from turnwire.normalize.vocabulary import VoidReason

MAX_SETTLED = 1000
"""Requests whose outcome is remembered, for those who answer late."""

_DECIDED = {
    "allow": "it is allowed",
    "deny": "it is denied",
    "answer": "it is answered",
    "ask": "a person is asked",
    "pass": "nothing",
    "error": "it failed",
}
"""Words for a decision, for people who answer late."""

MAX_STOP_BLOCKS = 1
"""Times in a turn that the agent is sent back for uncommitted changes."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that has no response yet."""

    request: Waiting
    asked_at: float
    waits_for: Literal["human", "machine", "rules"]
    """Whose answer it waits for: a person's, that of a hook or a check, or that of rules which are read elsewhere."""
    real_paths: Mapping[str, str | None] = field(default_factory=dict)
    """Where the paths of its calls led when it was asked."""
    held: Answered | None = None
    """An answer that came while rules were read; it counts if they leave the request to a person."""
    is_large: bool = False
    """Whether reading the rules about it takes so long that it is not done again beside another request."""


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


Step: TypeAlias = tuple[State, list[Effect]]


def step(state: State, happened: PermissionInput, at: float) -> Step:
    """Return what follows from an input at a time in seconds."""
    match happened:
        case Asked():
            return _asked(state, happened, at)
        case Judged():
            return _judged(state, happened, at)
        case Answered():
            return _answered(state, happened, at)
        case CancelledByAgent(request_id, reason):
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


def _asked(state: State, asked: Asked, at: float) -> Step:
    request = asked.request
    request_id = request.request_id
    if request_id in state.pending or request_id in state.settled:
        return state, []  # an agent lists what still waits when it is initialised again
    if state.ended:
        return _settle(state, request_id, "void"), [Void(request_id, "process_exited")]
    match request:
        case ToolRequest() | QuestionRequest() if state.stopping:
            return _finish(state, request, _stopped(request, 0))
        case ToolRequest() | HookRequest() if asked.real_paths is None:
            pending = {**state.pending, request_id: Pending(request, at, "rules", is_large=True)}
            after, effects = replace(state, pending=pending), _judging(request, state.settings)
        case ToolRequest():
            real_paths = asked.real_paths or NOWHERE
            verdicts = judge_request(state.settings, request, real_paths)
            after, effects = _tool_asked(state, request, verdicts, at, real_paths)
        case HookRequest():
            after, effects = _hook_asked(state, asked, request, at)
        case QuestionRequest():
            after, effects = _wait_for_human(state, request, at)
        case OtherRequest():
            refusal = Failure(f"turnwire does not answer {request.name or 'this request'}")
            return _settle(state, request_id, "refused"), [Respond(request, refusal)]
    if len(after.pending) > state.settings.max_pending:
        return _refuse_one_more(state, request)
    return after, effects


def _refuse_one_more(state: State, request: Waiting) -> Step:
    """Deny a request when too many wait: nobody can read them all, and memory must stay bounded."""
    match request:
        case ToolRequest():
            outcome = answers.deny(request, answers.TOO_MANY, "turnwire", 0)
        case HookRequest():
            hook = find_hook(state.settings.hooks, request.callback)
            name = hook.name if hook else request.callback
            ran = HookRan(request.request_id, error=answers.TOO_MANY)
            outcome = hook_answers.answer_configured(ran, request, name)
        case QuestionRequest():
            outcome = answers.dismiss(request, answers.TOO_MANY, "turnwire", 0)
    after, effects = _finish(state, request, outcome)
    if not state.overloaded:
        effects.append(Overloaded(state.settings.max_pending))
    return replace(after, overloaded=True), effects


def _judging(request: ToolRequest | HookRequest, settings: PermissionSettings) -> list[Effect]:
    return [Judge(request, settings)]


def _judged(state: State, judged: Judged, at: float) -> Step:
    """Go on with a request about which the rules have been read, unless it waits no more."""
    name = judged.request_id
    pending = state.pending.get(name)
    if pending is None or pending.waits_for != "rules":
        return state, []
    others = {other: one for other, one in state.pending.items() if other != name}
    state = replace(state, pending=others)
    if isinstance(pending.request, HookRequest):
        call, (verdict,) = pending.request.call or ToolCall(""), judged.verdicts
        verdict = verdict or judge_by_policy(state.settings, state.grants, call, pending.request.unasked)
        return _finish(state, pending.request, hook_answers.answer_judged(pending.request, verdict))
    assert isinstance(pending.request, ToolRequest)
    state, effects = _tool_asked(
        state, pending.request, judged.verdicts, pending.asked_at, judged.real_paths, is_large=True
    )
    if pending.held is None or name not in state.pending:
        return state, effects
    state, answered = _answered(state, pending.held, at)
    return state, effects + answered


def _tool_asked(
    state: State,
    request: ToolRequest,
    verdicts: Sequence[Verdict | None],
    at: float,
    real_paths: Mapping[str, str | None],
    *,
    is_large: bool = False,
) -> Step:
    for verdict in verdicts:
        if verdict is not None and verdict.behavior == "deny":
            return _finish(state, request, answers.deny(request, verdict.reason, verdict.by, 0))
    judged = zip(request.calls, verdicts, strict=True)
    allowed = [_allowed_by(state, request, call, verdict) for call, verdict in judged]
    if request.wants_human or None in allowed or _lasts(state.settings, request):
        return _wait_for_human(state, request, at, real_paths, is_large=is_large)
    decision = hook_answers.decision(request.request_id, "allow", allowed[0] or "")
    return _finish(state, request, Outcome(Allow(request.call.arguments), decision))


def _lasts(settings: PermissionSettings, request: ToolRequest) -> bool:
    """Tell whether the agent offers no way to allow this call alone: what lasts is for a person to allow, unless nobody is asked."""
    is_offered_once = request.option_of("allow_once") is not None or request.option_of("allow_always") is None
    return settings.policy != "autonomous" and not is_offered_once


def _allowed_by(state: State, request: ToolRequest, call: ToolCall, verdict: Verdict | None) -> str | None:
    """Return what allows one call of a request, given the rules' `verdict`; None if nothing does."""
    settings = state.settings
    if verdict is not None:
        return verdict.by if verdict.behavior == "allow" else None
    if call.is_interactive:
        return None
    if any(grant.covers(call) for grant in state.grants):
        return "remembered"
    if request.is_host:
        return None
    if is_allowed_by_plan(settings, call, is_asked_by_user=request.is_asked_by_user):
        return "policy:plan"
    if settings.judges_requests:
        verdict = judge_by_policy(settings, state.grants, call)
        return verdict.by if verdict.behavior == "allow" else None
    return None


def _hook_asked(state: State, asked: Asked, request: HookRequest, at: float) -> Step:
    if request.callback == PRE_TOOL:
        call = request.call or ToolCall("")
        real_paths = asked.real_paths or NOWHERE
        verdict = judge_call(
            state.settings, state.grants, call, unasked=request.unasked, real_paths=real_paths
        )
        return _finish(state, request, hook_answers.answer_judged(request, verdict))
    if request.callback == STOP:
        by = f"policy:{state.settings.policy}"
        if state.stop_blocks >= MAX_STOP_BLOCKS or request.is_repeated:
            return _finish(state, request, hook_answers.answer_stop(request, (), by, 0))
        return _wait_for_machine(state, request, at), [RunGitCheck(request.request_id)]
    hook = find_hook(state.settings.hooks, request.callback)
    if hook is None:
        return _finish(state, request, hook_answers.answer_unknown(request))
    return _wait_for_machine(state, request, at), [RunHook(request.request_id, hook, request.payload)]


def _answered(state: State, answered: Answered, at: float) -> Step:
    request_id, answer, by = answered.request_id, answered.answer, answered.by
    pending = state.pending.get(request_id)
    if pending is None:
        return state, [_refusal(state, answered)]
    waited = _milliseconds(pending, at)
    try:
        match pending.request, answer:
            case ToolRequest() as request, PermissionAnswer():
                outcome = answers.answer_tool(request, answer, by, waited)
            case ToolRequest(call=ToolCall(kind="question")) as request, QuestionAnswer():
                outcome = answers.answer_user_question(request, answer, by, waited)
            case QuestionRequest() as request, QuestionAnswer():
                outcome = answers.answer_question(request, answer, by, waited)
            case HookRequest(), _:
                told = f"{request_id} is answered by a hook, not by people"
                return state, [Refuse(request_id, by, "unknown_request", told)]
            case ToolRequest(), _:
                raise InvalidAnswer("this is a permission request; answer it with permission.respond")
            case _:
                raise InvalidAnswer("this is a question; answer it with question.answer")
    except InvalidAnswer as error:
        return state, [Refuse(request_id, by, "invalid_answer", str(error), error.field)]
    if pending.waits_for == "rules":
        return _hold(state, pending, answered)
    option = (
        pending.request.offer(outcome.decision.option_id or "")
        if isinstance(pending.request, ToolRequest)
        else None
    )
    state, effects = _finish(state, pending.request, outcome)
    if option is None or option.option.kind != "allow_always":
        return state, effects
    state, settled = _allow_beside(state, option.option.remembers or (), at)
    return state, effects + settled


def _hold(state: State, pending: Pending, answered: Answered) -> Step:
    """Keep an answer until the rules are read, which come first."""
    if pending.held is not None:
        words = f"{pending.held.by} has already answered"
        return state, [Refuse(answered.request_id, answered.by, "already_answered", words)]
    held = replace(pending, held=answered)
    return replace(state, pending={**state.pending, answered.request_id: held}), []


def _allow_beside(state: State, remembered: Sequence[RememberedRule], at: float) -> Step:
    """Allow the requests that wait and that an answer which is remembered covers: they would not be asked any more."""
    rules = frozenset(one.rule for one in remembered)
    effects: list[Effect] = []
    for name, pending in state.pending.items():
        request = pending.request
        if pending.is_large or not isinstance(request, ToolRequest):
            continue
        if _is_covered(state, request, pending.real_paths, rules):
            decision = hook_answers.decision(name, "allow", "remembered", _milliseconds(pending, at))
            state, settled = _finish(state, request, Outcome(Allow(request.call.arguments), decision))
            effects += settled
    return state, effects


def _is_covered(
    state: State, request: ToolRequest, real_paths: Mapping[str, str | None], rules: frozenset[str]
) -> bool:
    """Tell whether a request that waits is allowed by the grants of now, or by rules that an answer of its own would add."""
    settings = state.settings
    if request.wants_human or _lasts(settings, request):
        return False
    judged = [*zip(request.calls, judge_request(settings, request, real_paths), strict=True)]
    if all(_allowed_by(state, request, call, verdict) is not None for call, verdict in judged):
        return True
    own = [offer.option.remembers for offer in request.offers if offer.option.kind == "allow_always"]
    if request.is_asked_by_user or not any(told and {one.rule for one in told} <= rules for told in own):
        return False
    return all(
        verdict is None
        and not call.is_interactive
        and is_left_to_agent(settings, state.grants, call, real_paths)
        for call, verdict in judged
    )


def _cancelled(state: State, request_id: str, reason: VoidReason) -> Step:
    pending = state.pending.get(request_id)
    state, effects = _void(state, [request_id], reason)
    if pending is not None and state.settings.answers_cancelled and isinstance(pending.request, ToolRequest):
        # 1.0 goes on waiting for the answer to what it has cancelled, and its turn never ends without
        denied = answers.deny(pending.request, answers.DENIED, "cancelled", 0)
        effects.append(Respond(pending.request, denied.reply))
    return state, effects


def _timed_out(state: State, request_id: str, at: float) -> Step:
    pending = state.pending.get(request_id)
    if pending is None or isinstance(pending.request, HookRequest):
        return state, []
    waited = _milliseconds(pending, at)
    outcome = answers.dismiss(pending.request, answers.TIMED_OUT, "timeout", waited)
    return _finish(state, pending.request, outcome)


def _stopping(state: State, at: float) -> Step:
    state, effects = replace(state, stopping=True), []
    for pending in state.pending.values():
        if pending.waits_for == "rules" and isinstance(pending.request, HookRequest):
            verdict = Verdict("ask", "turnwire", answers.STOPPED)
            state, more = _finish(
                state, pending.request, hook_answers.answer_judged(pending.request, verdict)
            )
            effects += more
        elif not isinstance(pending.request, HookRequest):
            waited = _milliseconds(pending, at)
            state, more = _finish(state, pending.request, _stopped(pending.request, waited))
            effects += more
    return state, effects


def _stopped(request: ForHumans, waited: int) -> Outcome:
    return answers.dismiss(request, answers.STOPPED, "turnwire", waited)


def _hook_ran(state: State, ran: HookRan) -> Step:
    pending = state.pending.get(ran.request_id)
    if pending is None or not isinstance(pending.request, HookRequest):
        return state, []
    hook = find_hook(state.settings.hooks, pending.request.callback)
    outcome = hook_answers.answer_configured(ran, pending.request, hook.name if hook else "hook")
    return _finish(state, pending.request, outcome)


def _git_checked(state: State, checked: GitChecked, at: float) -> Step:
    pending = state.pending.get(checked.request_id)
    if pending is None or not isinstance(pending.request, HookRequest):
        return state, []
    by = f"policy:{state.settings.policy}"
    if checked.changes:
        state = replace(state, stop_blocks=state.stop_blocks + 1)
    outcome = hook_answers.answer_stop(pending.request, checked.changes, by, _milliseconds(pending, at))
    return _finish(state, pending.request, outcome)


def _wait_for_human(
    state: State,
    request: ForHumans,
    at: float,
    real_paths: Mapping[str, str | None] = NOWHERE,
    *,
    is_large: bool = False,
) -> Step:
    if state.settings.auto_deny_as is not None:
        return _finish(state, request, _unasked(request, state.settings.auto_deny_as))
    name, seconds = request.request_id, state.settings.answer_timeout
    pending = {**state.pending, name: Pending(request, at, "human", real_paths, is_large=is_large)}
    return replace(state, pending=pending), [] if seconds is None else [StartTimer(name, seconds)]


def _unasked(request: ForHumans, by: str) -> Outcome:
    """Return the decision for a request when no human can answer."""
    match request:
        case ToolRequest():
            return answers.deny(
                request, answers.NOBODY, by, 0, request.option_of("reject_once", "reject_always")
            )
        case QuestionRequest():
            return answers.answer_question(request, QuestionAnswer(action="decline"), by, 0)


def _wait_for_machine(state: State, request: HookRequest, at: float) -> State:
    return replace(state, pending={**state.pending, request.request_id: Pending(request, at, "machine")})


def _finish(state: State, request: Waiting, outcome: Outcome) -> Step:
    """Answer a request: publish the decision before the response is written."""
    request_id = request.request_id
    effects: list[Effect] = [Decide(outcome.decision), Respond(request, outcome.reply)]
    if request_id in state.pending and state.pending[request_id].waits_for == "human":
        effects.append(StopTimer(request_id))
    if outcome.grants:
        effects.append(Remember(outcome.grants))
        state = replace(state, grants=(*state.grants, *(grant for grant, _ in outcome.grants)))
    decision = outcome.decision
    words = f"{decision.by} has already decided: {_DECIDED[decision.behavior]}"
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
            effects.append(Void(request_id, reason))
            if pending.waits_for != "rules":
                effects.append(StopTimer(request_id) if pending.waits_for == "human" else Abandon(request_id))
            state = _settle(state, request_id, "void")
    return state, effects


def _settle(state: State, request_id: str, words: str) -> State:
    settled = {**state.settled, request_id: words}
    if len(settled) > MAX_SETTLED:
        del settled[next(iter(settled))]
    pending = dict(state.pending)
    pending.pop(request_id, None)
    overloaded = state.overloaded and len(pending) > state.settings.max_pending // 2
    return replace(state, pending=pending, settled=settled, overloaded=overloaded)


def _refusal(state: State, answered: Answered) -> Refuse:
    request_id, by = answered.request_id, answered.by
    match state.settled.get(request_id):
        case None:
            told = f"there is no request {request_id}"
            return Refuse(request_id, by, "unknown_request", told, "pending_id")
        case "void":
            told = f"{request_id} waits no more: the agent took it back or has gone"
            return Refuse(request_id, by, "cancelled", told)
        case words:
            return Refuse(request_id, by, "already_answered", words)


def _milliseconds(pending: Pending, at: float) -> int:
    return max(0, round((at - pending.asked_at) * 1000))
