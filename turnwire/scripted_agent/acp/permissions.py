"""Decide whether a tool may run: first by mode and remembered permissions, then by asking the client."""

from enum import Enum, auto

from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.scripted_agent.acp.acp_session import AcpSession
from turnwire.scripted_agent.acp.connection import RpcError
from turnwire.scripted_agent.claude.permissions import EDITS
from turnwire.scripted_agent.script import Tool


class Verdict(Enum):
    """The result of a permission request."""

    ALLOWED = auto()
    REJECTED = auto()
    CANCELLED = auto()
    """The client cancelled the turn instead of answering."""


async def permitted(session: AcpSession, tool: Tool, call: JsonObject) -> Verdict:
    """Decide whether a call may run, asking the client if it must be asked."""
    key = (tool.tool, text_at(call["rawInput"], "command"))
    if (
        not tool.permission
        or session.mode == "bypassPermissions"
        or (session.mode == "acceptEdits" and tool.tool in EDITS)
        or key in session.allowed
    ):
        return Verdict.ALLOWED
    match await chosen(session, call, session.script.acp.permission_options):
        case {"kind": "allow_always"}:
            session.allowed.add(key)
            return Verdict.ALLOWED
        case {"kind": "allow_once"}:
            return Verdict.ALLOWED
        case None:
            return Verdict.CANCELLED
        case _:
            return Verdict.REJECTED


async def chosen(session: AcpSession, call: JsonObject, options: list[JsonObject]) -> JsonObject | None:
    """Ask the client to choose; None when it cancels, and {} for an error or a choice that was not offered."""
    asked = {"sessionId": session.id, "toolCall": call, "options": options}
    try:
        answer: Json = await session.connection.request("session/request_permission", asked)
    except RpcError:
        return {}
    match answer:
        case {"outcome": {"outcome": "selected", "optionId": option_id}}:
            return next((option for option in options if option["optionId"] == option_id), {})
        case {"outcome": {"outcome": "cancelled"}}:
            return None
        case _:
            return {}
