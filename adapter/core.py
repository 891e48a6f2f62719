"""The state machine of one session: what happens goes in; what is published and what is to be done come out. Pure.

It joins the family's core, which owns turns, calls, prompts and pending requests, with the permission machine, which
decides: the machine follows the core, so that what is published as cancelled can be answered no more, and what is
pending is one list. A decision is published before the response that carries it is to be written.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from adapter.permissions.decisions import (
    Asked,
    CancelledByCli,
    Decide,
    Effect,
    NoteAsked,
    PermissionInput,
    ProcessEnded,
    TurnEnded,
    Voided,
)
from adapter.permissions.machine import State, step
from normalize.core import Core, Happened
from normalize.events import Complete, PermissionCancelled, PermissionResolved
from normalize.inputs import Announced, Decision, Ended, Received, Sent, SessionInput
from normalize.vocabulary import VoidReason
from protocol.claude.control import ControlCancelRequest, ControlRequest, ControlResponse
from protocol.claude.decode import decode
from protocol.claude.encode import line_of
from protocol.claude.requests import AnyRequest, McpMessage


@dataclass(frozen=True, slots=True)
class Outputs:
    """What follows from an input; `happened` is told before `effects` are carried out, each in order."""

    happened: list[Happened] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)


RealPaths: TypeAlias = Mapping[str, str | None]
"""Where paths lead, links followed, by their absolute spelling; None for one that leads nowhere."""

CoreInput: TypeAlias = SessionInput | PermissionInput


class SessionCore:
    """One session, from its first CLI to its last."""

    def __init__(
        self, core: Core, permissions: State, real_paths: Callable[[AnyRequest], RealPaths] = lambda _: {}
    ) -> None:
        """`real_paths` looks where the paths of a request lead: what the disk says is an argument."""
        self._core = core
        self._permissions = permissions
        self._real_paths = real_paths

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
        return self._core.pending

    @property
    def waits(self) -> bool:
        """True while the CLI waits for a human or a hook."""
        return bool(self._permissions.pending)

    def handle(self, happened: CoreInput, at: float) -> Outputs:
        """Return what follows from an input at a time in seconds, of any clock that does not go back."""
        outputs = Outputs()
        match happened:
            case Received() | Sent() | Decision() | Ended() | Announced():
                self._publish(happened, at, outputs)
                self._consult(happened, at, outputs)
            case _:
                self._step(happened, at, outputs)
        return outputs

    def _publish(self, item: SessionInput, at: float, outputs: Outputs) -> None:
        events = self._core.handle(item)
        outputs.happened.append(Happened(item, events))
        for event in events:
            match event:
                case PermissionCancelled(pending_id=name, reason=reason) if name in self._permissions.pending:
                    self._step(_voided(item, name, reason), at, outputs)
                case PermissionResolved(pending_id=name) if name in self._permissions.pending:
                    # the tool has run or was refused, and nobody asked us: the CLI's own rules, or another host
                    self._step(Voided(name, "cancelled"), at, outputs)
                case Complete():
                    self._step(TurnEnded(), at, outputs)
                case _:
                    pass

    def _consult(self, item: SessionInput, at: float, outputs: Outputs) -> None:
        """Let the permission machine see what concerns it."""
        match item:
            case Received(message=ControlRequest(request=McpMessage())):
                pass
            case Received(message=ControlRequest(request_id, request)):
                self._asked(request_id, request, at, outputs)
            case Received(message=ControlCancelRequest(request_id)):
                self._step(CancelledByCli(request_id), at, outputs)
            case Received(message=ControlResponse(response=body)):
                for waiting in (*body.pending_permission_requests, *body.pending_user_dialog_requests):
                    message = decode(line_of(waiting))
                    if isinstance(message, ControlRequest):
                        self._asked(message.request_id, message.request, at, outputs)
            case Ended():
                self._step(ProcessEnded(), at, outputs)
            case _:
                pass

    def _asked(self, request_id: str, request: AnyRequest, at: float, outputs: Outputs) -> None:
        outputs.effects.append(NoteAsked(request_id, request))
        self._step(Asked(request_id, request, self._real_paths(request)), at, outputs)

    def _step(self, happened: PermissionInput, at: float, outputs: Outputs) -> None:
        self._permissions, effects = step(self._permissions, happened, at)
        for effect in effects:
            outputs.effects.append(effect)
            if isinstance(effect, Decide):
                self._publish(effect.decision, at, outputs)


def _voided(item: SessionInput, name: str, reason: str | None) -> Voided | CancelledByCli:
    """Tell a request that the CLI took back, which some versions want answered all the same, from one that is void."""
    match reason:
        case "interrupted" | "turn_ended" | "process_exited":
            why: VoidReason = reason
        case _:
            why = "cancelled"
    if isinstance(item, Received) and isinstance(item.message, ControlCancelRequest):
        return CancelledByCli(name, why)
    return Voided(name, why)
