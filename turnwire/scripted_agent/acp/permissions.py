"""May a tool run? Modes and what was allowed permanently are looked at first, then the client is asked."""

from enum import Enum, auto

from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.scripted_agent.acp.connection import RpcError
from turnwire.scripted_agent.acp.session import Session
from turnwire.scripted_agent.claude.permissions import EDITS
from turnwire.scripted_agent.script import Tool


class Verdict(Enum):
    """What became of the question."""

    ALLOWED = auto()
    REJECTED = auto()
    CANCELLED = auto()
    """The client ends the turn: it says so in place of an answer."""


async def permitted(session: Session, tool: Tool, call: JsonObject) -> Verdict:
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


async def chosen(session: Session, call: JsonObject, options: list[JsonObject]) -> JsonObject | None:
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
