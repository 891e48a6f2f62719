"""One session's state machine under arbitrary interleavings: what is published, what is pending, what is written."""

import pytest
from claude_asking import response_of, waiting_for_humans
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

from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.hooks.settings import HookSetting, callback_id
from turnwire.adapter.permissions.decisions import (
    Abandon,
    Answered,
    GitChecked,
    HookRan,
    PermissionAnswer,
    QuestionAnswer,
    Refuse,
    Respond,
    RunGitCheck,
    RunHook,
    StartTimer,
    Stopping,
    StopTimer,
    TimedOut,
)
from turnwire.adapter.permissions.machine import State
from turnwire.adapter.permissions.policies import PRE_TOOL, STOP, PermissionSettings
from turnwire.adapter.permissions.rules import read_rules
from turnwire.adapter.session.core import CoreInput, SessionCore
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.inputs import Ended, Received, Sent
from turnwire.normalize.vocabulary import Policy
from turnwire.protocol.claude.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from turnwire.protocol.claude.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    ResponseBody,
)
from turnwire.protocol.claude.encode import to_json
from turnwire.protocol.claude.messages import Assistant, AssistantBody, Message, User, UserBody
from turnwire.protocol.claude.requests import AnyRequest, CanUseTool, Elicitation, HookCallback, Interrupt
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.system import Init
from turnwire.protocol.malformed import Malformed

PICKS = st.integers(0, 1000)
TOOLS = st.sampled_from(["Bash", "Read", "AskUserQuestion", "ExitPlanMode"])
ANSWERS: st.SearchStrategy[PermissionAnswer | QuestionAnswer] = st.one_of(
    st.builds(
        PermissionAnswer, option_id=st.sampled_from(["allow_once", "reject_once", "reject_interrupt", "yes"])
    ),
    st.builds(QuestionAnswer, action=st.sampled_from(["accept", "cancel"])),
)
POLICIES: st.SearchStrategy[Policy | None] = st.sampled_from([None, "autonomous", "supervised", "plan"])


class Sessions(RuleBasedStateMachine):
    """A CLI that talks and asks, frontends that answer, time that passes, ends that come: in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.calls: list[str] = []
        self.asked: dict[str, AnyRequest] = {}
        self.responded: list[str] = []
        self.unwritten: list[Respond] = []
        self.timers: set[str] = set()
        self.running: set[str] = set()
        self.busy = False
        self.started = self.completed = 0
        self.pending: set[str] = set()
        self.ended_once: set[str] = set()
        self.has_ended = False

    @initialize(
        policy=POLICIES,
        timeout=st.sampled_from([None, 5.0]),
        most=st.sampled_from([2, 256]),
        old=st.booleans(),
    )
    def start(self, policy: Policy | None, timeout: float | None, most: int, *, old: bool) -> None:
        self.old = old
        rules = read_rules([{"action": "allow", "tool": "Read"}])
        asked = PermissionSettings(
            policy=policy,
            rules=rules,
            hooks=(HookSetting(event="PreToolUse", command=("x",)),),
            answer_timeout=timeout,
            answers_cancelled=old,
            max_pending=most,
        )
        self.core, self.replayed = SessionCore(ClaudeCore(), ClaudeWire(), State(asked)), ClaudeCore()

    def happens(self, happened: CoreInput) -> list[object]:
        self.now += 0.5
        outputs = self.core.handle(happened, self.now)
        asked = set()
        for item, events in outputs.happened:
            for event in events:
                self.published(event)
                if isinstance(event, ev.PermissionRequest | ev.QuestionRequest):
                    asked.add(event.pending_id)
                if isinstance(event, ev.PermissionResolved):
                    assert event.pending_id not in asked, "what is decided as it comes was told as waiting"
            assert self.replayed.handle(item) == events, "a recording of this gives other events"
        for effect in outputs.effects:
            match effect:
                case Respond():
                    response = response_of(effect)
                    assert response.request_id not in self.responded, "two responses to one request"
                    self.responded.append(response.request_id)
                    self.unwritten.append(effect)
                case RunHook(name) | RunGitCheck(name):
                    assert name in self.core._permissions.pending, "run for nobody"
                    self.running.add(name)
                case Abandon(name):
                    assert name in self.running, "abandoned and not begun"
                    self.running.discard(name)
                case StartTimer(name, _):
                    self.timers.add(name)
                case StopTimer(name):
                    self.timers.discard(name)
                case _:
                    pass
        return list(outputs.effects)

    def published(self, event: ev.AgentEvent) -> None:
        match event:
            case ev.TurnStarted():
                assert not self.busy, "two turns at once"
                self.busy, self.started = True, self.started + 1
            case ev.Complete():
                assert self.busy, "a turn is completed that was not open"
                self.busy, self.completed = False, self.completed + 1
            case ev.PermissionRequest() | ev.QuestionRequest():
                assert event.pending_id not in self.pending, "published twice"
                self.pending.add(event.pending_id)
            case ev.PermissionResolved() | ev.PermissionCancelled() if event.pending_id in self.pending:
                self.pending.remove(event.pending_id)
                self.ended_once.add(event.pending_id)
            case ev.PermissionResolved() | ev.PermissionCancelled():
                assert event.pending_id not in self.ended_once, "ended twice"
            case _:
                pass

    def receives(self, message: Message) -> list[object]:
        return self.happens(Received(b"", message))

    def pick(self, number: int) -> str:
        names = [*sorted(self.pending) * 5, *self.asked, "stranger"]
        return names[number % len(names)]

    @precondition(lambda self: not self.has_ended)
    @rule()
    def somebody_prompts(self) -> None:
        self.happens(Sent(b"", User(message=UserBody(content="do it"))))

    @precondition(lambda self: not self.has_ended)
    @rule(tool=TOOLS)
    def agent_calls(self, tool: str) -> None:
        name = f"t{len(self.calls)}"
        self.calls.append(name)
        block = ToolUseBlock(id=name, name=tool, input={"command": "ls", "file_path": "/x"})
        self.receives(Assistant(message=AssistantBody(id=f"m{name}", content=[block])))

    @precondition(lambda self: not self.has_ended)
    @rule()
    def agent_speaks(self) -> None:
        self.receives(Assistant(message=AssistantBody(id=f"s{self.now}", content=[TextBlock(text="hm")])))

    @precondition(lambda self: not self.has_ended)
    @rule()
    def turn_begins_by_itself(self) -> None:
        self.receives(Init(session_id="s"))

    @precondition(lambda self: not self.has_ended)
    @rule(tool=TOOLS, number=PICKS, agent=st.sampled_from([None, "a1"]))
    def agent_asks_for_leave(self, tool: str, number: int, agent: str | None) -> None:
        call = self.calls[number % len(self.calls)] if self.calls else None
        self.asks(CanUseTool(tool_name=tool, input={"command": "ls"}, tool_use_id=call, agent_id=agent))

    @precondition(lambda self: not self.has_ended)
    @rule()
    def server_asks(self) -> None:
        self.asks(Elicitation(message="?"))

    @precondition(lambda self: not self.has_ended)
    @rule(callback=st.sampled_from(["stranger", callback_id(0), PRE_TOOL, STOP]), tool=TOOLS)
    def hook_is_called(self, callback: str, tool: str) -> None:
        event = "Stop" if callback == STOP else "PreToolUse"
        self.asks(HookCallback(callback_id=callback, input={"hook_event_name": event, "tool_name": tool}))

    @precondition(lambda self: self.running)
    @rule(number=PICKS, failed=st.booleans())
    def hook_has_run(self, number: int, *, failed: bool) -> None:
        name = sorted(self.running)[number % len(self.running)]
        self.running.discard(name)
        request = self.asked[name]
        assert isinstance(request, HookCallback)
        if request.callback_id == STOP:
            self.happens(GitChecked(name, ("a changed file",) if failed else ()))
        else:
            self.happens(HookRan(name, None if failed else {}, "it failed" if failed else None))
        assert name not in self.core._permissions.pending

    @precondition(lambda self: not self.has_ended and self.asked)
    @rule(number=PICKS)
    def agent_lists_what_still_waits(self, number: int) -> None:
        name = self.pick(number)
        if isinstance(request := self.asked.get(name), CanUseTool):
            waiting = to_json(ControlRequest(name, request))
            body = ResponseBody(subtype="success", request_id="ours", pending_permission_requests=[waiting])
            self.receives(ControlResponse(response=body))

    @precondition(lambda self: not self.has_ended)
    @rule()
    def agent_asks_what_cannot_be_read(self) -> None:
        name = f"u{self.now}"
        self.receives(Malformed(line="{", reason="nested too deeply", asks=name))
        assert self.responded[-1] == name
        assert name not in self.core._permissions.pending

    def asks(self, request: AnyRequest) -> None:
        name = f"r{len(self.asked)}"
        self.asked[name] = request
        self.receives(ControlRequest(name, request))

    @precondition(lambda self: not self.has_ended)
    @rule(number=PICKS)
    def agent_takes_back(self, number: int) -> None:
        self.receives(ControlCancelRequest(self.pick(number)))

    @precondition(lambda self: not self.has_ended and self.calls)
    @rule(number=PICKS, failed=st.booleans())
    def tool_answers(self, number: int, *, failed: bool) -> None:
        block = ToolResultBlock(
            tool_use_id=self.calls[number % len(self.calls)], content="out", is_error=failed
        )
        self.receives(User(message=UserBody(content=[block])))

    @rule(number=PICKS, answer=ANSWERS)
    def frontend_answers(self, number: int, answer: PermissionAnswer | QuestionAnswer) -> None:
        name = self.pick(number)
        waits, before = name in self.pending, len(self.responded)
        effects = self.happens(Answered(name, answer, "ada"))
        if any(isinstance(effect, Refuse) for effect in effects):
            assert len(self.responded) == before, "refused and written all the same"
        else:
            assert waits, "an answer counts for what nobody asks any more"
            assert name not in self.pending

    @rule(number=PICKS)
    def time_is_over(self, number: int) -> None:
        self.happens(TimedOut(self.pick(number)))

    @precondition(lambda self: self.unwritten)
    @rule()
    def response_is_written(self) -> None:
        self.happens(Sent(b"", response_of(self.unwritten.pop(0))))

    @precondition(lambda self: not self.has_ended)
    @rule()
    def somebody_interrupts(self) -> None:
        self.happens(Sent(b"", ControlRequest("ours", Interrupt())))

    @precondition(lambda self: not self.has_ended)
    @rule(failed=st.booleans())
    def turn_ends(self, *, failed: bool) -> None:
        subtype = "error_during_execution" if failed else "success"
        self.receives(Result(subtype=subtype, is_error=failed, uuid=f"u{self.now}"))

    @precondition(lambda self: self.now > 10)
    @rule()
    def stop_begins(self) -> None:
        self.happens(Stopping())
        assert self.core.pending == ()

    @precondition(lambda self: self.now > 12)
    @rule()
    def process_ends(self) -> None:
        self.has_ended = True
        self.happens(Ended("exited"))
        assert not self.core.busy
        assert self.started == self.completed

    @invariant()
    def what_the_core_says_is_what_it_published(self) -> None:
        if hasattr(self, "core"):
            assert self.core.busy is self.busy
            assert set(self.core.pending) == self.pending

    @invariant()
    def what_waits_for_a_hook_has_one_that_runs(self) -> None:
        if hasattr(self, "core"):
            waiting = self.core._permissions.pending.items()
            assert self.running == {name for name, pending in waiting if pending.waits_for == "machine"}

    @invariant()
    def what_is_pending_can_be_answered_and_nothing_else(self) -> None:
        if hasattr(self, "core"):
            assert set(waiting_for_humans(self.core._permissions)) == self.pending
            assert self.timers <= self.pending


Sessions.TestCase.settings = settings(max_examples=80, stateful_step_count=50)
TestSessions = Sessions.TestCase


@pytest.mark.long
def test_it_holds_for_many_more() -> None:
    run_state_machine_as_test(Sessions, settings=settings(max_examples=400, stateful_step_count=50))


def session(**more: object) -> SessionCore:
    return SessionCore(ClaudeCore(), ClaudeWire(), State(PermissionSettings(**more)))  # type: ignore[arg-type]


def said(core: SessionCore, message: Message) -> list[str]:
    outputs = core.handle(Received(b"", message), 0)
    return [event.type for happened in outputs.happened for event in happened.events]


def open_requests(core: SessionCore) -> tuple[str, ...]:
    """What is published as pending, which is what an answer is taken for."""
    assert core.pending == waiting_for_humans(core._permissions)
    return core.pending


CALL = Assistant(
    message=AssistantBody(id="m", content=[ToolUseBlock(id="t0", name="Bash", input={"command": "ls"})])
)
LEAVE = CanUseTool(tool_name="Bash", input={"command": "ls"}, tool_use_id="t0")


def test_a_tool_that_has_run_needs_no_answer_any_more() -> None:
    core = session(answer_timeout=5)
    said(core, CALL)
    said(core, ControlRequest("r", LEAVE))
    assert open_requests(core) == ("r",)
    result = User(message=UserBody(content=[ToolResultBlock(tool_use_id="t0", content="out")]))
    assert "permission_resolved" in said(core, result)
    assert open_requests(core) == ()
    [refused] = core.handle(Answered("r", PermissionAnswer("allow_once"), "ada"), 1).effects
    assert isinstance(refused, Refuse)


def test_an_elicitation_outlives_the_result_and_is_answered_after_it() -> None:
    core = session()
    before = core.turn
    said(core, CALL)
    assert (before, core.turn) == (None, 1)
    said(core, ControlRequest("q", Elicitation(message="?")))
    assert "permission_cancelled" not in said(core, Result(subtype="success"))
    assert open_requests(core) == ("q",)
    waited = core.waits
    outputs = core.handle(Answered("q", QuestionAnswer(content={"a": 1}), "ada"), 1)
    assert [event.type for told in outputs.happened for event in told.events] == ["permission_resolved"]
    assert (waited, core.waits) == (True, False)
    assert open_requests(core) == ()


def test_what_a_turn_asked_is_void_with_it_and_a_late_answer_is_refused() -> None:
    core = session()
    said(core, CALL)
    said(core, ControlRequest("r", LEAVE))
    assert "permission_cancelled" in said(core, Result(subtype="success"))
    outputs = core.handle(Answered("r", PermissionAnswer("allow_once"), "ada"), 1)
    assert [type(effect) for effect in outputs.effects] == [Refuse]
    assert outputs.happened == []


def test_a_request_that_is_listed_again_after_its_end_is_none() -> None:
    core = session()
    said(core, CALL)
    said(core, ControlRequest("r", LEAVE))
    said(core, ControlCancelRequest("r"))
    waiting = to_json(ControlRequest("r", LEAVE))
    listed = ResponseBody(subtype="success", request_id="ours", pending_permission_requests=[waiting])
    assert said(core, ControlResponse(response=listed)) == []
    assert open_requests(core) == ()


def test_the_next_process_may_name_its_requests_as_the_last_one_did() -> None:
    family = ClaudeCore()
    core = SessionCore(family, ClaudeWire(), State(PermissionSettings()))
    said(core, ControlRequest("r", LEAVE))
    core.handle(Ended("exited"), 1)
    core = SessionCore(family, ClaudeWire(), State(PermissionSettings()))
    assert "permission_request" in said(core, ControlRequest("r", LEAVE))
    assert open_requests(core) == ("r",)
