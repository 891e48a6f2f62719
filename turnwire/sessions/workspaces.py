"""The folders that sessions work in: which can be one, and what frontends may ask of the files there.

adapter/workspace has who looks; one look at a time of a kind.
"""

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import JsonValue

from turnwire.adapter.process.environment import build_environment
from turnwire.hub.wire import frames
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
            f"workspace {_shown(str(workspace))} is no directory on the sidecar's machine; name one that is there",
            "workspace",
        )
    if _shown(str(workspace)) != str(workspace):
        refuse(
            "invalid_params",
            f"the path of the workspace, {_shown(str(workspace))}, is no UTF-8, which events and records are; rename it, or name "
            "another",
            "workspace",
        )
    return workspace


class Workspaces:
    """Looks into workspaces."""

    def __init__(self, *, fresh_s: float = FRESH_S) -> None:
        self._fresh_s = fresh_s
        self._comparing = asyncio.Lock()
        self._listing = asyncio.Lock()
        self._listed: tuple[Path, float, list[str], bool] | None = None

    async def execute(self, command: frames.WorkspaceCommand, folder: Path) -> JsonValue:
        """Do a command about a folder; refuses."""
        from turnwire.adapter.workspace.changes import UnknownFile  # noqa: PLC0415 - only who asks for it waits for it
        from turnwire.adapter.workspace.repository import GitFailed  # noqa: PLC0415 - as above

        try:
            match command:
                case frames.WorkspaceDiff(path=None):
                    return await self._changes(folder)
                case frames.WorkspaceDiff(path=str(path)):
                    return await self._patch(folder, path, command.old_path)
                case frames.WorkspaceFiles():
                    return await self._files(folder, command.text, command.limit)
                case _:
                    refuse("invalid_params", "this is no command about a workspace", "type")
        except UnknownFile as error:
            refuse("unknown_file", str(error), "path")
        except GitFailed as error:
            refuse("no_repository", f"git cannot tell of {str(folder)!r}: {_shown(str(error))}", "session")
        except TimeoutError:
            refuse("timeout", f"git took too long over {str(folder)!r}; ask again, or look there yourself")
        except OSError as error:
            refuse("no_repository", f"{str(folder)!r} cannot be read: {error.strerror}", "session")

    async def _changes(self, folder: Path) -> JsonValue:
        from turnwire.adapter.workspace.changes import workspace_changes  # noqa: PLC0415 - as above

        async with self._comparing:
            found = await workspace_changes(folder, _environment())
        files: list[JsonValue] = [
            {name: _shown(value) if isinstance(value, str) else value for name, value in asdict(file).items()}
            for file in found.files
        ]
        return {"base": found.base, "files": files, "complete": found.complete}

    async def _patch(self, folder: Path, path: str, old_path: str | None) -> JsonValue:
        from turnwire.adapter.workspace.changes import patch_of  # noqa: PLC0415 - as above

        async with self._comparing:
            found = await patch_of(folder, _environment(), path, old_path)
        return {"patch": found.hunks, "cut": found.cut, "binary": found.binary}

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
