"""What a policy means: how the CLI is started, which hooks are registered, and what they answer; pure.

autonomous: no checks. supervised: a human is asked about everything but safe read-only tools. plan: a human approves the
plan, everything else is allowed. None: the CLI's own rules decide what is asked.

Spec 3 runs supervised and plan in bypassPermissions. There a hook's "ask" is obeyed by 2.1 alone: 1.0 and 2.0 run the
tool. In the modes used here it is obeyed by every version, and a hook that is lost leaves the CLI asking.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from adapter.hooks.settings import HookSetting, callback_id
from adapter.permissions.grants import Grant
from adapter.permissions.rules import Places, Rule, first_match
from normalize.claude.requests.suggestions import EDITS, INTERACTIVE
from normalize.vocabulary import Policy
from protocol.json_values import JsonObject

PRE_TOOL = "turnwire_pre_tool"
"""Callback id of the hook that judges tool calls."""

STOP = "turnwire_stop"
"""Callback id of the hook that looks for uncommitted changes."""

SAFE_TOOLS = frozenset(
    {"Glob", "Grep", "NotebookRead", "Read", "Task", "TodoWrite"}  # spec 3
    | {
        "Agent",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskUpdate",
    }  # what Task and TodoWrite are called in 2.1
)
"""Tools that supervised lets through."""


_NOWHERE: Mapping[str, str | None] = {}

HUMAN_REASONS = frozenset({"rule", "hook", "safetyCheck"})
"""Types of the reasons to ask that come from the user or concern safety, not the permission mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionSettings:
    """How permissions are decided in a session."""

    policy: Policy | None = None
    """The policy; None for the CLI's own rules."""
    rules: Sequence[Rule] = ()
    """Rules, the first match wins, before the policy."""
    hooks: Sequence[HookSetting] = ()
    """Hooks by configuration."""
    workspace: str = "/"
    """Directory the CLI runs in."""
    places: Places | None = None
    """Where the rules' paths begin and lead, as they were when the session began; None for the workspace alone."""
    check_uncommitted: bool = True
    """Under supervised and plan: send the agent back once when it stops with uncommitted changes."""
    answer_timeout: float | None = None
    """Seconds that a human has; None for as long as it takes."""
    max_pending: int = 256
    """Requests that may wait at a time; more are refused at once."""
    asks_despite_hooks: bool = False
    """True for a CLI whose plan mode asks about what our hook has allowed."""
    answers_cancelled: bool = False
    """True for a CLI that waits for the answer to a request it has cancelled (1.0)."""


class Verdict(NamedTuple):
    """What is decided about a call without asking anybody; `pass` leaves it to the CLI."""

    behavior: Literal["allow", "deny", "ask", "pass"]
    by: str = ""
    reason: str = ""


class Launch(NamedTuple):
    """How the CLI is to be started."""

    permission_mode: str | None
    skip_permissions: bool


def launch(settings: PermissionSettings, permission_mode: str | None = None) -> Launch:
    """Return the permission mode to start in; `permission_mode` is the one that was asked for."""
    match settings.policy:
        case "autonomous" if not settings.rules:
            return Launch(permission_mode, skip_permissions=True)
        case "autonomous":
            # rules may ask, and that is obeyed by every version only where checks are on
            return Launch("default", skip_permissions=False)
        case "supervised":
            wanted = permission_mode if permission_mode in ("acceptEdits", "plan") else "default"
            return Launch(wanted, skip_permissions=False)
        case "plan":
            return Launch("plan", skip_permissions=False)
        case None:
            return Launch(permission_mode, skip_permissions=False)


def hook_table(settings: PermissionSettings) -> JsonObject | None:
    """Return the `hooks` of `initialize`; None when there are none."""
    table: dict[str, list[JsonObject]] = {}
    if settings.policy in ("supervised", "plan") or settings.rules:
        table["PreToolUse"] = [{"matcher": None, "hookCallbackIds": [PRE_TOOL]}]
    if settings.policy in ("supervised", "plan") and settings.check_uncommitted:
        table["Stop"] = [{"matcher": None, "hookCallbackIds": [STOP]}]
    for number, hook in enumerate(settings.hooks):
        entry = {
            "matcher": hook.matcher,
            "hookCallbackIds": [callback_id(number)],
            "timeout": hook.cli_timeout,
        }
        table.setdefault(hook.event, []).append(entry)
    return dict(table) or None


def judge_call(
    settings: PermissionSettings,
    grants: Sequence[Grant],
    tool: str,
    arguments: JsonObject,
    mode: str,
    *,
    real_paths: Mapping[str, str | None] = _NOWHERE,
) -> Verdict:
    """Answer the PreToolUse hook; `mode` is the CLI's permission mode at the time."""
    by_rule = judge_by_rule(settings, tool, arguments, real_paths)
    if by_rule is not None:
        return by_rule
    by = f"policy:{settings.policy}"
    match settings.policy:
        case None:
            return Verdict("pass")
        case "autonomous":
            # started without --dangerously-skip-permissions for the sake of the rules
            return Verdict("pass") if tool in INTERACTIVE else Verdict("allow", by)
        case "plan":
            if tool in INTERACTIVE:
                return Verdict("ask", by, "a human approves the plan and answers questions")
            return Verdict("allow", by)
        case "supervised":
            if tool in SAFE_TOOLS:
                return Verdict("allow", by)
            if any(grant.covers(tool, arguments) for grant in grants):
                return Verdict("allow", "remembered", "a human has always allowed it")
            if mode == "bypassPermissions" or (mode == "acceptEdits" and tool in EDITS):
                return Verdict(
                    "pass"
                )  # a human has switched to this mode; it was not started in it by default
            return Verdict("ask", by, "a human approves this tool")


def is_allowed_by_plan(settings: PermissionSettings, tool: str, reason: str | None) -> bool:
    """Tell whether a request under `plan` repeats what our hook has allowed; `reason` is the type the CLI gives.

    Older CLIs ask despite the hook only for a reason of the user's, and do not always name it.
    """
    return (
        settings.policy == "plan"
        and settings.asks_despite_hooks
        and tool not in INTERACTIVE
        and reason not in HUMAN_REASONS
    )


def judge_by_rule(
    settings: PermissionSettings,
    tool: str,
    arguments: JsonObject,
    real_paths: Mapping[str, str | None] = _NOWHERE,
) -> Verdict | None:
    """Return what the rules say about a call; None when none matches. A question can be denied, not allowed.

    `real_paths` says where the paths among the arguments lead (see places.py).
    """
    places = settings.places or Places(settings.workspace)
    if real_paths:
        places = replace(places, real={**places.real, **real_paths})
    found = first_match(settings.rules, tool, arguments, places)
    if found is None:
        return None
    number, rule, action = found
    if action == "allow" and tool in INTERACTIVE:
        return None
    reason = rule.reason or f"rule {number} of the configuration"
    if action != rule.action:
        reason = f"it cannot be told whether this is denied by {'' if rule.reason else 'a rule: '}{reason}"
    return Verdict(action, f"rule:{number}", reason)


def parse_policy(text: str | None) -> Policy | None:
    """Return the policy of a configuration's word; raises ValueError."""
    match text:
        case None | "autonomous" | "supervised" | "plan":
            return text
        case _:
            raise ValueError(f"policy must be autonomous, supervised or plan, not {text!r}")


def hook_verdict(verdict: Verdict) -> Mapping[str, str] | None:
    """Return PreToolUse's `hookSpecificOutput`; None for no opinion."""
    if verdict.behavior == "pass":
        return None
    return {
        "hookEventName": "PreToolUse",
        "permissionDecision": verdict.behavior,
        "permissionDecisionReason": verdict.reason or f"decided by {verdict.by}",
    }
