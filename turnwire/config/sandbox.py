"""Build an agent's sandbox settings from the configuration."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from turnwire._runtime.state_directory import sandbox_notes
from turnwire.adapter.sandbox.settings import SandboxSettings
from turnwire.config.known_agents import divided_places, loaded_places
from turnwire.normalize.vocabulary import SandboxLevel

if TYPE_CHECKING:  # a program that uses turnwire as a library reads no settings
    from turnwire.config.agents import Agent
    from turnwire.config.settings import Settings


def sandbox_settings(agent: "Agent", settings: "Settings", *, level: SandboxLevel) -> SandboxSettings:
    """Return the sandbox settings of an agent."""
    return SandboxSettings(
        level=level,
        notes=sandbox_notes(),
        writable=settings.sandbox_writable,
        readable=[*settings.sandbox_readable, *(own_packages() if agent.scripted else ())],
        unprotected=settings.sandbox_unprotected,
        hosts=settings.sandbox_hosts,
        state=agent.state,
        parts={} if level == "off" else divided_places(),
        loads=() if level == "off" else loaded_places(),
        passes=(*agent.variables, *agent.keys, *agent.env, *settings.pass_env, *settings.frontend_env),
        api_hosts=agent.hosts,
    )


def own_packages() -> list[str]:
    """Return the folders that the scripted agent is imported from."""
    return [one for one in sys.path if Path(one).is_absolute() and Path(one).is_dir()]


def hidden_places(settings: "Settings", level: SandboxLevel) -> list[str]:
    """Return turnwire's own files and folders, if the sandbox must hide them."""
    if level == "off":
        return []
    from turnwire.config.state_directory import own_places  # noqa: PLC0415 - it reads of journals

    return own_places(settings)
