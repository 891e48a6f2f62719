"""Arbitrary interleavings of everything that can happen to permissions, against what must hold in all of them."""

import pytest
from claude_asking import asked, response_of, waiting_for_humans
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.decisions import (
    Answered,
    CancelledByAgent,
    Decide,
    Effect,
    GitChecked,
    HookRan,
    PermissionAnswer,
    PermissionInput,
    ProcessEnded,
    QuestionAnswer,
    Refuse,
    Respond,
    StartTimer,
    Stopping,
    StopTimer,
    TimedOut,
    TurnEnded,
    Void,
    Voided,
)
from turnwire.adapter.permissions.machine import State, step
from turnwire.adapter.permissions.policies import PRE_TOOL, STOP, PermissionSettings
from turnwire.adapter.permissions.rules import read_rules
from turnwire.normalize.claude.tool_kinds import kind_of
from turnwire.normalize.vocabulary import Policy, VoidReason
from turnwire.protocol.claude.requests import (
    AnyRequest,
    CanUseTool,
    Elicitation,
    HookCallback,
    RequestUserDialog,
    UnknownRequest,
)
from turnwire.protocol.json_values import JsonObject

PICKS = st.integers(0, 1000)
TOOLS = st.sampled_from(["Bash", "Read", "Write", "AskUserQuestion", "ExitPlanMode", "mcp__a__b"])
INPUTS: st.SearchStrategy[JsonObject] = st.sampled_from(
    [{}, {"command": "ls"}, {"command": "rm -rf /"}, {"file_path": "/etc/x"}, {"questions": []}]
)
SUGGESTIONS: list[JsonObject] = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "ls"}],
        "behavior": "allow",
        "destination": "localSettings",
    }
]
CALLS: st.SearchStrategy[AnyRequest] = st.builds(
    CanUseTool,
    tool_name=TOOLS,
    input=INPUTS,
    agent_id=st.sampled_from([None, "a1"]),
    permission_suggestions=st.sampled_from([[], SUGGESTIONS]),
    requires_user_interaction=st.sampled_from([None, True]),
)
OTHERS: st.SearchStrategy[AnyRequest] = st.one_of(
    st.builds(
        HookCallback,
        callback_id=st.sampled_from([PRE_TOOL, STOP, "turnwire_hook_0", "turnwire_hook_9", "stranger"]),
        input=st.fixed_dictionaries(
            {
                "hook_event_name": st.sampled_from(["PreToolUse", "Stop", "PostToolUse"]),
                "tool_name": TOOLS,
                "tool_input": INPUTS,
                "permission_mode": st.sampled_from(["default", "acceptEdits", "plan"]),
            }
        ),
    ),
    st.builds(Elicitation, message=st.just("?")),
    st.builds(RequestUserDialog, dialog_kind=st.just("x")),
    st.just(UnknownRequest({"subtype": "novelty"})),
)
ANSWERS: st.SearchStrategy[PermissionAnswer | QuestionAnswer] = st.one_of(
    st.builds(
        PermissionAnswer,
        option_id=st.sampled_from(
            ["allow_once", "allow_always:session", "reject_once", "reject_interrupt", "allow", "yes", ""]
        ),
        updated_input=st.none() | INPUTS,
        message=st.none() | st.text(max_size=5),
        mode=st.sampled_from([None, "acceptEdits", "nonsense"]),
    ),
    st.builds(
        QuestionAnswer,
        answers=st.sampled_from([None, {}, {"q": "a"}, {"q": ["a", "b"]}]),
        action=st.sampled_from(["accept", "decline", "cancel"]),
        content=st.sampled_from([None, {"a": 1}, "text"]),
    ),
)
OUTPUTS: st.SearchStrategy[JsonObject | None] = st.sampled_from(
    [None, {}, {"decision": "allow"}, {"decision": "deny"}, {"decision": "maybe"}, {"decision": "block"}]
)
RULES = st.sampled_from(
    [
        [],
        [{"action": "deny", "tool": "Bash", "input": {"command": "rm *"}}],
        [{"action": "allow", "tool": "Read"}, {"action": "ask"}],
    ]
)
POLICIES: st.SearchStrategy[Policy | None] = st.sampled_from([None, "autonomous", "supervised", "plan"])


class Permissions(RuleBasedStateMachine):
    """A CLI that asks, frontends that answer, time that passes: in any order, also in senseless ones."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.asked: dict[str, AnyRequest] = {}
        self.responded: dict[str, int] = {}
        self.voided: set[str] = set()
        self.timers: set[str] = set()
        self.ended = False

    @initialize(policy=POLICIES, rules=RULES, timeout=st.sampled_from([None, 5.0]), old=st.booleans())
    def start(
        self, policy: Policy | None, rules: list[dict[str, object]], timeout: float | None, *, old: bool
    ) -> None:
        self.settings = PermissionSettings(
            policy=policy,
            rules=read_rules(rules),
            hooks=(HookSetting(event="PreToolUse", command=("x",)),),
            answer_timeout=timeout,
            answers_cancelled=old,
        )
        self.state = State(self.settings)

    def happens(self, happened: PermissionInput, *, allowing: bool = False) -> list[Effect]:
        self.now += 0.5
        self.state, effects = step(self.state, happened, self.now)
        cancelled = happened.request_id if isinstance(happened, CancelledByAgent) else None
        for effect in effects:
            match effect:
                case Respond():
                    response = response_of(effect)
                    name = response.request_id
                    assert name in self.asked, "a response to nothing"
                    self.responded[name] = self.responded.get(name, 0) + 1
                    assert self.responded[name] == 1, "two responses"
                    if name == cancelled:
                        assert self.settings.answers_cancelled, "a response after a cancel"
                    else:
                        assert name not in self.voided, "a response to a void request"
                    payload = response.payload
                    if isinstance(payload, dict) and payload.get("behavior") == "allow":
                        assert allowing, "allowed without an allow"
                        assert isinstance(payload["updatedInput"], dict)
                    if isinstance(payload, dict) and payload.get("behavior") == "deny":
                        assert payload["message"]
                case Void(name):
                    assert name not in self.voided, "void twice"
                    assert name not in self.responded, "void after a response"
                    self.voided.add(name)
                case StartTimer(name, _):
                    self.timers.add(name)
                case StopTimer(name):
                    self.timers.discard(name)
                case Decide(decision):
                    assert decision.waited_ms >= 0
                case _:
                    pass
        return effects

    def pick(self, number: int) -> str:
        """Mostly a request that waits; sometimes one that did, or none at all."""
        waiting = list(self.state.pending)
        names = [*waiting * 5, *self.asked, "stranger"]
        return names[number % len(names)]

    @rule(request=CALLS)
    def cli_asks_for_a_tool(self, request: AnyRequest) -> None:
        self.cli_asks(f"r{len(self.asked)}", request)

    @rule(request=OTHERS)
    def cli_asks_for_something_else(self, request: AnyRequest) -> None:
        self.cli_asks(f"r{len(self.asked)}", request)

    @precondition(lambda self: self.asked)
    @rule(number=PICKS)
    def cli_repeats_itself(self, number: int) -> None:
        name = self.pick(number)
        if name in self.asked:
            self.cli_asks(name, self.asked[name])

    def cli_asks(self, name: str, request: AnyRequest) -> None:
        self.asked[name] = request
        # rules and remembered answers are the only ones that may allow at once
        may_allow = isinstance(request, CanUseTool) and (
            bool(self.settings.rules)
            or any(
                g.covers(ToolCall(request.tool_name, request.input, kind_of(request.tool_name)))
                for g in self.state.grants
            )
        )
        self.happens(asked(name, request), allowing=may_allow)

    @rule(number=PICKS, answer=ANSWERS, by=st.sampled_from(["ada", "bob"]))
    def frontend_answers(self, number: int, answer: PermissionAnswer | QuestionAnswer, by: str) -> None:
        name = self.pick(number)
        allowing = (
            answer.option_id.startswith("allow_")
            if isinstance(answer, PermissionAnswer)
            else answer.action == "accept"
        )
        waits = name in waiting_for_humans(self.state)
        effects = self.happens(Answered(name, answer, by), allowing=allowing)
        refused = [effect for effect in effects if isinstance(effect, Refuse)]
        if waits:
            assert bool(refused) == (name in self.state.pending), "refused and still waiting, or answered"
        else:
            assert len(refused) == len(effects) == 1, "an answer to what does not wait is refused"

    @rule(number=PICKS)
    def cli_cancels(self, number: int) -> None:
        name = self.pick(number)
        self.happens(CancelledByAgent(name))
        assert name not in self.state.pending

    @rule(number=PICKS)
    def time_is_over(self, number: int) -> None:
        name = self.pick(number)
        self.timers.discard(name)
        self.happens(TimedOut(name))
        assert name not in waiting_for_humans(self.state)

    @rule(number=PICKS, output=OUTPUTS)
    def hook_ran(self, number: int, output: JsonObject | None) -> None:
        self.happens(HookRan(self.pick(number), output, "it failed" if output is None else None))

    @rule(number=PICKS, changes=st.sampled_from([(), ("?? a",)]))
    def git_checked(self, number: int, changes: tuple[str, ...]) -> None:
        name = self.pick(number)
        if isinstance(self.asked.get(name), HookCallback):
            self.happens(GitChecked(name, changes))

    @rule(number=PICKS, reason=st.sampled_from(["interrupted", "turn_ended"]))
    def needs_no_answer(self, number: int, reason: VoidReason) -> None:
        name = self.pick(number)
        self.happens(Voided(name, reason))
        assert name not in self.state.pending

    @precondition(lambda self: self.now > 10)
    @rule()
    def stop_begins(self) -> None:
        self.happens(Stopping())
        assert waiting_for_humans(self.state) == ()

    @rule()
    def turn_ends(self) -> None:
        self.happens(TurnEnded())

    @precondition(lambda self: self.now > 12)
    @rule()
    def process_ends(self) -> None:
        self.ended = True
        self.happens(ProcessEnded())

    @invariant()
    def every_request_is_accounted_for(self) -> None:
        for name in self.asked:
            fates = (name in self.state.pending, name in self.responded, name in self.voided)
            if self.responded.get(name) and name in self.voided:
                assert self.settings.answers_cancelled
            else:
                assert sum(fates) == 1, f"{name}: waiting, responded, void: {fates}"

    @invariant()
    def nothing_waits_after_the_end(self) -> None:
        if self.ended:
            assert not self.state.pending
            assert not self.timers

    @invariant()
    def timers_run_for_what_waits_for_humans_alone(self) -> None:
        if hasattr(self, "state"):
            assert self.timers <= set(waiting_for_humans(self.state))


Permissions.TestCase.settings = settings(max_examples=80, stateful_step_count=40)
TestPermissions = Permissions.TestCase


@pytest.mark.long
def test_it_holds_for_many_more() -> None:
    run_state_machine_as_test(Permissions, settings=settings(max_examples=300, stateful_step_count=40))
