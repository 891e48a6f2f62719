"""A workspace's repository, read without running anything that it names.

A repository's configuration names programs: file system monitors, clean filters, hooks, ssh, and those of its submodules.
The repository is only asked where its parts are, which runs none of them. What looks at contents then reads its objects and
its index from a git directory of our own, whose configuration holds a few switches and no name of a program. Whether a file
with a filter (LFS, git-crypt) differs in the working tree, only the filter could tell. What git writes, it writes into
that directory.
"""

import os
import re
import stat
import tempfile
from asyncio import to_thread
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from turnwire.adapter.workspace.git import GitRefused, run_git
from turnwire.protocol.errors import TurnwireError

MAX_OUTPUT = 1 << 20
"""Bytes of git's words that are read; what follows is cut off."""

MAX_INDEX = 64 << 20
"""Bytes of an index that is copied: some half a million files."""

BIG_FILE = 8 << 20
"""Bytes from which on a file is taken for binary, unread."""

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
"""What of the configuration git has to know to tell changes; none of it is ever executed."""

_KEPT = frozenset({"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"})
_NOT_TRACED = {"GIT_TRACE2": "0", "GIT_TRACE2_EVENT": "0", "GIT_TRACE2_PERF": "0"}
_MAX_ASKED = 100_000
"""Characters of names of files that git is asked about in one command."""
_MAX_ENTRIES = 1000
"""Files of a git directory that are looked at; some twenty are usual."""
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""Git knows them without having them: hash-object -t tree /dev/null."""
_EMPTY_FILES = {
    "sha1": "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "sha256": "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}


class GitFailed(TurnwireError):
    """There is no repository, or no git, or it does not know; the text is git's own."""


class Output(Struct, frozen=True):
    """What git said."""

    content: bytes
    is_whole: bool
    """Not cut off."""

    @property
    def text(self) -> str:
        """What is whole lines of it, as text."""
        end = len(self.content) if self.is_whole else self.content.rfind(b"\n") + 1
        return self.content[:end].decode("utf-8", "replace")

    def fields(self) -> list[str]:
        """Return what ends with a NUL each, as names of files are in Python."""
        return [os.fsdecode(field) for field in self.content.split(b"\0")[:-1]]


class RepositoryLayout(Struct, frozen=True):
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

    @property
    def object_format(self) -> str:
        """sha1 or sha256."""
        return "sha256" if self.switches.get("extensions.objectformat") == "sha256" else "sha1"

    @property
    def base(self) -> str:
        """What the working tree is compared with: the commit, or nothing at all before the first."""
        return self.head or _EMPTY_TREES[self.object_format]

    @property
    def empty_file(self) -> str:
        """Object id of an empty file."""
        return _EMPTY_FILES[self.object_format]


class _Git(Struct, frozen=True):
    """Runs git in a workspace."""

    workspace: Path
    environment: Mapping[str, str]
    max_output: int

    async def __call__(self, *arguments: str, body: bytes = b"", max_output: int | None = None) -> Output:
        """Return what git says; raises GitFailed and OSError."""
        most = self.max_output if max_output is None else max_output
        try:
            done = await run_git(
                self.workspace,
                self.environment,
                # a folder that only looks like a repository is none
                ["-c", "safe.bareRepository=explicit", *arguments],
                body=body,
                most=most,
                stops_full=True,
            )
        except GitRefused as error:
            raise GitFailed(str(error)) from None
        if len(done.stdout) > most:
            return Output(done.stdout[:most], is_whole=False)
        if done.code != 0:
            raise GitFailed(done.stderr.decode("utf-8", "replace").strip()[:500])
        return Output(done.stdout, is_whole=True)


class Repository(Struct, frozen=True):
    """A repository whose own programs never run. Call it to run git on its objects, index and files."""

    parts: RepositoryLayout
    git: _Git

    async def filtered(self, names: Sequence[str]) -> set[str]:
        """Return which of these paths, from the root, pass a filter that the configuration names a program for."""
        room = _MAX_ASKED
        asked = [name for name in names if (room := room - len(name)) > 0]
        if not asked or not self.parts.filters:
            return set()
        paths = [str(self.parts.root / name) for name in asked]
        said = await self.git("check-attr", "-z", "filter", "--", *paths)
        drivers = said.fields()[2::3]
        return {name for name, driver in zip(asked, drivers, strict=False) if driver in self.parts.filters}


@asynccontextmanager
async def repository(
    workspace: Path,
    environment: Mapping[str, str],
    *,
    max_output: int = MAX_OUTPUT,
    own_index: bool = False,
) -> AsyncIterator[Repository]:
    """Open the repository that a workspace is in; raises GitFailed and OSError.

    Bytes of an output beyond `max_output` are cut off. With `own_index` git has a copy of the index, and may write it.
    """
    git = _starting(workspace, environment, max_output)
    parts = await _ask(git)
    with tempfile.TemporaryDirectory(prefix="turnwire-git-") as folder:
        ours = Path(folder)
        _lay_out(ours, parts)
        index = parts.index
        if own_index:
            index = ours / "index"
            await to_thread(_copy, parts.index, index)
        kept = {name: value for name, value in git.environment.items() if not name.startswith("GIT_CONFIG")}
        places = {
            "GIT_DIR": str(ours),
            "GIT_WORK_TREE": str(parts.root),
            "GIT_INDEX_FILE": str(index),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_ALLOC_LIMIT": "512m",
        }
        yield Repository(parts, replace(git, environment={**kept, **places}))


def _starting(workspace: Path, environment: Mapping[str, str], max_output: int) -> _Git:
    """Return git in the workspace's own repository."""
    # the user's own configuration says which folders are safe, so it is kept; what aims git at files is not
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith("GIT_") or name.startswith("GIT_CONFIG") or name in _KEPT
    }
    # taking the index lock could fail a git command of the agent's
    given = {**kept, "GIT_OPTIONAL_LOCKS": "0", **_NOT_TRACED}
    return _Git(workspace, given, max_output)


async def _ask(git: _Git) -> RepositoryLayout:
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
    match places.text.splitlines():
        case [root, objects, index, exclude]:
            pass
        case _:
            raise GitFailed("the name of one of its folders has a line break")
    try:
        # the name alone: to look at the commit might fetch it, by a program of the repository's choice
        head: str | None = (await git("rev-parse", "--verify", "--quiet", "HEAD")).text.strip()
    except GitFailed:
        head = None
    if head is not None and _OBJECT_ID.fullmatch(head) is None:
        raise GitFailed("its HEAD does not name an object")
    wanted = "|".join(re.escape(name) for name in _SWITCHES)
    switches = {
        name: value
        for name, value in await _settings(git, f"^({wanted})$")
        if name in _SWITCHES  # "." stands for itself
    }
    drivers = await _settings(git, r"^filter\..*\.(clean|process)$")
    filters = frozenset(name.removeprefix("filter.").rpartition(".")[0] for name, _ in drivers)
    return RepositoryLayout(Path(root), Path(objects), Path(index), Path(exclude), head, switches, filters)


async def _settings(git: _Git, pattern: str) -> list[tuple[str, str]]:
    """Return settings whose names match, as the repository and its user have them."""
    try:
        listed = await git("config", "--null", "--get-regexp", pattern)
    except GitFailed:
        return []  # none of them
    text = listed.content.decode("utf-8", "replace")
    entries = [entry.partition("\n") for entry in text.split("\0") if entry]
    return [(name, value if separator else "true") for name, separator, value in entries]


def _lay_out(ours: Path, parts: RepositoryLayout) -> None:
    """Make a git directory that has no configuration but the switches, and borrows the objects."""
    (ours / "refs").mkdir()
    (ours / "info").mkdir()
    (ours / "objects" / "info").mkdir(parents=True)
    (ours / "objects" / "info" / "alternates").write_bytes(os.fsencode(f"{_quoted(str(parts.objects))}\n"))
    (ours / "info" / "exclude").symlink_to(parts.exclude)
    with os.scandir(parts.index.parent) as entries:
        for entry in islice(entries, _MAX_ENTRIES):
            if entry.name.startswith("sharedindex."):  # the rest of a split index
                (ours / entry.name).symlink_to(entry.path)
    (ours / "HEAD").write_text(f"{parts.head or 'ref: refs/heads/none'}\n")
    lines = ["[core]", "repositoryformatversion = 1", "bare = false", f"bigFileThreshold = {BIG_FILE}"]
    for name, value in parts.switches.items():
        section, key = name.split(".")
        lines += [f"[{section}]", f"{key} = {_quoted(value)}"]
    (ours / "config").write_text("\n".join([*lines, ""]), encoding="utf-8", errors="surrogateescape")


def _copy(index: Path, copy: Path) -> None:
    """Copy an index, if there is one; raises GitFailed and OSError."""
    try:
        source = os.open(index, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    with os.fdopen(source, "rb") as there, copy.open("wb") as here:
        found = os.fstat(there.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_INDEX:
            raise GitFailed(f"its index is not a file of at most {MAX_INDEX} bytes")
        left = MAX_INDEX
        while (piece := there.read(min(left, 1 << 20))) and left > 0:
            here.write(piece)
            left -= len(piece)
    # a file is compared by content if it was written no earlier than its index
    os.utime(copy, ns=(found.st_atime_ns, found.st_mtime_ns))


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
