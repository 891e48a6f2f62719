"""Tool calls: published when the model makes them, ended by their result, or at the latest with their turn.

A call within a background subagent outlives its turn; it ends with its result, with its task, or with the process.
"""

from typing import Literal

from msgspec import Struct

from normalize import results, titles, tools
from normalize.events import ToolCall, ToolUpdate
from normalize.payload import NormalizedPayload
from normalize.place import Place
from normalize.work_dir import WorkDir
from protocol.blocks import ToolResultBlock
from protocol.json_values import Json, JsonObject

LostReason = Literal["interrupted", "process_exited", "no_result"]

_LOST = {
    "interrupted": "The turn was interrupted before the tool answered.",
    "process_exited": "The agent's process ended before the tool answered.",
    "no_result": "The turn ended without a result for this call.",
}


class Call(Struct, gc=False):
    """A call whose result is still to come."""

    id: str
    name: str
    input: JsonObject
    payload: NormalizedPayload
    title: str
    parent: str | None
    message_id: str | None
    block_index: int | None
    background: bool
    """It is made by a subagent that runs in the background."""
    denied: bool = False
    """Leave to run it was refused."""
    asked: bool = False
    """Leave to run it was asked for."""
    undecided: bool = False
    """Leave to run it was asked for, and no answer was heard."""


class Calls:
    """The calls that are pending, and the subagents in the background."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.work_dir = WorkDir()
        """The folder that commands run in."""
        self._pending: dict[str, Call] = {}
        self._ended: set[str] = set()
        self._background: set[str] = set()

    def open(
        self,
        call_id: str,
        name: str,
        arguments: JsonObject,
        *,
        parent: str | None,
        message_id: str | None,
        block_index: int | None,
    ) -> list[ToolCall]:
        """The model calls a tool; a call that is known already is not published again."""
        if call_id in self._pending or call_id in self._ended:
            return []
        payload = self.work_dir.placed(tools.call(name, arguments))
        if parent is None:
            self.work_dir.called(name, arguments)
        call = Call(
            id=call_id,
            name=name,
            input=arguments,
            payload=payload,
            title=titles.of(name, payload),
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
                tool_name=name,
                tool_title=call.title,
                tool_status="running",
                normalized=payload,
            )
        ]

    def find(self, call_id: str | None, name: str, arguments: JsonObject) -> Call | None:
        """Return the pending call that a request is about: by id, or (1.0, 2.0) by name and arguments."""
        if call_id is not None:
            return self._pending.get(call_id)
        same_name = [call for call in self._pending.values() if call.name == name]
        same = [call for call in same_name if call.input == arguments] or same_name
        unasked = [call for call in same if not call.asked]
        return next(iter(unasked or same), None)

    def end(
        self, block: ToolResultBlock, tool_use_result: Json, *, parent: str | None, uuid: str | None
    ) -> list[ToolUpdate]:
        """A result has come. A second one for the same call is not news."""
        call_id = block.tool_use_id
        if call_id in self._ended:
            return []
        self._ended.add(call_id)
        call = self._pending.pop(call_id, None)
        if call is None:
            call = _unseen(call_id, parent)
        enriched = results.enrich(
            call.payload, block, tool_use_result, denied=call.denied, undecided=call.undecided
        )
        if enriched.background:
            self._background.add(call_id)
        here = self._place.here
        return [
            ToolUpdate(
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
        ]

    def denied(self, call_id: str | None) -> None:
        """Leave to run the tool was refused."""
        call = self._pending.get(call_id or "")
        if call is not None:
            call.denied = True

    def not_denied(self, call_id: str | None) -> None:
        """Leave to run the tool was given, or is not asked for any more."""
        call = self._pending.get(call_id or "")
        if call is not None:
            call.undecided = False

    def progress(self, call_id: str, name: str, parent: str | None, elapsed_s: float) -> list[ToolUpdate]:
        """A tool is still at work."""
        call = self._pending.get(call_id)
        here = self._place.here
        return [
            ToolUpdate(
                session_id=here["session_id"],
                operation_id=here["operation_id"],
                parent_tool_call_id=parent if call is None else call.parent,
                tool_call_id=call_id,
                tool_name=name or (None if call is None else call.name),
                tool_title=None if call is None else call.title,
                tool_status="running",
                elapsed_ms=round(elapsed_s * 1000),
            )
        ]

    def backgrounded(self, call_id: str | None) -> None:
        """The CLI says that a call's work goes on in the background, before its result does."""
        if call_id is not None:
            self._background.add(call_id)

    def task_over(self, call_id: str | None, reason: LostReason) -> list[ToolUpdate]:
        """A background task has ended; what its subagent still waited for will not come."""
        if call_id is None or call_id not in self._background:
            return []
        lost = [call for call in self._pending.values() if call.background and call.parent == call_id]
        self._background.discard(call_id)
        return [self._lose(call, reason) for call in lost]

    def turn_over(self, reason: LostReason) -> list[ToolUpdate]:
        """End the calls of the turn that have no result; those of background subagents go on."""
        self._ended.clear()
        if not self._pending:
            return []
        lost = [call for call in self._pending.values() if not call.background]
        return [self._lose(call, reason) for call in lost]

    def process_over(self) -> list[ToolUpdate]:
        """End all calls: nobody is left to answer."""
        updates = [self._lose(call, "process_exited") for call in list(self._pending.values())]
        self._ended.clear()
        self._background.clear()
        return updates

    def _in_background(self, parent: str | None) -> bool:
        if parent is None:
            return False
        above = self._pending.get(parent)
        return parent in self._background or (above is not None and above.background)

    def _lose(self, call: Call, reason: LostReason) -> ToolUpdate:
        del self._pending[call.id]
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
            tool_status="error",
            normalized=call.payload,
            error=_LOST[reason],
            reason=reason,
        )


def _unseen(call_id: str, parent: str | None) -> Call:
    """A call whose beginning was not heard, such as one of before a resume."""
    return Call(
        id=call_id,
        name="",
        input={},
        payload=tools.call("", {}),
        title="",
        parent=parent,
        message_id=None,
        block_index=None,
        background=False,
    )
