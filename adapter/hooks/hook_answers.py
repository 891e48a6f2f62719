"""Answers to hooks, in the form of hooks of the configuration; pure.

A failed or unknown hook denies where it could have allowed (PreToolUse). Elsewhere it changes nothing and reports the failure.
"""

from typing import Literal

from turnwire.adapter.permissions.answers import Outcome
from turnwire.adapter.permissions.decisions import HookRan
from turnwire.adapter.permissions.policies import Verdict, hook_verdict
from turnwire.adapter.permissions.requests import Failure, HookOutput, HookRequest
from turnwire.normalize.inputs import Decision
from turnwire.protocol.json_values import JsonObject, text_at

MAX_LISTED = 20
"""Maximum number of changed files that the agent gets by name."""

_DECISIONS = ("allow", "deny", "ask")

_DEFER = "defer"
"""Claude Code's own fourth word, since 2.1: it ends the turn."""


Behavior = Literal["allow", "deny", "ask", "pass", "error"]


def decision(request_id: str, behavior: Behavior, by: str, waited: int = 0, message: str = "") -> Decision:
    """Return a decision that needed no waiting."""
    return Decision(request_id, behavior, by, waited, message=message or None)


def answer_judged(request: HookRequest, verdict: Verdict) -> Outcome:
    """Answer PreToolUse with the verdict of the rules or the policy. No opinion is an empty answer: the CLI then asks itself."""
    name, output = request.request_id, hook_verdict(verdict)
    if verdict.behavior == "pass":
        return Outcome(HookOutput({}), decision(name, "pass", "cli"))
    return Outcome(
        HookOutput({"hookSpecificOutput": output}),
        decision(name, verdict.behavior, verdict.by, message=verdict.reason),
    )


def answer_stop(request: HookRequest, changes: tuple[str, ...], by: str, waited: int) -> Outcome:
    """Answer Stop: send the agent back when there are uncommitted changes."""
    name = request.request_id
    if not changes:
        return Outcome(HookOutput({}), decision(name, "allow", by, waited))
    reason = send_back(changes)
    return Outcome(
        HookOutput({"decision": "block", "reason": reason}),
        decision(name, "deny", by, waited, reason),
    )


def send_back(changes: tuple[str, ...]) -> str:
    """Return the message to an agent that stops with uncommitted changes."""
    more = f"\n… and {len(changes) - MAX_LISTED} more" if len(changes) > MAX_LISTED else ""
    return (
        "There are uncommitted changes in the workspace:\n"
        + "\n".join(changes[:MAX_LISTED])
        + more
        + "\nCommit them, or say why they are to stay uncommitted, and stop again."
    )


def answer_unknown(request: HookRequest) -> Outcome:
    """Answer an unregistered callback."""
    name, reason = request.request_id, f"turnwire knows no hook {request.callback!r}"
    if request.event == "PreToolUse":
        return _deny_call(name, reason, "unknown hook")
    return Outcome(Failure(reason), decision(name, "deny", "unknown hook", message=reason))


def answer_configured(ran: HookRan, request: HookRequest, name: str) -> Outcome:
    """Answer with the result of a configured hook, or for a failed one."""
    event = request.event
    by = f"hook:{name}"
    if ran.error is not None:
        reason = f"the hook {name} failed: {ran.error}"
        if event == "PreToolUse":
            return _deny_call(ran.request_id, reason, by)
        return Outcome(
            HookOutput({"systemMessage": reason}),
            decision(ran.request_id, "error", by, message=reason),
        )
    output = _official(event, ran.output or {})
    specific = output.get("hookSpecificOutput")
    said = text_at(specific, "permissionDecision")
    if event == "PreToolUse" and (wrong := _unknown_decision(output)) is not None:
        reason = f"the hook {name} decided {wrong!r}; a decision is allow, deny or ask"
        return _deny_call(ran.request_id, reason, by)
    if said in ("deny", "ask"):
        behavior: Behavior = "deny" if said == "deny" else "ask"
    elif output.get("decision") == "block" or output.get("continue") is False:
        behavior = "deny"
    else:
        behavior = "allow" if said == "allow" else "pass"
    reason = text_at(specific, "permissionDecisionReason") or text_at(output, "reason")
    return Outcome(HookOutput(output), decision(ran.request_id, behavior, by, message=reason))


def _unknown_decision(output: JsonObject) -> object:
    """Return a decision that is none, such as `Deny`: what it means cannot be told, so it must not count as no opinion."""
    specific = output.get("hookSpecificOutput")
    given = specific.get("permissionDecision") if isinstance(specific, dict) else None
    if given not in (None, *_DECISIONS, _DEFER):
        return given
    short = output.get("decision")
    return None if short in (None, "approve", "block", *_DECISIONS) else short


def _official(event: str, output: JsonObject) -> JsonObject:
    """Return a hook's answer in the CLI's form. PreToolUse may use the short form {decision: allow|deny|ask, reason}."""
    specific = output.get("hookSpecificOutput")
    if isinstance(specific, dict):
        return {**output, "hookSpecificOutput": {"hookEventName": event, **specific}}
    if event == "PreToolUse" and output.get("decision") in _DECISIONS:
        rest = {key: value for key, value in output.items() if key not in ("decision", "reason")}
        verdict = {
            "hookEventName": event,
            "permissionDecision": output["decision"],
            "permissionDecisionReason": text_at(output, "reason"),
        }
        return {**rest, "hookSpecificOutput": verdict}
    return output


def _deny_call(request_id: str, reason: str, by: str) -> Outcome:
    output = hook_verdict(Verdict("deny", by, reason))
    return Outcome(
        HookOutput({"hookSpecificOutput": output}), decision(request_id, "deny", by, message=reason)
    )
