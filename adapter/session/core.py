"""The state machine of one session: inputs in; events and effects out. Pure.

It joins the family's core with the permission machine. The core owns turns, calls, prompts and pending requests. The
machine decides, and follows the core: nobody can answer a request that was published as cancelled, and there is one
list of pending requests. A decision is published before the response that carries it is written.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.decisions import (
    Asked,
    CancelledByAgent,
    Decide,
    Effect,
    HostAsked,
    Judged,
    NoteAsked,
    PermissionInput,
    ProcessEnded,
    Respond,
    TurnEnded,
    Void,
    Voided,
)
from turnwire.adapter.permissions.machine import State, step
from turnwire.adapter.permissions.policies import PRE_TOOL
from turnwire.adapter.permissions.requests import (
    AgentRequest,
    Failure,
    HookRequest,
    QuestionRequest,
    TakenBack,
    ToolRequest,
    UnreadableRequest,
)
from turnwire.adapter.session.agent_wire import AgentWire, Asking
from turnwire.normalize.core import Core, InputWithEvents
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    PermissionCancelled,
    PermissionRequest,
    PermissionResolved,
)
from turnwire.normalize.events import QuestionRequest as QuestionRequestEvent
from turnwire.normalize.inputs import Announced, Decision, Ended, Received, Sent, SessionInput
from turnwire.normalize.vocabulary import VoidReason


class Outputs(Struct, frozen=True):
    """The results of an input: `happened` is published before `effects` are carried out, each in order."""

    happened: list[InputWithEvents] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)


RealPaths: TypeAlias = Mapping[str, str | None]
"""Absolute path -> the path with links resolved; None for one that leads nowhere."""

MaybePaths: TypeAlias = RealPaths | None
"""The same; None where calls are so large that they are judged elsewhere."""

_FOLLOWED = frozenset({PermissionCancelled, PermissionResolved, Complete})
"""Events that the permission machine has to follow."""

CoreInput: TypeAlias = SessionInput | PermissionInput | HostAsked


class SessionCore:
    """One session, from its first CLI to its last."""

    def __init__(
        self,
        core: Core,
        wire: AgentWire,
        permissions: State,
        real_paths: Callable[[Sequence[ToolCall]], MaybePaths] = lambda _: {},
        shown: Callable[[PermissionRequest], PermissionRequest] = lambda request: request,
    ) -> None:
        """`core` and `wire` are the family's. The disk's answers are arguments.

        Args:
            core: makes events of the agent's messages.
            wire: reads what they ask, and writes the answers.
            permissions: the state that the permission machine begins in.
            real_paths: resolves the paths of calls; None for calls that are judged elsewhere.
            shown: adds to a request what a person needs to see of the disk.
        """
        self._core = core
        self._wire = wire
        self._permissions = permissions
        self._real_paths = real_paths
        self._shown = shown
        self._hosts: dict[str, PermissionRequest] = {}
        """Waiting requests for hosts of the sandbox, as published. The agent's family does not know them."""
        self._unpublished: set[str] = set()
        """Requests that are judged elsewhere, whose lines wait to be published."""

    @property
    def busy(self) -> bool:
        """True while a turn is open: from `turn_started` to `complete`."""
        return self._core.busy

    @property
    def turn(self) -> int | None:
        """The number of the open turn; None while there is none."""
        return self._core.turns if self._core.busy else None

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that a frontend can answer."""
        return (*self._core.pending, *self._hosts)

    @property
    def waits(self) -> bool:
        """True while the agent waits for a human or a hook."""
        return bool(self._permissions.pending)

    def handle(self, happened: CoreInput, at: float) -> Outputs:
        """Return the outputs of an input. `at`: seconds of any clock that never goes back."""
        outputs = Outputs()
        match happened:
            case Received():
                told = self.receive(happened, at)
                return Outputs([told]) if isinstance(told, InputWithEvents) else told
            case HostAsked():
                self._host_asked(happened, at, outputs)
            case Ended():
                for name in [*self._hosts]:
                    self._step(Voided(name, "process_exited"), at, outputs)
                self._publish(InputWithEvents(happened, self._core.handle(happened)), at, outputs)
                self._step(ProcessEnded(), at, outputs)
            case Judged(request_id):
                unasked = request_id in self._unpublished
                self._unpublished.discard(request_id)
                self._step(happened, at, outputs, unasked=unasked)
            case Sent() | Decision() | Announced():
                self._publish(InputWithEvents(happened, self._core.handle(happened)), at, outputs)
            case _:
                self._step(happened, at, outputs)
        return outputs

    def receive(self, received: Received, at: float) -> InputWithEvents | Outputs:
        """Return the outputs of a line, as `handle` does. Returns only the input with its events if there is nothing else, as for
        almost every line.
        """
        message = received.message
        events = self._core.receive(message, received.line)
        asked = self._wire.requests(message)
        happened = InputWithEvents(received, events)
        if not asked and (not events or _FOLLOWED.isdisjoint(map(type, events))):
            return happened
        outputs = Outputs()
        self._publish(happened, at, outputs)
        for asking in asked:
            self._asked(asking, at, outputs)
        return self._with_disk(told_as_decided(outputs))

    def _with_disk(self, outputs: Outputs) -> Outputs:
        """Add what the disk says to the requests that are published as waiting."""
        for number, (item, events) in enumerate(outputs.happened):
            if isinstance(item, Received):
                told = [
                    self._shown(event) if isinstance(event, PermissionRequest) else event for event in events
                ]
                outputs.happened[number] = InputWithEvents(item, told)
        return outputs

    def _publish(self, happened: InputWithEvents, at: float, outputs: Outputs) -> None:
        """Publish an input, and pass its relevant events to the permission machine."""
        outputs.happened.append(happened)
        item, events = happened
        for event in events:
            match event:
                case PermissionCancelled(pending_id=name, reason=reason) if name in self._permissions.pending:
                    self._step(self._voided(item, name, reason), at, outputs)
                case PermissionResolved(pending_id=name) if name in self._permissions.pending:
                    # the tool has run or was refused, and nobody asked us: the CLI's own rules, or another host
                    self._step(Voided(name, "cancelled"), at, outputs)
                case Complete():
                    self._step(TurnEnded(), at, outputs)
                case _:
                    pass

    def _asked(self, asking: Asking, at: float, outputs: Outputs) -> None:
        match asking:
            case TakenBack(request_id):
                self._step(CancelledByAgent(request_id), at, outputs)
            case UnreadableRequest():
                outputs.effects.extend((NoteAsked(asking), Respond(asking, Failure(asking.reason))))
            case _:
                outputs.effects.append(NoteAsked(asking))
                now = isinstance(asking, ToolRequest | QuestionRequest)
                paths = self._real_paths_of(asking)
                if paths is None and now:
                    self._unpublished.add(asking.request_id)
                self._step(Asked(asking, paths), at, outputs, unasked=now)

    def _real_paths_of(self, request: AgentRequest) -> MaybePaths:
        match request:
            case ToolRequest():
                return self._real_paths(request.calls)
            case HookRequest(callback=callback, call=ToolCall() as call) if callback == PRE_TOOL:
                return self._real_paths([call])
            case _:
                return {}

    def _step(self, happened: PermissionInput, at: float, outputs: Outputs, *, unasked: bool = False) -> None:
        """Take one step. `unasked`: its decisions come before a human is asked."""
        self._permissions, effects = step(self._permissions, happened, at)
        for effect in effects:
            if unasked and isinstance(effect, Decide):
                effect = Decide(replace(effect.decision, unasked=True))  # noqa: PLW2901 - the same, and one thing more
            outputs.effects.append(effect)
            match effect:
                case Decide(decision) if decision.pending_id in self._hosts:
                    self._announce(_host_resolved(self._hosts.pop(decision.pending_id), decision), outputs)
                case Decide(decision):
                    self._publish(InputWithEvents(decision, self._core.handle(decision)), at, outputs)
                case Void(request_id) if request_id in self._unpublished:
                    self._unpublished.discard(request_id)
                case Void(request_id, void_reason) if request_id in self._hosts:
                    asked = self._hosts.pop(request_id)
                    cancelled = PermissionCancelled(
                        operation_id=asked.operation_id,
                        pending_id=request_id,
                        tool_call_id=asked.tool_call_id,
                        reason=void_reason,
                    )
                    self._announce(cancelled, outputs)
                case _:
                    pass

    def _host_asked(self, asked: HostAsked, at: float, outputs: Outputs) -> None:
        """Decide about a host by rules and earlier answers, or ask."""
        name = asked.request.request_id
        turn = None if self.turn is None else f"turn-{self.turn}"
        event = self._hosts[name] = replace(asked.event, operation_id=turn)
        self._step(Asked(asked.request), at, outputs, unasked=True)
        if name in self._hosts:
            self._announce(event, outputs)

    def _announce(self, event: AgentEvent, outputs: Outputs) -> None:
        item = Announced(event)
        outputs.happened.append(InputWithEvents(item, self._core.handle(item)))

    def _voided(self, item: SessionInput, name: str, reason: str | None) -> Voided | CancelledByAgent:
        """Tell requests that the agent cancelled from requests that expired. Some versions need an answer to the former."""
        match reason:
            case "interrupted" | "turn_ended" | "process_exited":
                why: VoidReason = reason
            case _:
                why = "cancelled"
        if isinstance(item, Received) and TakenBack(name) in self._wire.requests(item.message):
            return CancelledByAgent(name, why)
        return Voided(name, why)


def _host_resolved(asked: PermissionRequest, decision: Decision) -> PermissionResolved:
    """Return the end of a request for a host."""
    return PermissionResolved(
        operation_id=asked.operation_id,
        pending_id=asked.pending_id,
        tool_call_id=asked.tool_call_id,
        tool_name=asked.tool_name,
        behavior="allow" if decision.behavior == "allow" else "deny",
        option_id=decision.option_id,
        by=decision.by,
        waited_ms=decision.waited_ms,
        message=decision.message,
        destination=decision.destination,
        unasked=decision.unasked or None,
        permission_title=asked.permission_title if decision.unasked else None,
        action_type=asked.action_type if decision.unasked else None,
        action_details=asked.action_details if decision.unasked else None,
    )


def told_as_decided(outputs: Outputs) -> Outputs:
    """Publish a request that was decided on arrival as decided, never as waiting.

    Its decision goes before the line with the request, so that a core that replays the recording reads it first.
    """
    at = next((at for at, one in enumerate(outputs.happened) if isinstance(one.input, Received)), 0)
    decided = {
        happened.input.pending_id: happened
        for happened in outputs.happened[at + 1 :]
        if isinstance(happened.input, Decision) and happened.input.unasked
    }
    if not decided:
        return outputs
    told: list[InputWithEvents] = []
    for item, events in outputs.happened:
        if isinstance(item, Received):
            made = [
                one
                for event in events
                for one in (
                    decided[event.pending_id].events
                    if isinstance(event, PermissionRequest | QuestionRequestEvent)
                    and event.pending_id in decided
                    else [event]
                )
            ]
            ahead = [InputWithEvents(happened.input, []) for happened in decided.values()]
            told += [*ahead, InputWithEvents(item, made)]
        elif not (isinstance(item, Decision) and item.pending_id in decided):
            told.append(InputWithEvents(item, events))
    return Outputs(told, outputs.effects)
