"""The outcome of a hook, from its answer."""

from turnwire.protocol.claude.answers import read_hook
from turnwire.protocol.claude.control import ControlResponse
from turnwire.protocol.json_values import JsonObject, text_at


def outcome(response: ControlResponse) -> tuple[str, str | None]:
    """Return the outcome of an answer to a `hook_callback`, and its reason."""
    output = read_hook(response)
    specific = output.hook_specific_output
    decision = text_at(specific, "permissionDecision") or output.decision
    if response.error is not None:
        decision = "error"
    elif output.go_on is False:
        decision = "stop"
    reason = text_at(specific, "permissionDecisionReason") or output.reason or output.stop_reason
    return decision or "success", response.error or reason


def updated_input(response: ControlResponse) -> JsonObject | None:
    """Return the arguments with which an answer to PreToolUse replaces the call's. None if the call is denied."""
    specific = read_hook(response).hook_specific_output
    if not isinstance(specific, dict) or text_at(specific, "permissionDecision") == "deny":
        return None
    arguments = specific.get("updatedInput")
    return arguments if isinstance(arguments, dict) else None
