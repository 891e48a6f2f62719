"""How a request that was published ends, as events: answered by somebody we know, by somebody we did not hear, or by nobody.

Every family's pending requests end in these, and what is known of an end is written here alone.
"""

from typing import Literal, Protocol, TypeAlias

from turnwire.normalize.cores.event_context import EventContext
from turnwire.normalize.events import PermissionCancelled, PermissionResolved
from turnwire.normalize.inputs import Decision
from turnwire.normalize.vocabulary import VoidReason

Behavior: TypeAlias = Literal["allow", "deny", "ask", "answer"]
"""What a request has come to."""


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


def resolution(
    place: EventContext, request: OpenRequest, decision: Decision, behavior: Behavior
) -> PermissionResolved:
    """Return the end of a request that somebody has decided: who and how is known."""
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
    )


def resolved(
    place: EventContext,
    request: OpenRequest,
    behavior: Behavior,
    *,
    option_id: str | None = None,
    message: str | None = None,
    interrupt: bool | None = None,
) -> PermissionResolved:
    """Return the end of a request that somebody has answered whom we did not hear."""
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
