"""Tool calls as readers report them, passed on to normalize/tool_calls/open_calls.py."""

from collections.abc import Sequence

from msgspec.structs import replace

from turnwire.normalize.common.endings import lost_reason
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.option_effects import described
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.normalize.events import AgentEvent, Outcome, PermissionRequest, ToolUpdate
from turnwire.normalize.streams.observations import Change, PermissionAsked, ToolCalled, ToolEnded, ToolOutput
from turnwire.normalize.tool_calls.call_quirks import CallQuirks
from turnwire.normalize.tool_calls.open_calls import Call, Calls, PermissionOutcome
from turnwire.normalize.tool_calls.permission_event import permission
from turnwire.protocol.acp import messages
from turnwire.protocol.acp.content import AnyShown, Diff
from turnwire.protocol.acp.updates import ToolCall, ToolCallUpdate
from turnwire.protocol.json_values import JsonObject

_QUIRKS = CallQuirks(shows_whole_files=True)
"""Texts of changes are whole files. Readers of agents that report passages leave them among the arguments."""
_OPERATIONS = {"create": "add", "edit": "modify", "delete": "delete"}


class StreamCalls:
    """The calls of one conversation."""

    def __init__(self, place: EventContext, ids: UniqueIds) -> None:
        self._place = place
        self._calls = Calls(place, ids)
        self._calls.quirks = _QUIRKS

    def called(self, told: ToolCalled, *, asks: bool = False) -> list[AgentEvent]:
        """Begin a call, or update a running one."""
        return self._calls.on_update(self._calls.ours(_update(told), asks=asks), asks=asks)

    def showed(self, told: ToolOutput) -> list[AgentEvent]:
        """A running call has shown more."""
        call = self.find(told.id)
        if call is None:
            return []
        if told.is_all:
            call.facts.terminal, call.facts.terminal_size = [], 0
        call.facts.show(told.text)
        return self._calls.shown(call)

    def id_of(self, own: str) -> str:
        """Return our id of the newest call that the agent calls `own`."""
        return self._calls.id_of(own) or own

    def find(self, own: str) -> Call | None:
        """Return an open call by the agent's id."""
        return self._calls.find(self.id_of(own))

    def is_open_or_new(self, call_id: str) -> bool:
        """Return whether a call may still get updates. False for a call that has ended."""
        update = ToolCallUpdate(self.id_of(call_id))
        return self._calls.find(update.tool_call_id) is not None or self._calls.is_news(update)

    def ended(self, told: ToolEnded) -> list[AgentEvent]:
        """End a call. If its beginning was not seen, it begins now."""
        events: list[AgentEvent] = []
        if self.find(told.id) is None:
            events = self.called(ToolCalled(id=told.id, name=told.name or "tool"))
        call = self.find(told.id)
        assert call is not None, "it has begun"
        facts = call.facts
        if told.stdout is not None or told.stderr is not None:
            facts.response = {"stdout": told.stdout or "", "stderr": told.stderr or ""}
        if told.output is not None:
            facts.terminal, facts.terminal_size = [], 0
        facts.exited(told.exit_code, told.signal)
        if told.status == "denied":
            call.permission_outcome = "denied"
        was_cancelling, self._calls.cancelling = (
            self._calls.cancelling,
            self._calls.cancelling or told.status == "interrupted",
        )
        output = told.error if told.output is None else told.output
        ends = self._calls.on_update(
            ToolCallUpdate(
                tool_call_id=call.id,
                status="completed" if told.status == "complete" else "failed",
                raw_output=output,
                content=_shown(told.changes) or None,
            )
        )
        self._calls.cancelling = was_cancelling
        if told.error is not None:
            ends = [_because(event, told.error) for event in ends]
        return events + ends

    def asked(self, pending_id: str, told: PermissionAsked) -> PermissionRequest:
        """Return the permission request of an open call."""
        call = self.find(told.call.id)
        assert call is not None, "a request for leave begins its call"
        call.permission_outcome = "asked"
        wanted = messages.PermissionRequest(params=messages.PermissionParams(description=told.reason))
        made = permission(self._place, pending_id, wanted, call.facts, _QUIRKS, tool_call_id=call.id)
        return replace(made, permission_options=described(told.options))

    def left(self, call_id: str | None, permission_outcome: PermissionOutcome) -> list[AgentEvent]:
        """The question whether a call may run was answered."""
        return [] if call_id is None else self._calls.left([call_id], permission_outcome)

    def over(self, outcome: Outcome) -> list[AgentEvent]:
        """A turn has ended, and with it the calls that were open."""
        return self._calls.turn_over(
            lost_reason(outcome),
            succeeded=outcome == "completed",
        )


def _update(told: ToolCalled) -> ToolCall:
    meta: JsonObject = {}
    if told.parent is not None:
        meta["parentToolCallId"] = told.parent
    if told.work_dir is not None:
        meta["terminal_info"] = {"cwd": told.work_dir}
    title = told.title
    if told.mcp is not None:
        server, tool = told.mcp
        title = f"{tool} ({server} MCP Server)"
    return ToolCall(
        tool_call_id=told.id,
        name=told.name,
        title=title or None,
        kind=told.kind,
        raw_input=told.arguments,
        content=_shown(told.changes) or None,
        meta=meta or None,
    )


def _shown(changes: Sequence[Change]) -> list[AnyShown]:
    return [_diff(change) for change in changes]


def _diff(change: Change) -> Diff:
    operation = _OPERATIONS[change.kind]
    if change.diff is None and (change.old is not None or change.new is not None):
        return Diff(change.path, change.old, change.new, meta={"kind": operation})
    return Diff(
        change.path,
        changes=[{"operation": operation, "path": change.path}],
        patch=None if change.diff is None else {"text": change.diff},
    )


def _because(event: AgentEvent, error: str) -> AgentEvent:
    """Put the agent's own reason into the end of a call that failed."""
    if isinstance(event, ToolUpdate) and event.tool_status == "error":
        return replace(event, error=error)
    return event
