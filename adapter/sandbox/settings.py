"""What an operator says about the sandbox of an agent; pure."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from turnwire.normalize.vocabulary import HowDivided, SandboxLevel
from turnwire.protocol.errors import TurnwireError

LEVELS: tuple[SandboxLevel, ...] = ("off", "files", "network")
"""The levels, the weakest first."""


class SandboxUnavailable(TurnwireError):
    """There can be no sandbox here; the message says why and what to do. The session is refused, never run without one."""


class SandboxSettings(Struct, frozen=True, kw_only=True):
    """What an agent's sandbox holds."""

    level: SandboxLevel = "off"
    """`files`: the agent sees its workspace, its own files and the system; `network`: it also reaches only known hosts."""
    writable: Sequence[str] = ()
    """Folders and files that the agent may write besides; `~` is its home directory."""
    readable: Sequence[str] = ()
    """Folders and files that it may read besides."""
    unprotected: Sequence[str] = ()
    """Protected names inside the workspace that it may write all the same, such as `.git/hooks`."""
    hosts: Sequence[str] = ()
    """Hosts that it reaches without asking: `HOST`, `HOST:PORT`, `*.HOST`, `*`; `127.0.0.1:PORT` opens a port of this machine."""
    state: Sequence[str] = ()
    """The agent's own files and folders below its home directory; a folder ends in `/`."""
    parts: Mapping[str, HowDivided] = {}
    """How its places are divided between projects: place below its home directory -> rule (parts.py). Empty: all is shared."""
    loads: Sequence[str] = ()
    """Names and paths in the workspace from which programs start others by themselves; a folder ends in `/`. Empty: those of no agent."""
    notes: str | None = None
    """Folder of turnwire's own where running sandboxes note what was in a workspace before. None: after a kill nothing is set aside."""
    passes: Sequence[str] = ()
    """Names of variables, with wildcards, that the agent gets besides those that any program needs."""
    api_hosts: Sequence[str] = ()
    """The hosts of the agent's model."""


def is_weaker(level: SandboxLevel, floor: SandboxLevel) -> bool:
    """Tell whether a level holds less than another."""
    return LEVELS.index(level) < LEVELS.index(floor)
