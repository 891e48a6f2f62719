"""The ends of published requests, as events: decided by a known decider, answered by someone outside the stream, or unanswered.

The pending requests of every family end here.
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.events import (
    AgentEvent,
    PermissionCancelled,
    PermissionRequest,
    PermissionResolved,
    QuestionRequest,
)
from turnwire.normalize.inputs import Decision
from turnwire.normalize.vocabulary import VoidReason

MOST_AHEAD = 1000
"""Most decisions that wait for their requests."""

Behavior: TypeAlias = Literal["allow", "deny", "ask", "answer"]
"""The decision about a request."""


class OpenRequest(Protocol):
    """A request that was published and has not ended."""

    @property
    def pending_id(self) -> str:
        """Its name in answers."""
        ...

    @property
    def tool_call_id(self) -> str | None:
        """The call that it is about."""
        ...

    @property
    def tool_name(self) -> str | None:
        """The tool of that call."""
        ...

    @property
    def published(self) -> PermissionRequest | QuestionRequest | None:
        """The event that asked."""
        ...


def resolution(
    place: EventContext, request: OpenRequest, decision: Decision, behavior: Behavior
) -> PermissionResolved:
    """Return the end of a request with a known decision."""
    asked = request.published if decision.unasked else None
    return PermissionResolved(
        **place.here,
        pending_id=request.pending_id,
        tool_call_id=request.tool_call_id,
        tool_name=request.tool_name,
        behavior=behavior,
        option_id=decision.option_id,
        by=decision.by,
        waited_ms=decision.waited_ms,
        message=decision.message,
        updated_input=decision.updated_input,
        destination=decision.destination,
        interrupt=decision.interrupt or None,
        unasked=decision.unasked or None,
        permission_title=_title(asked),
        action_type=asked.action_type if isinstance(asked, PermissionRequest) else None,
        action_details=asked.action_details if isinstance(asked, PermissionRequest) else None,
    )


def _title(asked: PermissionRequest | QuestionRequest | None) -> str | None:
    match asked:
        case PermissionRequest():
            return asked.permission_title
        case QuestionRequest():
            return asked.message or "; ".join(one.question for one in asked.questions or ()) or "question"
        case None:
            return None


class DecidedAhead:
    """Decisions that precede the line of their request: a rule or policy made them while the line was read."""

    def __init__(self) -> None:
        self._decisions: BoundedDict[Decision] = BoundedDict(MOST_AHEAD)

    def put(self, decision: Decision) -> None:
        """Keep a decision until its request arrives."""
        self._decisions.put(decision.pending_id, decision)

    def settle(
        self, events: Sequence[AgentEvent], decide: Callable[[Decision], Sequence[AgentEvent]]
    ) -> list[AgentEvent]:
        """Return a line's events. A request that is already decided is replaced by the events of its decision."""
        if not self._decisions:
            return [*events]
        settled: list[AgentEvent] = []
        for event in events:
            ahead = (
                self._decisions.pop(event.pending_id, None)
                if isinstance(event, PermissionRequest | QuestionRequest)
                else None
            )
            settled += [event] if ahead is None else decide(ahead)
        return settled


def resolved(
    place: EventContext,
    request: OpenRequest,
    behavior: Behavior,
    *,
    option_id: str | None = None,
    message: str | None = None,
    interrupt: bool | None = None,
) -> PermissionResolved:
    """Return the end of a request that someone outside the stream answered."""
    return PermissionResolved(
        **place.here,
        pending_id=request.pending_id,
        tool_call_id=request.tool_call_id,
        tool_name=request.tool_name,
        behavior=behavior,
        option_id=option_id,
        message=message,
        interrupt=interrupt,
    )


def void(place: EventContext, request: OpenRequest, reason: VoidReason) -> PermissionCancelled:
    """Return the end of a request that needs no answer any more."""
    return PermissionCancelled(
        **place.here, pending_id=request.pending_id, tool_call_id=request.tool_call_id, reason=reason
    )
