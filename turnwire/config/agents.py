"""Find the command that starts an agent: a known agent, the scripted one, or one from the settings."""

import difflib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict, field_validator

from turnwire import scripted_agent
from turnwire.config.known_agents import (
    KNOWN,
    AgentsFileError,
    Family,
    KnownAgent,
    read_agents,
    recognised,
)
from turnwire.normalize.vocabulary import SandboxLevel
from turnwire.protocol.errors import TurnwireError

DEMOS: Mapping[str, Family] = {"demo": "claude", "demo-acp": "acp"}
"""The scripted agent's demos -> family."""


OWN_FAMILIES = ("claude", "qwen", "acp", "codex-app-server")
"""turnwire's own families whose agents can be run."""

ClientFiles = Literal["none", "read", "write"]


class AgentNotFoundError(TurnwireError):
    """An unknown agent, or a missing program. The message says what to do."""


class AgentSetting(BaseModel):
    """An agent of the configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    family: Family | None = None
    """The family. Default: that of the known agent with this name or program, otherwise claude."""
    command: list[str] = []
    """Program and arguments. Empty: those of the known agent with this name."""
    env: dict[str, str] = {}
    """Variables of its environment, in addition to the usual ones."""
    client_files: ClientFiles = "none"
    """How turnwire may access workspace files for an ACP agent: none, read, or write."""
    client_terminals: bool = False
    """Whether it may run commands through turnwire."""
    sandbox: SandboxLevel | None = None
    """Its sandbox. Default: the setting `sandbox`."""

    @field_validator("family")
    @classmethod
    def _is_run(cls, family: Family | None) -> Family | None:
        return None if family is None else checked_family(family)


class Agent(Struct, frozen=True):
    """A way to start an agent."""

    name: str
    """The name for frontends."""
    argv: tuple[str, ...]
    """Program and its own arguments, before the flags that turnwire adds."""
    scripted: bool = False
    """True for the scripted agent. It is labelled wherever it is shown."""
    family: Family = "claude"
    """The family."""
    variables: tuple[str, ...] = ()
    """Names of variables, with wildcards, that reach it in addition to the usual ones."""
    keys: tuple[str, ...] = ()
    """Variables that replace its login."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables for this agent only."""
    client_files: ClientFiles = "none"
    """How turnwire may access workspace files for it."""
    client_terminals: bool = False
    """Whether it may run commands through turnwire."""
    sandbox: SandboxLevel | None = None
    """Its configured sandbox, if any."""
    state: tuple[str, ...] = ()
    """Its own files and folders below HOME."""
    hosts: tuple[str, ...] = ()
    """The hosts of its model."""


def checked_family(family: str) -> Family:
    """Return the name of a family whose agents can be run. Raises ValueError with the valid names."""
    if family in OWN_FAMILIES:
        return family
    from turnwire.adapter.families import FAMILIES  # noqa: PLC0415 - few configurations name another

    if family not in [*FAMILIES]:
        more = sorted({*FAMILIES} - {*OWN_FAMILIES, "auto", "miriad", "json_rpc"})
        names = ", ".join((*OWN_FAMILIES, *more))
        raise ValueError(f"no family {family!r} can be run; choose one of {names}")
    return family


def add_agents(path: Path) -> None:
    """Add the agents of a user's file to the known ones. Raises AgentsFileError."""
    agents = read_agents(path)
    for name, agent in agents.items():
        try:
            checked_family(agent.family)
        except ValueError as error:
            raise AgentsFileError(f"{path} has a wrong family in [{name}]: {error}") from None
    KNOWN.add(agents)


def demo_script() -> str:
    """Return the path of the script that the demo plays."""
    return str(Path(scripted_agent.__file__).parent / "scripts" / "demo.yaml")


def family_named(name: str, configured: Mapping[str, AgentSetting]) -> Family:
    """Return the family of the agent of that name, installed or not; claude for an unknown one."""
    if name not in configured and name in DEMOS:
        return DEMOS[name]
    setting, known = configured.get(name, AgentSetting()), KNOWN.get(name)
    about = recognised(setting.command) or known
    return setting.family or (about.family if about else "claude")


def can_continue(name: str, kept: str, configured: Mapping[str, AgentSetting]) -> bool:
    """Return whether the named agent can continue conversations of the known agent `kept`."""
    if name in DEMOS and name not in configured:
        return False  # the scripted agent does not know earlier conversations
    family = family_named(name, configured)
    if kept == "claude":
        return family == "claude"
    setting = configured.get(name, AgentSetting())
    about = recognised(setting.command) or (None if setting.command else KNOWN.get(name))
    keeper = KNOWN.get(kept)
    if name == kept or about is keeper:
        return True
    if about is None:
        return family in ("acp", "qwen")
    # codex and codex-acp share their conversations
    return (
        keeper is not None and about.conversations is not None and about.conversations == keeper.conversations
    )


def find(name: str, configured: Mapping[str, AgentSetting]) -> Agent:
    """Return the agent of that name; raises AgentNotFoundError."""
    setting = configured.get(name)
    if setting is None and name in DEMOS:
        return _demo(DEMOS[name])
    known = KNOWN.get(name)
    check_name(name, configured)
    setting = setting or AgentSetting()
    command = setting.command or (known.command if known else ())
    about = recognised(command) or known
    family = family_named(name, configured)
    speaks_as = about or (KNOWN["claude"] if family == "claude" else None)
    return Agent(
        name,
        _found(name, command, about),
        family=family,
        variables=speaks_as.variables if speaks_as else (),
        keys=speaks_as.keys if speaks_as else (),
        env=setting.env,
        client_files=setting.client_files,
        client_terminals=setting.client_terminals,
        sandbox=setting.sandbox,
        state=about.own_places if about else (),
        hosts=about.hosts if about else (),
    )


def interface(name: str, configured: Mapping[str, AgentSetting], conversation: str | None) -> list[str]:
    """Return the command of an agent's own interface, on a conversation or a new one; raises AgentNotFoundError."""
    argv = list(find(name, configured).argv)
    setting = configured.get(name, AgentSetting())
    about = recognised(setting.command) or (None if setting.command else KNOWN.get(name))
    if about is None or not about.interface:
        raise AgentNotFoundError(
            f"turnwire does not know how the interface of {name!r} goes on with a conversation; it can for "
            + ", ".join(one for one, known in KNOWN.items() if known.interface)
            + "; `turnwire attach` without --native shows the session here"
        )
    speaking = list(about.command[1:])
    if speaking and argv[-len(speaking) :] == speaking:
        del argv[-len(speaking) :]
    if conversation is None:
        # Options such as Codex's --no-daemon: a background process would keep the conversation open.
        return [*argv, *takewhile(lambda one: one.startswith("-") and "{}" not in one, about.interface)]
    return [*argv, *(argument.replace("{}", conversation) for argument in about.interface)]


def sandbox_named(name: str, configured: Mapping[str, AgentSetting], usual: SandboxLevel) -> SandboxLevel:
    """Return the configured sandbox of the named agent."""
    setting = configured.get(name)
    return usual if setting is None or setting.sandbox is None else setting.sandbox


def check_name(name: str, configured: Mapping[str, AgentSetting]) -> None:
    """Raise AgentNotFoundError for an unknown name. The program need not be installed."""
    names = [*KNOWN, *DEMOS, *configured]
    if name not in names:
        meant = difflib.get_close_matches(name.lower(), names, 1)
        hint = f"did you mean {meant[0]}? " if meant else ""
        raise AgentNotFoundError(
            f"there is no agent {name!r}; {hint}known are {', '.join(names)}; add it under [agents] in the configuration"
        )


def agent_of_argv(argv: Sequence[str], family: Family | None) -> AgentSetting:
    """Return the setting of an agent that is given only by its command line. Raises AgentNotFoundError.

    A known program without its protocol arguments would wait for a human at a terminal.
    """
    if family is None and recognised(argv) is None:
        program = Path(argv[0]).name
        for name, agent in KNOWN.items():
            if agent.program == program and agent.command[1:]:
                raise AgentNotFoundError(
                    f"{program} speaks with turnwire as `{' '.join(agent.command)}`; give these arguments, "
                    f"or take --agent {name}; with other ones, say what it speaks with --family"
                )
    return AgentSetting(command=list(argv), family=family)


def with_agent_of_argv(
    configured: Mapping[str, AgentSetting], argv: Sequence[str], family: Family | None
) -> tuple[str, dict[str, AgentSetting]]:
    """Return the name of an agent that its command line names, and all agents with it; raises AgentNotFoundError."""
    name = Path(argv[0]).name
    return name, {**configured, name: agent_of_argv(argv, family)}


def program_of(agent: KnownAgent) -> str | None:
    """Return the path of a known agent's program; None if it is not installed."""
    places = [agent.program, *(str(Path.home() / place) for place in agent.also)]
    return next(filter(None, map(shutil.which, places)), None)


def _demo(family: Family) -> Agent:
    # -P: it starts in the user's folder, and a typing.py there is not Python's
    argv = (sys.executable, "-P", "-m", "turnwire.scripted_agent", demo_script())
    if family == "acp":
        return Agent("demo-acp (scripted)", (*argv, "--family", "acp"), scripted=True, family=family)
    return Agent("demo (scripted)", argv, scripted=True)


def _found(name: str, argv: Sequence[str], about: KnownAgent | None) -> tuple[str, ...]:
    if not argv:
        raise AgentNotFoundError(
            f"agent {name!r} has an empty argument vector; give the program and its arguments"
        )
    program = shutil.which(argv[0])
    if program is None and about is not None and argv[0] == about.program:
        program = program_of(about)
    if program is None:
        raise AgentNotFoundError(_missing(argv[0], about))
    return (program, *argv[1:])


def _missing(program: str, about: KnownAgent | None) -> str:
    path = Path(program)
    if about is None and any(character.isspace() for character in program) and not path.exists():
        return (
            f'{program!r} is no program; a prompt follows the CLI, as in `turnwire run -- claude "do X"`, '
            "or is written in the console"
        )
    if os.sep not in program:
        install = "install that CLI"
        if about is not None:
            install = f"install {about.title}" + (f" with `{about.install}`" if about.install else "")
        return (
            f"there is no program {program!r} on PATH; {install}, name it after `--`, "
            "or take the scripted one with --agent demo"
        )
    if path.is_dir():
        return f"{program} is a directory; name the CLI's program"
    if path.exists():
        return f"{program} is not executable; make it so with chmod +x, or name the CLI's program"
    return f"there is no file {program}; name the CLI's program"
