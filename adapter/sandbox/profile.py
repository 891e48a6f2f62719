"""Which files an agent sees: the places of a session, as the disk has them when its sandbox is made.

Everything that is not named is not there. Files that start programs later (hooks, settings of agents and editors) are
protected inside the workspace. A missing folder among these is made, empty, and removed at the end. Otherwise the
agent could make it itself.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from turnwire.adapter.permissions.real_paths import secret_places
from turnwire.adapter.sandbox.own_files import own_files
from turnwire.adapter.sandbox.parts import Part, roots_of
from turnwire.adapter.sandbox.settings import SandboxSettings
from turnwire.adapter.workspace.loaded import LOADED, LoadedPlaces
from turnwire.protocol.errors import TurnwireError

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/snap")
"""Folders of the system, which an agent reads."""

TOOLCHAINS = (
    ".asdf", ".bun/bin", ".cargo/bin", ".deno/bin", ".local/bin", ".local/lib", ".local/share/mise", ".local/share/uv", ".nvm", ".pyenv",
    ".rbenv", ".rustup", ".sdkman", ".volta", "go/bin",
)  # fmt: skip
"""Folders below HOME with programs, which an agent reads."""

PROTECTED_FOLDERS = (
    ".git",
    ".git/hooks",
    ".claude",
    ".codex",
    ".gemini",
    ".qwen",
    ".vscode",
    ".cursor",
    ".idea",
)
"""Folders in a workspace whose contents start programs later; one that is missing stays missing, and `.git` itself can be written."""

PROTECTED_FILES = (".git/config", ".git/config.worktree", ".git/info/attributes")
"""Files of git that start programs later; places that programs load by themselves are in the settings (`loads`)."""

NESTED_DEPTH = 3
NESTED_FOLDERS = 2000
"""How deep, and in how many folders, other git repositories are looked for in a workspace."""


OWN = ("/tmp", "/var/tmp", "/run", "/proc", "/dev")
"""Folders that each sandbox has of its own."""

SAME_FOLDER = ".\n"
"""Content of a `commondir` that changes nothing: git looks for the configuration where it does anyway."""

HELD: Counter[str] = Counter()
"""Folders that sandboxes of this process have made in workspaces, and how many need them."""


class Profile(Struct, frozen=True, kw_only=True):
    """What a sandbox shows; absolute paths, the outer ones before what is in them."""

    workspace: str
    home: str
    readable: tuple[str, ...]
    """Seen and not written."""
    writable: tuple[str, ...]
    """Seen and written."""
    protected: tuple[str, ...]
    """In a writable place, and not written."""
    hidden: tuple[str, ...]
    """In a visible place, and not there."""
    fresh: tuple[str, ...] = ()
    """Folders in a writable place that each program has of its own, empty at first."""
    copied: tuple[str, ...] = ()
    """Files of which the sandbox gets a copy."""
    private: Mapping[str, str] = {}
    """The folder that is seen in the place of one that the agent's projects share."""
    parts: tuple[Part, ...] = ()
    """The agent's own places that are divided between projects."""
    roots: tuple[str, ...] = ()
    """The folders by which the project is known, the workspace first."""
    missing: tuple[str, ...] = ()
    """Files and folders of the agent's own that are set aside at the end if they are there then."""
    links: Mapping[str, str]
    """Links of the system's root to what they name, such as /bin to usr/bin."""
    loads: LoadedPlaces = LoadedPlaces.of(LOADED)
    """Names and paths in the workspace from which programs start others by themselves."""
    made: tuple[str, ...] = ()
    """Folders to be made for the session, since nothing may be made in their place; the outer ones first."""
    made_files: tuple[str, ...] = ()
    """Files that git reads or runs, likewise. Ours are empty, but for `commondir`, by which a repository gets another configuration."""

    def in_workspace(self, places: Iterable[str]) -> list[str]:
        """Return those places that are in the workspace, relative to it."""
        return [
            place[len(self.workspace) + 1 :] for place in places if place.startswith(f"{self.workspace}/")
        ]

    def why_denied(self, path: str, said: str) -> str | None:
        """Return why a path was refused to a program that said so; None where the sandbox has nothing to do with it."""
        spelled = f"{self.home}{path[1:]}" if path.startswith("~/") else path
        whole = os.path.normpath(os.path.join(self.workspace, spelled))
        if any(_is_in(whole, one) for one in self.hidden):
            return "it is hidden from this session"
        seen = [*self.readable, *self.writable, *self.copied, *self.private, *self.links]
        if not _is_in(whole, self.home):
            seen += OWN
        outside = not any(_is_in(whole, one) for one in seen)
        if "No such file" in said or "no such file" in said or "ENOENT" in said:
            return (
                "it is not in this sandbox; sandbox_readable or sandbox_writable can show it"
                if outside and whole.startswith("/")
                else None
            )
        is_busy = (
            "resource busy" in said or "EBUSY" in said
        )  # so the kernel says where a mount would be renamed
        if not is_busy and "ead-only" not in said and "EROFS" not in said:
            return None
        if whole in self.copied:
            return "the sandbox has a copy of it, which is written in its place"
        if any(_is_in(whole, one) for one in self.protected):
            if not _is_in(whole, self.workspace):
                return "it starts programs later, so it is protected; sandbox_writable can open it"
            name = os.path.relpath(whole, self.workspace)
            return f"it starts programs later, so it is protected; sandbox_unprotected can free it ({name})"
        if is_busy:
            return None
        return "it is outside of the workspace; sandbox_writable can open it"


class ProfileError(TurnwireError, ValueError):
    """There can be no sandbox around such places; says why."""


def build_profile(
    settings: SandboxSettings,
    *,
    workspace: Path,
    program: str,
    environment: Mapping[str, str],
    own_places: Sequence[str] = (),
) -> Profile:
    """Return what an agent sees; looks at the disk, and makes the folders of the agent's own. Raises ProfileError.

    Args:
        settings: what the operator says.
        workspace: where it works.
        program: the path of the agent's program.
        environment: its environment, which says where HOME and programs are.
        own_places: turnwire's own files and folders.
    """
    home = os.path.realpath(environment.get("HOME") or "/nonexistent")
    root = os.path.realpath(workspace)
    if root in ("/", *SYSTEM) or _is_in(home, root):
        raise ProfileError(
            f"the workspace {root} holds the system or the home directory; work in a folder below it"
        )

    def absolute(path: str) -> str:
        spelled = f"{home}{path[1:]}" if path == "~" or path.startswith("~/") else path
        return os.path.realpath(os.path.join(root, spelled))

    roots = roots_of(root, list(_worktree(root)))
    own = own_files(settings.state, home, roots, settings.parts)
    opened = [absolute(path) for path in settings.writable]
    for path in opened:
        if not os.path.exists(path):
            raise ProfileError(f"{path} of sandbox_writable does not exist; create it or leave it out")
    writable = {root, *own.writable, *_worktree(root), *opened}
    if sys.platform == "darwin":  # nothing can be shown in the place of another folder there
        writable |= set(own.private)
    readable = {path for path in SYSTEM if os.path.isdir(path) and not os.path.islink(path)}
    readable |= set(own.readable)
    readable |= set(_programs(program, environment.get("PATH", ""), home))
    readable |= {path for path in map(absolute, settings.readable) if os.path.exists(path)}
    readable |= {path for path in (os.path.realpath("/etc/resolv.conf"),) if os.path.exists(path)}
    free = {os.path.normpath(one) for one in settings.unprotected}
    protected, made, made_files = _protected(root, free, home)
    loads = LoadedPlaces.of(settings.loads or LOADED)
    protected |= _loaded(root, loads, free, made)
    own_state = [f"{home}/{place.rstrip('/')}" for place in settings.state]
    secrets = [
        path
        for path in map(absolute, secret_places(home))
        if not any(_is_in(path, place) for place in own_state)
    ]  # the agent reads its own login
    hidden = {path for path in (*secrets, *map(absolute, own_places)) if os.path.exists(path)}
    seen = (*readable, *writable)
    return Profile(
        workspace=root,
        home=home,
        readable=tuple(sorted(readable - writable)),
        writable=tuple(sorted(writable)),
        protected=tuple(sorted({*protected, *own.protected}.difference(opened, own.writable))),
        hidden=tuple(
            sorted(path for path in hidden if path not in writable and any(_is_in(path, one) for one in seen))
        ),
        links={path: os.readlink(path) for path in SYSTEM if os.path.islink(path)},
        fresh=own.fresh,
        copied=tuple(path for path in own.copied if path not in opened),
        private=own.private,
        parts=own.parts,
        roots=tuple(roots),
        missing=own.missing,
        loads=loads,
        made=tuple(made),
        made_files=tuple(made_files),
    )


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _programs(program: str, path: str, home: str) -> Iterator[str]:
    """Yield the places of programs that are no part of the system."""
    named = [
        Path(program).parent,
        Path(os.path.realpath(program)).parent,
        Path(os.path.realpath(sys.executable)).parent,
    ]
    folders = [*named, *(Path(one) for one in path.split(":") if one)]
    node_modules = [
        parent for parent in Path(os.path.realpath(program)).parents if parent.name == "node_modules"
    ]
    if node_modules:
        yield str(node_modules[-1])
    for name in TOOLCHAINS:
        if os.path.isdir(place := f"{home}/{name}"):
            yield os.path.realpath(place)
    for folder in folders:
        if not folder.is_absolute() or not folder.is_dir() or any(_is_in(str(folder), one) for one in SYSTEM):
            continue
        prefix = folder.parent
        known = {Path(home), Path(home, ".local"), Path(home, ".cargo"), Path("/"), *Path(home).parents}
        is_prefix = folder.name == "bin" and prefix not in known and (prefix / "lib").is_dir()
        found = os.path.realpath(prefix if is_prefix else folder)
        if found not in ("/", "/root", "/home", home) and not _is_in(home, found):
            yield found


def _worktree(root: str) -> Iterator[str]:
    """Yield the repository of a git worktree, which is elsewhere; only one that knows this worktree itself counts."""
    try:
        said = Path(root, ".git").read_text(encoding="utf-8")
        own = os.path.realpath(os.path.join(root, said.removeprefix("gitdir:").strip()))
        back = Path(own, "gitdir").read_text(encoding="utf-8").strip()
        common = os.path.realpath(
            os.path.join(own, Path(own, "commondir").read_text(encoding="utf-8").strip())
        )
    except (OSError, ValueError):
        return
    if (
        os.path.realpath(back) == f"{root}/.git"
        and os.path.basename(common) == ".git"
        and _is_in(own, common)
    ):
        yield common


_PROGRAMS = re.compile(
    r"^[ \t]*(?:\[[^\]\n]*\][ \t]*)?"
    r"(hookspath|path|fsmonitor|sshcommand|editor|pager|clean|smudge|process|textconv|command|driver|helper|program)"
    r"[ \t]*=[ \t]*(\S[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines of git's configuration that name programs, folders of hooks, or more configuration."""

_COMMENT = re.compile(r"\s[#;]")

MOST_WORKTREES = 200
"""Worktrees of a repository whose files are protected."""

MOST_CONFIGURATION = 1 << 18
"""Characters of a configuration of git that are looked at."""

MOST_INCLUDED = 100
"""Configurations of git that are looked at because one includes another."""


class NamedByGit(NamedTuple):
    """A place in the workspace that git runs or reads."""

    place: str
    is_hooks: bool
    """It is a folder of hooks."""
    is_held: bool
    """It must not be made, either: git takes it from there, and not from PATH."""


def _named_by_git(root: str, home: str, configuration: str, seen: set[str]) -> Iterator[NamedByGit]:
    """Yield the places in the workspace that a configuration of git has run or read, but for one that was seen."""
    if configuration in seen or len(seen) > MOST_INCLUDED:
        return
    seen.add(configuration)
    for key, value in _PROGRAMS.findall(_read_start(configuration)):
        said = _COMMENT.split(value, maxsplit=1)[0].strip().strip('"').lstrip("!")
        is_path = key.lower() in ("path", "hookspath")
        word = said if is_path else said.partition(" ")[0]
        if not word or word.startswith("%("):
            continue
        spelled = f"{home}{word[1:]}" if word.startswith("~/") else word
        start = os.path.dirname(configuration) if key.lower() == "path" else root
        whole = os.path.normpath(os.path.join(start, spelled))
        if key.lower() == "path":
            yield from _named_by_git(root, home, whole, seen)
        if not _is_in(whole, root) or whole in (root, f"{root}/.git"):
            continue
        if key.lower() == "hookspath":
            top = whole[len(root) + 1 :].partition("/")[0]
            is_top = top.startswith(".") and top != ".git"
            yield NamedByGit(f"{root}/{top}" if is_top else whole, is_hooks=True, is_held=True)
        else:
            yield NamedByGit(whole, is_hooks=False, is_held=is_path or "/" in word)


def _read_start(configuration: str) -> str:
    """Read the start of a configuration of git; nothing where it is missing or no file."""
    if not os.path.isfile(configuration):
        return ""
    try:
        with open(configuration, encoding="utf-8", errors="replace") as file:
            return file.read(MOST_CONFIGURATION)
    except OSError:
        return ""


def _protected(root: str, free: set[str], home: str) -> tuple[set[str], list[str], list[str]]:
    """Return what is not written in the workspace, and which folders and files are made to that end. Raises ProfileError."""
    found: set[str] = set()
    made: list[str] = []
    made_files: list[str] = []
    has_git = os.path.lexists(f"{root}/.git")
    for name in PROTECTED_FOLDERS:
        path = f"{root}/{name}"
        if name in free or (name != ".git" and ".git" in free and name.startswith(".git/")):
            continue
        if os.path.islink(path):
            raise ProfileError(
                f"{name} in the workspace is a link, which cannot be protected; put what it names there, or free it by sandbox_unprotected"
            )
        if os.path.isfile(path):
            found.add(path)
        elif os.path.isdir(path) and path not in HELD:
            if name != ".git":
                found.add(path)
        elif name == ".git/hooks" and (not has_git or not os.path.isdir(f"{root}/.git")):
            continue
        else:
            made.append(path)
            found.add(path)
    repositories = [root, *nested_repositories(root), *_worktree(root)]
    for repository in repositories:
        base = repository if repository.endswith("/.git") else f"{repository}/.git"
        if ".git" not in free and os.path.isdir(base) and base not in found:
            for name in ("hooks", "config", "config.worktree", "info/attributes", "modules"):
                if (
                    f".git/{name}" not in free
                    and os.path.exists(f"{base}/{name}")
                    and _is_plain(f"{base}/{name}")
                ):
                    found.add(f"{base}/{name}")
            common = f"{base}/commondir"
            if not _is_plain(common):
                raise ProfileError(
                    f"{common} is a link; remove it, since git would take another configuration by it"
                )
            if common in HELD or not os.path.exists(common):
                made_files.append(common)
            found.add(common)
            reads_more = "worktreeconfig" in _read_start(f"{base}/config").lower()
            trees = [f"{base}/worktrees/{name}" for name in _entries(f"{base}/worktrees")[:MOST_WORKTREES]]
            for tree in trees:
                places = (f"{tree}/{one}" for one in ("commondir", "gitdir", "config.worktree"))
                found.update(place for place in places if _is_plain(place) and os.path.isfile(place))
            named = [
                NamedByGit(f"{tree}/config.worktree", is_hooks=False, is_held=True)
                for tree in (base, *trees)
                if reads_more
            ]
            top = repository if base != repository else root
            named += _named_by_git(top, home, f"{base}/config", set())
            for tree in (base, *trees):
                named += _named_by_git(top, home, f"{tree}/config.worktree", set())
            for one in named:
                _hold(one, found, made, made_files)
    if ".git" not in free:
        for configuration in (f"{home}/.gitconfig", f"{home}/.config/git/config"):
            for one in _named_by_git(root, home, configuration, set()):
                _hold(one, found, made, made_files)
    for name in PROTECTED_FILES:
        if (
            name not in free
            and os.path.isfile(f"{root}/{name}")
            and _is_plain(f"{root}/{name}")
            and not (name.startswith(".git/") and ".git" in free)
        ):
            found.add(f"{root}/{name}")
    return found, made, made_files


def _loaded(root: str, table: LoadedPlaces, free: set[str], made: Sequence[str]) -> set[str]:
    """Return the places of a table at the top of a workspace that are there; of a link, what it leads to."""
    found = set()
    tops = [*_entries(root), *(one for one in table.paths if os.path.lexists(f"{root}/{one}"))]
    for name in tops:
        path = f"{root}/{name}"
        if name in free or path in made or not table.is_one(name):
            continue
        real = os.path.realpath(path)
        if _is_in(real, root) and real != root and os.path.exists(real):
            found.add(real)
    return found


def _entries(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _is_plain(path: str) -> bool:
    """Tell whether no link leads to a place: bwrap follows links, and would show what they name."""
    return os.path.realpath(path) == path


def _hold(named: NamedByGit, found: set[str], made: list[str], made_files: list[str]) -> None:
    """Protect a place that a configuration of git names; one that is missing is made, or else the agent could make it."""
    place = named.place
    if os.path.lexists(place) and place not in HELD:
        if _is_plain(place) and (named.is_hooks or os.path.isfile(place)):
            found.add(place)
        return
    if not named.is_held:
        return
    first = place
    while not os.path.lexists(os.path.dirname(first)) or os.path.dirname(first) in HELD:
        first = os.path.dirname(first)
    if not _is_plain(os.path.dirname(first)) or not os.path.isdir(os.path.dirname(first)):
        return
    held = made_files if first == place and not named.is_hooks else made
    if first not in held:
        held.append(first)
    found.add(first)


def nested_repositories(root: str) -> list[str]:
    """Return the git repositories in a workspace below its top, as far as they are looked for."""
    found: list[str] = []
    level, seen = [root], 0
    for _ in range(NESTED_DEPTH):
        below = []
        for folder in level:
            try:
                entries = [one for one in os.scandir(folder) if one.is_dir(follow_symlinks=False)]
            except OSError:
                continue
            for entry in entries:
                seen += 1
                if seen > NESTED_FOLDERS:
                    return found
                if entry.name in (".git", "node_modules"):
                    continue
                if os.path.isdir(f"{entry.path}/.git") and not os.path.islink(f"{entry.path}/.git"):
                    found.append(entry.path)
                below.append(entry.path)
        level = below
    return found
