"""The agents that turnwire knows by name: how each is started, looked at, logged into and installed, as agents.toml says.

What is found out about an agent goes here and nowhere else; docs/agents.md says what works with each. The facts are from
trying the versions named there.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, ValidationError, convert

from turnwire.protocol.errors import TurnwireError

Family: TypeAlias = str
"""What agents speak: claude (Claude Code's stream-json), qwen (the same as Qwen Code has it), acp (the Agent Client Protocol), or the
name of a family that another distribution registers."""


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class KnownAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What turnwire knows of an agent before it starts it."""

    title: str
    """What humans call it."""
    family: Family
    """What it speaks when it is started so."""
    command: tuple[str, ...]
    """Program, and the arguments that make it speak its family's wire."""
    install: str | None = None
    """The command that installs it; None for one whose makers have an installer of their own."""
    log_in: str | None = None
    """How to log in."""
    keys: tuple[str, ...] = ()
    """Variables of the environment that log in by themselves."""
    logins: tuple[str, ...] = ()
    """Files below HOME that a login leaves behind. Some keep logins in the system's keychain, where nothing is looked for."""
    variables: tuple[str, ...] = ()
    """Names of variables, with wildcards, that it gets from turnwire's environment in addition to the usual ones."""
    also: tuple[str, ...] = ()
    """Places below HOME where its own installer puts the program, which PATH may not name."""
    state: tuple[str, ...] = ()
    """Its own files and folders below HOME, which it writes in a sandbox; a folder ends in `/`."""
    hosts: tuple[str, ...] = ()
    """The hosts of its model and of its login, which it reaches in a sandbox without asking."""
    node: int | None = None
    """The oldest Node.js that runs it, where it needs one."""
    asks: str | None = None
    """The mode or the setting in which it asks; None if unknown."""
    conversations: str | None = None
    """Where it keeps its conversations, below HOME."""
    interface: tuple[str, ...] = ()
    """Arguments with which its own interface goes on with a conversation, `{}` for its id; empty if that was not tried."""
    quirks: tuple[str, ...] = ()
    """What it does otherwise than others."""
    tried: str | None = None
    """The version that was tried; None for an agent that was not."""

    @property
    def own_places(self) -> tuple[str, ...]:
        """Its own files and folders below HOME: `state`, or the folders that its logins and conversations are in."""
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
    """A file of agents says something that turnwire does not take; the message says what, where, and what to do."""


class KnownAgents(Mapping[str, KnownAgent]):
    """The agents by the name that `--agent` takes: those of agents.toml beside this file, and what a user adds."""

    def __init__(self) -> None:
        self._agents: dict[str, KnownAgent] | None = None

    def add(self, agents: Mapping[str, KnownAgent]) -> None:
        """Add agents; one of a name that is known takes its place."""
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


KNOWN = KnownAgents()
"""By the name that `--agent` takes."""


def read_agents(path: Path) -> dict[str, KnownAgent]:
    """Read a file of agents; raises AgentsFileError."""
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
    """Return the agent that a command line starts, by the program's name and the arguments that make it speak."""
    if not argv:
        return None
    program, arguments = argv[0].rpartition("/")[2], argv[1:]
    for agent in KNOWN.values():
        if program == agent.program and all(argument in arguments for argument in agent.command[1:]):
            return agent
    return None
