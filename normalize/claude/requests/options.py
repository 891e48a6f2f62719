"""The options of a permission request, and the permission updates behind an "always" option.

Option ids are stable, so that scripts can use them: `allow_once`, `allow_always:DESTINATION` (remember the rules and
directories that the CLI suggests), `allow_always:mode:MODE` (switch the permission mode instead), `reject_once`,
`reject_interrupt`. The CLI's suggestions are alternatives of different reach (2.1.330 lists a rule, a directory and a
mode together), so a rule never brings a wider mode along. A mode, and the directories that go with it, hold for the session.
"""

from collections.abc import Sequence

from turnwire.normalize.claude.tool_kinds import kind_of
from turnwire.normalize.common.option_effects import REFUSES_AND_STOPS, Granted, always, described, quoted
from turnwire.normalize.events.control_events import PermissionOption, RememberedRule
from turnwire.normalize.model import JsonObject
from turnwire.normalize.vocabulary import ALWAYS_MODE
from turnwire.protocol.json_values import text_at

ALLOW_ONCE = "allow_once"
REJECT_ONCE = "reject_once"
REJECT_INTERRUPT = "reject_interrupt"
_ALWAYS = "allow_always:"

DESTINATIONS = {
    "session": "for this session",
    "localSettings": "in this project, for me",
    "projectSettings": "in this project, for everybody",
    "userSettings": "in all my projects",
}
"""Destination -> where the answer is remembered, as a button's text says it."""

FILES = {
    "localSettings": ".claude/settings.local.json",
    "projectSettings": ".claude/settings.json",
    "userSettings": "~/.claude/settings.json",
}
"""The files that Claude Code writes rules to, by destination."""

_ALLOW = PermissionOption(option_id=ALLOW_ONCE, name="Allow", kind="allow_once")
_REJECT = [
    PermissionOption(option_id=REJECT_ONCE, name="Reject", kind="reject_once"),
    PermissionOption(
        option_id=REJECT_INTERRUPT, name="Reject and stop", kind="reject_once", effect=REFUSES_AND_STOPS
    ),
]

_MODE_NAMES = {
    "acceptEdits": "Accept all edits for this session",
    "bypassPermissions": "Never ask again in this session",
}

_MODE_GRANTS = {
    "acceptEdits": "every edit of a file in the session's folders, and commands such as mkdir, mv and rm there",
    "bypassPermissions": "everything that the agent does",
}
"""Permission mode -> what it allows unasked (the CLI's own documentation)."""


def options(suggestions: Sequence[JsonObject] | None) -> list[PermissionOption]:
    """Return the possible answers, the narrowest first; `suggestions` are the CLI's `permission_suggestions`."""
    if not suggestions:
        return described([_ALLOW, *_REJECT])
    found = [_ALLOW]
    scope, modes = _read(suggestions)
    if scope:
        found += [
            PermissionOption(
                option_id=_ALWAYS + destination,
                name=f"Always allow {_remembered(scope, destination)}",
                kind="allow_always",
                effect=always(_granted(updates(_ALWAYS + destination, suggestions))),
                destination=destination,
                remembers=_remembers(updates(_ALWAYS + destination, suggestions)),
            )
            for destination in _destinations(scope)
        ]
    for mode in modes:
        changes = updates(ALWAYS_MODE + mode, suggestions)
        found.append(
            PermissionOption(
                option_id=ALWAYS_MODE + mode,
                name=_MODE_NAMES.get(mode) or f"Switch to the mode {mode}",
                kind="allow_always",
                effect=always(_granted(changes)),
                destination="session",
                remembers=_remembers(changes),
            )
        )
    found += _REJECT
    return described(found)


def updates(option_id: str, suggestions: Sequence[JsonObject] | None) -> list[JsonObject]:
    """Return the `updatedPermissions` of an answer; empty for any but an "always" answer. A mode is always the session's."""
    offered = suggestions or []
    if option_id.startswith(ALWAYS_MODE):
        mode = option_id.removeprefix(ALWAYS_MODE)
        chosen = [entry for entry in offered if entry.get("type") == "setMode" and entry.get("mode") == mode]
        directories = [entry for entry in offered if entry.get("type") == "addDirectories"]
        return [{**entry, "destination": "session"} for entry in (*directories, *chosen[:1]) if chosen]
    if option_id.startswith(_ALWAYS):
        place = option_id.removeprefix(_ALWAYS)
        return [{**entry, "destination": _place(entry, place)} for entry in _read(offered)[0]]
    return []


def _read(offered: Sequence[JsonObject]) -> tuple[list[JsonObject], list[str]]:
    """Return the rules and directories that an "always" option remembers, and the offered modes.

    Directories alone allow nothing if a mode is suggested beside them.
    """
    rules: list[JsonObject] = []
    directories: list[JsonObject] = []
    modes: list[str] = []
    for entry in offered:
        kind, mode = entry.get("type"), entry.get("mode")
        if kind == "addRules" and entry.get("behavior", "allow") == "allow":
            rules.append(entry)
        elif kind == "addDirectories":
            directories.append(entry)
        elif kind == "setMode" and isinstance(mode, str) and mode not in modes:
            modes.append(mode)
    return ([] if modes and not rules else rules + directories), modes


def _place(entry: JsonObject, chosen: str) -> str:
    """Return where an entry is saved. An entry suggested for the session is not saved longer."""
    return "session" if entry.get("destination") == "session" else chosen


def _remembers(changes: list[JsonObject]) -> list[RememberedRule]:
    """Return every rule, directory and mode with the place where it is saved, each once."""
    told = [
        RememberedRule(
            rule=named, destination=(place := text_at(entry, "destination")), file=FILES.get(place)
        )
        for entry in changes
        for named in _named(entry)
    ]
    return [one for number, one in enumerate(told) if one not in told[:number]]


def _granted(changes: list[JsonObject]) -> list[Granted]:
    """Return what permission updates allow, in words."""
    return [
        Granted(what, (place := text_at(entry, "destination")), FILES.get(place))
        for entry in changes
        for what in _allowed(entry)
    ]


def _allowed(entry: JsonObject) -> list[str]:
    rules, directories, mode = entry.get("rules"), entry.get("directories"), entry.get("mode")
    told: list[str] = []
    if isinstance(rules, list):
        told += [
            _calls(text_at(rule, "toolName"), text_at(rule, "ruleContent"))
            for rule in rules
            if isinstance(rule, dict)
        ]
    if isinstance(directories, list):
        told += [
            f"reading files below {quoted(str(folder))}, as one of the session's folders"
            for folder in directories
        ]
    if isinstance(mode, str):
        told.append(_MODE_GRANTS.get(mode) or f"what the permission mode {quoted(mode)} allows")
    return told or ["what the agent suggests, which it does not name"]


def _calls(tool: str, content: str) -> str:
    """Return which calls a rule is about."""
    match kind_of(tool):
        case _ if tool.startswith("mcp__") and not content:
            server, _, name = tool.removeprefix("mcp__").partition("__")
            which = f"the tool {quoted(name)}" if name.strip("*") else "every tool"
            return f"{which} of the MCP server {quoted(server)}"
        case "execute" if not content.strip(":*"):
            return "every command"
        case "execute" if content.endswith(":*"):
            return f"commands that begin with {quoted(content.removesuffix(':*'))}"
        case "execute":
            return (
                f"commands that match {quoted(content)}"
                if "*" in content
                else f"the command {quoted(content)}"
            )
        case "fetch" if content.startswith("domain:"):
            return f"pages of the host {quoted(content.removeprefix('domain:'))}"
        case "edit" if content:
            return f"edits of files that match {quoted(content)}"
        case "read" | "search" if content:
            return f"reading files that match {quoted(content)}"
        case _:
            return (
                f"calls of the tool {quoted(tool)} with {quoted(content)}"
                if content
                else f"every call of the tool {quoted(tool)}"
            )


def _remembered(scope: list[JsonObject], chosen: str) -> str:
    """Return a sentence on what is saved where."""
    kept = [entry for entry in scope if _place(entry, chosen) == chosen]
    words = f"{_what(kept)} {DESTINATIONS.get(chosen) or f'({chosen})'}"
    if for_now := [entry for entry in scope if entry not in kept]:
        words += f", and {_what(for_now)} {DESTINATIONS['session']}"
    return words


def _destinations(scope: list[JsonObject]) -> list[str]:
    """The session first, then the places the CLI itself proposes."""
    places = ["session"]
    for entry in scope:
        place = entry.get("destination")
        if isinstance(place, str) and place not in places:
            places.append(place)
    return places


def _what(scope: list[JsonObject]) -> str:
    return ", ".join(dict.fromkeys(named for entry in scope for named in _named(entry))) or "this"


def _named(entry: JsonObject) -> list[str]:
    """Return the rules, directories and the mode of one suggestion, as the agent writes them."""
    named: list[str] = []
    rules, directories = entry.get("rules"), entry.get("directories")
    if isinstance(rules, list):
        named += [_rule(rule) for rule in rules if isinstance(rule, dict)]
    if isinstance(directories, list):
        named += [f"access to {directory}" for directory in directories]
    if entry.get("type") == "setMode":
        named.append(f"permission mode {entry['mode']}")
    return named


def _rule(rule: JsonObject) -> str:
    tool, content = rule.get("toolName"), rule.get("ruleContent")
    return f"{tool}({content})" if content else str(tool)
