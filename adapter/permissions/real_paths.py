"""Resolve paths on the disk for the rules.

The rules are pure, so paths are resolved here, when a call is asked about. What is resolved now may be another thing when
the tool opens it: only the tool could hold on to it.
"""

import os.path
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.permissions.protected import SECRETS, ProtectedPlaces, touched
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
    """Look where the paths of calls lead that are asked about; a few calls to the system, none where nothing is about paths."""
    if settings.places is None:
        return {}
    found = dict(real_paths_of(calls, settings.rules, settings.places))
    if settings.protected is not None:
        workspace, home = settings.workspace, settings.places.home
        spelled = {one.path for call in calls for one in touched(call, workspace, home)}
        found |= _identified(real_paths(spelled), settings.protected)
    return found


def protected_places(own: Iterable[str], home: str) -> ProtectedPlaces | None:
    """Return the places that no policy opens by itself, as they are now; None without turnwire's own.

    `own`: turnwire's files and folders; `home`: the agent's home directory, "" for none.
    """
    spelled = sorted({absolute(path, "/", "") for path in own})
    if not spelled:
        return None
    secret = [absolute(path, "/", home) for path in SECRETS if home or not path.startswith("~")]

    def both(paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one for pair in real_paths(paths).items() for one in pair if one))

    return ProtectedPlaces(both(spelled), both(secret))


def _identified(found: Mapping[str, str | None], protected: ProtectedPlaces) -> Mapping[str, str | None]:
    """Return paths below a place that is spelled or mounted otherwise (another case, a bind mount) as below that place."""
    places = {
        identity: place
        for place in (*protected.secret, *protected.own)
        if (identity := _identity(place)) is not None
    }
    named = lru_cache(maxsize=None)(lambda path: places.get(_identity(path) or (0, 0)))

    def renamed(path: str) -> str:
        for folder in (PurePosixPath(path), *PurePosixPath(path).parents):
            if (place := named(folder)) is not None:
                return str(PurePosixPath(place, PurePosixPath(path).relative_to(folder)))
        return path

    return {spelled: None if path is None else renamed(path) for spelled, path in found.items()}


def _identity(path: str | PurePosixPath) -> tuple[int, int] | None:
    """Return which file a path names; None for none that can be seen."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


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
