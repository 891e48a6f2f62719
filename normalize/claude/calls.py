"""Tool calls: published when the model makes them, ended by their result, or at the latest with their turn.

A call inside a background subagent outlives its turn. It ends with its result, with its task, or with the process.
A call ends once, so a later result is ignored. Two writers may swap lines. A result that arrives before its call is therefore
kept
for a few lines of the model, and at the latest until the turn ends.
"""

from collections.abc import Collection, Iterator
from itertools import islice

from msgspec import Struct

from turnwire.normalize.claude import results, tools
from turnwire.normalize.claude.results.answer import PermissionOutcome
from turnwire.normalize.claude.tools.work_dir import WorkDir
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.endings import LOST_CALLS, LostReason
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.normalize.events import ToolCall, ToolUpdate
from turnwire.normalize.payloads import NormalizedPayload
from turnwire.protocol.claude.blocks import ToolResultBlock
from turnwire.protocol.json_values import Json, JsonObject

_REMEMBERED = 1024
"""Remembered calls that have ended or continue in the background. Later lines may still mention them."""


_LOOKED_AT = 256
"""When a request has no call id, its call is searched among this many of the newest pending calls."""


_EARLY = 64
"""Results that may wait for their call."""

_EARLY_LINES = 64
"""Lines of the model that a result waits for its call."""


class EarlyResult(Struct, gc=False):
    """A result that arrived before its call."""

    block: ToolResultBlock
    structured: Json
    """The tool's structured result."""
    parent: str | None
    uuid: str | None
    permission_outcome: PermissionOutcome | None
    """What the result reveals about the permission request of the call."""
    lines: int = _EARLY_LINES
    """Lines of the model for which it still waits."""


class Call(Struct, gc=False):
    """A call without a result so far."""

    id: str
    """Our id, which is unique in the session."""
    own: str
    """The agent's id."""
    uuid: str | None
    """UUID of the line that made it."""
    name: str
    input: JsonObject
    payload: NormalizedPayload
    title: str
    parent: str | None
    message_id: str | None
    block_index: int | None
    background: bool
    """It is made by a subagent that runs in the background."""
    heard: bool = True
    """False if the call's beginning was not seen."""
    permission_outcome: PermissionOutcome | None = None
    """Outcome of the permission request; None without one."""


class Calls:
    """The calls that are pending, and the subagents in the background."""

    def __init__(self, place: EventContext, first_turn: int) -> None:
        self._place = place
        self._ids = UniqueIds(first_turn)
        self.work_dir = WorkDir()
        """The folder that commands run in."""
        self._pending: dict[str, Call] = {}
        self._ended_now: dict[str, Call] = {}
        """Calls that ended in this turn."""
        self._ended: BoundedDict[bool] = BoundedDict(_REMEMBERED)
        """Calls that ended in any turn -> whether their beginning was seen."""
        self._background: BoundedDict[None] = BoundedDict(_REMEMBERED)
        """Calls that run or ran in the background. Their subagent can be continued."""
        self.early: dict[str, EarlyResult] = {}
        """Results that came before their call, by the agent's id of it."""

    def id_of(self, own: str | None) -> str | None:
        """Return our id of the newest call that the agent calls `own`."""
        return None if own is None else self._ids.of(own)

    def open(
        self,
        own: str,
        name: str,
        arguments: JsonObject,
        *,
        parent: str | None,
        message_id: str | None,
        block_index: int | None,
        uuid: str | None,
    ) -> list[ToolCall]:
        """Start a call of the model. Publishes nothing for a call that was published before.

        Some models count their calls anew in each turn or message, so the same id may be another call. If its result arrived
        first, the call ends at once. `uuid`: of the line that makes it.
        """
        before = self._ids.of(own)
        known = self._pending.get(before) or self._ended_now.get(before)
        if self._ended.get(before) is False or (
            known is not None
            and (known.message_id, known.name, known.input) == (message_id, name, arguments)
            and (uuid is None or known.uuid in (uuid, None))
        ):
            return []
        call_id = self._ids.new(own, self._place.here["operation_id"])
        payload = self.work_dir.placed(tools.call(name, arguments))
        if parent is None:
            self.work_dir.called(name, arguments)
        call = Call(
            id=call_id,
            own=own,
            uuid=uuid,
            name=name,
            input=arguments,
            payload=payload,
            title=tools.title_of(name, payload),
            parent=parent,
            message_id=message_id,
            block_index=block_index,
            background=self._in_background(parent),
        )
        self._pending[call_id] = call
        here = self._place.here
        return [
            ToolCall(
                session_id=here["session_id"],
                operation_id=here["operation_id"],
                parent_tool_call_id=parent,
                message_id=message_id,
                block_index=block_index,
                tool_call_id=call_id,
                agent_call_id=None if own == call_id else own,
                tool_name=name,
                tool_title=call.title,
                tool_status="running",
                normalized=payload,
            )
        ]

    def parent_of(self, call_id: str | None) -> str | None:
        """Return the call whose subagent made a pending call. None in the main thread, or if it is unknown."""
        call = self._pending.get(call_id or "")
        return None if call is None else call.parent

    def find(self, own: str | None, name: str, arguments: JsonObject) -> Call | None:
        """Return the pending call that a request is about: by the agent's id, or (1.0, 2.0) by name and arguments."""
        if own is not None:
            call = self._pending.get(self._ids.of(own))
            if call is None or call.id == own or call.input == arguments:
                return call
            return next((one for one in self._named(own) if one.input == arguments), call)
        newest = [*islice(reversed(self._pending.values()), _LOOKED_AT)]
        same_name = [call for call in reversed(newest) if call.name == name]
        same = [call for call in same_name if call.input == arguments] or same_name
        unasked = [call for call in same if call.permission_outcome is None]
        return next(iter(unasked or same), None)

    def end(
        self,
        block: ToolResultBlock,
        tool_use_result: Json,
        *,
        parent: str | None,
        uuid: str | None,
        permission_outcome: PermissionOutcome | None,
        waits: bool,
    ) -> list[ToolUpdate]:
        """Handle a result. A second result for the same call is ignored.

        `leave`: what the result reveals about the permission request. `waits`: if a turn is open, a result that arrives before
        its call is kept for it.
        """
        own = block.tool_use_id
        call = next(self._named(own), None)
        if call is not None:
            del self._pending[call.id]
        else:
            if self._ids.of(own) in self._ended or own in self.early:
                return []
            if waits and self._place.here["operation_id"] is not None and len(self.early) < _EARLY:
                self.early[own] = EarlyResult(block, tool_use_result, parent, uuid, permission_outcome)
                return []
            call = _unseen(own, parent)
        call.permission_outcome = permission_outcome or call.permission_outcome
        return [self._end(call, block, tool_use_result, uuid)]

    def _named(self, own: str) -> Iterator[Call]:
        """Yield the pending calls that the agent calls `own`, the oldest first."""
        newest = self._pending.get(self._ids.of(own))
        if newest is not None and newest.id == own:
            yield newest
        elif newest is not None:
            yield from [call for call in self._pending.values() if call.own == own]

    def line_over(self) -> list[ToolUpdate]:
        """A line of the model was read; tell the results that have waited long enough for their call."""
        waited = list(self.early.values())
        for result in waited:
            result.lines -= 1
        return [self._unheard(result) for result in waited if result.lines <= 0]

    def _unheard(self, result: EarlyResult) -> ToolUpdate:
        """Publish a result whose call never arrived."""
        own = result.block.tool_use_id
        del self.early[own]
        call = _unseen(own, result.parent)
        call.permission_outcome = result.permission_outcome
        return self._end(call, result.block, result.structured, result.uuid)

    def _end(self, call: Call, block: ToolResultBlock, tool_use_result: Json, uuid: str | None) -> ToolUpdate:
        call_id = call.id
        self._over(call)
        enriched = results.enrich(
            call.payload, block, tool_use_result, permission_outcome=call.permission_outcome
        )
        if enriched.background:
            self._background.put(call_id, None)
        here = self._place.here
        return ToolUpdate(
            session_id=here["session_id"],
            operation_id=here["operation_id"],
            parent_tool_call_id=call.parent,
            message_id=call.message_id,
            block_index=call.block_index,
            tool_call_id=call_id,
            tool_name=call.name or None,
            tool_title=call.title or None,
            tool_status=enriched.status,
            normalized=enriched.payload,
            error=enriched.error,
            reason=enriched.reason,
            background=enriched.background or None,
            uuid=uuid,
        )

    def left(self, call_id: str | None, permission_outcome: PermissionOutcome) -> None:
        """The question whether a call may run was asked, answered or taken back."""
        call = self._pending.get(call_id or "")
        if call is not None:
            call.permission_outcome = permission_outcome

    def edited(self, call_id: str | None, arguments: JsonObject) -> list[ToolUpdate]:
        """Publish a call again when it runs with arguments other than the model's."""
        call = self._pending.get(call_id or "")
        if call is None or call.input == arguments:
            return []
        call.input = arguments
        call.payload = self.work_dir.placed(tools.call(call.name, arguments))
        call.title = tools.title_of(call.name, call.payload)
        here = self._place.here
        return [
            ToolUpdate(
                session_id=here["session_id"],
                operation_id=here["operation_id"],
                parent_tool_call_id=call.parent,
                message_id=call.message_id,
                block_index=call.block_index,
                tool_call_id=call.id,
                tool_name=call.name,
                tool_title=call.title,
                tool_status="running",
                normalized=call.payload,
            )
        ]

    def progress(self, own: str, name: str, parent: str | None, elapsed_s: float) -> list[ToolUpdate]:
        """A tool is still at work."""
        call_id = self._ids.of(own)
        call = self._pending.get(call_id)
        here = self._place.here
        return [
            ToolUpdate(
                session_id=here["session_id"],
                operation_id=here["operation_id"],
                parent_tool_call_id=self.id_of(parent) if call is None else call.parent,
                tool_call_id=call_id,
                tool_name=name or (None if call is None else call.name),
                tool_title=None if call is None else call.title,
                tool_status="running",
                elapsed_ms=round(elapsed_s * 1000),
            )
        ]

    def backgrounded(self, call_id: str) -> None:
        """Note that a call continues in the background. The CLI says so before the result."""
        self._background.put(call_id, None)

    def task_over(self, call_ids: Collection[str], reason: LostReason) -> list[ToolUpdate]:
        """End the calls of a background task's subagent when the task ends: their results will not arrive.

        `call_ids`: the call that started the task and the calls that continued it.
        """
        background = [call_id for call_id in call_ids if call_id in self._background]
        if not background:
            return []
        lost = [call for call in self._pending.values() if call.background and call.parent in background]
        return [self._lose(call, reason, succeeded=reason == "no_result") for call in lost]

    def turn_over(self, reason: LostReason, *, succeeded: bool) -> list[ToolUpdate]:
        """End the turn's calls without a result. Calls of background subagents continue.

        If the turn `succeeded`, the calls count as complete.
        """
        updates = [self._unheard(result) for result in list(self.early.values())]
        if self._pending:
            lost = [call for call in self._pending.values() if not call.background]
            updates += [self._lose(call, reason, succeeded=succeeded) for call in lost]
        self._ended_now.clear()
        return updates

    def process_over(self) -> list[ToolUpdate]:
        """End all calls: the process is gone."""
        updates = [self._unheard(result) for result in list(self.early.values())]
        lost = list(self._pending.values())
        updates += [self._lose(call, "process_exited", succeeded=False) for call in lost]
        self._ended_now.clear()
        self._background.clear()
        return updates

    def _over(self, call: Call) -> None:
        self._ended_now[call.id] = call
        self._ended.put(call.id, call.heard)

    def _in_background(self, parent: str | None) -> bool:
        if parent is None:
            return False
        above = self._pending.get(parent)
        return parent in self._background or (above is not None and above.background)

    def _lose(self, call: Call, reason: LostReason, *, succeeded: bool) -> ToolUpdate:
        del self._pending[call.id]
        self._over(call)
        here = self._place.here
        return ToolUpdate(
            session_id=here["session_id"],
            operation_id=here["operation_id"],
            parent_tool_call_id=call.parent,
            message_id=call.message_id,
            block_index=call.block_index,
            tool_call_id=call.id,
            tool_name=call.name,
            tool_title=call.title,
            tool_status="complete" if succeeded else "error",
            normalized=call.payload,
            error=None if succeeded else LOST_CALLS[reason],
            reason=reason,
        )


def _unseen(own: str, parent: str | None) -> Call:
    """Return a call whose beginning was not seen, for example from before a resume."""
    return Call(
        id=own,
        own=own,
        uuid=None,
        name="",
        input={},
        payload=tools.call("", {}),
        title="",
        parent=parent,
        message_id=None,
        block_index=None,
        background=False,
        heard=False,
    )
