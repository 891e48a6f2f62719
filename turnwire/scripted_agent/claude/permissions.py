"""May a tool run? Hooks are asked first, then rules and the mode, then the host."""

import re
from dataclasses import dataclass
from typing import TypeAlias

from turnwire.protocol.claude.control import ControlResponse
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.scripted_agent.claude.claude_session import ClaudeSession
from turnwire.scripted_agent.script import Tool

EDITS = ("Edit", "MultiEdit", "NotebookEdit", "Write")
INTERACTIVE = ("AskUserQuestion", "ExitPlanMode")
"""Tools that exist for the answer: they are asked in every mode."""


@dataclass(frozen=True)
class Allowed:
    """The tool runs with this input."""

    input: JsonObject


@dataclass(frozen=True)
class Denied:
    """The tool does not run; the message is its result."""

    message: str
    interrupt: bool = False


Verdict: TypeAlias = Allowed | Denied


async def run_hooks(
    session: ClaudeSession, event: str, tool: str, payload: JsonObject, call_id: str | None
) -> list[JsonObject]:
    """Ask every callback registered for the event and the tool, in order; returns their answers."""
    answers = []
    for matcher in session.hooks.get(event) or []:
        pattern = matcher.get("matcher")
        if pattern and not re.fullmatch(pattern, tool):
            continue
        for callback in matcher.get("hookCallbackIds") or []:
            request: JsonObject = {
                "subtype": "hook_callback",
                "callback_id": callback,
                "input": {
                    "session_id": session.wire.session_id,
                    "transcript_path": "",
                    "cwd": session.wire.cwd,
                    "permission_mode": session.wire.permission_mode,
                    "hook_event_name": event,
                    **payload,
                },
            }
            if call_id is not None:
                request["tool_use_id"] = call_id
            answer = await session.host.request(session.wire.line, request)
            answers.append(answer.payload if isinstance(answer.payload, dict) else {})
    return answers


async def permitted(session: ClaudeSession, tool: Tool, call_id: str, arguments: JsonObject) -> Verdict:
    """Decide whether a call may run. Asks hooks and the host as the CLI does."""
    must_ask = tool.permission or tool.tool in INTERACTIVE
    decided = False
    payload = {"tool_name": tool.tool, "tool_input": arguments}
    for answer in await run_hooks(session, "PreToolUse", tool.tool, payload, call_id):
        output = answer.get("hookSpecificOutput")
        specific: JsonObject = output if isinstance(output, dict) else {}
        reason = specific.get("permissionDecisionReason") or answer.get("reason") or "denied by a hook"
        match specific.get("permissionDecision") or answer.get("decision"):
            case "deny" | "block":
                return Denied(f"PreToolUse:{tool.tool} hook error: {reason}")
            case "ask":
                must_ask = True
            case "allow" | "approve":
                decided = True
            case _:
                pass
        arguments = specific.get("updatedInput") or arguments
    if decided or not must_ask or _settled(session, tool, arguments):
        return Allowed(arguments)
    if not session.options.asks_host or session.wire.permission_mode == "dontAsk":
        return Denied(f"Claude requested permissions to use {tool.tool}, but you haven't granted it yet.")
    request = _question(session, tool, call_id, arguments)
    return _verdict(session, await session.host.request(session.wire.line, request), arguments)


def _settled(session: ClaudeSession, tool: Tool, arguments: JsonObject) -> bool:
    """Whether the mode or a rule allows the call without a question."""
    if tool.tool in INTERACTIVE:
        return False
    mode = session.wire.permission_mode
    if mode == "bypassPermissions" or (mode == "acceptEdits" and tool.tool in EDITS):
        return True
    content = _rule_content(arguments)
    return any(
        rule.get("toolName") == tool.tool and rule.get("ruleContent") in (None, "", content)
        for rule in session.rules
    )


def _rule_content(arguments: JsonObject) -> str | None:
    command = arguments.get("command")
    return command if isinstance(command, str) else None


def _question(session: ClaudeSession, tool: Tool, call_id: str, arguments: JsonObject) -> JsonObject:
    quirks = session.wire.quirks
    request: JsonObject = {"subtype": "can_use_tool", "tool_name": tool.tool, "input": arguments}
    if quirks.names_tool_call:
        request |= {"display_name": tool.tool, "tool_use_id": call_id}
    if quirks.describes_tool_call and tool.description:
        request["description"] = tool.description
    if quirks.describes_tool_call and tool.tool in INTERACTIVE:
        request["requires_user_interaction"] = True
    if tool.tool in INTERACTIVE:
        return request
    content = _rule_content(arguments)
    rule = {"toolName": tool.tool} | ({} if content is None else {"ruleContent": content})
    suggestion = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}
    request["permission_suggestions"] = tool.suggestions or [suggestion]
    if quirks.names_tool_call and tool.blocked_path:
        request["blocked_path"] = tool.blocked_path
    return request


def _verdict(session: ClaudeSession, answer: ControlResponse, arguments: JsonObject) -> Verdict:
    """Read the host's answer as strictly as the version does."""
    if answer.error is not None:
        return Denied(f"Tool permission request failed: {answer.error}")
    response: JsonObject = answer.payload if isinstance(answer.payload, dict) else {}
    match response.get("behavior"):
        case "allow":
            updated = response.get("updatedInput")
            if not isinstance(updated, dict) and session.wire.quirks.bare_allow_denies:
                return Denied("Tool permission request failed: ZodError: updatedInput: Required")
            for update in response.get("updatedPermissions") or []:
                _apply(session, update)
            return Allowed(updated if isinstance(updated, dict) else arguments)
        case "deny" if isinstance(response.get("message"), str):
            return Denied(response["message"], interrupt=response.get("interrupt") is True)
        case "deny":
            return Denied("Tool permission request failed: ZodError: message: Required")
        case other:
            return Denied(f"Tool permission request failed: ZodError: behavior: invalid value {other!r}")


def _apply(session: ClaudeSession, update: Json) -> None:
    """Remember what the host allowed permanently, for this process only: the agent writes no settings."""
    match update:
        case {"type": "addRules", "behavior": "allow", "rules": list(rules)}:
            session.rules.extend(rule for rule in rules if isinstance(rule, dict))
        case {"type": "setMode", "mode": str(mode)}:
            session.wire.permission_mode = mode
            session.wire.system("status", status=None, permissionMode=mode)
        case _:
            pass  # addDirectories and the rest change nothing that a script could notice
