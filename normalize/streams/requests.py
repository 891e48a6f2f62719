"""The agent's requests that wait. Each is published once, and so is its end."""

from collections.abc import Callable

from msgspec import Struct

from turnwire.normalize.common import outcomes
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.events import AgentEvent, PermissionRequest, QuestionRequest
from turnwire.normalize.inputs import Decision
from turnwire.normalize.streams.observations import Answered
from turnwire.normalize.vocabulary import VoidReason

_NAMES = 1000
"""Names that are remembered."""


class _Open(Struct):
    """A request that has no answer yet."""

    pending_id: str
    published: PermissionRequest | QuestionRequest
    is_decided: bool = False
    """The decision was published, so the answer is not published again."""

    @property
    def tool_call_id(self) -> str | None:
        """The call that waits."""
        return self.published.tool_call_id

    @property
    def tool_name(self) -> str | None:
        """The tool of that call."""
        return self.published.tool_name if isinstance(self.published, PermissionRequest) else None


class Requests:
    """The requests of one conversation."""

    def __init__(self, place: EventContext) -> None:
        self._place = place
        self._open: dict[str, _Open] = {}
        self._given: BoundedDict[int] = BoundedDict(_NAMES)

    @property
    def pending(self) -> tuple[str, ...]:
        """Names of the requests that wait for a human."""
        return tuple(one.pending_id for one in self._open.values() if not one.is_decided)

    def name_of(self, request_id: str) -> str | None:
        """Return the name that an open request was published under."""
        found = self._open.get(request_id)
        return None if found is None else found.pending_id

    def ask(
        self, request_id: str, make: Callable[[str], PermissionRequest | QuestionRequest]
    ) -> list[AgentEvent]:
        """Publish a request under a unique name: agents reuse their ids."""
        name = f"{self._place.here['operation_id'] or 'session'}/{request_id[:200]}"
        times = (self._given.get(name) or 0) + 1
        self._given.put(name, times)
        before = self._open.pop(request_id, None)
        made = make(name if times == 1 else f"{name}#{times}")
        self._open[request_id] = _Open(made.pending_id, made)
        return [*self._void([before] if before is not None else [], "cancelled"), made]

    def answer(self, answer: Answered) -> tuple[list[AgentEvent], str | None]:
        """The agent was answered; return also the call that waited, where this is news of it."""
        found = self._open.pop(answer.id, None)
        if found is None or found.is_decided:
            return [], None
        if answer.behavior == "cancelled":
            return self._void([found], "cancelled"), found.tool_call_id
        told = outcomes.resolved(
            self._place, found, answer.behavior, option_id=answer.option_id, message=answer.message
        )
        return [told], found.tool_call_id

    def decide(self, decision: Decision) -> tuple[list[AgentEvent], str | None]:
        """Handle a known decision. Also returns the call that waited."""
        found = next((one for one in self._open.values() if one.pending_id == decision.pending_id), None)
        behavior = decision.behavior
        if found is None or found.is_decided or behavior == "pass" or behavior == "error":  # noqa: PLR1714 - for the type
            return [], None
        found.is_decided = True
        return [outcomes.resolution(self._place, found, decision, behavior)], found.tool_call_id

    def settle(self, call_id: str, *, denied: bool) -> list[AgentEvent]:
        """A call has ended: someone outside this stream allowed or denied it."""
        names = [name for name, one in self._open.items() if one.tool_call_id == call_id]
        found = [self._open.pop(name) for name in names]
        return [
            outcomes.resolved(self._place, one, "deny" if denied else "allow")
            for one in found
            if not one.is_decided
        ]

    def void(self, reason: VoidReason) -> list[AgentEvent]:
        """Void all waiting requests: they will not be answered."""
        found = [*self._open.values()]
        self._open.clear()
        return self._void(found, reason)

    def _void(self, found: list[_Open], reason: VoidReason) -> list[AgentEvent]:
        return [outcomes.void(self._place, one, reason) for one in found if not one.is_decided]
