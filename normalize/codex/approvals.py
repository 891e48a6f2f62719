"""Requests of `codex app-server` to its client, and the client's answers."""

from collections.abc import Sequence

from turnwire.normalize.codex import items
from turnwire.normalize.common.option_effects import REFUSES_AND_STOPS, Granted, always, quoted
from turnwire.normalize.events.control_events import PermissionOption, RememberedRule
from turnwire.normalize.payloads.fields import fields, objects, text
from turnwire.normalize.payloads.work import Choice, Question
from turnwire.normalize.streams.observations import (
    Answered,
    Observation,
    PermissionAsked,
    QuestionAsked,
    ToolCalled,
)
from turnwire.protocol.json_values import Json, JsonObject


def _for_session(what: str, rule: str | None = None) -> PermissionOption:
    return PermissionOption(
        option_id="acceptForSession",
        name="Allow for this session",
        kind="allow_always",
        effect=always([Granted(what, "session")]),
        destination="session",
        remembers=[RememberedRule(rule=rule, destination="session")] if rule else None,
    )


_ACCEPT = PermissionOption(option_id="accept", name="Allow", kind="allow_once")
_SESSION = _for_session("this very command in this folder")
_FILES = _for_session("further changes of these files")
_DECLINE = PermissionOption(option_id="decline", name="Reject", kind="reject_once")
_CANCEL = PermissionOption(
    option_id="cancel", name="Reject and stop", kind="reject_once", effect=REFUSES_AND_STOPS
)
_KNOWN = {one.option_id: one for one in (_ACCEPT, _SESSION, _DECLINE, _CANCEL)}
_RULES = "~/.codex/rules/default.rules"
_AMENDMENT = "acceptWithExecpolicyAmendment"


def request(
    name: Json,
    method: str,
    told: JsonObject,
    *,
    mcp_call: str | None,
    changes: Sequence[JsonObject],
    parent: str | None,
) -> Observation | None:
    """Return a request of the server; None for an unknown method.

    Args:
        name: the request's id.
        method: its method.
        told: its parameters.
        mcp_call: the open call of the MCP server that it concerns, if any.
        changes: changes of the open patch that it concerns, if any.
        parent: the call whose subagent asks.
    """
    call_id = text(told, "itemId") or ""
    match method:
        case "item/commandExecution/requestApproval":
            return PermissionAsked(
                id=str(name),
                call=items.command(call_id, told, parent=parent),
                options=_options(told),
                reason=text(told, "reason"),
            )
        case "item/fileChange/requestApproval":
            moved = [text(one, "path") for one in changes if text(fields(one.get("kind")), "move_path")]
            return PermissionAsked(
                id=str(name),
                call=items.patch(call_id, changes, parent=parent),
                options=(_ACCEPT, _FILES, _DECLINE, _CANCEL),
                reason=text(told, "reason"),
                paths=[path for path in (*moved, text(told, "grantRoot")) if path],
            )
        case "item/permissions/requestApproval":
            wanted = ToolCalled(
                id=call_id, name="permissions", arguments=told.get("permissions"), parent=parent
            )
            return PermissionAsked(
                id=str(name), call=wanted, options=(_ACCEPT, _DECLINE), reason=text(told, "reason")
            )
        case "item/tool/requestUserInput":
            return QuestionAsked(
                id=str(name), questions=[_question(one) for one in objects(told, "questions")]
            )
        case "mcpServer/elicitation/request":
            return _elicitation(name, told, mcp_call, parent)
        case _:
            return None


def answer(name: Json, method: str, value: JsonObject) -> Answered:
    """Return the client's answer to a request of a method."""
    result = fields(value.get("result"))
    if "error" in value:
        return Answered(id=str(name), behavior="deny", message=text(fields(value["error"]), "message"))
    if method == "item/tool/requestUserInput":
        return Answered(id=str(name), behavior="answer")
    if method == "mcpServer/elicitation/request":
        action = text(result, "action") or ""
        return Answered(
            id=str(name), behavior="allow" if action == "accept" else "deny", option_id=action or None
        )
    if method == "item/permissions/requestApproval":
        return Answered(id=str(name), behavior="allow" if fields(result.get("permissions")) else "deny")
    decision = result.get("decision")
    option = decision if isinstance(decision, str) else next(iter(fields(decision)), "cancel")
    return Answered(
        id=str(name), behavior="allow" if option.startswith("accept") else "deny", option_id=option
    )


def _options(told: JsonObject) -> list[PermissionOption]:
    offered = told.get("availableDecisions")
    found: list[PermissionOption] = []
    for one in offered if isinstance(offered, list) else [*_KNOWN]:
        if isinstance(one, str):
            found.append(_KNOWN.get(one) or PermissionOption(option_id=one, name=one, kind="allow_once"))
        else:
            found += [_rule(told) if option == _AMENDMENT else _other(option) for option in fields(one)]
    # these two work though they are not offered (0.169.0)
    if _ACCEPT in found and _SESSION not in found:
        found.insert(found.index(_ACCEPT) + 1, _SESSION)
    if _SESSION in found and (command := text(told, "command")):
        rule = f"{command} (in {text(told, 'cwd') or 'the working directory'})"
        found[found.index(_SESSION)] = _for_session("this very command in this folder", rule)
    if _DECLINE not in found:
        # before `cancel`: the first refusal that is offered should not end the turn
        found.insert(found.index(_CANCEL) if _CANCEL in found else len(found), _DECLINE)
    return found


def _rule(told: JsonObject) -> PermissionOption:
    words = told.get("proposedExecpolicyAmendment")
    shown = " ".join(one for one in words if isinstance(one, str)) if isinstance(words, list) else ""
    return PermissionOption(
        option_id=_AMENDMENT,
        name=f"Always allow commands that begin with: {shown}",
        kind="allow_always",
        effect=always([Granted(f"commands that begin with {quoted(shown)}", "userSettings", _RULES)]),
        remembers=[RememberedRule(rule=shown, destination="userSettings", file=_RULES)],
        destination="userSettings",
    )


def _other(option: str) -> PermissionOption:
    if option.startswith("accept"):
        return PermissionOption(option_id=option, name=option, kind="allow_always")
    return PermissionOption(option_id=option, name=option, kind="reject_always")


def _question(told: JsonObject) -> Question:
    return Question(
        question=text(told, "question") or "",
        header=text(told, "header"),
        options=[
            Choice(label=text(one, "label") or "", description=text(one, "description"))
            for one in objects(told, "options")
        ],
        multi_select=False,
    )


def _elicitation(name: Json, told: JsonObject, mcp_call: str | None, parent: str | None) -> Observation:
    about = fields(told.get("_meta"))
    server, tool = text(told, "serverName") or "", text(about, "tool_name") or ""
    if mcp_call is None or about.get("codex_approval_kind") != "mcp_tool_call":
        return QuestionAsked(
            id=str(name),
            message=text(told, "message"),
            schema=told.get("requestedSchema"),
            mcp_server=server,
        )
    return PermissionAsked(
        id=str(name),
        call=ToolCalled(
            id=mcp_call, name=tool, arguments=about.get("tool_params"), mcp=(server, tool), parent=parent
        ),
        options=(_ACCEPT, _DECLINE, _CANCEL),
        reason=text(told, "message"),
    )
