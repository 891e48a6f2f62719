"""What a person does with a session's worktree: each first told as a plan, and done only while it is as it was told.

A plan is a digest of everything that it depends on. Git does the work, and runs no program that the repository brings: plans and results
name the hooks that did not run. Where something fails half way, such as by a conflict, it is taken back, and the refusal says so.
"""

import asyncio
import hashlib
import os
import re
import secrets
import shlex
import shutil
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, assert_never

from msgspec import Struct, structs

from turnwire.adapter.workspace.git import HOOKS, Changed, Git, GitRefused, Said, shown_paths
from turnwire.adapter.workspace.loaded import BROUGHT, LOADED, LoadedPlaces
from turnwire.adapter.workspace.removal import Seen, alone, see, take_away
from turnwire.adapter.workspace.unkept import unkept_in
from turnwire.adapter.workspace.worktrees import (
    MOST_LISTED,
    NewPlace,
    Standing,
    all_submodules,
    keep_unkept,
    look_at,
    unsaved_below,
    why_busy,
    why_locked,
)

DEADLINE = 600.0
"""Seconds that an action may take."""

KEPT = "refs/turnwire/discarded"
"""Below this name git keeps what was discarded."""

Action = Literal["commit", "merge", "rebase", "push", "pull_request", "discard"]

Presence = Literal["away", "idle", "working"]
"""Of a session's agent: its process is not there, waits for a prompt, or is in a turn."""


WORKING = "The agent is working here; it may change files meanwhile."
"""A warning that does not belong to a plan: the files do."""


class Plan(Struct, frozen=True):
    """What an action would do."""

    plan: str
    does: tuple[str, ...]
    commands: tuple[str, ...]
    warnings: tuple[str, ...]
    refusal: str | None


class Done(Struct, frozen=True):
    """What an action did."""

    done: tuple[str, ...]
    output: str
    backup: str | None = None


class Status(Struct, frozen=True):
    """How a session's worktree stands to its base."""

    path: str
    repository: str
    branch: str | None
    base: str | None
    ahead: int
    behind: int
    uncommitted: tuple[str, ...]
    conflicts: tuple[str, ...]
    remote: str | None
    pushed: bool


class _Facts(Struct, frozen=True):
    """What plans are made of."""

    standing: Standing
    base: str | None
    """The base as a branch; None where it was a commit, or is gone."""
    base_head: str | None
    holder: str | None
    """The working tree that has the base checked out; None where none has."""
    holder_state: str
    """Why it cannot take a merge, and what to do; empty where it can."""
    ahead: int
    behind: int
    merged: Said | None
    """What a merge of branch and base came to, made in memory."""
    remote: str | None
    remote_url: str
    remote_head: str | None
    in_the_way: tuple[str, ...]
    """Files that git does not know in that working tree, which a merge would write over."""

    @property
    def result(self) -> str | None:
        """What a merge leads to: a commit or a tree; None where it cannot be made."""
        return _result_of(self.standing.head, self.merged)

    @property
    def conflicts(self) -> tuple[str, ...]:
        """The files that a merge could not join."""
        if self.merged is None or self.merged.code != 1:
            return ()
        return tuple(dict.fromkeys(self.merged.fields()[1:]))


def _result_of(head: str, merged: Said | None) -> str | None:
    if merged is None:
        return head
    return merged.fields()[0] if merged.is_ok else None


class Worktree:
    """The worktree of one session."""

    def __init__(
        self, place: NewPlace, environment: Mapping[str, str], backups: Path, loaded: Iterable[str] = LOADED
    ) -> None:
        """Take what was made, git's environment, the folder for copies of what git ignores, and what programs load by themselves."""
        self._place = place
        self._backups = backups
        self._loaded = LoadedPlaces.of((*loaded, *BROUGHT))
        self._git = Git(Path(place.path), environment)

    async def status(self) -> Status:
        """Return how it stands; raises GitRefused and TimeoutError."""
        async with asyncio.timeout(DEADLINE):
            facts = await self._facts()
        standing = facts.standing
        return Status(
            self._place.path,
            self._place.repository,
            standing.branch,
            facts.base,
            facts.ahead,
            facts.behind,
            standing.uncommitted[:MOST_LISTED],
            facts.conflicts,
            facts.remote,
            facts.remote_head == standing.head,
        )

    async def preview(self, action: Action, message: str | None, *, agent: Presence) -> Plan:
        """Return what an action would do; raises GitRefused and TimeoutError.

        Args:
            action: which.
            message: of a commit, or the title of a pull request.
            agent: what the session's agent does.
        """
        async with asyncio.timeout(DEADLINE):
            return await self._plan(await self._facts(), action, message, agent=agent)

    async def act(self, action: Action, message: str | None, plan: str, *, agent: Presence) -> Done:
        """Do what a plan says. Raises GitRefused, Changed and TimeoutError."""
        async with asyncio.timeout(DEADLINE):
            await asyncio.to_thread(self._check_there)
            async with alone(self._git, repository=action in ("merge", "discard")):
                return await self._act(action, message, plan, agent=agent)
        raise AssertionError("it returns or raises")

    async def _act(self, action: Action, message: str | None, plan: str, *, agent: Presence) -> Done:
        before = await see(self._git) if action == "discard" else None
        facts = await self._facts()
        now = await self._plan(facts, action, message, agent=agent)
        if now.plan != plan:
            raise Changed("the worktree or its base is not as it was shown; look again, then repeat it")
        if now.refusal is not None:
            raise GitRefused(now.refusal)
        done = await self._do(action, message, facts, now, before)
        return structs.replace(done, done=(*done.done, *await self._not_run(action)))

    async def _not_run(self, action: Action) -> list[str]:
        return await self._git.not_run(action) if action in HOOKS else []

    async def _do(
        self, action: Action, message: str | None, facts: _Facts, now: Plan, before: Seen | None
    ) -> Done:
        match action:
            case "commit":
                return await self._commit(facts, str(message))
            case "merge":
                return await self._merge(facts)
            case "rebase":
                return await self._rebase(facts)
            case "push":
                return await self._push(facts)
            case "pull_request":
                return Done((), "\n".join(now.commands))
            case "discard":
                assert before is not None, "seen above"
                return await self._discard(facts, before)
            case _ as never:
                assert_never(never)

    def _check_there(self) -> None:
        """Refuse where the folder is gone, or something else lies in its place."""
        folder = self._git.folder
        if folder.is_symlink():
            raise GitRefused(f"{folder} is a link, not the worktree that was made; remove the link")
        if not (folder / ".git").exists():
            raise GitRefused(
                f"the worktree {folder} is gone; its branch is {self._place.branch!r}; "
                f"have git forget the folder with git -C {shlex.quote(self._place.repository)} worktree prune"
            )

    async def _facts(self) -> _Facts:
        git = self._git
        await asyncio.to_thread(self._check_there)
        standing = await look_at(git)
        base_head = await git.tells("rev-parse", "--verify", "--quiet", f"refs/heads/{self._place.base}")
        base = self._place.base if base_head is not None else None
        upon = base_head or await git.tells(
            "rev-parse", "--verify", "--quiet", f"{self._place.base}^{{commit}}"
        )
        ahead = behind = 0
        merged = None
        if upon is not None:
            counts = await git.ask("rev-list", "--left-right", "--count", f"{upon}...{standing.head}")
            behind, ahead = map(int, counts.split())
            if ahead and behind:
                merged = await git(
                    "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", upon, standing.head
                )
        holder, holder_state = (None, "") if base is None else await self._holder(base)
        in_the_way: tuple[str, ...] = ()
        if holder and not holder_state and ahead and base_head is not None:
            result = _result_of(standing.head, merged)
            if result is not None:
                added = await git.ask(*_ADDED, base_head, result)
                in_the_way = await asyncio.to_thread(
                    _in_the_way, Path(holder), added.split("\0"), await self._known(base_head)
                )
        remote = await self._remote(standing.branch, base)
        remote_head = url = None
        if remote is not None:
            url = await git.tells("remote", "get-url", "--push", remote)
            remote_head = await git.tells(
                "rev-parse", "--verify", "--quiet", f"refs/remotes/{remote}/{standing.branch}"
            )
        return _Facts(
            standing, base, base_head, holder, holder_state, ahead, behind, merged, remote, _without_password(url or ""),
            remote_head, in_the_way,
        )  # fmt: skip

    async def _holder(self, base: str) -> tuple[str | None, str]:
        """Return the working tree that has a branch checked out, and why it cannot take a merge."""
        for block in (await self._git.ask("worktree", "list", "--porcelain", "-z")).split("\0\0"):
            lines = dict(line.partition(" ")[::2] for line in block.split("\0"))
            if lines.get("branch") == f"refs/heads/{base}" and "worktree" in lines:
                there = self._git.at(Path(lines["worktree"]))
                if not there.folder.is_dir():
                    return lines["worktree"], (
                        f"{base} is checked out in {there.folder}, which is gone; have git forget it with git worktree prune"
                    )
                standing = await look_at(there)
                changed = await there.ask(
                    "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"
                )
                if standing.in_progress:
                    return lines["worktree"], (
                        f"{base} is checked out in {there.folder}, where a {standing.in_progress} is not over; finish or abort it there first"
                    )
                if busy := await why_busy(there):
                    return lines["worktree"], busy
                if changed:
                    return lines["worktree"], (
                        f"{base} is checked out in {there.folder}, with changes ({changed[:200]}); commit or stash them there first"
                    )
                return lines["worktree"], ""
            if "detached" in lines and await asyncio.to_thread(Path(lines["worktree"]).is_dir):
                there = self._git.at(Path(lines["worktree"]))
                own = await there.tells("rev-parse", "--path-format=absolute", "--git-dir")
                if own is not None and await asyncio.to_thread(_moves, Path(own), base):
                    return lines["worktree"], (
                        f"{base} is in a rebase or bisect in {there.folder}; finish or abort it there first"
                    )
        return None, ""

    async def _remote(self, branch: str | None, base: str | None) -> str | None:
        names = (await self._git.ask("remote")).split()
        for one in (branch, base):
            if one and (configured := await self._git.tells("config", f"branch.{one}.remote")) in names:
                return configured
        return "origin" if "origin" in names else names[0] if len(names) == 1 else None

    async def _plan(self, facts: _Facts, action: Action, message: str | None, *, agent: Presence) -> Plan:
        does, commands, warnings, refusal = await self._says(facts, action, message, agent=agent)
        warnings = [*warnings, *await self._not_run(action)]
        known = (
            action, message, does, commands, [one for one in warnings if one != WORKING], refusal, facts.standing, facts.base_head, facts.holder, facts.holder_state,
            facts.remote_head, facts.in_the_way, await self._content(facts.standing),
        )  # fmt: skip
        digest = hashlib.sha256(repr(known).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return Plan(
            digest,
            tuple(map(_shown, does)),
            tuple(map(_shown, commands)),
            tuple(map(_shown, warnings)),
            refusal,
        )

    async def _content(self, standing: Standing) -> Sequence[tuple[int, int]]:
        """Return what changes whenever an uncommitted file is written."""

        def look() -> list[tuple[int, int]]:
            found = []
            for path in standing.uncommitted:
                try:
                    seen = os.lstat(self._git.folder / path)
                    found.append((seen.st_mtime_ns, seen.st_size))
                except OSError:
                    found.append((0, -1))
            return found

        return await asyncio.to_thread(look)

    async def _says(
        self, facts: _Facts, action: Action, message: str | None, *, agent: Presence
    ) -> tuple[Sequence[str], Sequence[str], Sequence[str], str | None]:
        """Return what an action does, its commands, its warnings, and why it cannot be done."""
        standing, branch, base = facts.standing, facts.standing.branch, facts.base
        here = shlex.quote(self._place.path)
        busy = (
            f"a {standing.in_progress} is not over in this worktree; finish or abort it first"
            if standing.in_progress
            else None
        )
        detached = None if branch else "no branch is checked out in this worktree; check one out first"
        running = [WORKING] if agent == "working" else []
        dirty = [path for path in standing.uncommitted if path not in standing.submodules]
        match action:
            case "commit":
                nested = f"{shown_paths(standing.nested)} is a repository of its own; move it elsewhere first"
                refusal = busy or (nested if standing.nested else None)
                if not standing.uncommitted:
                    refusal = refusal or "there is nothing to commit"
                if not (message or "").strip():
                    refusal = refusal or "a commit needs a message"
                return (
                    [
                        f"Commits {_counted(len(standing.uncommitted), 'file')} to {branch or 'no branch'}: {shown_paths(standing.uncommitted)}."
                    ],
                    [f"git -C {here} add --all", f"git -C {here} commit -m {shlex.quote(message or '')}"],
                    [
                        *running,
                        *([] if branch else ["No branch is checked out, so the commit will be on none."]),
                        *(
                            f"Of the submodule {path} only its commit is taken."
                            for path in standing.submodules
                        ),
                    ],
                    refusal,
                )
            case "merge":
                return self._says_merge(
                    facts, busy or detached, dirty, [*running, *await self._says_brought(facts)]
                )
            case "rebase":
                return await self._says_rebase(facts, busy or detached, dirty, agent=agent)
            case "push":
                refusal = busy or detached
                if facts.remote is None:
                    refusal = (
                        refusal or "the repository has no remote, or several; choose one with git config"
                    )
                elif facts.remote_head == standing.head:
                    refusal = (
                        refusal or f"there is nothing to push: {facts.remote} has every commit of {branch}"
                    )
                elif await self._is_here(facts.remote):
                    refusal = refusal or (
                        f"the remote {facts.remote} lies in the worktree, where the agent can write its hooks; push yourself"
                    )
                left = [f"Uncommitted changes stay here: {shown_paths(dirty)}."] if dirty else []
                return (
                    [f"Sends {branch} to {facts.remote} ({facts.remote_url})."],
                    [
                        f"git -C {here} push --set-upstream {shlex.quote(facts.remote or '')} {shlex.quote(_refspec(branch or ''))}"
                    ],
                    left,
                    refusal,
                )
            case "pull_request":
                refusal = detached
                if facts.remote is None:
                    refusal = refusal or "the repository has no remote; a pull request needs one"
                title = message or await self._git.tells("log", "-1", "--format=%s") or ""
                words = ["gh", "pr", "create", "--head", branch or "", "--title", title, "--body", ""]
                if base is not None:
                    words[3:3] = ["--base", base]
                pushed = facts.remote_head == standing.head
                return (
                    ["Runs nothing; copy the command."],
                    [f"cd {here} && {shlex.join(words)}"],
                    [] if pushed else ["Push the branch first."],
                    refusal,
                )
            case "discard":
                return await self._says_discard(facts, dirty, agent=agent)
            case _ as never:
                assert_never(never)

    async def _is_here(self, remote: str) -> bool:
        """Tell whether a remote is a folder in the worktree."""
        urls = await self._git.tells("remote", "get-url", "--push", "--all", remote)
        top = await asyncio.to_thread(self._git.folder.resolve)
        places = [Path(top, url.removeprefix("file://")) for url in (urls or "").split("\n")]
        return any(place.resolve().is_relative_to(top) for place in places if place.exists())

    async def _says_rebase(
        self, facts: _Facts, refusal: str | None, dirty: Sequence[str], *, agent: Presence
    ) -> tuple[Sequence[str], Sequence[str], Sequence[str], str | None]:
        branch, base, here = facts.standing.branch, facts.base, shlex.quote(self._place.path)
        if base is None:
            refusal = refusal or "it started from a commit, or its base branch is gone; rebase it yourself"
        elif not facts.behind:
            refusal = refusal or f"there is nothing to do: {base} has no commits that are not here"
        if dirty:
            refusal = refusal or f"there are uncommitted changes ({shown_paths(dirty)}); commit them first"
        if refusal is None and (lost := await self._under_rebase(facts)):
            refusal = f"it would write over files that git does not know here: {shown_paths(lost)}; move them elsewhere first"
        if agent == "working":
            refusal = (
                refusal or "the agent is working here; wait for the end of its turn, or close the session"
            )
        warnings = []
        if facts.conflicts:
            warnings.append(
                f"It will probably stop at {shown_paths(facts.conflicts)}, and is taken back then."
            )
        if facts.remote_head is not None:
            warnings.append("The branch was pushed; after this, a push is refused until somebody forces it.")
        return (
            [
                f"Moves {_counted(facts.ahead, 'commit')} of {branch} onto {_counted(facts.behind, 'newer commit')} of {base}."
            ],
            [f"git -C {here} rebase {shlex.quote(f'refs/heads/{base}')}"],
            warnings,
            refusal,
        )

    async def _says_brought(self, facts: _Facts) -> list[str]:
        """Say which files of a merge start programs later without anybody naming them."""
        result = facts.result
        if facts.base_head is None or result is None or not facts.ahead:
            return []
        changed = await self._git.ask("diff", "--name-only", "-z", "--no-renames", facts.base_head, result)
        paths = [path for path in changed.split("\0") if path]
        hooks = await self._git.hooks_below()
        found = dict.fromkeys(
            (*self._loaded.within(paths), *(path for path in paths if hooks and path.startswith(hooks)))
        )
        if not found:
            return []
        return [
            f"It brings files that start programs by themselves; read them first: {shown_paths([*found])}."
        ]

    def _says_merge(
        self, facts: _Facts, refusal: str | None, dirty: Sequence[str], warned: Sequence[str]
    ) -> tuple[Sequence[str], Sequence[str], Sequence[str], str | None]:
        branch, base = facts.standing.branch, facts.base
        if base is None:
            refusal = refusal or "it started from a commit, or its base branch is gone; merge it yourself"
        elif not facts.ahead:
            refusal = refusal or f"there is nothing to merge: {base} has every commit of {branch}"
        if facts.conflicts:
            refusal = refusal or (
                f"these files conflict with {base}: {shown_paths(facts.conflicts)}; rebase or merge {base} here, and have the agent resolve them"
            )
        elif facts.merged is not None and not facts.merged.is_ok:
            refusal = refusal or f"git cannot merge them: {facts.merged.words}"
        refusal = refusal or facts.holder_state or None
        if facts.in_the_way:
            refusal = refusal or (
                f"it would write over files that git does not know in {facts.holder}: {shown_paths(facts.in_the_way)}; move them elsewhere first"
            )
        left = [f"Uncommitted changes stay here and are not merged: {shown_paths(dirty)}."] if dirty else []
        how = "moves it forward" if not facts.behind else "makes a merge commit"
        where = (
            f" in {facts.holder}, where it is checked out"
            if facts.holder
            else ", which no working tree has checked out"
        )
        place = shlex.quote(facts.holder or self._place.repository)
        if facts.holder or not facts.behind:
            does = [f"Merges {_counted(facts.ahead, 'commit')} of {branch} into {base}{where}: git {how}."]
        else:
            does = [
                f"Merges {_counted(facts.ahead, 'commit')} of {branch} into {base}{where}: turnwire {how}."
            ]
        command = (
            f"git -C {place} merge --no-edit {shlex.quote(f'refs/heads/{branch}')}"
            if facts.holder
            else f"git -C {place} update-ref refs/heads/{shlex.quote(base or '')} MERGED {facts.base_head}"
        )
        return does, [command], [*warned, *left], refusal

    async def _says_discard(
        self, facts: _Facts, dirty: Sequence[str], *, agent: Presence
    ) -> tuple[Sequence[str], Sequence[str], Sequence[str], str | None]:
        standing, branch = facts.standing, facts.standing.branch
        refusal = "an agent runs here; close the session first, and its forks" if agent != "away" else None
        if standing.in_progress:
            refusal = refusal or f"a {standing.in_progress} is not over in this worktree; abort it first"
        below = await unsaved_below(self._git, standing)
        if below:
            refusal = refusal or "; ".join(below)
        if standing.submodules and dirty and any(path in standing.submodules for path in dirty):
            refusal = refusal or "a submodule has changes; commit and push them there"
        if standing.conflicted:
            refusal = refusal or f"{shown_paths(standing.conflicted)} is in conflict; resolve it first"
        refusal = refusal or await why_locked(self._git)
        unkept = await unkept_in(self._git, await all_submodules(self._git, standing))
        refusal = refusal or unkept.refusal
        own_branch = branch == self._place.branch
        warnings = []
        if dirty:
            warnings.append(f"Uncommitted changes go: {shown_paths(dirty)}.")
        if not own_branch:
            warnings.append(
                f"The branch {self._place.branch} is not what is checked out here; all branches stay."
            )
        if facts.ahead:
            warnings.append(
                f"{_counted(facts.ahead, 'commit')} {'is' if facts.ahead == 1 else 'are'} not in {facts.base or 'the base'}."
            )
        warnings += unkept.warnings
        return (
            [
                f"Removes the folder {self._place.path}{f' and the branch {branch}' if own_branch else ''}.",
                *unkept.does(self._backups),
                f"Keeps commits and uncommitted changes below {KEPT}/, from where git brings them back.",
            ],
            [
                f"git -C {shlex.quote(self._place.repository)} worktree remove --force {shlex.quote(self._place.path)}",
                *(
                    [
                        f"git -C {shlex.quote(self._place.repository)} update-ref -d {shlex.quote(f'refs/heads/{branch}')} {standing.head}"
                    ]
                    if own_branch
                    else []
                ),
            ],
            warnings,
            refusal,
        )

    async def _commit(self, facts: _Facts, message: str) -> Done:
        git, before = self._git, facts.standing.head
        index = Path(await git.ask("rev-parse", "--path-format=absolute", "--git-path", "index"))
        kept = await asyncio.to_thread(lambda: index.read_bytes() if index.exists() else None)
        added = await git("add", "--all", "--", ":/", ":(exclude,top).turnwire")
        if not added.is_ok:
            raise GitRefused(f"git does not commit, and nothing was: {_locked_by(added.words)}")
        said = await git("commit", "--quiet", "--file=-", body=message.encode())
        if not said.is_ok:
            why = _locked_by(said.words)
            if not await asyncio.to_thread(_put_back, index, kept):
                raise GitRefused(
                    f"git does not commit, and nothing was; all changes are staged now, since another git holds {index}.lock: {why}"
                )
            raise GitRefused(f"git does not commit, and nothing was: {why}")
        head = await git.ask("rev-parse", "--short", "HEAD")
        return Done((f"Committed as {head}.",), said.words, before)

    async def _merge(self, facts: _Facts) -> Done:
        branch, base, before = facts.standing.branch or "", facts.base or "", facts.base_head or ""
        if facts.holder is None:
            commit, git = facts.standing.head, self._git
            if facts.behind:
                assert facts.merged is not None, "both have commits of their own"
                tree = facts.merged.fields()[0]
                commit = await git.ask(
                    "commit-tree",
                    tree,
                    "-p",
                    before,
                    "-p",
                    commit,
                    "-m",
                    f"Merge branch '{branch}' into {base}",
                )
            await git.ask("update-ref", "-m", f"merge {branch}", f"refs/heads/{base}", commit, before)
            return Done((f"{base} has every commit of {branch}.",), "", before)
        there = self._git.at(Path(facts.holder))
        said = await there("merge", "--no-edit", f"refs/heads/{branch}")
        if not said.is_ok:
            # a merge that somebody else began there is not ours to abort
            if await there.tells("rev-parse", "--verify", "--quiet", "MERGE_HEAD") == facts.standing.head:
                await there("merge", "--abort")
            _, left = await self._holder(base)
            if left or await there.tells("rev-parse", "HEAD") != before:
                raise GitRefused(
                    f"git does not merge; look at {facts.holder}, where something was left: {_locked_by(said.words)}"
                )
            raise GitRefused(f"git does not merge, and it was taken back: {_locked_by(said.words)}")
        return Done((f"{base} has every commit of {branch}.",), said.words, before)

    async def _under_rebase(self, facts: _Facts) -> tuple[str, ...]:
        """Return files that git does not know here, and that a rebase would write over."""
        git, head, base = self._git, facts.standing.head, str(facts.base_head)
        written = (await git.ask(*_ADDED, head, base)).split("\0")
        passing = await git.ask("log", "--format=", "--name-only", "-z", "--no-renames", f"{base}..{head}")
        return await asyncio.to_thread(
            _in_the_way, git.folder, (*written, *passing.split("\0")), await self._known(head)
        )

    async def _known(self, commit: str) -> set[str]:
        """Return the files of a commit."""
        listed = await self._git.ask("ls-tree", "-r", "--full-tree", "--name-only", "-z", commit)
        return set(listed.split("\0"))

    async def _rebase(self, facts: _Facts) -> Done:
        git, before = self._git, facts.standing
        said = await git("rebase", f"refs/heads/{facts.base}")
        if not said.is_ok:
            stopped = await look_at(git)
            if stopped.in_progress == "rebase":
                await git("rebase", "--abort")
            if await look_at(git) != before:
                raise GitRefused(
                    f"git does not rebase; look at {self._place.path}, where something was left, such as with git status: {_locked_by(said.words)}"
                )
            if stopped.conflicted:
                raise GitRefused(
                    f"git stopped at {shown_paths(stopped.conflicted)}, and it was taken back; "
                    f"have the agent merge {facts.base} and resolve it: {said.words}"
                )
            raise GitRefused(f"git does not rebase, and it was taken back: {_locked_by(said.words)}")
        return Done((f"{before.branch} stands on {facts.base}.",), said.words, before.head)

    async def _push(self, facts: _Facts) -> Done:
        branch = facts.standing.branch or ""
        said = await self._git("push", "--set-upstream", facts.remote or "", _refspec(branch))
        if not said.is_ok:
            if re.search(r"transport '[^']*' not allowed", said.words):
                raise GitRefused(
                    "the repository's own configuration names a program by which git would reach a remote (remote.*.uploadpack, receivepack or vcs), "
                    "and turnwire runs none that a repository brings; push yourself"
                )
            hint = "; fetch, then rebase or merge what is there" if "[rejected]" in said.words else ""
            raise GitRefused(f"git does not push{hint}: {_without_password(said.words)}")
        return Done((f"{facts.remote} has {branch}.",), _without_password(said.words))

    async def _discard(self, facts: _Facts, before: Seen) -> Done:
        git, standing = self._git, facts.standing
        outside = git.at(Path(await git.ask("rev-parse", "--path-format=absolute", "--git-common-dir")))
        unkept = await unkept_in(git, await all_submodules(git, standing))
        copy = await keep_unkept(git, unkept, self._backups, standing.branch)
        kept = None
        try:
            kept = await self._keep(standing)
            # commits in submodules change no file here
            if below := await unsaved_below(git, standing):
                raise GitRefused("; ".join(below))
            left = await take_away(git, before)
        except (Changed, GitRefused):
            if copy is not None:
                await asyncio.to_thread(shutil.rmtree, copy, ignore_errors=True)
            if kept is not None:
                await outside("update-ref", "-d", kept)
            raise
        done = [f"Removed {self._place.path}."]
        if left is not None:
            done.append(left)
        if standing.branch == self._place.branch:
            done.append(await self._without_branch(outside, standing))
        done.append(f"What was there is kept: git branch NAME {kept}")
        if copy is not None:
            done.append(f"Files that git ignores are kept in {copy}")
        return Done(tuple(done), "", kept)

    async def _without_branch(self, outside: Git, standing: Standing) -> str:
        """Delete the worktree's branch, unless it has moved or is checked out elsewhere; say what was done."""
        branch, name = standing.branch, f"refs/heads/{standing.branch}"
        listed = await outside.ask("worktree", "list", "--porcelain", "-z")
        if f"branch {name}" in listed.split("\0"):
            return f"The branch {branch} stays: it is checked out elsewhere."
        said = await outside("update-ref", "-d", name, standing.head)
        if not said.is_ok:
            return f"The branch {branch} stays: {said.words}"
        await outside("config", "--remove-section", f"branch.{branch}")
        return f"Removed the branch {branch}."

    async def _keep(self, standing: Standing) -> str:
        """Have git keep a worktree as it is, uncommitted and staged changes included, and return under which name."""
        git, commit = self._git, standing.head
        title = f"Discarded of {standing.branch}"
        if standing.uncommitted:
            staged = await git.ask("write-tree")
            with tempfile.TemporaryDirectory(prefix="turnwire-git-") as folder:
                env = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
                await git.ask("read-tree", "HEAD", env=env)
                await git.ask(
                    "add", "--all", "--", ":/", ":(exclude,top).turnwire", env=env, skips_filters=True
                )
                tree = await git.ask("write-tree", env=env)
            parents = ["-p", standing.head]
            if staged not in (tree, await git.ask("rev-parse", "HEAD^{tree}")):
                index = await git.ask("commit-tree", staged, *parents, "-m", f"{title}: what was staged")
                parents += ["-p", index]
            commit = await git.ask("commit-tree", tree, *parents, "-m", title)
        when = time.strftime("%Y%m%d-%H%M%S")
        name = f"{KEPT}/{standing.branch or 'detached'}-{when}-{commit[:8]}-{secrets.token_hex(2)}"
        await git.ask("update-ref", name, commit)
        return name


_ADDED = ("diff", "--name-only", "-z", "--no-renames", "--diff-filter=A")
"""Git's question for the files that a commit has and another has not."""


def _in_the_way(top: Path, paths: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Return those of the paths that cannot be written without writing over a file that git does not know.

    Args:
        top: the working tree.
        paths: what is to be written.
        known: files that git has.
    """

    def is_free(path: str) -> bool:
        place = top / path
        if place.is_dir() and not place.is_symlink():
            below = [os.path.relpath(Path(at, one), top) for at, _, files in os.walk(place) for one in files]
            return all(one in known for one in below)
        return path in known or not os.path.lexists(place)

    found = []
    for path in dict.fromkeys(filter(None, paths)):
        above = [one for one in map(str, Path(path).parents) if one != "."]
        blocked = [one for one in above if not (top / one).is_dir() or (top / one).is_symlink()]
        if not is_free(path) or not all(map(is_free, blocked)):
            found.append(path)
    return tuple(found)


def _moves(own: Path, branch: str) -> bool:
    """Tell whether a rebase or bisect that is not over will move a branch, or go back to it."""
    for name in ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"):
        try:
            if (own / name).read_text().strip().removeprefix("refs/heads/") == branch:
                return True
        except OSError:
            continue
    return False


def _put_back(index: Path, kept: bytes | None) -> bool:
    """Write back what was staged before, as git does it; False while another git holds the lock."""
    lock = index.with_name(f"{index.name}.lock")
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "wb") as file:
        file.write(kept or b"")
    if kept is None:
        index.unlink(missing_ok=True)
        lock.unlink()
    else:
        lock.replace(index)
    return True


def _locked_by(words: str) -> str:
    """Return git's words, and before them what to do about a lock that an earlier git has left."""
    found = re.search(r"Unable to create '(.*\.lock)': File exists", words)
    if found is None:
        return words
    return (
        f"another git works there, or was killed; wait for it, or delete {found[1]} if no git runs: {words}"
    )


def _refspec(branch: str) -> str:
    """Return what to push, spelled out: a branch's name may begin with + or be a tag's too."""
    return f"refs/heads/{branch}:refs/heads/{branch}"


_PASSWORD = re.compile(r"(\b[a-z+]+://)[^/@\s]+@")


def _without_password(text: str) -> str:
    return _PASSWORD.sub(r"\1…@", text)


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _shown(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
