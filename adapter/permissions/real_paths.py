"""Where paths really lead: what the rules are given of the disk, by whoever may look at it.

The rules are pure, so paths are resolved here, when a call is asked about. What is resolved now may be another thing when
the tool opens it: only the tool could hold on to it.
"""

import os.path
from collections.abc import Iterable, Mapping, Sequence

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.rules import PATHS, PathContext, Rule, absolute, literal_base

_LONGEST = 4096
"""Characters of a path that a system takes."""


def session_places(rules: Sequence[Rule], workspace: str, home: str) -> PathContext:
    """Return the places that a session's rules begin at; resolved once, before an agent can put links there."""
    workspace = absolute(workspace, "/", "")
    if not any(rule.knows_paths for rule in rules):
        return PathContext(workspace, home)
    bases = {
        literal_base(absolute(pattern, workspace, home)) for rule in rules for pattern in rule.path_patterns
    }
    return PathContext(workspace, home, real_paths([workspace, *bases]))


def real_paths_of_calls(calls: Sequence[ToolCall], settings: PermissionSettings) -> Mapping[str, str | None]:
    """Look where the paths of calls lead that are asked about; a few calls to the system, none where no rule is about paths."""
    if settings.places is None:
        return {}
    return real_paths_of(calls, settings.rules, settings.places)


def real_paths_of(
    calls: Sequence[ToolCall], rules: Sequence[Rule], places: PathContext
) -> Mapping[str, str | None]:
    """Return where the paths of calls lead, by their absolute spelling; nothing when no rule is about paths."""
    if not any(rule.knows_paths for rule in rules):
        return {}
    spelled = [
        path for call in calls for path in (*(call.arguments.get(name) for name in PATHS), *call.paths)
    ]
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
