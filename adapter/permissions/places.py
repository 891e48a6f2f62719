"""Where paths really lead: what the rules are given of the disk, by whoever may look at it.

The rules are pure, so paths are resolved here, when a call is asked about. What is resolved now may be another thing when
the tool opens it: only the tool could hold on to it.
"""

import os.path
from collections.abc import Iterable, Mapping, Sequence

from adapter.permissions.policies import PRE_TOOL, PermissionSettings
from adapter.permissions.rules import PATHS, Places, Rule, absolute, literal_base
from protocol.claude.requests import AnyRequest, CanUseTool, HookCallback
from protocol.json_values import JsonObject

_LONGEST = 4096
"""Characters of a path that a system takes."""


def session_places(rules: Sequence[Rule], workspace: str, home: str) -> Places:
    """Return the places that a session's rules begin at; resolved once, before an agent can put links there."""
    workspace = absolute(workspace, "/", "")
    if not any(rule.knows_paths for rule in rules):
        return Places(workspace, home)
    bases = {
        literal_base(absolute(pattern, workspace, home)) for rule in rules for pattern in rule.path_patterns
    }
    return Places(workspace, home, real_paths([workspace, *bases]))


def real_paths_of_request(request: AnyRequest, settings: PermissionSettings) -> Mapping[str, str | None]:
    """Look where the paths of a call lead that is asked about; a few calls to the system, none where no rule is about paths."""
    match request:
        case CanUseTool():
            arguments: object = request.input
        case HookCallback(callback_id=callback_id) if callback_id == PRE_TOOL:
            arguments = request.input.get("tool_input")
        case _:
            return {}
    if settings.places is None or not isinstance(arguments, dict):
        return {}
    return real_paths_of(arguments, settings.rules, settings.places)


def real_paths_of(arguments: JsonObject, rules: Sequence[Rule], places: Places) -> Mapping[str, str | None]:
    """Return where the paths of a call lead, by their absolute spelling; nothing when no rule is about paths."""
    if not any(rule.knows_paths for rule in rules):
        return {}
    spelled = [arguments.get(name) for name in PATHS]
    return real_paths(
        absolute(path, places.workspace, places.home) for path in spelled if isinstance(path, str)
    )


def real_paths(paths: Iterable[str]) -> dict[str, str | None]:
    """Return paths without links, of which the end need not exist; None for one that leads nowhere."""
    found: dict[str, str | None] = {}
    for path in paths:
        try:
            found[path] = os.path.realpath(path) if len(path) <= _LONGEST else None
        except (OSError, ValueError, RecursionError):
            found[path] = None
    return found
