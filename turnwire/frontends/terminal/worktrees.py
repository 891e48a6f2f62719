"""`turnwire worktrees`: the worktrees of the hubs that run here, and the removal of those that no session of any hub uses.

Hubs may share the folder of their worktrees. So a worktree is unused only if no hub that runs has a session in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from turnwire.client import Client, CommandFailed, TurnwireError, connect
from turnwire.client.commands import WorktreeList, WorktreeRemove
from turnwire.client.results import ListedWorktree
from turnwire.protocol.visible import visible

from .command import LOOK_S, Hub
from .problems import NotAttached

REMOVE_S = 120.0
"""Seconds that git may take to look at all worktrees, or to remove one."""


@dataclass(slots=True)
class Found:
    """A worktree, and what the hubs say of it."""

    worktree: ListedWorktree
    client: Client
    sessions: list[str] = field(default_factory=list)

    @property
    def is_unused(self) -> bool:
        """True without a session and without work that would be lost."""
        return not self.sessions and not self.worktree.unsaved

    def lines(self) -> Iterator[str]:
        """Say where it is, of which branch, who uses it and what would be lost."""
        one = self.worktree
        if self.sessions:
            state = f"used by {', '.join(self.sessions)}"
        else:
            state = "has unsaved work" if one.unsaved else "unused"
        yield f"{one.path}  {one.branch or '(no branch)'}  {state}"
        yield from (f"    {sentence}" for sentence in one.unsaved or one.keeps)


async def worktrees(hubs: Sequence[Hub], *, remove: Sequence[str], unused: bool) -> tuple[list[str], bool]:
    """List or remove worktrees; return the lines to print, and whether all that was asked for is done. Raises NotAttached.

    Args:
        hubs: those that may run.
        remove: paths of worktrees to remove, as they are listed.
        unused: also remove all that nobody uses.
    """
    async with AsyncExitStack() as connections:
        found = await _found(await _answering(hubs, connections))
        if not remove and not unused:
            listed = [line for path in sorted(found) for line in found[path].lines()]
            return _shown(listed or ["There are no worktrees."]), True
        said, is_done = [], True
        wanted = dict.fromkeys(
            [*remove, *(path for path in sorted(found) if unused and found[path].is_unused)]
        )
        for path in wanted:
            is_gone, lines = await _removed(path, found)
            said += lines
            is_done = is_done and is_gone
        return _shown(said or ["No worktree is unused."]), is_done


async def _answering(hubs: Sequence[Hub], connections: AsyncExitStack) -> list[Client]:
    answering = []
    for hub in hubs:
        try:
            answering.append(
                await connections.enter_async_context(connect(hub.url, hub.token, timeout=LOOK_S))
            )
        except TurnwireError as error:
            if len(hubs) == 1:
                raise NotAttached(f"cannot reach turnwire: {error}") from error
    if not answering:
        raise NotAttached(
            "no turnwire runs here, so nothing is known of its worktrees; start it, or give its URL"
        )
    return answering


async def _found(clients: Sequence[Client]) -> Mapping[str, Found]:
    """Return all worktrees by their paths, with the sessions of all hubs."""
    found: dict[str, Found] = {}
    refusals = []
    for client in clients:
        try:
            listing = await client.command(WorktreeList(), timeout=REMOVE_S)
        except CommandFailed as error:
            refusals.append(error.message)
            continue
        except TurnwireError as error:
            raise NotAttached(f"the worktrees cannot be listed: {error}") from error
        for one in listing.worktrees:
            known = found.setdefault(one.path, Found(one, client))
            known.sessions += one.sessions
    if len(refusals) == len(clients):
        raise NotAttached(refusals[0])
    return found


async def _removed(path: str, found: Mapping[str, Found]) -> tuple[bool, list[str]]:
    """Remove a worktree; return whether it is gone, and what to say."""
    known = found.get(path)
    if known is None:
        return False, [f"kept {path}: turnwire made no such worktree; `turnwire worktrees` lists them"]
    if known.sessions:
        return False, [f"kept {path}: used by {', '.join(known.sessions)}; delete the session first"]
    try:
        removed = await known.client.command(WorktreeRemove(path=path), timeout=REMOVE_S)
    except CommandFailed as error:
        return False, [f"kept {path}: {error.message}"]
    except TurnwireError as error:
        return False, [f"kept {path}: {error}"]
    said = [f"removed {path}; its branch stays"]
    if removed.backup is not None:
        said.append(f"    files that git ignores are kept in {removed.backup}")
    if removed.left is not None:
        said.append(f"    {removed.left}")
    return True, said


def _shown(lines: Sequence[str]) -> list[str]:
    return [visible(line) for line in lines]
