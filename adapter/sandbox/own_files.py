"""What of an agent's own folders a sandbox shares, and how.

An agent needs its conversations and its login. The same folders name programs that its later sessions start outside:
MCP servers, hooks, plugins, trusted folders. Where the places in a folder are divided (parts.py), the rest is each project's own, and the
names that are known are read-only. A folder that `is_closed` shows the rest read-only, and what is new is gone with the sandbox.
"""

import logging
import os
import stat
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.sandbox.parts import BY_FOLDER, PRIVATE, Part, own_folders, private_name
from turnwire.normalize.vocabulary import HowDivided
from turnwire.protocol.errors import TurnwireError

log = logging.getLogger(__name__)

COMMON = (
    ".env", "agents.config.json", "bin", "cli-config.json", "commands", "config.json", "config.toml", "config.yaml", "config.yml", "cron",
    "environments.toml", "extensions", "hooks", "hooks.json", "managed_config.toml", "mcp-config.json", "mcp.json", "plugins", "policies",
    "settings.json", "settings.local.json", "skills", "trustedFolders.json", "trusted_hooks.json",
)  # fmt: skip
"""Names that start programs later, in whichever agent's folder: protected where they are there, else set aside when an agent has made them."""


class OwnFolder(Struct, frozen=True, kw_only=True):
    """One agent's own folder below HOME."""

    is_closed: bool = False
    """What is there is read-only, but for its divided places, and what is new is gone with the sandbox."""
    shown: tuple[str, ...] = ()
    """Names that are read-only where they are there, of a folder that is each project's own."""
    protected: Mapping[str, str | None] = {}
    """Names that are read-only, made where they are missing: with this content, or as a folder for None. Otherwise the agent could make them."""
    fresh: tuple[str, ...] = ()
    """Names that each program of a sandbox has of its own, empty at first."""


_EMPTY = "{}\n"
_NO_SERVERS = '{"mcpServers": {}}\n'

OWN_FOLDERS: Mapping[str, OwnFolder] = {
    ".claude": OwnFolder(
        is_closed=True,
        fresh=(
            ".last-cleanup", ".update.lock", "backups", "cache", "ccr", "chrome", "daemon", "debug", "history.jsonl", "ide",
            "image-cache", "jobs", "mcp-needs-auth-cache.json", "paste-cache", "session-env", "sessions", "shell-snapshots",
            "stats-cache.json", "statsig", "telemetry", "traces", "uploads", "usage-data",
        ),
    ),
    ".codex": OwnFolder(
        shown=("AGENTS.md", "AGENTS.override.md", "themes", "version.json"),
        protected={
            "config.toml": "", "managed_config.toml": "", "hooks.json": '{"hooks": {}}\n', ".env": "", "agents": None, "bin": None,
            "packages": None, "plugins": None, "prompts": None, "rules": None, "skills": None,
        },
        fresh=(".tmp", "app-server-control", "app-server-daemon", "shell_snapshots", "tmp"),
    ),
    ".config/opencode": OwnFolder(is_closed=True),
    ".cache/opencode": OwnFolder(is_closed=True, fresh=("models.json", "version")),
    ".local/share/opencode": OwnFolder(protected={"bin": None}, shown=("mcp-auth.json",)),
    ".gemini": OwnFolder(
        shown=("GEMINI.md", "google_accounts.json", "keybindings.json", "mcp-oauth-tokens.json", "mcp-oauth-tokens-v2.json"),
        protected={
            "settings.json": _EMPTY, "trustedFolders.json": _EMPTY, "trusted_hooks.json": _EMPTY, ".env": "", "acknowledgments": None,
            "agents": None, "bin": None, "commands": None, "extensions": None, "policies": None, "skills": None, "tmp/bin": None,
        },
    ),
    ".qwen": OwnFolder(
        shown=("QWEN.md", "AGENTS.md", "google_accounts.json", "locales", "mcp-oauth-tokens.json", "memory.md", "output-language.md", "output-styles"),
        protected={
            "settings.json": _EMPTY, "trustedFolders.json": _EMPTY, ".env": "", "agents": None, "bin": None, "channels": None,
            "commands": None, "extensions": None, "mcpApprovals.json": _EMPTY, "rules": None, "skills": None, "updates": None, "workflows": None,
        },
        fresh=("extension-store", "ide"),  # the store's unfinished transactions are carried out by the next session
    ),
    ".copilot": OwnFolder(
        protected={"mcp-config.json": _NO_SERVERS, "agents": None, "hooks": None, "installed-plugins": None, "pkg": None, "skills": None},
        fresh=("ide",),
    ),
    ".factory": OwnFolder(
        protected={"mcp.json": _NO_SERVERS, "commands": None, "droids": None, "hooks": None, "plugins": None, "skills": None},
        fresh=("bin",),
    ),
    ".kimi-code": OwnFolder(
        protected={"mcp.json": _NO_SERVERS, "agents": None, "bin": None, "hooks": None, "plugins": None, "skills": None},
    ),
    ".pi": OwnFolder(protected={"agent/bin": None, "agent/extensions": None, "agent/prompts": None, "agent/skills": None}),
    ".omp": OwnFolder(protected={"agent/extensions": None, "agent/hooks": None, "agent/skills": None, "agent/tools": None}),
}  # fmt: skip
"""By the folder's path below HOME."""

COPIED = (".claude.json",)
"""Files below HOME of which a sandbox gets a copy: copies.py takes back what is harmless."""


class OwnFilesError(TurnwireError, ValueError):
    """An agent's own file cannot be protected; says which and what to do."""


class OwnFiles(Struct, frozen=True, kw_only=True):
    """What a sandbox shares of an agent's own files; absolute paths."""

    writable: tuple[str, ...]
    readable: tuple[str, ...]
    protected: tuple[str, ...]
    fresh: tuple[str, ...]
    """Folders in a writable one that each program has of its own."""
    copied: tuple[str, ...]
    private: Mapping[str, str]
    """The private folder that is seen in the place of one that all projects share."""
    parts: tuple[Part, ...]
    """The divided places."""
    missing: tuple[str, ...]
    """Files and folders that would start programs later, and are not there."""


def own_files(
    places: Iterable[str], home: str, roots: Sequence[str], divided: Mapping[str, HowDivided]
) -> OwnFiles:
    """Return what is shared; makes what is missing, since only what is there can be mounted. Raises OSError and OwnFilesError.

    Args:
        places: the agent's files and folders below HOME; a folder ends in `/`.
        home: its home directory, without links.
        roots: the folders by which its project is known, the workspace first.
        divided: how places are divided between projects; those of other agents are ignored.
    """
    writable: list[str] = []
    readable: list[str] = []
    protected: list[str] = []
    fresh: list[str] = []
    copied: list[str] = []
    missing: list[str] = []
    private: dict[str, str] = {}
    parts: list[Part] = []
    for place in places:
        path = f"{home}/{place.rstrip('/')}"
        if not place.endswith("/"):
            _make_file(path, _EMPTY)
            if place in COPIED:
                copied.append(path)
            else:
                writable.append(os.path.realpath(path))
            continue
        Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = OWN_FOLDERS.get(place.rstrip("/"), OwnFolder())
        is_own = divided.get(place) == "apart"
        inside = {
            one[len(place) :]: how for one, how in divided.items() if one.startswith(place) and one != place
        }
        if not folder.is_closed:
            path = os.path.realpath(path)
        shared, divides = _divide(path, inside, roots)
        writable += shared
        parts += divides
        if is_own:
            parts.append(Part(path, f"{path}/{PRIVATE}/{private_name(roots[0])}", "apart"))
        private |= {
            one.shared: one.private
            for one in parts
            if one.how == "apart" or (one.how == "ids" and not is_own)
        }
        if folder.is_closed:
            apart = (*folder.fresh, *inside, PRIVATE)
            readable += list(_others(path, apart))
            continue
        if not is_own:
            writable.append(path)
        for name, content in folder.protected.items():
            _make(f"{path}/{name}", content)
        names = [f"{path}/{name}" for name in dict.fromkeys((*COMMON, *folder.protected))]
        protected += [_plain(one) for one in names if os.path.lexists(one)]
        if is_own:
            protected += [
                f"{path}/{one}"
                for one in folder.shown
                if os.path.isfile(_plain(f"{path}/{one}")) or os.path.isdir(f"{path}/{one}")
            ]
        missing += [one for one in names if not os.path.lexists(one)]
        for name in folder.fresh:
            Path(path, name).mkdir(mode=0o700, exist_ok=True)
            fresh.append(_plain(f"{path}/{name}"))
    return OwnFiles(
        writable=tuple(writable),
        readable=tuple(readable),
        protected=tuple(protected),
        fresh=tuple(fresh),
        copied=tuple(copied),
        private=private,
        parts=tuple(parts),
        missing=tuple(missing),
    )


def _divide(
    path: str, inside: Mapping[str, HowDivided], roots: Sequence[str]
) -> tuple[list[str], list[Part]]:
    """Return what of the divided places in a folder is shared to be written, and these places."""
    shared: list[str] = []
    parts: list[Part] = []
    for name, how in inside.items():
        place = f"{path}/{name}"
        if how == "shared":
            shared += [place] if os.path.isfile(place) else []
            continue
        if how in BY_FOLDER:
            Path(place).mkdir(mode=0o700, parents=True, exist_ok=True)
            shared += own_folders(place, how, roots)
        parts.append(Part(place, f"{path}/{PRIVATE}/{private_name(roots[0])}/{name}", how))
    return shared, parts


def _others(folder: str, fresh: Iterable[str]) -> Iterator[str]:
    """Yield the files and folders in a folder; a socket in it leads to a program outside."""
    for name in sorted(set(os.listdir(folder)).difference(fresh)):
        with suppress(OSError):  # a link that leads nowhere
            mode = os.stat(f"{folder}/{name}").st_mode
            if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
                yield f"{folder}/{name}"


def set_aside(missing: Iterable[str]) -> None:
    """Rename what an agent has made in its own folder and would start programs later."""
    for path in missing:
        if os.path.lexists(path):
            aside = f"{path}.from-sandbox-{uuid.uuid4().hex[:8]}"
            try:
                os.rename(path, aside)
            except OSError as error:
                log.warning(
                    "cannot set aside what a sandbox has made", extra={"file": path, "reason": str(error)}
                )
            else:
                log.warning(
                    "set aside what a sandbox has made, since it starts programs; look at it",
                    extra={"file": path, "set_aside": aside},
                )


def _plain(path: str) -> str:
    """Return a path that no link leads to: bwrap would follow it, and the link itself could be exchanged."""
    if os.path.realpath(path) != path:
        raise OwnFilesError(f"{path} is a link, which cannot be protected; put the file itself there")
    return path


def _make(path: str, content: str | None) -> None:
    if content is None:
        Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
    else:
        _make_file(path, content)


def _make_file(path: str, content: str) -> None:
    Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(content)
