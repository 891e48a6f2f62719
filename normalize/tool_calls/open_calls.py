"""Tool calls of one session. Each begins once and ends once, whatever the agent sends.

A call begins with its first message, which may be the permission request. Its arguments and output arrive in
pieces, published as running updates. Updates become rarer as they grow, so all of them together are a few times
as long as the last one. A call that the agent leaves open ends with its turn, with an unknown result.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.endings import LOST_CALLS, LostReason
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.normalize.events import AgentEvent, ToolUpdate
from turnwire.normalize.events import ToolCall as CallEvent
from turnwire.normalize.payloads import NormalizedPayload, ShellExecPayload
from turnwire.normalize.tool_calls.call_payloads import Status, name_of, payload, subject_of, title_of
from turnwire.normalize.tool_calls.call_quirks import CallQuirks
from turnwire.normalize.tool_calls.tool_call_state import ToolCallState
from turnwire.protocol.acp.content import Terminal
from turnwire.protocol.acp.updates import ToolCall, ToolCallUpdate
from turnwire.protocol.json_values import Json

PermissionOutcome = Literal["asked", "allowed", "denied", "cancelled"]
"""State of a call's permission request."""

_DENIED = "Leave to run was refused."
_REMEMBERED = 1024
_ALWAYS_TOLD = 8
"""Number of running updates of a call that are published without checking how much is new."""
_REFUSALS = (
    "refused permission",
    "user refused",
    "user rejected",
    "rejected by",
    "denied by",
    "permission denied",
    "was rejected",
    "declined",
    "not permitted",
    "user denied",
    "tool use was rejected",
    "operation cancelled",
    "tool permission request failed",
)
_ERROR_LENGTH = 4000
"""Characters of a result that tell why a call failed."""


class Call(Struct, gc=False):
    """An open call."""

    id: str
    """Our id, which is unique in the session."""
    agent_call_id: str | None = None
    """The agent's own id, where it is another."""
    facts: ToolCallState = field(default_factory=ToolCallState)
    made: NormalizedPayload | None = None
    """As it was last published."""
    title: str = ""
    told: int = 0
    """Running updates so far."""
    size: int = 0
    """About how long the last of them was."""
    permission_outcome: PermissionOutcome | None = None
    waits: bool = False
    """The agent reported the call as pending and not yet as running."""
    history: bool | None = None
    over: Status | None = None
    """Set if the call began with its end. The end is published with the next message about something else."""


class Calls:
    """The calls of one session."""

    def __init__(self, place: EventContext, ids: UniqueIds) -> None:
        self._place = place
        self._ids = ids
        self.quirks = CallQuirks()
        self.cancelling = False
        """The turn is being cancelled: calls that end now count as interrupted."""
        self._open: dict[str, Call] = {}
        self._ended_now: dict[str, Json] = {}
        """Calls that ended in this turn -> their arguments."""
        self._ended: BoundedDict[None] = BoundedDict(_REMEMBERED)
        self._named: BoundedDict[str] = BoundedDict(_REMEMBERED)
        """Our id -> the agent's, where they differ."""
        self._due: list[Call] = []
        self._terminals: BoundedDict[str] = BoundedDict(_REMEMBERED)
        """The call that shows a terminal, by the terminal's id."""

    @property
    def any_open(self) -> bool:
        """Some call is open."""
        return bool(self._open)

    @property
    def has_due(self) -> bool:
        """A call has begun with its end, which is not published yet."""
        return bool(self._due)

    def ours(self, update: ToolCallUpdate, *, asks: bool = False) -> ToolCallUpdate:
        """Return an update under our id of its call. It may begin another call under an id that the agent has used before."""
        own = update.tool_call_id
        if not own:
            return update
        call_id = self._ids.of(own)
        if call_id not in self._open and self._begins(call_id, update, asks=asks):
            call_id = self._ids.new(own, self._place.here["operation_id"])
        if call_id == own:
            return update
        self._named.put(call_id, own)
        return replace(update, tool_call_id=call_id)

    def _begins(self, call_id: str, update: ToolCallUpdate, *, asks: bool) -> bool:
        """Return whether an update of a call that is not open is of another call than the last one with this id."""
        is_call = asks or isinstance(update, ToolCall)
        if call_id not in self._ended_now:
            return is_call or call_id not in self._ended
        is_other = update.raw_input not in (None, {}, self._ended_now[call_id])
        return is_call and (is_other or (not asks and update.status in ("pending", "in_progress")))

    def id_of(self, own: str | None) -> str | None:
        """Return our id of the newest call that the agent calls `own`."""
        return None if own is None else self._ids.of(own)

    def is_news(self, update: ToolCallUpdate) -> bool:
        """Return whether an update of a call that is not open begins a call. False for a call that has ended."""
        call_id = update.tool_call_id
        return call_id not in self._ended_now and (isinstance(update, ToolCall) or call_id not in self._ended)

    def find(self, call_id: str | None) -> Call | None:
        """Return an open call by our id."""
        return None if call_id is None else self._open.get(call_id)

    def asked_by(self, told: ToolCallUpdate) -> Call | None:
        """Return the open call for a permission request that has its own id: the oldest one with the same subject."""
        asked = ToolCallState()
        asked.merge(told, self.quirks, asks=True)
        subject = subject_of(asked, self.quirks)
        if subject is None:
            return None
        waiting = (
            call for call in self._open.values() if call.permission_outcome is None and call.over is None
        )
        for call in waiting:
            kind, about = subject_of(call.facts, self.quirks) or ("", "")
            if about == subject[1] and subject[0] in ("", kind):
                return call
        return None

    def newest(self, name: str, title: str | None) -> Call | None:
        """Return the newest open call of a tool, of a title if there is one."""
        found = [call for call in self._open.values() if call.facts.name == name]
        titled = [call for call in found if call.facts.title == title]
        return next(reversed(titled or found), None)

    def also_asked(self, call_id: str) -> tuple[Call, ...]:
        """Return the other calls that a permission request for this call covers."""
        if not self.quirks.batches_permissions:
            return ()
        waiting = (call for call in self._open.values() if call.waits and call.permission_outcome is None)
        return tuple(call for call in waiting if call.id != call_id)

    def on_update(
        self, update: ToolCallUpdate, *, history: bool | None = None, asks: bool = False
    ) -> list[AgentEvent]:
        """Merge an update of a call, or a permission request (`asks`). Publishes nothing for an ended call."""
        call_id = update.tool_call_id
        call = self._open.get(call_id)
        for block in update.content or ():
            if isinstance(block, Terminal):
                self._terminals.put(block.terminal_id, call_id)
        events = self.settle(call_id)
        if call is None:
            return [*events, *self._begin(update, history, asks=asks)] if self.is_news(update) else events
        changed = call.facts.merge(update, self.quirks, asks=asks)
        if update.status is not None:
            call.waits = update.status == "pending"
        if update.status in ("completed", "failed") and call.over is None:
            return [*events, self._end(call, "complete" if update.status == "completed" else "error")]
        if update.status == "cancelled" and call.over is None:
            return [*events, self._cancelled(call)]
        if call.over is not None:
            return events
        if call.facts.streamed_arguments and call.facts.raw_input is None:
            return events
        return [*events, *self._progress(call, changed=changed)]

    def _cancelled(self, call: Call) -> AgentEvent:
        """Version 2: one call was stopped; its turn goes on."""
        was, self.cancelling = self.cancelling, True
        end = self._end(call, "error")
        self.cancelling = was
        return end

    def shown(self, call: Call) -> list[AgentEvent]:
        """A terminal of a call showed more, or has ended."""
        return [] if call.over is not None else self._progress(call, changed=False)

    def settle(self, but: str | None = None) -> list[AgentEvent]:
        """End the calls that began with their end, except the call `but`."""
        if not self._due:
            return []
        due = [call for call in self._due if call.id != but]
        self._due = [call for call in self._due if call.id == but]
        return [self._end(call, call.over or "complete") for call in due]

    def left(self, call_ids: Sequence[str], permission_outcome: PermissionOutcome) -> list[AgentEvent]:
        """The question whether calls may run was answered or taken back."""
        calls = [call for call_id in call_ids if (call := self._open.get(call_id)) is not None]
        for call in calls:
            call.permission_outcome = permission_outcome
        if permission_outcome in ("denied", "cancelled") and self.quirks.forgets_refused_calls:
            return [self._end(call, "error") for call in calls]
        return []

    def turn_over(self, reason: LostReason, *, succeeded: bool) -> list[AgentEvent]:
        """End the calls of the turn that have no end."""
        events = self.settle()
        events += [self._lose(call, reason, succeeded=succeeded) for call in [*self._open.values()]]
        self._ended_now.clear()
        self.cancelling = False
        return events

    def by_terminal(self, terminal_id: str) -> Call | None:
        """Return the open call that shows a terminal."""
        return self._open.get(terminal_id) or self._open.get(self._terminals.get(terminal_id) or "")

    def _begin(self, update: ToolCallUpdate, history: bool | None, *, asks: bool) -> list[AgentEvent]:
        call_id = update.tool_call_id
        call = Call(call_id, self._named.get(call_id), waits=update.status == "pending", history=history)
        call.facts.merge(update, self.quirks, asks=asks)
        self._ended.forget(call.id)
        self._open[call.id] = call
        made = payload(call.facts, self.quirks)
        call.made, call.title, call.size = made, title_of(call.facts, made), _size(call)
        if update.status in ("completed", "failed"):
            call.over = "complete" if update.status == "completed" else "error"
            self._due.append(call)
        return [
            CallEvent(
                **self._place.here,
                parent_tool_call_id=self.id_of(call.facts.parent),
                history=history,
                tool_call_id=call.id,
                agent_call_id=call.agent_call_id,
                tool_name=name_of(call.facts),
                tool_title=call.title,
                tool_status="running",
                normalized=made,
            )
        ]

    def _progress(self, call: Call, *, changed: bool) -> list[AgentEvent]:
        size = _size(call)
        if not changed and size == call.size:
            return []
        if call.told >= _ALWAYS_TOLD and size * 4 < call.size * 5:
            return []
        made = payload(call.facts, self.quirks)
        title = title_of(call.facts, made)
        if made == call.made and title == call.title:
            return []
        call.made, call.title, call.size = made, title, size
        call.told += 1
        return [
            ToolUpdate(
                **self._place.here,
                parent_tool_call_id=self.id_of(call.facts.parent),
                history=call.history,
                tool_call_id=call.id,
                tool_name=name_of(call.facts),
                tool_title=title,
                tool_status="running",
                normalized=made,
            )
        ]

    def _end(self, call: Call, status: Status) -> ToolUpdate:
        """End a call with the agent's status, unless its other fields contradict it."""
        reason: Literal["failed", "denied", "interrupted"] | None = None
        denied = call.permission_outcome in ("denied", "cancelled") or self._was_refused(call, status)
        made = payload(call.facts, self.quirks, status, denied=denied)
        code = (
            made.shell_exec.output.exit_code
            if isinstance(made, ShellExecPayload) and made.shell_exec.output
            else None
        )
        if denied:
            status, reason = (
                "error",
                "interrupted" if self.cancelling and call.permission_outcome != "denied" else "denied",
            )
        elif self.cancelling and (status == "error" or (call.facts.does == "execute" and code is None)):
            status, reason = "error", "interrupted"
        elif status == "error" or code not in (None, 0):
            status, reason = "error", "failed"
        if status == "error":
            made = payload(call.facts, self.quirks, status, denied=denied)
        self._over(call)
        return ToolUpdate(
            **self._place.here,
            parent_tool_call_id=self.id_of(call.facts.parent),
            history=call.history,
            tool_call_id=call.id,
            tool_name=name_of(call.facts),
            tool_title=title_of(call.facts, made),
            tool_status=status,
            normalized=made,
            error=None if reason is None else self._why(call, reason, code),
            reason=reason,
        )

    def _was_refused(self, call: Call, status: Status) -> bool:
        """Recognise a refusal by the agent's words, for a call with a permission request whose answer we did not see."""
        if status != "error" or call.permission_outcome == "allowed":
            return False
        if call.facts.was_refused and (call.permission_outcome is not None or call.facts.response is None):
            return True
        if call.permission_outcome != "asked":
            return False
        words = (call.facts.result_text() or call.facts.shown_text())[:300].lower()
        return any(refusal in words for refusal in _REFUSALS)

    def _why(self, call: Call, reason: str, code: int | None) -> str:
        words = call.facts.result_text() or call.facts.shown_text()
        words = words[:_ERROR_LENGTH].strip()
        if reason == "denied":
            return words or _DENIED
        if reason == "interrupted":
            return words or LOST_CALLS["interrupted"]
        return words or (
            f"The command ended with exit code {code}."
            if code is not None
            else "The tool failed without a word."
        )

    def _lose(self, call: Call, reason: LostReason, *, succeeded: bool) -> ToolUpdate:
        # one that was allowed would have been heard of again
        denied = call.permission_outcome == "denied" or (
            call.permission_outcome == "asked" and reason == "no_result"
        )
        succeeded = (
            succeeded and not denied and call.permission_outcome != "cancelled"
        )  # then nobody knows how it ended
        made = payload(call.facts, self.quirks)
        self._over(call)
        return ToolUpdate(
            **self._place.here,
            parent_tool_call_id=self.id_of(call.facts.parent),
            history=call.history,
            tool_call_id=call.id,
            tool_name=name_of(call.facts),
            tool_title=title_of(call.facts, made),
            tool_status="unknown" if succeeded else "error",
            normalized=made,
            error=None if succeeded else _DENIED if denied else LOST_CALLS[reason],
            reason="denied" if denied else reason,
        )

    def _over(self, call: Call) -> None:
        self._open.pop(call.id, None)
        self._due = [other for other in self._due if other is not call]
        self._ended_now[call.id] = call.facts.raw_input
        self._ended.put(call.id, None)


def _size(call: Call) -> int:
    """Return about how long an update of a call is, without writing it."""
    facts = call.facts
    told = sum(len(value) for value in facts.arguments.values() if isinstance(value, str))
    shown = sum(_length(block) for block in facts.content[:100])
    return facts.terminal_size + len(facts.title) + told + shown


def _length(block: object) -> int:
    texts: Sequence[object] = (
        getattr(block, "old_text", None),
        getattr(block, "new_text", None),
        getattr(getattr(block, "content", None), "text", None),
    )
    return sum(len(value) for value in texts if isinstance(value, str))
