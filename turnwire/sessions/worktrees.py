"""The git worktrees of sessions: made with a session, told, merged and removed on request (adapter/workspace has who does it)."""

import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins
from pydantic import JsonValue

from turnwire.adapter.process.environment import build_environment
from turnwire.config.known_agents import loaded_places
from turnwire.config.settings import Settings
from turnwire.hub.wire import frames
from turnwire.journal.sessions import SessionRecord
from turnwire.sessions.hosted import refuse
from turnwire.sessions.live import LiveSession, worktree_of
from turnwire.sessions.records.options import RecordOptions
from turnwire.sessions.workspaces import PASSED

if TYPE_CHECKING:  # few sidecars make worktrees
    from turnwire.adapter.workspace.worktree_actions import Presence
    from turnwire.adapter.workspace.worktrees import NewPlace

REACHING = (
    *("SSH_AUTH_SOCK", "SSH_ASKPASS", "GNUPGHOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""Variables besides, for what a person has git do: a push, a signed commit."""


class Worktrees:
    """Makes worktrees for sessions, and does what frontends ask of them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def place(self) -> Path:
        """The folder for them; refuses where there is none."""
        if self._settings.worktrees is None:
            refuse(
                "no_worktrees", "the setting `worktrees` names no folder for worktrees; set it to have them"
            )
        return Path(os.path.realpath(self._settings.worktrees.expanduser()))

    @property
    def _backups(self) -> Path:
        """The folder for copies of files that git ignores in worktrees that are removed."""
        return self._settings.state_dir / "worktrees"

    async def make(self, wanted: frames.NewWorktree, workspace: Path) -> "tuple[NewPlace, list[str]]":
        """Make a worktree; return what is missing in it too, as sentences; refuses."""
        from turnwire.adapter.workspace.worktrees import make_worktree  # noqa: PLC0415 - who asks for none need not wait

        place = self.place
        async with _refused():
            return await make_worktree(
                workspace, place, _environment(), branch=wanted.branch, base=wanted.base
            )
        raise AssertionError("it returns or refuses")

    async def unmake(self, made: "NewPlace") -> None:
        """Remove a worktree whose session could not be started, unless something was written there."""
        from turnwire.adapter.workspace.git import Git  # noqa: PLC0415 - as above

        git = Git(Path(made.repository), _environment())
        base = await git.tells("rev-parse", "--verify", f"{made.base}^{{commit}}")
        removed = await git("worktree", "remove", made.path)
        if removed.is_ok and base is not None:
            await git("update-ref", "-d", f"refs/heads/{made.branch}", base)

    async def execute(
        self, command: frames.WorktreeCommand, record: SessionRecord, *, agent: "Presence"
    ) -> JsonValue:
        """Do a command about a session's worktree; refuses."""
        from turnwire.adapter.workspace.worktree_actions import Worktree  # noqa: PLC0415 - as above
        from turnwire.adapter.workspace.worktrees import NewPlace  # noqa: PLC0415 - as above

        kept = RecordOptions.from_record(record).worktree
        if kept is None:
            refuse("no_worktrees", f"no worktree was made for the session {record.session}", "session")
        names = ("path", "folder", "repository", "branch", "base")
        place = NewPlace(*(str(kept.get(name)) for name in names))
        worktree = Worktree(place, _environment(), self._backups, loaded_places())
        async with _refused():
            result: JsonValue
            match command:
                case frames.WorktreeAct(plan=None):
                    result = to_builtins(await worktree.preview(command.action, command.message, agent=agent))
                case frames.WorktreeAct(plan=str(plan)):
                    done = await worktree.act(command.action, command.message, plan, agent=agent)
                    result = to_builtins(done)
                case _:
                    result = to_builtins(await worktree.status())
            return _sendable(result)
        raise AssertionError("it returns or refuses")

    async def revert(self, command: frames.WorkspaceRevert, folder: Path) -> JsonValue:
        """Take back changes of a file; refuses."""
        from turnwire.adapter.workspace.revert import revert  # noqa: PLC0415 - as above

        async with _refused():
            done = await revert(
                folder,
                _environment(),
                command.path,
                old_path=command.old_path,
                version=command.version,
                hunk=command.hunk,
            )
            return {"backup": done.backup, "restore": done.restore}
        raise AssertionError("it returns or refuses")

    async def base_of(self, record: SessionRecord, folder: Path) -> str:
        """Return the commit in which a session's branch left its base; refuses."""
        from turnwire.adapter.workspace.git import Git  # noqa: PLC0415 - as above

        found = worktree_of(record)
        if found is None:
            refuse("no_worktrees", f"no worktree was made for the session {record.session}", "against")
        commit = None
        async with _refused():
            commit = await Git(folder, _environment()).tells("merge-base", found.base, "HEAD")
        if commit is None:
            refuse(
                "refused_by_git", f"the base {found.base} is gone; compare with the last commit", "against"
            )
        return commit

    async def list(self, records: Iterable[SessionRecord]) -> JsonValue:
        """List the worktrees, with the sessions that use them; refuses."""
        from turnwire.adapter.workspace.worktrees import list_worktrees  # noqa: PLC0415 - as above

        place, used = self.place, _used(records)
        found: list[JsonValue] = []
        for one in await list_worktrees(place, _environment(), self._backups):
            sessions = used.get(one.path, [])
            told: dict[str, JsonValue] = {
                **to_builtins(one),
                "branch": one.branch,
                "sessions": list(sessions),
                "removable": not sessions and not one.unsaved,
            }
            found.append(told)
        return _sendable({"place": str(place), "worktrees": found})

    async def remove(self, path: str, records: Iterable[SessionRecord]) -> JsonValue:
        """Remove a worktree that no session uses; refuses."""
        from turnwire.adapter.workspace.worktrees import remove_worktree  # noqa: PLC0415 - as above

        place = self.place
        if sessions := _used(records).get(path):
            refuse(
                "refused_by_git",
                f"the session {', '.join(sessions)} works in this worktree; delete the session first",
                "path",
            )
        async with _refused():
            removed = await remove_worktree(Path(path), place, _environment(), self._backups)
            return _sendable({"path": path, **to_builtins(removed)})
        raise AssertionError("it returns or refuses")


def presence_in(record: SessionRecord, sessions: Iterable[LiveSession]) -> "Presence":
    """Return what the agents of all sessions in a session's worktree do: the busiest counts, as a fork shares the worktree."""
    path = _path(record)
    found = {one.presence for one in sessions if _path(one.record) == path}
    if "working" in found:
        return "working"
    return "idle" if "idle" in found else "away"


def _path(record: SessionRecord) -> str | None:
    """Return the folder of a session's worktree; None without one."""
    kept = RecordOptions.from_record(record).worktree
    return None if kept is None else str(kept.get("path"))


def _used(records: Iterable[SessionRecord]) -> Mapping[str, list[str]]:
    """Return the sessions of each worktree, by its path."""
    found: dict[str, list[str]] = {}
    for record in records:
        if (path := _path(record)) is not None:
            found.setdefault(path, []).append(record.session)
    return found


@asynccontextmanager
async def _refused() -> AsyncIterator[None]:
    """Refuse what git refuses."""
    from turnwire.adapter.workspace.changes import UnknownFile  # noqa: PLC0415 - as above
    from turnwire.adapter.workspace.git import Changed, GitRefused  # noqa: PLC0415 - as above

    try:
        yield
    except UnknownFile as error:
        refuse("unknown_file", str(error), "path")
    except Changed as error:
        refuse("changed", _text(str(error)))
    except GitRefused as error:
        refuse("refused_by_git", _text(str(error)))
    except TimeoutError:
        refuse("timeout", "git took too long; look at the worktree yourself, then ask again")
    except OSError as error:
        refuse("refused_by_git", f"the worktree cannot be read: {error.strerror}")


def _environment() -> dict[str, str]:
    return build_environment(os.environ, allowed=(*PASSED, *REACHING))


def _text(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _sendable(value: JsonValue) -> JsonValue:
    """Return a value in which bytes of names that are no UTF-8 are spelled out."""
    match value:
        case str():
            return _text(value)
        case list() | tuple():
            return [_sendable(one) for one in value]
        case dict():
            return {name: _sendable(one) for name, one in value.items()}
        case _:
            return value
