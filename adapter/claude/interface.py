"""Claude Code's own interface: its hooks as requests, and replies as what those hooks print. Tried with 2.1.330.

It shows its dialog and runs the PermissionRequest hook at the same time; the first answer wins. The hook is not ended
when the person answers, so the note that the CLI keeps of each process tells whether it still waits (docs/cli-protocol.md).
"""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.interface import HookCall, InterfaceHooks
from turnwire.adapter.permissions.requests import Allow, Deny, Reply, ToolRequest
from turnwire.adapter.process.version import parse_version
from turnwire.normalize.inputs import Received
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import JsonObject, text_at

HOOKS = ("PermissionRequest", "SessionStart", "Stop", "Notification")

_NO_QUESTION = frozenset({"idle_prompt", "auth_success", "elicitation_complete", "elicitation_response"})
"""Types of notifications that ask nothing."""

TIMEOUT_S = 86_400
"""How long a person may take; the CLI ends the hook then, and its dialog stays."""

TAIL = 1 << 20
"""Bytes at the end of a conversation in which the call that asks is looked for."""


def arguments(command: Sequence[str]) -> Sequence[str]:
    """Return the arguments that make the CLI run a command for the hooks."""
    hook = {"hooks": [{"type": "command", "command": shlex.join(command), "timeout": TIMEOUT_S}]}
    return [f"--settings={json.dumps({'hooks': {name: [hook] for name in HOOKS}})}"]


def read(said: JsonObject, name: str) -> HookCall:
    """Read a hook's input; a request is named as given."""
    file = text_at(said, "transcript_path")
    place = Path(file) if file else None
    conversation = text_at(said, "session_id") or None
    match text_at(said, "hook_event_name"):
        case "SessionStart":
            return HookCall(conversation, place, opened=True, is_old=text_at(said, "source") == "resume")
        case "PermissionRequest":
            line = line_of(_request(said, name, place))
            message = decode(line)
            asked = [one for one in ClaudeWire().requests(message) if isinstance(one, ToolRequest)]
            return HookCall(
                conversation, place, asked=Received(line, message), request=asked[0] if asked else None
            )
        case "Notification" if text_at(said, "notification_type") not in _NO_QUESTION:
            words = text_at(said, "message")
            # 2.0.14 names no type; it says the same when it has waited for a prompt for a minute
            is_idle = words == "Claude is waiting for your input"
            return HookCall(conversation, place, needs=None if is_idle else words or None)
        case _:
            return HookCall(conversation, place)


def _request(said: JsonObject, name: str, file: Path | None) -> JsonObject:
    """Return what a headless CLI would have asked."""
    tool, given = text_at(said, "tool_name"), said.get("tool_input")
    request: JsonObject = {"subtype": "can_use_tool", "tool_name": tool, "input": given or {}}
    if isinstance(offered := said.get("permission_suggestions"), list):
        request["permission_suggestions"] = offered
    if file is not None and (call := _call(file, tool, given)) is not None:
        request["tool_use_id"] = call
    return {"type": "control_request", "request_id": name, "request": request}


def _call(file: Path, tool: str, given: object) -> str | None:
    """Return the id of the newest call of a tool with these arguments: the hook does not say it."""
    try:
        with file.open("rb") as conversation:
            conversation.seek(max(0, file.stat().st_size - TAIL))
            lines = conversation.read(TAIL).split(b"\n")
    except OSError:
        return None
    for line in reversed(lines):
        if b'"tool_use"' not in line:
            continue
        try:
            blocks = json.loads(line)["message"]["content"]
            for block in blocks:
                if block["type"] == "tool_use" and block["name"] == tool and block["input"] == given:
                    return str(block["id"])
        except (ValueError, LookupError, TypeError):
            continue
    return None


def answer(request: ToolRequest, reply: Reply) -> JsonObject:
    """Return what the hook prints."""
    decision: JsonObject
    match reply:
        case Allow(given, _, changes, mode):
            decision = {"behavior": "allow"}
            if given != request.call.arguments:
                decision["updatedInput"] = given
            if mode is not None:
                changes = [*changes, {"type": "setMode", "mode": mode, "destination": "session"}]
            if changes:
                decision["updatedPermissions"] = list(changes)
        case Deny(message, interrupt):
            decision = {"behavior": "deny", "message": message}
            if interrupt:
                decision["interrupt"] = True
        case _:
            return {}
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


def asks(version: str | None) -> bool:
    """Say whether a version tells what it asks: 2.0.14 runs none of the hooks of `--settings`."""
    known = parse_version(version or "")
    return known is None or known >= (2, 0, 45)


def waits(file: Path, process: int) -> bool | None:
    """Say whether the CLI waits for its person, as its note says; None for a version that notes no status."""
    # HOME/.claude/projects/FOLDER/ID.jsonl and HOME/.claude/sessions/PID.json
    note = file.parent.parent.parent / "sessions" / f"{process}.json"
    try:
        status = json.loads(note.read_bytes()).get("status")
    except (OSError, ValueError, AttributeError):
        return None
    return None if status is None else status == "waiting"


INTERFACE_HOOKS = InterfaceHooks(arguments, read, answer, asks, waits)
