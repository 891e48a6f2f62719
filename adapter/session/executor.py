"""Carries out the effects of a session's core: writes, timers, hooks, the git check, records.

Reader and writer call it for each line and continue at once. Anything slow runs as a task of the session.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, assert_never

from turnwire.adapter.hooks.programs import HookFailed, run_hook
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.decisions import (
    Abandon,
    Decide,
    Effect,
    GitChecked,
    HookRan,
    Judge,
    Judged,
    NoteAsked,
    Overloaded,
    PermissionInput,
    Refuse,
    Remember,
    Respond,
    RunGitCheck,
    RunHook,
    StartTimer,
    Stopping,
    StopTimer,
    TimedOut,
    Void,
)
from turnwire.adapter.permissions.git_check import uncommitted_changes
from turnwire.adapter.permissions.grants import Grant, GrantStore
from turnwire.adapter.permissions.requests import AgentRequest, Reply, ToolRequest, UnreadableRequest
from turnwire.adapter.process import suspend_aware
from turnwire.adapter.session.core import CoreInput, Outputs, SessionCore
from turnwire.adapter.session.judging import Judging, without_judging
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.adapter.session.turns import TurnWatch
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.inputs import Ended, Received

if TYPE_CHECKING:  # few sessions have one
    from turnwire.adapter.sandbox.gate import HostGate
    from turnwire.adapter.sandbox.profile import Profile
    from turnwire.adapter.session.sandbox_guard import SandboxGuard


class Output(Protocol):
    """Where a session's words go."""

    def respond(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> None:
        """Tell the agent the reply to its request; never waits."""
        ...

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        """Note a request of the agent before it is answered. Never waits."""
        ...

    def publish(self, batch: list[InputWithEvents]) -> None:
        """Publish inputs with their events, in order. The receiver owns the list."""
        ...

    def failed(self, error: Exception) -> None:
        """Tell that the core failed, after all that was published before."""
        ...


class SessionExecutor:
    """Passes inputs to the core of a session, and carries out the effects."""

    def __init__(
        self,
        core: SessionCore,
        output: Output,
        *,
        tasks: asyncio.TaskGroup,
        workspace: Path,
        environment: Mapping[str, str],
        notify: Notify,
        audit: AuditTrail | None = None,
        grants: GrantStore | None = None,
    ) -> None:
        self.turns = TurnWatch(core)
        self.conversation: str | None = None
        """The agent's id of the conversation, once a line has named it."""
        self._core = core
        self._failed = False
        self._unpublished: list[InputWithEvents] = []
        """Inputs of lines without effects. They wait for the end of their batch at most."""
        self._now = 0.0
        """The loop's time at the last input, or at the beginning of its batch."""
        self._workspace = workspace
        self._output = output
        self._tasks = tasks
        self._environment = environment
        self._notify = notify
        self._audit = audit
        self._grants = grants
        self._timers: dict[str, Callable[[], None]] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._guard: SandboxGuard | None = None
        self._judging = Judging(tasks, self._judged)

    def guard(self, gate: "HostGate", profile: "Profile") -> None:
        """Ask about hosts that the sandbox does not know, and publish what it refuses."""
        from turnwire.adapter.session.sandbox_guard import SandboxGuard  # noqa: PLC0415 - few sessions have one

        self._guard = SandboxGuard(self.handle, gate, profile, self._audit)

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that a frontend can answer."""
        return self._core.pending

    @property
    def waits(self) -> bool:
        """True while a human or a hook is being waited for."""
        return self._core.waits

    def handle(self, happened: CoreInput) -> list[Effect]:
        """Handle an input: publish its events and carry out its effects, which are returned."""
        if self._failed:
            return []  # the session is being ended, and its core is in no state to say anything
        self._now = asyncio.get_running_loop().time()
        try:
            outputs = self._core.handle(happened, self._now)
            if not isinstance(happened, PermissionInput):  # a decision opens and ends no turn
                self.turns.changed(heard=isinstance(happened, Received))
        except Exception as error:  # noqa: BLE001 - ends this session in order: what was published before comes first
            self._fail(error)
            return []
        if isinstance(happened, Stopping | Ended):
            self._release()
        self._carry_out(outputs)
        return outputs.effects

    async def room(self) -> None:
        """Wait until lines may be read: few wait for a judgement."""
        await self._judging.room()

    def receive(self, batch: Sequence[Received], beside: Callable[[Received], None]) -> None:
        """Handle lines of the agent one after another, as `handle` does, and call `beside` after each.

        Work for each line adds up. So the time is read once, turns are checked once and output is published once for
        all lines that only cause events.
        """
        if not self._failed:
            self._now = asyncio.get_running_loop().time()
            self.turns.changed()
        try:
            for received in batch:
                self._receive(received)
                beside(received)
        finally:
            self._publish()
        if not self._failed:
            self.turns.changed(heard=False)

    def _receive(self, received: Received) -> None:
        if self._failed:
            return
        try:
            told = self._core.receive(received, self._now)
        except Exception as error:  # noqa: BLE001 - as in `handle`
            self._fail(error)
            return
        if not isinstance(told, InputWithEvents):
            self._carry_out(told)
        elif self._judging.is_holding:
            self._judging.hold(Outputs([told]), [])
        else:
            self._unpublished.append(told)

    def _fail(self, error: Exception) -> None:
        self._release()
        self._publish()
        self._failed = True
        self._output.failed(error)

    def _judged(self, judged: Judged) -> None:
        """Go on with a request about which the rules have been read."""
        if self._failed:
            return
        self._now = asyncio.get_running_loop().time()
        try:
            outputs = self._core.handle(judged, self._now)
        except Exception as error:  # noqa: BLE001 - as in `handle`
            self._fail(error)
            return
        for held in self._judging.decided(judged.request_id, outputs):
            self._carry_out_now(held)

    def _release(self) -> None:
        for held in self._judging.release():
            self._carry_out_now(held)

    def _carry_out(self, outputs: Outputs) -> None:
        effects, judged = without_judging(outputs.effects)
        if judged or self._judging.is_holding:
            self._publish()
            for effect in effects:
                if isinstance(effect, NoteAsked):  # who sent the line asks at once whether it was understood
                    self._note_asked(effect.request)
            effects = [effect for effect in effects if not isinstance(effect, NoteAsked)]
            self._judging.hold(Outputs(outputs.happened, effects), judged)
        else:
            self._carry_out_now(outputs)

    def _note_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        self._output.on_asked(request)
        if self._audit is not None:
            self._audit.note_request(request)

    def _carry_out_now(self, outputs: Outputs) -> None:
        self._unpublished += outputs.happened
        self._publish()
        for effect in outputs.effects:
            match effect:
                case Decide(decision):
                    if self._audit is not None:
                        self._audit.note_decision(decision)
                case Respond(ToolRequest(is_host=True) as request, reply):
                    assert self._guard is not None
                    self._guard.answered(request.request_id, reply)
                case NoteAsked(request):
                    self._note_asked(request)
                case Respond(request, reply):
                    self._output.respond(request, reply)
                case StartTimer(request_id, seconds):
                    self._timers[request_id] = suspend_aware.call_later(
                        seconds, partial(self._expire, request_id)
                    )
                case StopTimer(request_id):
                    if (take_back := self._timers.pop(request_id, None)) is not None:
                        take_back()
                case Void(request_id, reason):
                    if self._guard is not None:
                        self._guard.voided(request_id)
                    if self._audit is not None:
                        self._audit.note_void(request_id, reason)
                case Refuse():
                    if self._audit is not None:
                        self._audit.note_refusal(effect.request_id, effect.by, effect.code)
                case RunHook() | RunGitCheck():
                    self._running[effect.request_id] = self._tasks.create_task(self._run(effect))
                case Abandon(request_id):
                    if (task := self._running.pop(request_id, None)) is not None:
                        task.cancel()
                case Remember(grants):
                    if self._grants is not None:
                        self._tasks.create_task(self._remember(self._grants, grants))
                case Judge():
                    raise AssertionError("what is judged is taken out before")
                case Overloaded(limit):
                    message = f"{limit} requests of the agent wait for an answer; more are refused until some are answered"
                    self._notify(SessionNotice("too_many_requests", message))
                case _:
                    assert_never(effect)

    def _publish(self) -> None:
        if self._unpublished:
            batch, self._unpublished = self._unpublished, []
            if (events := batch[-1].events) and (named := events[-1].session_id) is not None:
                self.conversation = named
            self._output.publish(batch)
            if self._guard is not None:
                self._guard.see(batch)

    def _expire(self, request_id: str) -> None:
        self._timers.pop(request_id, None)
        self.handle(TimedOut(request_id))

    async def _remember(self, store: GrantStore, grants: tuple[tuple[Grant, str], ...]) -> None:
        try:
            await asyncio.to_thread(store.remember, self._workspace, grants)
        except OSError as error:
            message = f"an always-answer holds for this session alone: it cannot be kept ({error.strerror})"
            self._notify(SessionNotice("grant_lost", message))

    async def _run(self, effect: RunHook | RunGitCheck) -> None:
        match effect:
            case RunGitCheck(request_id):
                changes = await uncommitted_changes(self._workspace, self._environment)
                ran: HookRan | GitChecked = GitChecked(request_id, changes)
            case RunHook(request_id, hook, payload):
                try:
                    output = await run_hook(
                        hook, payload, workspace=self._workspace, environment=self._environment
                    )
                    ran = HookRan(request_id, output)
                except HookFailed as error:
                    self._notify(SessionNotice("hook_failed", f"the hook {hook.name} failed: {error}"))
                    ran = HookRan(request_id, error=str(error))
        self._running.pop(request_id, None)
        self.handle(ran)
