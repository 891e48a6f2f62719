"""Which command starts an agent: the Claude Code CLI, the scripted agent, or one that the user names."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import scripted_agent
from protocol.errors import TurnwireError


class AgentNotFoundError(TurnwireError):
    """There is no such agent, or its program is not here; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A way to start a CLI."""

    name: str
    """What frontends call it."""
    argv: tuple[str, ...]
    """Program and its own arguments, before the flags that turnwire adds."""
    scripted: bool = False
    """True for the stand-in; it is labelled wherever it shows."""


def demo_script() -> str:
    """Return the path of the script that the demo plays."""
    return str(Path(scripted_agent.__file__).parent / "scripts" / "demo.yaml")


def find(name: str, configured: Mapping[str, Sequence[str]]) -> Agent:
    """Return the agent of that name; raises AgentNotFoundError."""
    if name in configured:
        return named(name, configured[name])
    if name == "demo":
        # -P: it starts in the user's folder, and a typing.py there is not Python's
        return Agent(
            "demo (scripted)", (sys.executable, "-P", "-m", "scripted_agent", demo_script()), scripted=True
        )
    if name == "claude":
        return named(name, [name])
    known = ", ".join(["claude", "demo", *configured])
    raise AgentNotFoundError(
        f"there is no agent {name!r}; known are {known}; add it under [agents] in the configuration"
    )


def named(name: str, argv: Sequence[str]) -> Agent:
    """Return an agent with that argument vector, once its program is found; raises AgentNotFoundError."""
    if not argv:
        raise AgentNotFoundError(
            f"agent {name!r} has an empty argument vector; give the program and its arguments"
        )
    program = shutil.which(argv[0])
    if program is None and argv[0] == "claude":
        program = next(filter(None, map(shutil.which, _installed())), None)
    if program is None:
        raise AgentNotFoundError(_missing(argv[0]))
    return Agent(name, (program, *argv[1:]))


def _installed() -> list[str]:
    """Return where Claude Code's own installers put it; an interactive shell finds it there by an alias."""
    return [str(Path.home() / place / "claude") for place in (".local/bin", ".claude/local")]


def _missing(program: str) -> str:
    path = Path(program)
    if os.sep not in program:
        return (
            f"there is no program {program!r} on PATH; install that CLI, name it after `--`, "
            "or take the scripted one with --agent demo"
        )
    if path.is_dir():
        return f"{program} is a directory; name the CLI's program"
    if path.exists():
        return f"{program} is not executable; make it so with chmod +x, or name the CLI's program"
    return f"there is no file {program}; name the CLI's program"
