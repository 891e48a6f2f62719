"""The folders that sessions work in: which can be one, and what frontends may ask of the files there.

adapter/workspace has who looks; one look at a time of a kind.
"""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from msgspec import to_builtins
from pydantic import JsonValue

from turnwire.adapter.process.environment import build_environment
from turnwire.config.settings import Settings
from turnwire.hub.wire import frames
from turnwire.sessions.frontend_limits import FrontendLimits
from turnwire.sessions.hosted import refuse

FRESH_S = 5.0
"""Seconds for which names of files are reused while somebody types one."""

PASSED = ("HOME", "LOGNAME", "PATH", "USER", "XDG_CONFIG_HOME", "GIT_*")
"""Variables of the sidecar's environment for git. adapter/workspace removes those that would point git elsewhere."""


SHOWN = 200
"""Characters of a wrong path that its refusal repeats."""


def workspace_of(name: str | None) -> Path:
    """Return the directory a session runs in; refuses what is none."""
    try:
        workspace = Path(name or ".").expanduser().resolve()
        is_directory = workspace.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        # a NUL, ~ of nobody known, links in a circle, a name that is too long
        refuse(
            "invalid_params",
            f"workspace {(name or '.')[:SHOWN]!r} cannot be a directory: {error}",
            "workspace",
        )
    if not is_directory:
        refuse(
            "invalid_params",
            f"workspace {_shown(str(workspace))} is not a directory on the sidecar's machine; name an existing one",
            "workspace",
        )
    if _shown(str(workspace)) != str(workspace):
        refuse(
            "invalid_params",
            f"the path of the workspace, {_shown(str(workspace))}, is not UTF-8, as events and records must be; rename it, or name "
            "another",
            "workspace",
        )
    return workspace


LISTED_FOLDERS = 500
"""Folders in one that are listed."""


async def folders(name: str | None, limits: FrontendLimits) -> JsonValue:
    """Return the folders that a session can begin in, or those in one of them; refuses one that may not be chosen."""
    if name is None:
        roots: list[JsonValue] = [
            shown for root in limits.workspaces if (shown := str(root)) == _shown(shown)
        ]
        return {"path": None, "parent": None, "folders": roots, "complete": True}
    folder = workspace_of(name)
    limits.check_workspace(str(folder), "path")
    try:
        found = await asyncio.to_thread(_folders_in, folder)
    except OSError as error:
        refuse("invalid_params", f"{str(folder)!r} cannot be read: {error.strerror}; choose another", "path")
    # a link may lead out of what is allowed
    allowed = [path for path in found if limits.is_workspace((folder / path).resolve())]
    listed: list[JsonValue] = [str(folder / path) for path in allowed[:LISTED_FOLDERS]]
    above = folder.parent
    parent = str(above) if above != folder and limits.is_workspace(above) else None
    return {
        "path": str(folder),
        "parent": parent,
        "folders": listed,
        "complete": len(allowed) <= LISTED_FOLDERS,
    }


def _folders_in(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        names = [
            entry.name
            for entry in entries
            if not entry.name.startswith(".") and entry.name == _shown(entry.name) and entry.is_dir()
        ]
    return sorted(names, key=str.casefold)


class Workspaces:
    """Looks into workspaces."""

    def __init__(self, settings: Settings, *, fresh_s: float = FRESH_S) -> None:
        self._settings = settings
        self._fresh_s = fresh_s
        self._reading = asyncio.Lock()
        self._comparing = asyncio.Lock()
        self._listing = asyncio.Lock()
        self._listed: tuple[Path, float, list[str], bool] | None = None

    async def execute(
        self, command: frames.WorkspaceCommand, folder: Path, *, base: str | None = None
    ) -> JsonValue:
        """Do a command about a folder; refuses. `base`: the commit to compare with, the last one when None."""
        from turnwire.adapter.workspace.changes import UnknownFile  # noqa: PLC0415 - only who asks for it waits for it
        from turnwire.adapter.workspace.repository import GitFailed  # noqa: PLC0415 - as above

        try:
            match command:
                case frames.WorkspaceDiff(path=None):
                    return await self._changes(folder, base)
                case frames.WorkspaceDiff(path=str(path)):
                    return await self._patch(folder, path, command.old_path, base)
                case frames.WorkspaceFiles():
                    return await self._files(folder, command.text, command.limit)
                case frames.WorkspaceList() | frames.WorkspaceRead():
                    return await self._look(command, folder)
                case _:
                    refuse("invalid_params", "this is not a command about a workspace", "type")
        except UnknownFile as error:
            refuse("unknown_file", str(error), "path")
        except GitFailed as error:
            refuse("no_repository", f"git cannot tell of {str(folder)!r}: {_shown(str(error))}", "session")
        except TimeoutError:
            refuse("timeout", f"git took too long over {str(folder)!r}; ask again, or look there yourself")
        except OSError as error:
            refuse("no_repository", f"{str(folder)!r} cannot be read: {error.strerror}", "session")

    async def _changes(self, folder: Path, base: str | None) -> JsonValue:
        from turnwire.adapter.workspace.changes import workspace_changes  # noqa: PLC0415 - as above

        async with self._comparing:
            found = await workspace_changes(folder, _environment(), base=base)
        files: list[JsonValue] = [
            {name: _shown(value) if isinstance(value, str) else value for name, value in asdict(file).items()}
            for file in found.files
        ]
        return {"base": found.base, "files": files, "complete": found.complete}

    async def _patch(self, folder: Path, path: str, old_path: str | None, base: str | None) -> JsonValue:
        from turnwire.adapter.workspace.changes import patch_of  # noqa: PLC0415 - as above

        async with self._comparing:
            found = await patch_of(folder, _environment(), path, old_path, base=base)
        return {"patch": found.hunks, "cut": found.cut, "binary": found.binary}

    async def _look(self, command: frames.WorkspaceList | frames.WorkspaceRead, folder: Path) -> JsonValue:
        """List a folder or read a file, one at a time: each may take megabytes."""
        from turnwire.adapter.workspace.files import NotShown, list_folder, read_file  # noqa: PLC0415 - as above

        look = list_folder if isinstance(command, frames.WorkspaceList) else read_file
        hidden = await asyncio.to_thread(self._hidden_in, folder)
        try:
            async with self._reading:
                found: JsonValue = to_builtins(await asyncio.to_thread(look, folder, command.path, hidden))
        except NotShown as error:
            refuse("unknown_file", _shown(str(error)), "path")
        return found

    def _hidden_in(self, folder: Path) -> Callable[[Path], bool]:
        """Return what tells whether a real path lies in a place below the folder that holds secrets, or turnwire's own state."""
        from turnwire.adapter.permissions.real_paths import secret_places  # noqa: PLC0415 - as above
        from turnwire.config.state_directory import own_places  # noqa: PLC0415 - it reads of journals

        named = [*own_places(self._settings), *secret_places(str(Path.home()))]
        places = [Path(os.path.realpath(Path(one).expanduser())) for one in named]
        below = [place for place in places if place.is_relative_to(folder) and place != folder]
        return lambda path: any(path.is_relative_to(place) for place in below)

    async def _files(self, folder: Path, text: str, limit: int) -> JsonValue:
        from turnwire.adapter.workspace.names import file_names  # noqa: PLC0415 - as above

        async with self._listing:
            known, now = self._listed, time.monotonic()
            if known is None or known[0] != folder or now - known[1] > self._fresh_s:
                found = await file_names(folder, _environment())
                known = self._listed = (folder, time.monotonic(), list(found.names), found.complete)
            _, _, names, complete = known
            fitting: list[JsonValue] = list(await asyncio.to_thread(_there, folder, names, text, limit))
        return {"files": fitting, "complete": complete}


def _there(folder: Path, names: Sequence[str], text: str, limit: int) -> list[str]:
    """Return names that fit; git knows files that are gone, too."""
    from turnwire.adapter.workspace.names import matching  # noqa: PLC0415 - as above

    found = matching(names, text, 2 * limit)
    return [name for name in found if os.path.lexists(folder / name)][:limit]


def _environment() -> dict[str, str]:
    return build_environment(os.environ, allowed=PASSED)


def _shown(text: str) -> str:
    r"""Return text that can be sent: bytes that are no UTF-8 as `\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode()
