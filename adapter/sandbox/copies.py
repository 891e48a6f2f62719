"""Files of an agent that a sandbox gets a copy of, and what is taken back from the copy.

Claude Code keeps counters in `~/.claude.json`, beside MCP servers, allowed tools and trusted folders. The agent writes a
copy. When the sandbox is closed, counters that have changed are taken back, key by key. A key that is not listed here, or
whose value has another form, stays as it was outside.
"""

import logging
import math
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import msgspec

from turnwire.protocol.json_values import JsonObject

log = logging.getLogger(__name__)

MOST_BYTES = 1 << 24
"""A copy that is longer is not read."""

LOCK_S = 2.0
STALE_S = 10.0
"""Seconds to wait for Claude Code's own lock, and seconds after which Claude Code takes a lock for a dead program's."""

Takes: TypeAlias = Callable[[object], bool]


def is_count(value: object) -> bool:
    """Tell whether a value is a number as counters and costs are."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 <= value < 1 << 53
    )


def is_name(value: object) -> bool:
    """Tell whether a value is an id or a time: a short word."""
    return isinstance(value, str) and re.fullmatch(r"[\w.:+-]{1,128}", value, re.ASCII) is not None


OF_OTHERS = frozenset({"githubRepoPaths"})
"""Keys that tell of other projects, besides `projects`."""

TAKEN: Mapping[str, Takes] = {
    "numStartups": is_count,
    "promptQueueUseCount": is_count,
    "memoryUsageCount": is_count,
    "firstStartTime": is_name,
    "userID": is_name,
    "machineID": is_name,
}
"""Keys of `~/.claude.json` that are taken back, and which values."""

TAKEN_OF_PROJECTS: Mapping[str, Takes] = {
    "lastSessionId": is_name,
    **dict.fromkeys(
        (
            "lastCost", "lastAPIDuration", "lastAPIDurationWithoutRetries", "lastToolDuration", "lastDuration", "lastLinesAdded",
            "lastLinesRemoved", "lastTotalInputTokens", "lastTotalOutputTokens", "lastTotalCacheCreationInputTokens",
            "lastTotalCacheReadInputTokens", "lastTotalWebSearchRequests",
        ),
        is_count,
    ),
}  # fmt: skip
"""The same of an entry of its `projects`."""


def harmless_changes(before: JsonObject, after: JsonObject) -> tuple[JsonObject, dict[str, JsonObject]]:
    """Return the harmless keys that have changed, and those of each project. A key that was removed is none."""
    old, new = _projects(before), _projects(after)
    changed = {name: _changed(old.get(name, {}), one, TAKEN_OF_PROJECTS) for name, one in new.items()}
    return _changed(before, after, TAKEN), {name: one for name, one in changed.items() if one}


def _changed(before: JsonObject, after: JsonObject, taken: Mapping[str, Takes]) -> JsonObject:
    return {
        name: after[name]
        for name, takes in taken.items()
        if name in after and after[name] != before.get(name) and takes(after[name])
    }


def _projects(content: JsonObject) -> dict[str, JsonObject]:
    found = content.get("projects")
    if not isinstance(found, dict):
        return {}
    return {name: one for name, one in found.items() if isinstance(one, dict)}


def _of_project(content: JsonObject, roots: Sequence[str]) -> bytes:
    """Return a file as a project may see it: without what others have, such as the keys of their MCP servers."""
    shown = {name: value for name, value in content.items() if name not in OF_OTHERS}
    if "projects" in shown:
        shown["projects"] = {name: one for name, one in _projects(content).items() if name in roots}
    return msgspec.json.format(msgspec.json.encode(shown), indent=2)


class Copies:
    """The copies of one sandbox; a folder of temporary files that only this user reads."""

    def __init__(self, files: tuple[str, ...], roots: Sequence[str]) -> None:
        """Make the copies. Raises OSError and ValueError.

        Args:
            files: what is copied.
            roots: the folders whose entries in `projects` are shown; that of the first, the workspace, may be made anew.
        """
        self._workspace = roots[0]
        self._folder = Path(tempfile.mkdtemp(prefix="turnwire-")) if files else None
        self._before: dict[str, tuple[str, JsonObject]] = {}
        """By the file as the agent sees it: where it really is, and what it held."""
        self.places: dict[str, str] = {}
        """By the file as the agent sees it: its copy."""
        try:
            for number, place in enumerate(files):
                real = os.path.realpath(place)
                self._before[place] = real, read_object(real)
                copy = Path(f"{self._folder}/{number}")
                copy.touch(0o600)
                copy.write_bytes(_of_project(self._before[place][1], roots))
                self.places[place] = str(copy)
        except (OSError, ValueError):
            self._remove()
            raise

    def close(self) -> None:
        """Take back what is harmless, and remove the copies."""
        for place, (real, before) in self._before.items():
            try:
                self._take_back(real, *harmless_changes(before, read_object(self.places[place])))
            except (OSError, ValueError) as error:
                log.warning(
                    "nothing was taken back from a sandbox's copy",
                    extra={"file": place, "reason": str(error)},
                )
        self._remove()

    def _remove(self) -> None:
        for copy in self.places.values():
            with suppress(OSError):
                os.unlink(copy)
        if self._folder is not None:
            with suppress(OSError):
                self._folder.rmdir()

    def _take_back(self, real: str, changed: JsonObject, of_projects: Mapping[str, JsonObject]) -> None:
        if not changed and not of_projects:
            return
        with _locked(f"{real}.lock"):
            now = read_object(real)
            now |= changed
            for name, values in of_projects.items():
                projects = now.setdefault("projects", {})
                known = projects.get(name) if isinstance(projects, dict) else None
                if isinstance(known, dict):
                    known |= values
                elif isinstance(projects, dict) and known is None and name == self._workspace:
                    projects[name] = values
            _replace(real, msgspec.json.format(msgspec.json.encode(now), indent=2))


def read_object(path: str) -> JsonObject:
    """Read a file of JSON that an agent may have written: no link, no pipe, of a bounded length. Raises OSError and ValueError."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path} is not a file")
        said = file.read(MOST_BYTES + 1)
    if len(said) > MOST_BYTES:
        raise ValueError(f"{path} is longer than {MOST_BYTES} bytes")
    try:
        found = msgspec.json.decode(said) if said.strip() else {}
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path} is not an object of JSON")  # noqa: TRY004 - of the file, not of an argument
    return found


@contextmanager
def _locked(lock: str) -> Iterator[None]:
    """Hold the lock of Claude Code, a folder. Raises TimeoutError."""
    end = time.monotonic() + LOCK_S
    while True:
        try:
            os.mkdir(lock)
            break
        except FileExistsError:
            with suppress(OSError):
                if time.time() - os.stat(lock).st_mtime > STALE_S:
                    os.rmdir(lock)
                    continue
            if time.monotonic() > end:
                raise TimeoutError(
                    f"another program holds the lock {lock}; end that program, or remove the folder"
                ) from None
            time.sleep(0.05)
    try:
        yield
    finally:
        with suppress(OSError):
            os.rmdir(lock)


def _replace(path: str, content: bytes) -> None:
    """Write a file by renaming, with the rights and the owner of the old one."""
    old = os.stat(path)
    number, name = tempfile.mkstemp(prefix=f"{os.path.basename(path)}.", dir=os.path.dirname(path))
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content + b"\n")
            os.fchmod(number, stat.S_IMODE(old.st_mode))
            with suppress(PermissionError):
                os.fchown(number, old.st_uid, old.st_gid)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise
