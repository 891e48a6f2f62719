"""Resolve paths on the disk for the rules.

The rules are pure, so paths are resolved here, when a call is asked about. What is resolved now may be another thing when
the tool opens it: only the tool could hold on to it. An agent makes both the paths and the links on the disk, so what is
looked at for one request is limited; a path beyond that leads nobody knows where (None).
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, takewhile
from pathlib import Path, PurePosixPath
from threading import Lock

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.decisions import Judge, Judged
from turnwire.adapter.permissions.policies import PermissionSettings, is_large, judge_request
from turnwire.adapter.permissions.protected import ProtectedPlaces, touched
from turnwire.adapter.permissions.requests import ToolRequest
from turnwire.adapter.permissions.rules import (
    PATHS,
    PathContext,
    Rule,
    absolute,
    both_spellings,
    literal_base,
    rooted,
)
from turnwire.adapter.permissions.secret_places import PATHS as SECRETS

_LONGEST = 4096
"""Characters of a path that a system takes."""

_LINKS = 40
"""Links that a system follows in one path."""

_ROOM = 500_000
"""Characters of paths that the system is asked about for one request: some ten thousand folders."""


def session_places(rules: Sequence[Rule], workspace: str, home: str) -> PathContext:
    """Return the places that a session's rules begin at; resolved once, before an agent can put links there."""
    workspace = absolute(workspace, "/", "")
    if not any(rule.knows_paths for rule in rules):
        return PathContext(workspace, home)
    bases = {
        literal_base(one)
        for rule in rules
        for pattern in rule.path_patterns
        for one in (absolute(pattern, workspace, home), rooted(pattern, workspace, home))
    }
    return PathContext(workspace, home, real_paths([workspace, *bases]))


def paths_at_once(calls: Sequence[ToolCall], settings: PermissionSettings) -> Mapping[str, str | None] | None:
    """Return the same as `real_paths_of_calls`; None for calls that are so large that they are judged off the loop (see `judge`)."""
    return None if is_large(settings, calls) else real_paths_of_calls(calls, settings)


def judge(asked: Judge) -> Judged:
    """Read the rules about a large request; takes up to some 100 ms, in any thread."""
    request, settings = asked.request, asked.settings
    calls = request.calls if isinstance(request, ToolRequest) else [request.call or ToolCall("")]
    found = real_paths_of_calls(calls, settings)
    return Judged(request.request_id, judge_request(settings, request, found), found)


def real_paths_of_calls(calls: Sequence[ToolCall], settings: PermissionSettings) -> Mapping[str, str | None]:
    """Look where the paths of calls lead that are asked about; a few calls to the system, none where nothing is about paths."""
    if settings.places is None:
        return {}
    disk = _Disk(_ROOM)
    found = real_paths_of(calls, settings.rules, settings.places, disk)
    if settings.protected is not None:
        workspace, home = settings.workspace, settings.places.home
        spelled = {
            one
            for call in calls
            for each in touched(call, workspace, home)
            for one in both_spellings(each.path, "/", "")
        }
        disk.name(_identities((*settings.protected.secret, *settings.protected.own)).now())
        found |= {path: disk.named(disk.follow(path)) for path in spelled}
    return found


def protected_places(own: Iterable[str], home: str) -> ProtectedPlaces | None:
    """Return the places that no policy opens by itself, as they are now; None without turnwire's own.

    `own`: turnwire's files and folders; `home`: the agent's home directory, "" for none.
    """
    spelled = sorted({absolute(path, "/", "") for path in own})
    if not spelled:
        return None
    secret = secret_places(home)

    def both(paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one for pair in real_paths(paths).items() for one in pair if one))

    return ProtectedPlaces(both(spelled), both(secret))


def secret_places(home: str) -> list[str]:
    """Return the table's places below a home directory, "" for none, and of the system; with wildcards, those that are there."""
    spelled = [absolute(path, "/", home) for path in SECRETS if home or not path.startswith("~")]
    found = (
        map(str, Path("/").glob(path[1:])) if re.search(r"[*?\[]", path) else [path]
        for path in spelled
        if not path.startswith("/proc/")
    )
    return list(chain.from_iterable(found))


def real_paths_of(
    calls: Sequence[ToolCall], rules: Sequence[Rule], places: PathContext, disk: "_Disk | None" = None
) -> dict[str, str | None]:
    """Return where the paths of calls lead, by their absolute spelling; nothing when no rule is about paths."""
    if not any(rule.knows_paths for rule in rules):
        return {}
    disk = disk or _Disk(_ROOM)
    texts = [
        text
        for call in calls
        for each in (*(call.texts(name) or () for name in PATHS), call.paths)
        for text in each
    ]
    return {
        path: disk.follow(path)
        for text in texts
        for path in both_spellings(text, places.workspace, places.home)
    }


def real_paths(paths: Iterable[str]) -> dict[str, str | None]:
    """Return an operator's paths without links, of which the end need not exist; None for one that leads nowhere."""
    disk = _Disk(None)
    return {path: disk.follow(path) for path in paths}


class _Disk:
    """Follows links, and looks each folder up once."""

    def __init__(self, room: int | None) -> None:
        """`room`: characters of paths that the system may be asked about; None for any number."""
        self._room = room
        self._links: dict[str, str | None] = {}
        self._places: Mapping[tuple[int, int], str] = {}
        self._named: dict[str, str | None] = {}

    def follow(self, path: str) -> str | None:
        """Return a path without links, of which the end need not exist; None for one that leads nowhere or too far."""
        if len(path) > _LONGEST:
            return None
        at, links, rest = "", 0, path.split("/")[::-1]
        try:
            while rest:
                match rest.pop():
                    case "" | ".":
                        pass
                    case "..":
                        at = at.rpartition("/")[0]
                    case name:
                        link = self._link(here := f"{at}/{name}")
                        if link is None:
                            at = here
                            continue
                        links += 1
                        if links > _LINKS:
                            return None
                        at = "" if link.startswith("/") else at
                        rest += link.split("/")[::-1]
        except (ValueError, _TooMuch):  # no path has a NUL
            return None
        return at or "/"

    def name(self, places: Mapping[tuple[int, int], str]) -> None:
        """Have paths below these places named by them, however the places are spelled or mounted (another case, a bind mount)."""
        self._places = places

    def named(self, path: str | None) -> str | None:
        """Return a path as one below such a place where it is; None where that cannot be told."""
        if path is None:
            return None
        end = 0
        try:
            while end < len(path):
                end = path.find("/", end + 1)
                end = len(path) if end < 0 else end
                if (place := self._place(path[:end])) is not None:
                    return place + path[end:]
        except _TooMuch:
            return None
        except (OSError, ValueError):  # there is nothing, and nothing below
            pass
        return path

    def _link(self, path: str) -> str | None:
        if path not in self._links:
            self._take(path)
            try:
                self._links[path] = os.readlink(path)  # noqa: PTH115  a Path would be made for each folder
            except OSError:
                self._links[path] = None
        return self._links[path]

    def _place(self, path: str) -> str | None:
        if path not in self._named:
            self._take(path)
            found = os.stat(path)  # noqa: PTH116  as above
            self._named[path] = self._places.get((found.st_dev, found.st_ino))
        return self._named[path]

    def _take(self, path: str) -> None:
        if self._room is not None:
            self._room -= len(path)
            if self._room < 0:
                raise _TooMuch


class _TooMuch(Exception):
    """More would be looked up than for one request."""


class Identities:
    """Which files and folders a session's places are, by device and number; threads may share it.

    Hundreds of places are not there. Each is looked up again once the last folder on its way that is there has changed.
    """

    def __init__(self, places: Sequence[str]) -> None:
        self._places = places
        self._stamps: dict[str, tuple[int, int, int]] = {}
        """The folders on the ways, as they were seen last."""
        self._below: dict[str, list[str]] = {"": list(places)}
        """The places by the last folder on their way that is there; below "" those that were never looked up."""
        self._found: Mapping[tuple[int, int], str] = {}
        self._ids: dict[str, tuple[int, int]] = {}
        self._lock = Lock()

    def now(self) -> Mapping[tuple[int, int], str]:
        """Return the places that are there, by their identities."""
        with self._lock:
            changed = [folder for folder, stamp in self._stamps.items() if _stamp(folder) != stamp]
            for folder in changed:
                del self._stamps[folder]
            again = [place for folder in ("", *changed) for place in self._below.pop(folder, ())]
            for folder in changed:
                self._see(folder)
            for place in again:
                self._look_up(place)
            if again:
                self._found = {self._ids[place]: place for place in self._places if place in self._ids}
            return self._found

    def _see(self, folder: str) -> bool:
        """Tell whether a folder is there."""
        if folder not in self._stamps and (stamp := _stamp(folder)) is not None:
            self._stamps[folder] = stamp
        return folder in self._stamps

    def _look_up(self, place: str) -> None:
        above = [str(folder) for folder in reversed(PurePosixPath(place).parents)]
        there = list(takewhile(self._see, above))
        self._below.setdefault(there[-1] if there else "", []).append(place)
        self._ids.pop(place, None)
        if len(there) == len(above) and (stamp := _stamp(place)) is not None:
            self._ids[place] = stamp[:2]


@lru_cache(maxsize=64)
def _identities(places: tuple[str, ...]) -> Identities:
    return Identities(places)


def _stamp(path: str) -> tuple[int, int, int] | None:
    """Return which file a path names, and when it was last changed; None for none that can be seen."""
    try:
        found = os.stat(path)  # noqa: PTH116  as above
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns
