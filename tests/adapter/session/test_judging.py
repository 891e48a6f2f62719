"""Large requests are judged in a thread: the session reads on, and what it says keeps its order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from claude_asking import request_of, response_of

from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.decisions import (
    Answered,
    Asked,
    Decide,
    Judge,
    Judged,
    PermissionAnswer,
    Refuse,
    Respond,
    Stopping,
    Void,
    Voided,
)
from turnwire.adapter.permissions.machine import State, step
from turnwire.adapter.permissions.policies import PermissionSettings, Verdict, is_large
from turnwire.adapter.permissions.protected import ProtectedPlaces
from turnwire.adapter.permissions.real_paths import judge, paths_at_once
from turnwire.adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from turnwire.adapter.permissions.rules import PathContext, read_rules
from turnwire.adapter.session import judging
from turnwire.adapter.session.core import Outputs, SessionCore, told_as_decided
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.events import PermissionRequest
from turnwire.normalize.inputs import Decision, Ended, Message, Received
from turnwire.protocol.claude.control import ControlCancelRequest, ControlRequest
from turnwire.protocol.claude.requests import CanUseTool, HookCallback

SETTINGS = PermissionSettings(
    rules=read_rules(
        [
            {"action": "deny", "input": {"command": "rm *"}},
            {"action": "allow", "input": {"command": "ls *"}},
        ]
    ),
    places=PathContext("/w"),
    protected=ProtectedPlaces(own=("/state",)),
)
LARGE = "ls " + "a " * 300
DENIED = f"rm x; {LARGE}"
ASKED = f"make {LARGE}"


def bash(name: str, command: str) -> ControlRequest:
    return ControlRequest(name, CanUseTool(tool_name="Bash", input={"command": command}))


def hook(name: str, command: str) -> ControlRequest:
    said = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": "t",
    }
    return ControlRequest(name, HookCallback(callback_id="turnwire_pre_tool", input=said))


class Heard:
    """An executor's output: what is published and answered, in order."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.asked: list[str] = []
        self.failure: Exception | None = None
        self.changed = asyncio.Event()

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None:
        behavior = getattr(response_of(Respond(request, reply)).response, "response", None) or {}
        self.told.append(f"respond {request.request_id} {behavior.get('behavior', 'hook')}")
        self.changed.set()

    def publish(self, batch: list[InputWithEvents]) -> None:
        self.told += [
            f"{event.type} {getattr(event, 'pending_id', '')}" for one in batch for event in one.events
        ]
        self.changed.set()

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        self.asked.append(request.request_id)

    def failed(self, error: Exception) -> None:
        self.failure = error

    async def until(self, text: str) -> None:
        async with asyncio.timeout(60):
            while text not in self.told:
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def session(
    tmp_path: Path, settings: PermissionSettings = SETTINGS
) -> AsyncIterator[tuple[SessionExecutor, Heard]]:
    heard = Heard()
    async with asyncio.TaskGroup() as tasks:
        core = SessionCore(
            ClaudeCore(), ClaudeWire(), State(settings), lambda calls: paths_at_once(calls, settings)
        )
        yield (
            SessionExecutor(
                core, heard, tasks=tasks, workspace=tmp_path, environment={}, notify=lambda _: None
            ),
            heard,
        )


def say(executor: SessionExecutor, *messages: Message) -> None:
    executor.receive([Received(b"", message) for message in messages], lambda _: None)


async def test_requests_are_decided_in_order_and_never_shown_as_waiting(tmp_path: Path) -> None:
    async with session(tmp_path) as (executor, heard):
        say(executor, bash("a", DENIED), bash("small", "ls x"), bash("b", LARGE), hook("h", DENIED))
        assert heard.told == []  # all of it waits for the first
        assert heard.asked == ["a", "small", "b", "h"]
        await heard.until("respond h hook")
    told = [one for one in heard.told if one.split()[0] in ("respond", "permission_resolved", "permission_request")]  # fmt: skip
    assert told == [
        *("permission_resolved a", "respond a deny", "permission_resolved small", "respond small allow"),
        *("permission_resolved b", "respond b allow", "respond h hook"),
    ]


async def test_what_is_left_to_a_person_is_published_as_waiting(tmp_path: Path) -> None:
    async with session(tmp_path) as (executor, heard):
        say(executor, bash("a", ASKED))
        await heard.until("permission_request a")
        assert executor.handle(Answered("a", PermissionAnswer("allow_once"), "ada"))
    assert heard.told[-2:] == ["permission_resolved a", "respond a allow"]


async def test_what_the_agent_takes_back_while_it_is_judged_is_not_answered(tmp_path: Path) -> None:
    async with session(tmp_path) as (executor, heard):
        say(executor, bash("a", DENIED), bash("b", LARGE), ControlCancelRequest("a"))
        await heard.until("respond b allow")
    assert not any(one.startswith("respond a") for one in heard.told)
    assert "permission_cancelled a" in heard.told


@pytest.mark.parametrize("end", [Stopping(), Ended("exited", 0, None, "")])
async def test_a_session_that_ends_waits_for_no_judgement(
    tmp_path: Path, end: Stopping | Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "judge", lambda _: pytest.fail("it ended before"))
    asyncio.get_running_loop()
    async with session(tmp_path) as (executor, heard):
        say(executor, bash("a", DENIED), bash("b", LARGE), hook("h", DENIED))
        executor.handle(end)
        if isinstance(end, Stopping):
            assert [one for one in heard.told if "respond" in one] == [
                *("respond a deny", "respond b deny", "respond h hook"),
            ]
        else:
            assert "permission_cancelled a" in heard.told
            assert not any("respond" in one for one in heard.told)


async def test_no_more_lines_are_read_while_many_outputs_are_held(tmp_path: Path) -> None:
    async with session(tmp_path) as (executor, heard):
        say(executor, bash("a", DENIED), *(bash(f"s{number}", "ls x") for number in range(judging.MOST_HELD)))
        waiting = asyncio.create_task(executor.room())
        await asyncio.sleep(0)
        assert not waiting.done()
        await waiting
        assert "respond a deny" in heard.told


async def test_a_core_that_fails_on_a_judgement_ends_the_session_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with session(tmp_path) as (executor, heard):
        say(executor, bash("a", DENIED), bash("b", LARGE))
        monkeypatch.setattr(SessionCore, "handle", lambda *_: 1 / 0)
        await heard.until("permission_request a")
        executor._judged(Judged("b", [None], {}))  # nothing follows from it any more
    assert isinstance(heard.failure, ZeroDivisionError)
    assert not any("respond" in one for one in heard.told)


# The machine


def large(name: str, command: str = ASKED) -> Asked:
    return Asked(request_of(name, CanUseTool(tool_name="Bash", input={"command": command})), None)


def judged_by(state: State, name: str, *verdicts: Verdict | None) -> tuple[State, list[str]]:
    state, effects = step(state, Judged(name, verdicts, {}), 3.0)
    return state, [type(effect).__name__ for effect in effects]


def test_an_answer_that_comes_before_the_rules_are_read_counts_where_they_leave_it() -> None:
    state, effects = step(State(SETTINGS), large("a"), 1.0)
    assert isinstance(effects[0], Judge)
    state, effects = step(state, Answered("a", PermissionAnswer("allow_once"), "ada"), 2.0)
    assert effects == []
    state, (refused,) = step(state, Answered("a", PermissionAnswer("reject_once"), "bob"), 2.0)
    assert isinstance(refused, Refuse)
    allowed, effects = step(state, Judged("a", [None], {}), 3.0)
    [decision] = [effect.decision for effect in effects if isinstance(effect, Decide)]
    assert (decision.behavior, decision.by, decision.waited_ms) == ("allow", "ada", 2000)
    assert not allowed.pending
    denied, effects = step(state, Judged("a", [Verdict("deny", "rule:1")], {}), 3.0)
    [decision] = [effect.decision for effect in effects if isinstance(effect, Decide)]
    assert (decision.behavior, decision.by) == ("deny", "rule:1")
    assert judged_by(denied, "a", None) == (denied, [])  # a second time says nothing


def test_a_request_that_was_judged_is_judged_no_second_time() -> None:
    state, _ = step(State(SETTINGS), large("a"), 1.0)
    state, told = judged_by(state, "a", None)
    assert told == []
    assert judged_by(state, "a", Verdict("allow", "rule:2")) == (state, [])


def test_a_large_request_is_not_settled_beside_another() -> None:
    def asked(name: str) -> Asked:
        suggestion = {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "make:*"}],
            "behavior": "allow",
            "destination": "session",
        }
        request = CanUseTool(
            tool_name="Bash", input={"command": "make x"}, permission_suggestions=[suggestion]
        )
        return Asked(request_of(name, request))

    state, _ = step(State(SETTINGS), large("a", "make x"), 1.0)
    state, _ = judged_by(state, "a", None)
    for name in ("b", "c"):
        state, _ = step(state, asked(name), 1.0)
    state, effects = step(state, Answered("b", PermissionAnswer("allow_always:session"), "ada"), 2.0)
    assert [one.decision.pending_id for one in effects if isinstance(one, Decide)] == ["b", "c"]
    assert list(state.pending) == ["a"]


@pytest.mark.parametrize(
    ("verdict", "policy", "told"),
    [
        (Verdict("deny", "rule:1", "no"), None, "deny"),
        (None, "supervised", "ask"),
        (None, None, None),
    ],
)
def test_a_hook_is_answered_by_rules_then_by_the_policy(
    verdict: Verdict | None, policy: str | None, told: str | None
) -> None:
    settings = PermissionSettings(policy=policy, rules=SETTINGS.rules)  # type: ignore[arg-type]
    request = request_of("h", hook("h", DENIED).request)
    state, _ = step(State(settings), Asked(request, None), 1.0)
    state, effects = step(state, Judged("h", [verdict], {}), 2.0)
    [response] = [response_of(effect) for effect in effects if isinstance(effect, Respond)]
    assert (told or "hookSpecificOutput") in str(response) or told is None
    assert not state.pending


def test_a_request_that_is_void_while_it_is_judged_is_over() -> None:
    state, _ = step(State(SETTINGS), large("a"), 1.0)
    state, effects = step(state, Voided("a", "interrupted"), 2.0)
    assert [type(effect) for effect in effects] == [Void]
    assert judged_by(state, "a", Verdict("allow", "rule:2")) == (state, [])


# What is large


def call(**arguments: object) -> ToolCall:
    return ToolCall("Bash", arguments)


def test_a_request_is_large_by_what_rules_look_at_in_it() -> None:
    assert not is_large(SETTINGS, [call(command="git status", content="x" * 100_000)])
    assert is_large(SETTINGS, [call(command=LARGE)])
    assert is_large(SETTINGS, [call(command=["ls", "a" * 500])])
    assert is_large(SETTINGS, [call(path=[f"d{number}" for number in range(300)])])
    assert is_large(SETTINGS, [call(file_path="a" * 500)])
    assert is_large(SETTINGS, [call(command="ls")] * 50)
    assert not is_large(PermissionSettings(), [call(command=LARGE)])
    assert not is_large(SETTINGS, [ToolCall("Bash", {}, untold=("command",))])


def test_a_judgement_says_what_the_rules_say_of_each_call() -> None:
    request = request_of("a", bash("a", DENIED).request)
    [verdict] = judge(Judge(request, SETTINGS)).verdicts  # type: ignore[arg-type]
    assert verdict is not None
    assert verdict.behavior == "deny"
    [none] = judge(Judge(request_of("h", hook("h", ASKED).request), SETTINGS)).verdicts  # type: ignore[arg-type]
    assert none is None


def test_what_else_was_published_with_a_line_stays_behind_it() -> None:
    request = PermissionRequest(
        pending_id="a", permission_title="x", permission_options=[], action_type="command"
    )
    line, other = Received(b"", bash("a", LARGE)), Decision("b", "allow", "ada", 0)
    decided = Decision("a", "deny", "rule:1", 0, unasked=True)
    outputs = Outputs(
        [InputWithEvents(line, [request]), InputWithEvents(other, []), InputWithEvents(decided, [])]
    )
    told = [one.input for one in told_as_decided(outputs).happened]
    assert told == [decided, line, other]
