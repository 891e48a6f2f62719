"""Subagents with sessions of their own. Their updates belong to the session and the call that they work for."""

from msgspec import Struct
from msgspec.structs import replace

from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.acp import updates
from turnwire.protocol.acp.messages import PermissionRequest, SessionUpdate
from turnwire.protocol.json_values import Json, JsonObject

_SHOWN = (updates.AgentMessageChunk, updates.AgentThoughtChunk, updates.ToolCallUpdate)
"""Updates of a subagent that are shown. Its prompt is an argument of the call; its commands, plan and title are not shown."""


class Subagent(Struct, frozen=True, gc=False):
    """The session and call that a subagent's session works for."""

    session_id: str
    call_id: str | None


def told_by(subagent: Subagent, message: SessionUpdate) -> SessionUpdate | None:
    """Return a subagent's update as an update of the session that it works for. None if it is not shown."""
    update = message.params.update
    if not isinstance(update, _SHOWN):
        return None
    ours = replace(update, meta=_of_call(subagent, update.meta))
    return replace(
        message, params=replace(message.params, session_id=subagent.session_id, update=ours, meta=None)
    )


def asked_by(subagent: Subagent, message: PermissionRequest) -> PermissionRequest:
    """Return a subagent's request as a request of the session that it works for."""
    call = message.params.tool_call
    ours = replace(call, meta=_of_call(subagent, call.meta))
    return replace(message, params=replace(message.params, session_id=subagent.session_id, tool_call=ours))


def _of_call(subagent: Subagent, meta: Json) -> JsonObject:
    return {**fields(meta), "parentToolCallId": subagent.call_id}
