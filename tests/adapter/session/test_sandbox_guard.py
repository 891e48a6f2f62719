"""Hosts of the sandbox in a session: asked about like a tool, decided by rules, earlier answers and people, and told."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.permissions.decisions import Answered, PermissionAnswer, Stopping
from turnwire.adapter.permissions.machine import State
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from turnwire.adapter.permissions.rules import read_rules
from turnwire.adapter.sandbox import gate as gates
from turnwire.adapter.sandbox.gate import HostGate, HostRefused
from turnwire.adapter.sandbox.hosts import Target
from turnwire.adapter.sandbox.profile import Profile
from turnwire.adapter.session.core import SessionCore
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.core import Core, InputWithEvents, happenings
from turnwire.normalize.inputs import Ended, Received
from turnwire.normalize.vocabulary import Policy
from turnwire.protocol.claude.decode import decode

FILES = Target("files.example.org", 443)
PROFILE = Profile(
    workspace="/home/me/project",
    home="/home/me",
    readable=("/usr", "/etc"),
    writable=("/home/me/project",),
    protected=("/home/me/.codex/rules", "/home/me/project/.git/hooks"),
    hidden=("/etc/shadow",),
    links={},
    copied=("/home/me/.claude.json",),
)
INIT = b'{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}'
CALL = (
    b'{"type":"assistant","session_id":"s","message":{"id":"m1","role":"assistant","model":"m",'
    b'"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"npm install"}}]}}'
)
RESULT = b'{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s","num_turns":1}'


class Told:
    """An output that keeps what is published; of a host the agent hears nothing."""

    def __init__(self) -> None:
        self.happened: list[InputWithEvents] = []

    @property
    def events(self) -> list[ev.AgentEvent]:
        return [event for happened in self.happened for event in happened.events]

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None:
        raise AssertionError(request, reply)

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        raise AssertionError(request)

    def publish(self, batch: list[InputWithEvents]) -> None:
        self.happened += batch

    def failed(self, error: Exception) -> None:
        raise error


class Stage(NamedTuple):
    executor: SessionExecutor
    gate: HostGate
    told: Told

    def hear(self, *lines: bytes) -> None:
        self.executor.receive([Received(line, decode(line)) for line in lines], lambda _: None)

    def last(self) -> ev.AgentEvent:
        return self.told.events[-1]


@asynccontextmanager
async def stage(
    tmp_path: Path,
    rules: Sequence[Mapping[str, object]] = (),
    policy: Policy | None = None,
    nobody: str | None = None,
    core: Core | None = None,
) -> AsyncIterator[Stage]:
    async def resolve(_: str, __: int) -> Sequence[str]:
        return ["93.184.216.34"]

    settings = PermissionSettings(
        rules=read_rules(rules), policy=policy, auto_deny_as=nobody, judges_requests=True
    )
    told, gate = Told(), HostGate((), resolve=resolve)
    async with asyncio.TaskGroup() as tasks:
        executor = SessionExecutor(
            SessionCore(core or ClaudeCore(), ClaudeWire(), State(settings)),
            told,
            tasks=tasks,
            workspace=tmp_path,
            environment={},
            notify=lambda _: None,
        )
        executor.guard(gate, PROFILE)
        yield Stage(executor, gate, told)


async def asked(run: Stage) -> tuple["asyncio.Task[str]", ev.PermissionRequest]:
    """Have a connection wait for an answer."""
    waiting = asyncio.ensure_future(run.gate.admit(FILES))
    await asyncio.sleep(0)
    event = run.last()
    assert isinstance(event, ev.PermissionRequest)
    assert run.executor.pending == (event.pending_id,)
    return waiting, event


async def test_a_new_host_is_a_permission_request_of_the_call_that_wants_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as run:
        run.hear(INIT, CALL)
        waiting, event = await asked(run)
        assert event.permission_title == "Bash wants to reach files.example.org:443"
        assert (event.tool_call_id, event.action_type, event.operation_id) == ("t1", "network", "turn-1")
        assert [one.option_id for one in event.permission_options] == [
            "allow_once", "allow_session", "allow_always", "reject_once", "reject_session",
        ]  # fmt: skip
        run.executor.handle(Answered(event.pending_id, PermissionAnswer("allow_once"), "frontend-1"))
        assert await waiting == "93.184.216.34"
        resolved = run.last()
        assert isinstance(resolved, ev.PermissionResolved)
        assert (resolved.behavior, resolved.by, resolved.tool_call_id) == ("allow", "frontend-1", "t1")
        assert run.executor.pending == ()


async def test_the_recorded_inputs_give_the_same_events_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as run:
        run.hear(INIT, CALL)
        waiting, event = await asked(run)
        run.executor.handle(
            Answered(event.pending_id, PermissionAnswer("reject_session", message="no"), "me")
        )
        with pytest.raises(HostRefused, match=r"files.example.org:443 is not allowed: no\. The operator"):
            await waiting
        run.executor.handle(Ended("exited", 0))
    again = [
        event
        for happened in happenings(ClaudeCore(), [one.input for one in run.told.happened])
        for event in happened.events
    ]
    assert again == run.told.events
    denied = next(event for event in again if isinstance(event, ev.SandboxDenied))
    assert (denied.kind, denied.target, denied.tool_call_id) == ("host", "files.example.org:443", "t1")


async def test_always_is_remembered_in_the_session(tmp_path: Path) -> None:
    async with stage(tmp_path) as run:
        waiting, event = await asked(run)
        run.executor.handle(Answered(event.pending_id, PermissionAnswer("allow_session"), "me"))
        await waiting
        run.gate.turn_ended()
        await run.gate.admit(FILES)
        assert len([one for one in run.told.events if isinstance(one, ev.PermissionRequest)]) == 1


@pytest.mark.parametrize(("action", "behavior"), [("allow", "allow"), ("deny", "deny")])
async def test_a_rule_decides_without_asking(tmp_path: Path, action: str, behavior: str) -> None:
    rules = [{"tool": "Network", "input": {"url": "domain:files.example.org"}, "action": action}]
    async with stage(tmp_path, rules) as run:
        if behavior == "allow":
            await run.gate.admit(FILES)
        else:
            with pytest.raises(HostRefused):
                await run.gate.admit(FILES)
        resolved = next(one for one in run.told.events if isinstance(one, ev.PermissionResolved))
        assert (resolved.behavior, resolved.by, resolved.unasked) == (behavior, "rule:1", True)
        assert resolved.permission_title == "The agent wants to reach files.example.org:443"


@pytest.mark.parametrize("policy", ["autonomous", "plan", "supervised"])
async def test_no_policy_opens_a_host(tmp_path: Path, policy: Policy) -> None:
    async with stage(tmp_path, policy=policy) as run:
        waiting, event = await asked(run)
        run.executor.handle(Answered(event.pending_id, PermissionAnswer("reject_once"), "me"))
        with pytest.raises(HostRefused):
            await waiting


async def test_where_nobody_can_be_asked_a_host_is_refused_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path, nobody="runner") as run:
        with pytest.raises(HostRefused, match="Nobody can be asked"):
            await run.gate.admit(FILES)


async def test_a_host_that_nobody_answers_is_refused_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnwire.adapter.session.sandbox_guard.ANSWER_S", 0.0)
    async with stage(tmp_path) as run:
        with pytest.raises(HostRefused, match="Nobody answered in time"):
            await run.gate.admit(FILES)
        resolved = next(one for one in run.told.events if isinstance(one, ev.PermissionResolved))
        assert (resolved.by, resolved.behavior, resolved.interrupt) == ("timeout", "deny", None)
        assert gates.ANSWER_S > 0


async def test_the_end_of_the_agent_ends_its_requests(tmp_path: Path) -> None:
    async with stage(tmp_path) as run:
        waiting, event = await asked(run)
        run.executor.handle(Ended("exited", 0))
        with pytest.raises(HostRefused, match="the agent has gone"):
            await waiting
        cancelled = next(one for one in run.told.events if isinstance(one, ev.PermissionCancelled))
        assert (cancelled.pending_id, cancelled.reason) == (event.pending_id, "process_exited")
        with pytest.raises(HostRefused):
            await run.gate.admit(Target("late.example.org", 443))


async def test_a_session_that_is_stopped_refuses_its_requests(tmp_path: Path) -> None:
    async with stage(tmp_path) as run:
        waiting, _ = await asked(run)
        run.executor.handle(Stopping())
        with pytest.raises(HostRefused, match="stopped before anybody answered"):
            await waiting


async def test_the_call_is_not_guessed_where_several_run(tmp_path: Path) -> None:
    async with stage(tmp_path) as run:
        run.hear(INIT, CALL, CALL.replace(b'"t1"', b'"t2"').replace(b'"m1"', b'"m2"'))
        waiting, event = await asked(run)
        assert event.tool_call_id is None
        run.hear(RESULT)
        run.executor.handle(Answered(event.pending_id, PermissionAnswer("allow_once"), "me"))
        await waiting


@pytest.mark.parametrize(
    ("said", "target", "reason"),
    [
        ("touch: cannot touch '/usr/x': Read-only file system", "/usr/x", "outside of the workspace"),
        (
            "bash: .git/hooks/pre-commit: Read-only file system",
            ".git/hooks/pre-commit",
            "starts programs later",
        ),
        ("Error: EROFS: read-only file system, open '/usr/y'", "/usr/y", "outside of the workspace"),
        ("OSError: [Errno 30] Read-only file system: '/etc/z'", "/etc/z", "outside of the workspace"),
        ("cat: /home/me/.ssh/id: No such file or directory", "/home/me/.ssh/id", "not in this sandbox"),
        ("head: cannot open '/etc/shadow' for reading: Permission denied", "/etc/shadow", "hidden"),
        (
            "error: could not write config file .git/hooks: Device or resource busy",
            ".git/hooks",
            "sandbox_unprotected",
        ),
        (
            "Error: EBUSY: resource busy or locked, rename 'a' -> '~/.claude.json'",
            "~/.claude.json",
            "has a copy of it",
        ),
        (
            "OSError: [Errno 16] Device or resource busy: '/home/me/.codex/rules'",
            "/home/me/.codex/rules",
            "sandbox_writable can open it",
        ),
    ],
)
async def test_what_programs_say_of_refused_files_is_told(
    tmp_path: Path, said: str, target: str, reason: str
) -> None:
    line = (
        b'{"type":"user","session_id":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",'
        b'"is_error":true,"content":"Exit code 1\\n' + said.encode() + b'"}]}}'
    )
    async with stage(tmp_path) as run:
        run.hear(INIT, CALL, line)
        denied = run.last()
    assert isinstance(denied, ev.SandboxDenied)
    assert (denied.kind, denied.target, denied.tool_call_id) == ("path", target, "t1")
    assert reason in denied.reason


@pytest.mark.parametrize(
    "said",
    [
        "cat: gone.txt: No such file or directory",
        "a: b: c",
        "umount: /mnt: Device or resource busy",
        "cat: /usr/gone: No such file or directory",
    ],
)
async def test_what_the_sandbox_has_nothing_to_do_with_is_not_told(tmp_path: Path, said: str) -> None:
    line = (
        b'{"type":"user","session_id":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",'
        b'"is_error":true,"content":"' + said.encode() + b'"}]}}'
    )
    async with stage(tmp_path) as run:
        run.hear(INIT, CALL, line)
        assert not [event for event in run.told.events if isinstance(event, ev.SandboxDenied)]
