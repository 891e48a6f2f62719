"""The agents that turnwire knows by name, from agents.toml: how to start, recognise, log into and install them.

All facts about an agent belong there; docs/agents.md says what works with each. They come from trying the named versions.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, ValidationError, convert

from turnwire.normalize.vocabulary import Act, Asked, FolderKind, HowDivided
from turnwire.protocol.errors import TurnwireError

if TYPE_CHECKING:
    from turnwire.adapter.permissions.trials import Trial

Family: TypeAlias = str
"""The name of an agent's wire: claude (Claude Code's stream-json), qwen (Qwen Code's variant), acp (the Agent Client Protocol), or
a family that another distribution registers."""


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class KnownAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The facts that turnwire knows about an agent."""

    title: str
    """Name for people."""
    family: Family
    """The wire that it speaks with this command."""
    command: tuple[str, ...]
    """Program and arguments that make it speak this wire."""
    install: str | None = None
    """Command that installs it; None if it has its own installer."""
    log_in: str | None = None
    """How to log in."""
    keys: tuple[str, ...] = ()
    """Environment variables that replace a login."""
    logins: tuple[str, ...] = ()
    """Files below HOME that a login creates. turnwire does not look into the system's keychain."""
    variables: tuple[str, ...] = ()
    """Names of variables, with wildcards, that it gets from turnwire's environment in addition to the usual ones."""
    also: tuple[str, ...] = ()
    """Folders below HOME where its installer puts the program. They may be missing from PATH."""
    state: tuple[str, ...] = ()
    """Its own files and folders below HOME, writable in a sandbox. A folder ends in `/`."""
    parts: dict[str, HowDivided] = {}
    """How a sandbox divides its own places between projects: place below HOME -> rule."""
    loads: tuple[str, ...] = ()
    """Names and paths in a workspace from which it starts programs by itself. A folder ends in `/`."""
    hosts: tuple[str, ...] = ()
    """Hosts of its model and its login. A sandbox allows them without asking."""
    node: int | None = None
    """Minimum version of Node.js, if it needs one."""
    asks: str | None = None
    """Mode or setting in which it asks for permission; None if unknown."""
    conversations: str | None = None
    """Folder of its conversations, below HOME."""
    interface: tuple[str, ...] = ()
    """Arguments that open a conversation in its own interface, `{}` for the id. Empty: not tried."""
    quirks: tuple[str, ...] = ()
    """How it differs from other agents."""
    tried: str | None = None
    """Version that was tried; None if none was."""
    asked: dict[FolderKind, dict[Act, Asked]] = {}
    """What `turnwire conform agent` found under supervised: kind of folder -> act -> verdict."""
    since: str | None = None
    """The oldest version that `asked` holds for; None for the beginning of the tried major version."""

    @property
    def trial(self) -> "Trial | None":
        """What was tried of it under supervised; None if nothing was."""
        from turnwire.adapter.permissions.trials import Trial  # noqa: PLC0415 - few commands need it

        return Trial(self.asked, self.tried, self.since) if self.asked else None

    @property
    def own_places(self) -> tuple[str, ...]:
        """Its own files and folders below HOME: `state`, or the folders of its logins and conversations."""
        named = [
            place
            for place in (*self.logins, self.conversations or "")
            if place.startswith(".") and "/" in place
        ]
        shared = (".config/", ".local/share/", ".local/state/")
        folders = [next((one for one in shared if place.startswith(one)), "") for place in named]
        return self.state or tuple(
            dict.fromkeys(
                f"{folder}{place[len(folder) :].partition('/')[0]}/"
                for folder, place in zip(folders, named, strict=True)
            )
        )

    @property
    def program(self) -> str:
        """The program's name."""
        return self.command[0]


class AgentsFileError(TurnwireError):
    """An agents file is invalid. The message says what, where, and what to do."""


class KnownAgents(Mapping[str, KnownAgent]):
    """Known agents by name: those of agents.toml beside this file, and a user's additions."""

    def __init__(self) -> None:
        self._agents: dict[str, KnownAgent] | None = None

    def add(self, agents: Mapping[str, KnownAgent]) -> None:
        """Add agents. A known agent with the same name is replaced."""
        self._agents = {**self._read(), **agents}

    def __getitem__(self, name: str) -> KnownAgent:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> dict[str, KnownAgent]:
        if self._agents is None:
            self._agents = read_agents(Path(__file__).with_name("agents.toml"))
        return self._agents


def loaded_places() -> tuple[str, ...]:
    """Return the places in a workspace from which any program starts others by itself: agents, editors, shells, package managers."""
    from turnwire.adapter.workspace.loaded import LOADED  # noqa: PLC0415 - for sandboxes and merges alone

    return tuple(dict.fromkeys((*LOADED, *(place for agent in KNOWN.values() for place in agent.loads))))


def divided_places() -> dict[str, HowDivided]:
    """Return how sandboxes divide the own places of all agents between projects."""
    return {place: how for agent in KNOWN.values() for place, how in agent.parts.items()}


KNOWN = KnownAgents()
"""The known agents by their name for `--agent`."""


def read_agents(path: Path) -> dict[str, KnownAgent]:
    """Read an agents file. Raises AgentsFileError."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise AgentsFileError(f"{path} cannot be read: {reason}; correct the setting agents_file") from None
    except (ValueError, RecursionError) as error:
        raise AgentsFileError(f"{path} is not valid TOML: {error}; correct the file") from None
    return {name: _agent(path, name, table) for name, table in tables.items()}


def _agent(path: Path, name: str, table: object) -> KnownAgent:
    if not _NAME.fullmatch(name):
        raise AgentsFileError(
            f"{path} has an agent called {name!r}; use lower-case letters, digits and hyphens, such as [my-agent]"
        )
    try:
        agent = convert(table, KnownAgent)
    except ValidationError as error:
        words, _, place = str(error).partition(" - at `$")
        where = f"[{name}]" + (f", {place.strip('.`')}" if place else "")
        raise AgentsFileError(
            f"{path} is wrong at {where}: {words}; docs/agents.md lists the fields of an agent"
        ) from None
    if not agent.command:
        raise AgentsFileError(f"{path} has no command for [{name}]; give its program and arguments")
    return agent


def recognised(argv: Sequence[str]) -> KnownAgent | None:
    """Return the known agent that a command line starts, by its program and arguments. None if there is none."""
    if not argv:
        return None
    program, arguments = argv[0].rpartition("/")[2], argv[1:]
    for agent in KNOWN.values():
        if program == agent.program and all(argument in arguments for argument in agent.command[1:]):
            return agent
    return None
