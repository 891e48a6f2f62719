"""Does what the permission state machine wants done: writes, timers, hooks, the git check, records.

The reader calls it for each control request and goes on at once. Whatever takes time runs as a task of the session.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, assert_never

from adapter.hooks.programs import HookFailed, run_hook
from adapter.notices import Notify, SessionNotice
from adapter.permissions.audit import AuditTrail
from adapter.permissions.decisions import (
    Abandon,
    Answered,
    Asked,
    Decide,
    Effect,
    GitChecked,
    HookRan,
    Overloaded,
    PermissionAnswer,
    PermissionInput,
    QuestionAnswer,
    Refuse,
    Remember,
    Respond,
    RunGitCheck,
    RunHook,
    StartTimer,
    StopTimer,
    TimedOut,
    Void,
)
from adapter.permissions.git_check import uncommitted_changes
from adapter.permissions.grants import Grant, GrantStore
from adapter.permissions.machine import State, step
from adapter.permissions.places import real_paths_of
from adapter.permissions.policies import PRE_TOOL, PermissionSettings
from normalize.inputs import Decision
from protocol.claude.control import ControlResponse, failure
from protocol.claude.requests import AnyRequest, CanUseTool, HookCallback
from protocol.errors import TurnwireError


class AnswerRefused(TurnwireError):
    """An answer does not count; `code` is already_answered, unknown_request, cancelled or invalid_answer."""

    def __init__(self, refusal: Refuse) -> None:
        super().__init__(refusal.message)
        self.code = refusal.code
        self.message = refusal.message
        self.field = refusal.field


class PermissionOutput(Protocol):
    """Where the gatekeeper's words go."""

    def respond(self, response: ControlResponse) -> None:
        """Queue a response to the CLI."""
        ...

    def decided(self, decision: Decision) -> None:
        """Tell that a request was decided."""
        ...


class PermissionExecutor:
    """The permissions of one session, at work."""

    def __init__(
        self,
        settings: PermissionSettings,
        output: PermissionOutput,
        *,
        tasks: asyncio.TaskGroup,
        environment: Mapping[str, str],
        notify: Notify,
        audit: AuditTrail | None = None,
        grants: GrantStore | None = None,
    ) -> None:
        self._workspace = Path(settings.workspace)
        known = () if grants is None else grants.load(self._workspace)
        self._state = State(settings, grants=known)
        self._output = output
        self._tasks = tasks
        self._environment = environment
        self._notify = notify
        self._audit = audit
        self._grants = grants
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    @property
    def waiting_for_humans(self) -> tuple[str, ...]:
        """The requests that a frontend can answer."""
        return self._state.waiting_for_humans

    @property
    def waits(self) -> bool:
        """True while a human or a hook is being waited for."""
        return bool(self._state.pending)

    def asked(self, request_id: str, request: AnyRequest) -> None:
        """Take a control request of the CLI."""
        if self._audit is not None:
            self._audit.asked(request_id, request)
        self.happened(Asked(request_id, request, self._real_paths(request)))

    def unread(self, request_id: str, reason: str) -> None:
        """Refuse a control request that cannot be read: the CLI waits for an answer."""
        if self._audit is not None:
            self._audit.unread(request_id, reason)
        self._output.respond(failure(request_id, reason))

    def answered(self, request_id: str, answer: PermissionAnswer | QuestionAnswer, by: str) -> None:
        """Take a frontend's answer; raises AnswerRefused when it does not count."""
        for effect in self.happened(Answered(request_id, answer, by)):
            if isinstance(effect, Refuse):
                if self._audit is not None:
                    self._audit.refused(request_id, by, effect.code)
                raise AnswerRefused(effect)

    def happened(self, happened: PermissionInput) -> list[Effect]:
        """Take any other input; does what follows and returns it."""
        self._state, effects = step(self._state, happened, asyncio.get_running_loop().time())
        for effect in effects:
            self._do(effect)
        return effects

    def _real_paths(self, request: AnyRequest) -> Mapping[str, str | None]:
        """Look where a call's paths lead; a few calls to the system, and none where no rule is about paths."""
        settings = self._state.settings
        match request:
            case CanUseTool():
                arguments: object = request.input
            case HookCallback(callback_id=callback_id) if callback_id == PRE_TOOL:
                arguments = request.input.get("tool_input")
            case _:
                return {}
        if settings.places is None or not isinstance(arguments, dict):
            return {}
        return real_paths_of(arguments, settings.rules, settings.places)

    def _do(self, effect: Effect) -> None:
        match effect:
            case Decide(decision):
                if self._audit is not None:
                    self._audit.decided(decision)
                self._output.decided(decision)
            case Respond(response):
                self._output.respond(response)
            case StartTimer(request_id, seconds):
                self._timers[request_id] = asyncio.get_running_loop().call_later(
                    seconds, self._expire, request_id
                )
            case StopTimer(request_id):
                if (timer := self._timers.pop(request_id, None)) is not None:
                    timer.cancel()
            case Void(request_id, reason):
                if self._audit is not None:
                    self._audit.voided(request_id, reason)
            case RunHook() | RunGitCheck():
                self._running[effect.request_id] = self._tasks.create_task(self._run(effect))
            case Abandon(request_id):
                if (task := self._running.pop(request_id, None)) is not None:
                    task.cancel()
            case Remember(grants):
                if self._grants is not None:
                    self._tasks.create_task(self._remember(self._grants, grants))
            case Overloaded(limit):
                message = f"{limit} requests of the agent wait for an answer; more are refused until some are answered"
                self._notify(SessionNotice("too_many_requests", message))
            case Refuse():
                pass  # told to the frontend by whoever took its answer
            case _:
                assert_never(effect)

    def _expire(self, request_id: str) -> None:
        self._timers.pop(request_id, None)
        self.happened(TimedOut(request_id))

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
        self.happened(ran)
