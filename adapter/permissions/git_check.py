"""Uncommitted changes in a workspace, for the Stop hook. Where git cannot say, there are none: the hook only reminds.

A repository's configuration names programs: file system monitors, clean filters, hooks, ssh, and those of its submodules.
The repository is only asked where its parts are, which runs none of them. Then `git status` reads its objects and its
index from a git directory of our own, whose configuration holds a few switches and no name of a program. Whether a file
with a filter (LFS, git-crypt) differs in the working tree, only the filter could tell: such a change is left out.
"""

import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from adapter.process.program import run_program

DEADLINE = 10.0
"""Seconds that git may take, all in all."""

MAX_OUTPUT = 1 << 20
"""Bytes of git's words that are read; the changes beyond are not listed."""

IGNORED = ".turnwire/"
"""What turnwire itself puts into a workspace."""

_SWITCHES = (
    "core.autocrlf",
    "core.checkstat",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.trustctime",
    "extensions.objectformat",
)
"""What of the configuration `git status` has to know to tell changes; none of it is ever executed."""

_KEPT = frozenset({"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"})
_NOT_TRACED = {"GIT_TRACE2": "0", "GIT_TRACE2_EVENT": "0", "GIT_TRACE2_PERF": "0"}
_MAX_ASKED = 100_000
"""Characters of names of files that git is asked about in one command."""
_MAX_ENTRIES = 1000
"""Files of a git directory that are looked at; some twenty are usual."""
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class _Repository:
    """Where the parts of a repository are."""

    root: Path
    objects: Path
    index: Path
    exclude: Path
    head: str | None
    """Object id of the commit; None before the first."""
    switches: dict[str, str]
    filters: frozenset[str]
    """Names that the configuration gives a program that filters."""


async def uncommitted_changes(
    workspace: Path,
    environment: Mapping[str, str],
    *,
    deadline: float = DEADLINE,
    max_output: int = MAX_OUTPUT,
) -> tuple[str, ...]:
    """Return the lines of `git status --porcelain`; none without a repository, without git, or in doubt.

    Nothing that the repository names is executed. Seconds beyond `deadline` and bytes beyond `max_output` are cut off.
    """
    try:
        git = _find(workspace, environment, max_output)
        async with asyncio.timeout(deadline):
            repository = await _ask(git)
            with tempfile.TemporaryDirectory(prefix="turnwire-git-") as folder:
                ours = Path(folder)
                _lay_out(ours, repository)
                inside = git.inside(ours, repository)
                changes = await inside(
                    "status",
                    "--porcelain",
                    "--untracked-files=normal",
                    "--no-renames",
                    "--ignore-submodules=dirty",  # looking into one runs git there, under its own configuration
                )
                lines = [line for line in changes.splitlines() if not line[3:].startswith(IGNORED)]
                unclear = await _filtered(inside, repository, lines) if repository.filters else set()
    except (OSError, TimeoutError, _GitFailed):
        return ()
    return tuple(line for line in lines if line not in unclear)


class _GitFailed(Exception):
    """Git is not there, or does not know."""


@dataclass(frozen=True)
class _Git:
    """Runs git in a workspace."""

    program: str
    workspace: Path
    environment: Mapping[str, str]
    max_output: int

    def inside(self, ours: Path, repository: _Repository) -> "_Git":
        """Return the same for a git directory of ours."""
        kept = {name: value for name, value in self.environment.items() if not name.startswith("GIT_CONFIG")}
        places = {
            "GIT_DIR": str(ours),
            "GIT_WORK_TREE": str(repository.root),
            "GIT_INDEX_FILE": str(repository.index),
            "GIT_OBJECT_DIRECTORY": str(repository.objects),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        return replace(self, environment={**kept, **places})

    async def __call__(self, *arguments: str) -> str:
        """Return what git says; raises _GitFailed and OSError."""
        done = await run_program(
            [
                self.program,
                "--no-pager",
                "-c",
                "safe.bareRepository=explicit",  # a folder that only looks like a repository
                *arguments,
            ],
            body=b"",
            workspace=self.workspace,
            environment=self.environment,
            most=self.max_output,
            stops_full=True,
        )
        if len(done.stdout) > self.max_output:
            return done.stdout[: done.stdout.rfind(b"\n", 0, self.max_output) + 1].decode("utf-8", "replace")
        if done.code != 0:
            raise _GitFailed
        return done.stdout.decode("utf-8", "replace")


def _find(workspace: Path, environment: Mapping[str, str], max_output: int) -> _Git:
    """Find git outside of the workspace, where an agent can write one; raises _GitFailed and OSError."""
    folders = [
        folder
        for folder in environment.get("PATH", os.defpath).split(os.pathsep)
        if Path(folder).is_absolute() and not Path(folder).resolve().is_relative_to(workspace.resolve())
    ]
    program = shutil.which("git", path=os.pathsep.join(folders))
    if program is None:
        raise _GitFailed
    # the user's own configuration says which folders are safe, so it is kept; what aims git at files is not
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith("GIT_") or name.startswith("GIT_CONFIG") or name in _KEPT
    }
    # taking the index lock could fail a git command of the agent's
    given = {**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", **_NOT_TRACED}
    return _Git(program, workspace, given, max_output)


async def _ask(git: _Git) -> _Repository:
    """Ask the repository for its parts: `rev-parse` and `config` run no program."""
    places = await git(
        "rev-parse",
        "--path-format=absolute",
        "--show-toplevel",
        "--git-path",
        "objects",
        "--git-path",
        "index",
        "--git-path",
        "info/exclude",
    )
    match places.splitlines():
        case [root, objects, index, exclude]:
            pass
        case _:
            raise _GitFailed  # a line break in a name
    try:
        # the name alone: to look at the commit might fetch it, by a program of the repository's choice
        head: str | None = (await git("rev-parse", "--verify", "--quiet", "HEAD")).strip()
    except _GitFailed:
        head = None
    if head is not None and _OBJECT_ID.fullmatch(head) is None:
        raise _GitFailed
    wanted = "|".join(re.escape(name) for name in _SWITCHES)
    switches = {
        name: value
        for name, value in await _settings(git, f"^({wanted})$")
        if name in _SWITCHES  # "." stands for itself
    }
    drivers = await _settings(git, r"^filter\..*\.(clean|process)$")
    filters = frozenset(name.removeprefix("filter.").rpartition(".")[0] for name, _ in drivers)
    return _Repository(Path(root), Path(objects), Path(index), Path(exclude), head, switches, filters)


async def _settings(git: _Git, pattern: str) -> list[tuple[str, str]]:
    """Return settings whose names match, as the repository and its user have them."""
    try:
        listed = await git("config", "--null", "--get-regexp", pattern)
    except _GitFailed:
        return []  # none of them
    entries = [entry.partition("\n") for entry in listed.split("\0") if entry]
    return [(name, value if separator else "true") for name, separator, value in entries]


async def _filtered(git: _Git, repository: _Repository, lines: Sequence[str]) -> set[str]:
    """Return the lines of changes in the working tree that a filter would have to judge."""
    asked: dict[str, str] = {}
    room = _MAX_ASKED
    for line in lines:
        # a name in quotes is rare enough to be listed in doubt
        if line.startswith(" M ") and not line.startswith(' M "') and (room := room - len(line)) > 0:
            asked[line[3:]] = line
    if not asked:
        return set()
    names = [str(repository.root / name) for name in asked]
    said = (await git("check-attr", "-z", "filter", "--", *names)).split("\0")
    verdicts = zip(asked.values(), said[2::3], strict=False)
    return {line for line, driver in verdicts if driver in repository.filters}


def _lay_out(ours: Path, repository: _Repository) -> None:
    """Make a git directory that has no configuration but the switches."""
    (ours / "refs").mkdir()
    (ours / "info").mkdir()
    (ours / "info" / "exclude").symlink_to(repository.exclude)
    with os.scandir(repository.index.parent) as entries:
        for entry in islice(entries, _MAX_ENTRIES):
            if entry.name.startswith("sharedindex."):  # the rest of a split index
                (ours / entry.name).symlink_to(entry.path)
    (ours / "HEAD").write_text(f"{repository.head or 'ref: refs/heads/none'}\n")
    lines = ["[core]", "repositoryformatversion = 1", "bare = false"]
    for name, value in repository.switches.items():
        section, key = name.split(".")
        lines += [f"[{section}]", f"{key} = {_quoted(value)}"]
    (ours / "config").write_text("\n".join([*lines, ""]), encoding="utf-8", errors="surrogateescape")


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
