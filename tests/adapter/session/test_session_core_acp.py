"""The same state machine with an agent of the Agent Client Protocol: what is published, what is pending, what is written."""

import pytest
from claude_asking import waiting_for_humans
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

from turnwire.adapter.acp.hooks import PermissionHooks
from turnwire.adapter.acp.open_requests import OpenRequests
from turnwire.adapter.acp.wire import AcpWire, cancelled
from turnwire.adapter.permissions.decisions import (
    Answered,
    NoteAsked,
    PermissionAnswer,
    QuestionAnswer,
    Refuse,
    Respond,
    StartTimer,
    Stopping,
    StopTimer,
    TimedOut,
)
from turnwire.adapter.permissions.machine import State
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.rules import read_rules
from turnwire.adapter.session.core import CoreInput, SessionCore
from turnwire.normalize import events as ev
from turnwire.normalize.acp.core import AcpCore
from turnwire.normalize.inputs import Ended, Received, Sent
from turnwire.normalize.vocabulary import Policy
from turnwire.protocol.acp.decode import decode
from turnwire.protocol.acp.messages import PermissionRequest, Request
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import Json, JsonObject

PICKS = st.integers(0, 1000)
KINDS = st.sampled_from(["read", "edit", "execute", "switch_mode", "other"])
ANSWERS: st.SearchStrategy[PermissionAnswer | QuestionAnswer] = st.one_of(
    st.builds(
        PermissionAnswer,
        option_id=st.sampled_from(["yes", "always", "no", "allow_once"]),
        interrupt=st.booleans(),
    ),
    st.builds(QuestionAnswer, action=st.sampled_from(["accept", "cancel"])),
)
POLICIES: st.SearchStrategy[Policy | None] = st.sampled_from([None, "autonomous", "supervised", "plan"])
OPTIONS: list[JsonObject] = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class AcpSessions(RuleBasedStateMachine):
    """An agent that talks and asks, frontends that answer, time that passes, ends that come: in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.prompts = self.requests = self.calls = 0
        self.is_prompted = False
        self.responded: list[Json] = []
        self.unwritten: list[JsonObject] = []
        self.timers: set[str] = set()
        self.busy = False
        self.started = self.completed = 0
        self.pending: set[str] = set()
        self.known: list[str] = []
        self.ended_once: set[str] = set()
        self.has_ended = False

    @initialize(policy=POLICIES, timeout=st.sampled_from([None, 5.0]), most=st.sampled_from([2, 256]))
    def start(self, policy: Policy | None, timeout: float | None, most: int) -> None:
        asked = PermissionSettings(
            policy=policy,
            rules=read_rules([{"action": "allow", "tool": "Read"}]),
            answer_timeout=timeout,
            max_pending=most,
            judges_requests=True,
        )
        core, self.replayed = AcpCore(), AcpCore()
        hooks = PermissionHooks((), "/here")
        self.opened = OpenRequests(hooks)
        self.wire = AcpWire(core, hooks, self.opened)
        self.core = SessionCore(core, self.wire, State(asked))
        self.tells({"id": "new", "method": "session/new", "params": {"cwd": "/here", "mcpServers": []}})
        self.hears({"id": "new", "result": {"sessionId": "s"}})

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
                case NoteAsked(request):
                    self.opened.on_asked(request)
                case Respond(request, reply):
                    assert request.request_id not in self.responded, "two replies to one request"
                    self.responded.append(request.request_id)
                    for message in self.wire.replies(request, reply):
                        said = {
                            "id": getattr(message, "id", None),
                            "result": getattr(message, "result", None),
                        }
                        self.unwritten.append(said)
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
                assert event.pending_id not in self.known, "published twice"
                self.pending.add(event.pending_id)
                self.known.append(event.pending_id)
            case ev.PermissionResolved() | ev.PermissionCancelled() if event.pending_id in self.pending:
                self.pending.remove(event.pending_id)
                self.ended_once.add(event.pending_id)
            case ev.PermissionResolved() | ev.PermissionCancelled():
                assert event.pending_id not in self.ended_once, "ended twice"
            case _:
                pass

    def hears(self, message: JsonObject) -> list[object]:
        line = line_of({"jsonrpc": "2.0", **message})[:-1]
        item = Received(line, decode(line))
        self.opened.on_line()
        effects = self.happens(item)
        asked = item.message
        if isinstance(asked, PermissionRequest | Request) and not self.opened.was_asked(asked):
            # what comes when there is nothing to ask about any more is answered by whoever reads
            while self.unwritten:
                self.reply_is_written()  # lines are written in the order in which they are made
            self.tells({"id": asked.id, "result": cancelled(asked).result})
        return effects

    def tells(self, message: JsonObject) -> list[object]:
        line = line_of({"jsonrpc": "2.0", **message})[:-1]
        item = Sent(line, decode(line))
        self.opened.on_sent(item.message)
        return self.happens(item)

    def updates(self, **update: Json) -> None:
        self.hears({"method": "session/update", "params": {"sessionId": "s", "update": update}})

    def pick(self, number: int) -> str:
        names = [*sorted(self.pending) * 5, *self.known, "stranger"]
        return names[number % len(names)]

    @precondition(lambda self: not self.has_ended and not self.is_prompted)
    @rule()
    def somebody_prompts(self) -> None:
        self.prompts += 1
        self.is_prompted = True
        prompt = [{"type": "text", "text": "do it"}]
        self.tells(
            {
                "id": f"p{self.prompts}",
                "method": "session/prompt",
                "params": {"sessionId": "s", "prompt": prompt},
            }
        )

    @precondition(lambda self: not self.has_ended and self.is_prompted)
    @rule(reason=st.sampled_from(["end_turn", "cancelled", "refusal", None]))
    def agent_is_done(self, reason: str | None) -> None:
        self.is_prompted = False
        end: JsonObject = (
            {"result": {"stopReason": reason}} if reason else {"error": {"code": -32000, "message": "broken"}}
        )
        self.hears({"id": f"p{self.prompts}", **end})

    @precondition(lambda self: not self.has_ended)
    @rule()
    def agent_speaks(self) -> None:
        self.updates(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "hm"})

    @precondition(lambda self: not self.has_ended)
    @rule(kind=KINDS)
    def agent_calls(self, kind: str) -> None:
        self.calls += 1
        self.updates(
            sessionUpdate="tool_call", toolCallId=f"t{self.calls}", title="x", kind=kind, status="pending"
        )

    @precondition(lambda self: not self.has_ended and self.calls)
    @rule(number=PICKS, status=st.sampled_from(["in_progress", "completed", "failed"]))
    def tool_goes_on(self, number: int, status: str) -> None:
        name = f"t{number % self.calls + 1}"
        self.updates(sessionUpdate="tool_call_update", toolCallId=name, status=status)

    @precondition(lambda self: not self.has_ended)
    @rule(kind=KINDS, number=PICKS, anew=st.booleans())
    def agent_asks_for_leave(self, kind: str, number: int, *, anew: bool) -> None:
        self.requests += int(anew or not self.requests)
        call = {"toolCallId": f"t{number % (self.calls + 1)}", "kind": kind, "title": "x"}
        params = {"sessionId": "s", "toolCall": call, "options": OPTIONS}
        self.hears({"id": self.requests, "method": "session/request_permission", "params": params})

    @precondition(lambda self: not self.has_ended)
    @rule()
    def agent_shows_a_form(self) -> None:
        self.requests += 1
        params = {"sessionId": "s", "mode": "form", "message": "?", "requestedSchema": {"type": "object"}}
        self.hears({"id": self.requests, "method": "elicitation/create", "params": params})

    @precondition(lambda self: not self.has_ended and self.requests)
    @rule(number=PICKS)
    def agent_takes_back(self, number: int) -> None:
        asked = number % self.requests + 1
        self.hears({"method": "$/cancel_request", "params": {"requestId": asked}})

    @precondition(lambda self: not self.has_ended)
    @rule()
    def somebody_interrupts(self) -> None:
        self.tells({"method": "session/cancel", "params": {"sessionId": "s"}})

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

    @precondition(lambda self: self.unwritten and not self.has_ended)
    @rule()
    def reply_is_written(self) -> None:
        self.tells(self.unwritten.pop(0))

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
    def what_is_pending_can_be_answered_and_nothing_else(self) -> None:
        if hasattr(self, "core"):
            assert set(waiting_for_humans(self.core._permissions)) == self.pending
            assert self.timers <= self.pending


AcpSessions.TestCase.settings = settings(max_examples=60, stateful_step_count=50)
TestAcpSessions = AcpSessions.TestCase


@pytest.mark.long
def test_it_holds_for_many_more() -> None:
    run_state_machine_as_test(AcpSessions, settings=settings(max_examples=300, stateful_step_count=50))


@pytest.mark.parametrize("policy", ["plan", "autonomous"])
def test_what_a_policy_decides_as_it_comes_is_told_as_decided_and_never_as_waiting(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = AcpSessions()
    session.start(policy, None, 256)
    session.somebody_prompts()
    told: list[ev.AgentEvent] = []
    monkeypatch.setattr(session, "published", told.append)
    call: JsonObject = {
        "toolCallId": "t1",
        "kind": "execute",
        "title": "rm x",
        "rawInput": {"command": "rm x"},
    }
    params: JsonObject = {"sessionId": "s", "toolCall": call, "options": OPTIONS}
    session.hears({"id": 1, "method": "session/request_permission", "params": params})
    assert not [event for event in told if isinstance(event, ev.PermissionRequest)]
    (decided,) = [event for event in told if isinstance(event, ev.PermissionResolved)]
    assert (decided.behavior, decided.by, decided.unasked) == ("allow", f"policy:{policy}", True)
    assert (decided.permission_title, decided.action_type) == ("rm x", "command")
    assert decided.action_details == {"command": "rm x"}
    assert session.responded == [decided.pending_id]
    assert any(isinstance(event, ev.ToolCall) for event in told)
