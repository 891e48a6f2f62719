"""The answers a permission request offers, and the permission updates an "always" answer stands for.

Option ids are stable, so that scripts can name them: `allow_once`, `allow_always:DESTINATION` (remember the rules and
directories the CLI suggests), `allow_always:mode:MODE` (switch the permission mode instead), `reject_once`,
`reject_interrupt`. The CLI's suggestions are alternatives of different reach (2.1.330 lists a rule, a directory and a
mode together), so a rule never drags a wider mode along with it.
"""

from collections.abc import Sequence

from normalize.events_control import PermissionOption
from normalize.model import JsonObject

ALLOW_ONCE = "allow_once"
REJECT_ONCE = "reject_once"
REJECT_INTERRUPT = "reject_interrupt"
_ALWAYS = "allow_always:"
_MODE = "allow_always:mode:"

DESTINATIONS = {
    "session": "for this session",
    "localSettings": "in this project, for me",
    "projectSettings": "in this project, for everybody",
    "userSettings": "in all my projects",
}
"""Where an answer can be remembered, and how a button says so."""

_ALLOW = PermissionOption(option_id=ALLOW_ONCE, name="Allow", kind="allow_once")
_REJECT = [
    PermissionOption(option_id=REJECT_ONCE, name="Reject", kind="reject_once"),
    PermissionOption(option_id=REJECT_INTERRUPT, name="Reject and stop", kind="reject_once"),
]

_MODES = {
    "acceptEdits": "Accept all edits for this session",
    "bypassPermissions": "Never ask again in this session",
}


def options(suggestions: Sequence[JsonObject] | None) -> list[PermissionOption]:
    """Return the possible answers, the narrowest first; `suggestions` are the CLI's `permission_suggestions`."""
    if not suggestions:
        return [_ALLOW, *_REJECT]
    found = [_ALLOW]
    modes = _modes(suggestions)
    scope = _scope(suggestions, modes)
    if scope:
        what = _what(scope)
        for destination in _destinations(scope):
            place = DESTINATIONS.get(destination) or f"({destination})"
            found.append(
                PermissionOption(
                    option_id=_ALWAYS + destination,
                    name=f"Always allow {what} {place}",
                    kind="allow_always",
                    destination=destination,
                )
            )
    for mode in modes:
        name = _MODES.get(mode) or f"Switch to the mode {mode}"
        found.append(
            PermissionOption(option_id=_MODE + mode, name=name, kind="allow_always", destination="session")
        )
    found += _REJECT
    return found


def updates(
    option_id: str, suggestions: Sequence[JsonObject] | None, destination: str | None = None
) -> list[JsonObject]:
    """Return the `updatedPermissions` of an answer; empty for any but an "always" answer.

    `destination` overrides the option's own place for rules and directories; a mode is always the session's.
    """
    offered = suggestions or []
    if option_id.startswith(_MODE):
        mode = option_id.removeprefix(_MODE)
        chosen = [entry for entry in offered if entry.get("type") == "setMode" and entry.get("mode") == mode]
        return [*_of_type(offered, "addDirectories"), *chosen[:1]] if chosen else []
    if option_id.startswith(_ALWAYS):
        place = destination or option_id.removeprefix(_ALWAYS)
        return [{**entry, "destination": place} for entry in _scope(offered, _modes(offered))]
    return []


def _scope(offered: Sequence[JsonObject], modes: list[str]) -> list[JsonObject]:
    """What an "always" answer remembers; directories alone allow nothing where a mode is suggested beside them."""
    rules = [entry for entry in _of_type(offered, "addRules") if entry.get("behavior", "allow") == "allow"]
    if not rules and modes:
        return []
    return rules + _of_type(offered, "addDirectories")


def _destinations(scope: Sequence[JsonObject]) -> list[str]:
    """The session first, then the places the CLI itself proposes."""
    proposed = [place for entry in scope if isinstance(place := entry.get("destination"), str)]
    return list(dict.fromkeys(["session", *proposed]))


def _of_type(offered: Sequence[JsonObject], kind: str) -> list[JsonObject]:
    return [entry for entry in offered if entry.get("type") == kind]


def _modes(offered: Sequence[JsonObject]) -> list[str]:
    named = [mode for entry in _of_type(offered, "setMode") if isinstance(mode := entry.get("mode"), str)]
    return list(dict.fromkeys(named))


def _what(scope: Sequence[JsonObject]) -> str:
    named = [text for entry in scope for text in (*_rules(entry), *_directories(entry))]
    return ", ".join(named) or "this"


def _rules(entry: JsonObject) -> list[str]:
    rules = entry.get("rules")
    if not isinstance(rules, list):
        return []
    return [_rule(rule) for rule in rules if isinstance(rule, dict)]


def _rule(rule: JsonObject) -> str:
    tool, content = rule.get("toolName"), rule.get("ruleContent")
    return f"{tool}({content})" if content else str(tool)


def _directories(entry: JsonObject) -> list[str]:
    directories = entry.get("directories")
    if not isinstance(directories, list):
        return []
    return [f"access to {directory}" for directory in directories]
