"""What a policy means: which hooks of ours an agent gets, and what is answered; pure.

autonomous: no checks. supervised: a human is asked about everything but safe read-only tools. plan: a human approves the
plan, everything else is allowed. None: the CLI's own rules decide what is asked.
"""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.grants import Grant
from turnwire.adapter.permissions.protected import (
    ProtectedPlaces,
    decides,
    is_own,
    is_secret,
    is_untold,
    touched,
)
from turnwire.adapter.permissions.requests import HookRequest, ToolRequest
from turnwire.adapter.permissions.rules import PathContext, Rule, first_match
from turnwire.normalize.vocabulary import Policy, ToolKind

PRE_TOOL = "turnwire_pre_tool"
"""Callback id of the hook that judges tool calls."""

LARGE = 400
"""Characters of what rules look at in a request; with more it is judged off the loop, which then goes on for the others."""

STOP = "turnwire_stop"
"""Callback id of the hook that looks for uncommitted changes."""

SAFE: frozenset[ToolKind] = frozenset({"read", "search", "delegate", "note"})
"""Kinds of tools that supervised lets through."""

_OWN_FRONTEND = (
    "it would let the agent answer its own permission requests; run this command in a terminal of your own"
)
_OWN_STATE = "this is turnwire's own state, which agents are not given"
_SPELL_IT_OUT = "spell the command and its paths out, or run it in a terminal of your own"
_NARROWER = "search a narrower folder"

NOWHERE: Mapping[str, str | None] = {}
"""Of a call whose paths nobody has looked up."""

LOOKED_AT = ("command", "file_path", "notebook_path", "path", "url", "pattern", "glob")
"""Arguments that are looked at closely."""

APPROVES = "a human approves this tool"
"""What supervised tells an agent when it asks."""


class PermissionSettings(Struct, frozen=True, kw_only=True):
    """How permissions are decided in a session."""

    policy: Policy | None = None
    """The policy; None for the CLI's own rules."""
    rules: Sequence[Rule] = ()
    """Rules, the first match wins, before the policy."""
    hooks: Sequence[HookSetting] = ()
    """Hooks by configuration."""
    workspace: str = "/"
    """Directory the CLI runs in."""
    places: PathContext | None = None
    """Where the rules' paths begin and lead, as they were when the session began; None for the workspace alone."""
    protected: ProtectedPlaces | None = None
    """Places that no policy opens by itself; None where there are none."""
    check_uncommitted: bool = True
    """Under supervised and plan: send the agent back once when it stops with uncommitted changes."""
    answer_timeout: float | None = None
    """Seconds that a human has; None for as long as it takes."""
    auto_deny_as: str | None = None
    """Deny requests to a human at once, under this name; None if a human can answer."""
    max_pending: int = 256
    """Requests that may wait at a time; more are refused at once."""
    asks_despite_hooks: bool = False
    """True for a CLI whose plan mode asks about what our hook has allowed."""
    answers_cancelled: bool = False
    """True for a CLI that waits for the answer to a request it has cancelled (1.0)."""
    judges_requests: bool = False
    """True for an agent without hooks before a call: the policy decides when the agent asks for permission."""

    @property
    def wants_judging(self) -> bool:
        """True where calls are to be judged before the agent decides whether to ask about them."""
        return self.policy in ("supervised", "plan") or bool(self.rules)

    @property
    def wants_stop(self) -> bool:
        """True where the agent's stop is to be looked at."""
        return self.policy in ("supervised", "plan") and self.check_uncommitted


class Verdict(NamedTuple):
    """What is decided about a call without asking anybody; `pass` leaves it to the CLI."""

    behavior: Literal["allow", "deny", "ask", "pass"]
    by: str = ""
    reason: str = ""


def judge_call(
    settings: PermissionSettings,
    grants: Sequence[Grant],
    call: ToolCall,
    *,
    unasked: Literal["nothing", "edits", "everything"] = "nothing",
    real_paths: Mapping[str, str | None] = NOWHERE,
) -> Verdict:
    """Judge a call before it is made; `unasked` is what the agent's permission mode lets through at the time."""
    by_rule = judge_by_rule(settings, call, real_paths, asks_about_secrets=unasked != "everything")
    return by_rule or judge_by_policy(settings, grants, call, unasked)


def is_large(settings: PermissionSettings, calls: Sequence[ToolCall]) -> bool:
    """Tell whether judging calls may take long: by what an agent can make long, not by the size of files that it writes."""
    if not settings.rules and settings.protected is None:
        return False
    room = LARGE
    for call in calls:
        room -= len(call.line or "") + sum(map(len, call.paths)) + 10
        for name in LOOKED_AT:
            if name != "command" or call.line is None:
                texts = call.texts(name)
                room -= sum(map(len, texts)) if texts is not None else 0 if name in call.untold else LARGE
        if room < 0:
            return True
    return False


def judge_by_policy(
    settings: PermissionSettings,
    grants: Sequence[Grant],
    call: ToolCall,
    unasked: Literal["nothing", "edits", "everything"] = "nothing",
) -> Verdict:
    """Judge a call that no rule is about."""
    by = f"policy:{settings.policy}"
    match settings.policy:
        case None:
            return Verdict("pass")
        case "autonomous":
            # the agent was not started without its checks, for the sake of the rules
            return Verdict("pass") if call.is_interactive else Verdict("allow", by)
        case "plan":
            if call.is_interactive:
                return Verdict("ask", by, "a human approves the plan and answers questions")
            return Verdict("allow", by)
        case "supervised":
            if call.kind in SAFE:
                return Verdict("allow", by)
            if any(grant.covers(call) for grant in grants):
                return Verdict("allow", "remembered", "a human has always allowed it")
            if unasked == "everything" or (unasked == "edits" and call.kind == "edit"):
                # a human has switched to this mode; it was not started in it by default
                return Verdict("pass")
            return Verdict("ask", by, APPROVES)


def is_allowed_by_plan(settings: PermissionSettings, call: ToolCall, *, is_asked_by_user: bool) -> bool:
    """Tell whether a request under `plan` repeats what our hook has allowed.

    Older CLIs ask despite the hook only for a reason of the user's, and do not always name it.
    """
    return (
        settings.policy == "plan"
        and settings.asks_despite_hooks
        and not call.is_interactive
        and not is_asked_by_user
    )


def is_left_to_agent(
    settings: PermissionSettings,
    grants: Sequence[Grant],
    call: ToolCall,
    real_paths: Mapping[str, str | None],
) -> bool:
    """Tell whether the policy asks about no call that the agent's own rules allow, and about no edit in the workspace once a
    human accepts edits.
    """
    if settings.policy != "supervised" or settings.judges_requests:
        return True
    home = "" if settings.places is None else settings.places.home
    top = real_paths.get(settings.workspace) or settings.workspace
    led = [real_paths.get(one.path) for one in touched(call, settings.workspace, home)]
    is_inside = bool(led) and all(
        path is not None and PurePosixPath(path).is_relative_to(top) for path in led
    )
    return is_inside and judge_by_policy(settings, grants, call, "edits").behavior == "pass"


def judge_by_rule(
    settings: PermissionSettings,
    call: ToolCall,
    real_paths: Mapping[str, str | None] = NOWHERE,
    *,
    asks_about_secrets: bool = True,
) -> Verdict | None:
    """Return what the rules and the protected places say about a call; None when nothing does. A question can be denied, not allowed.

    `real_paths` says where the paths of the call lead (see real_paths.py).
    """
    own, secret = _judge_places(settings, call, real_paths)
    if own is not None and own.behavior == "deny":
        return own
    by_rules = _judge_by_rules(settings, call, real_paths)
    if own is not None and (by_rules is None or by_rules.behavior != "deny"):
        # what asks nobody refuses what cannot be told
        is_asked = settings.policy != "autonomous" and asks_about_secrets
        return own if is_asked else Verdict("deny", own.by, own.reason)
    return by_rules or (secret if asks_about_secrets else None)


def judge_request(
    settings: PermissionSettings,
    request: ToolRequest | HookRequest,
    real_paths: Mapping[str, str | None] = NOWHERE,
) -> Sequence[Verdict | None]:
    """Return what the rules and the protected places say about each call of a request."""
    if isinstance(request, HookRequest):
        asks = request.unasked != "everything"
        call = request.call or ToolCall("")
        return [judge_by_rule(settings, call, real_paths, asks_about_secrets=asks)]
    return [judge_by_rule(settings, call, real_paths) for call in request.calls]


def _judge_places(
    settings: PermissionSettings, call: ToolCall, real_paths: Mapping[str, str | None]
) -> tuple[Verdict | None, Verdict | None]:
    """Return what is said about turnwire's own state, which comes before the rules, and about secrets, which comes after.

    Where it cannot be told whether it is turnwire's own, the former asks.
    """
    protected = settings.protected
    if protected is None:
        return None, None
    match decides(call):
        case "yes":
            return Verdict("deny", "turnwire", _OWN_FRONTEND), None
        case "maybe":
            reason = f"it cannot be told whether this starts a frontend of turnwire's that decides; {_SPELL_IT_OUT}"
            return Verdict("ask", "turnwire", reason), None
        case "no":
            pass
    home = "" if settings.places is None else settings.places.home
    paths = touched(call, settings.workspace, home)
    match is_own(protected, paths, real_paths, settings.workspace):
        case "yes":
            return Verdict("deny", "turnwire", _OWN_STATE), None
        case "maybe":
            reason = f"it cannot be told whether this gets at turnwire's own state; {_SPELL_IT_OUT}"
            return Verdict("ask", "turnwire", reason), None
        case _ if is_untold(call):
            reason = f"this names more than turnwire looks at, which may be its own state; {_SPELL_IT_OUT}"
            return Verdict("ask", "turnwire", reason), None
        case "below" if settings.policy == "autonomous":
            return Verdict("deny", "turnwire", f"turnwire's own state is below; {_NARROWER}"), None
        case "below":
            return None, Verdict("ask", "turnwire", f"turnwire's own state is below; {_NARROWER}")
        case "no":
            pass
    if (
        settings.policy == "supervised"
        and (place := is_secret(protected, paths, real_paths, home)) is not None
    ):
        return None, Verdict("ask", "policy:supervised", f"a human approves what gets at {place}")
    return None, None


def _judge_by_rules(
    settings: PermissionSettings, call: ToolCall, real_paths: Mapping[str, str | None]
) -> Verdict | None:
    places = settings.places or PathContext(settings.workspace)
    if real_paths:
        places = replace(places, real={**places.real, **real_paths})
    found = first_match(settings.rules, call, places)
    if found is None:
        return None
    number, rule, action = found.number, found.rule, found.action
    if action == "allow" and call.is_interactive:
        return None
    reason = rule.reason or f"rule {number} of the configuration"
    if found.failed:
        reason = f"turnwire failed to judge this call by rule {number}; its log says why"
    elif action != rule.action:
        reason = f"it cannot be told whether this is denied by {'' if rule.reason else 'a rule: '}{reason}"
    return Verdict(action, f"rule:{number}", reason)


def hook_verdict(verdict: Verdict) -> Mapping[str, str] | None:
    """Return PreToolUse's `hookSpecificOutput`; None for no opinion."""
    if verdict.behavior == "pass":
        return None
    return {
        "hookEventName": "PreToolUse",
        "permissionDecision": verdict.behavior,
        "permissionDecisionReason": verdict.reason or f"decided by {verdict.by}",
    }
