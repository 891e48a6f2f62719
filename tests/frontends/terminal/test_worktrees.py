"""`turnwire worktrees` over hubs: what is listed, what is removed, and what stays because another hub uses it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import pytest
from hub_harness import HubHarness, hub_harness
from pydantic import JsonValue

from turnwire.frontends.terminal.command import Hub
from turnwire.frontends.terminal.problems import NotAttached
from turnwire.frontends.terminal.worktrees import worktrees
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames import AnyCommand


def worktree(
    path: str, *, sessions: Sequence[str] = (), unsaved: Sequence[str] = ()
) -> Mapping[str, JsonValue]:
    return {
        "path": path,
        "repository": "/srv/repo",
        "branch": f"turnwire/{path.rpartition('/')[2]}",
        "unsaved": list(unsaved),
        "ignored": [".env"],
        "keeps": ["Keeps 1 file (5 bytes) that git ignores below /state/worktrees: .env."],
        "sessions": list(sessions),
        "removable": not sessions and not unsaved,
    }


NOTHING = {"backup": None, "left": None}


def with_worktrees(harness: HubHarness, *those: Mapping[str, JsonValue]) -> list[str]:
    """Let a hub have these worktrees; return the paths that it is told to remove."""
    removed: list[str] = []

    async def listed(_: AnyCommand) -> JsonValue:
        return {"place": "/srv/trees", "worktrees": [dict(one) for one in those]}

    async def remove(command: AnyCommand) -> JsonValue:
        assert isinstance(command, frames.WorktreeRemove)
        if any(one["path"] == command.path and one["unsaved"] for one in those):
            raise CommandRefused("refused_by_git", "it has 1 file that is not committed; commit it", "path")
        removed.append(command.path)
        kept = {"backup": "/state/worktrees/b-1", "left": "Some files stay in /srv/x."}
        return {"path": command.path, "branch": "b", **(kept if command.path.endswith("a") else NOTHING)}

    harness.host.handlers |= {"worktree.list": listed, "worktree.remove": remove}
    return removed


def hub(harness: HubHarness) -> Hub:
    return Hub(harness.base, harness.token)


async def test_each_worktree_is_listed_with_who_uses_it_and_what_would_be_lost() -> None:
    async with hub_harness() as one, hub_harness() as two:
        shared = worktree("/srv/trees/b")
        with_worktrees(one, worktree("/srv/trees/a", unsaved=["1 file is not committed."]), shared)
        with_worktrees(two, worktree("/srv/trees/b", sessions=["s-2"]), worktree("/srv/trees/\x1b[31mc"))
        assert await worktrees([hub(one), hub(two)], remove=(), unused=False) == (
            [
                "/srv/trees/⟨U+001B⟩[31mc  turnwire/⟨U+001B⟩[31mc  unused",
                "    Keeps 1 file (5 bytes) that git ignores below /state/worktrees: .env.",
                "/srv/trees/a  turnwire/a  has unsaved work",
                "    1 file is not committed.",
                "/srv/trees/b  turnwire/b  used by s-2",
                "    Keeps 1 file (5 bytes) that git ignores below /state/worktrees: .env.",
            ],
            True,
        )


async def test_unused_ones_are_removed_and_what_another_hub_uses_stays() -> None:
    async with hub_harness() as one, hub_harness() as two:
        gone = with_worktrees(
            one,
            worktree("/srv/trees/a"),
            worktree("/srv/trees/b"),
            worktree("/srv/trees/c", unsaved=["1 file is not committed."]),
        )
        with_worktrees(two, worktree("/srv/trees/b", sessions=["s-2"]))
        hubs = [hub(one), hub(two)]
        lines, is_done = await worktrees(hubs, remove=(), unused=True)
        assert (lines, is_done, gone) == (
            [
                "removed /srv/trees/a; its branch stays",
                "    files that git ignores are kept in /state/worktrees/b-1",
                "    Some files stay in /srv/x.",
            ],
            True,
            ["/srv/trees/a"],
        )  # fmt: skip
        asked = ["/srv/trees/b", "/srv/trees/c", "/elsewhere"]
        lines, is_done = await worktrees(hubs, remove=asked, unused=False)
        assert not is_done
        assert gone == ["/srv/trees/a"]
        assert [line.partition(": ")[2] for line in lines] == [
            "used by s-2; delete the session first",
            "it has 1 file that is not committed; commit it",
            "turnwire made no such worktree; `turnwire worktrees` lists them",
        ]


async def test_nothing_to_list_and_nothing_to_remove_are_told() -> None:
    async with hub_harness() as one:
        with_worktrees(one)
        assert await worktrees([hub(one)], remove=(), unused=False) == (["There are no worktrees."], True)
        assert await worktrees([hub(one)], remove=(), unused=True) == (["No worktree is unused."], True)


async def test_where_no_turnwire_runs_or_makes_worktrees_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(NotAttached, match="no turnwire runs here"):
        await worktrees([], remove=(), unused=False)
    with monkeypatch.context() as patch:
        patch.setattr("turnwire.frontends.terminal.worktrees.LOOK_S", 0.1)
        with pytest.raises(NotAttached, match="cannot reach turnwire"):
            await worktrees([Hub("http://127.0.0.1:9/", "x" * 32)], remove=(), unused=False)
    async with hub_harness() as one, hub_harness() as two:
        refuses: Callable[[AnyCommand], Awaitable[JsonValue]] = _off
        one.host.handlers["worktree.list"] = refuses
        with pytest.raises(NotAttached, match="the setting `worktrees`"):
            await worktrees([hub(one)], remove=(), unused=False)
        with_worktrees(two, worktree("/srv/trees/a"))
        lines, _ = await worktrees([hub(one), hub(two)], remove=(), unused=False)
        assert lines == [
            "/srv/trees/a  turnwire/a  unused",
            "    Keeps 1 file (5 bytes) that git ignores below /state/worktrees: .env.",
        ]


async def _off(_: AnyCommand) -> JsonValue:
    raise CommandRefused("no_worktrees", "the setting `worktrees` names no folder")
