"""Check which agents are installed, in which version, and logged in. Changes nothing and uses no network."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.process.environment import build_environment
from turnwire.adapter.process.version import Version, detect_version
from turnwire.config.agents import Agent, AgentNotFoundError, AgentSetting, find
from turnwire.config.known_agents import KNOWN, Family, KnownAgent, recognised
from turnwire.sidecar.checks.doctor.finding import Finding

AT_A_TIME = 2
"""Programs that are asked for their version at once. Some need seconds of CPU time."""


class AgentSeen(Struct, frozen=True):
    """An agent as it was found."""

    name: str
    """The name for `--agent`."""
    title: str
    family: Family
    command: Sequence[str]
    """The command that starts it."""
    program: str | None
    """Where its program is; None when it is not here."""
    version: str | None
    """Its version as it reports it; None if it does not."""
    logged_in: str | None
    """The variable or file that proves a login; None without one. A login in the system's keychain is invisible."""
    install: str | None
    """The command that installs it, for a known agent."""
    log_in: str | None
    """How to log in, for a known agent."""
    known: bool
    """Whether turnwire knows it."""
    asks: str | None = None
    """The mode in which it asks for permission, or what makes it ask."""
    conversations: str | None = None
    """Where it keeps its conversations."""
    quirks: Sequence[str] = ()
    """Its differences from other agents."""
    tried: str | None = None
    """The version that turnwire was tried with; None for an agent that was not tried."""


async def look(configured: Mapping[str, AgentSetting]) -> Sequence[AgentSeen]:
    """Check all known agents, and those of the configuration."""
    turns = asyncio.Semaphore(AT_A_TIME)

    async def one(name: str) -> AgentSeen:
        async with turns:
            return await _seen(name, configured)

    async with asyncio.TaskGroup() as group:
        looks = [group.create_task(one(name)) for name in dict.fromkeys([*KNOWN, *configured])]
    return [done.result() for done in looks]


async def _seen(name: str, configured: Mapping[str, AgentSetting]) -> AgentSeen:
    setting = configured.get(name, AgentSetting())
    command = setting.command or KNOWN[name].command
    about = recognised(command) or KNOWN.get(name)
    try:
        agent: Agent | None = find(name, configured)
    except AgentNotFoundError:
        agent = None
    version = None if agent is None else await version_of(agent)
    return AgentSeen(
        name=name,
        title=about.title if about else name,
        family=agent.family if agent else about.family if about else setting.family or "claude",
        command=command,
        program=agent.argv[0] if agent else None,
        version=str(version) if version else None,
        logged_in=logged_in(about, setting.env) if about else None,
        install=about.install if about else None,
        log_in=about.log_in if about else None,
        known=about is not None,
        asks=about.asks if about else None,
        conversations=f"~/{about.conversations}" if about and about.conversations else None,
        quirks=about.quirks if about else (),
        tried=about.tried if about else None,
    )


async def version_of(agent: Agent) -> Version | None:
    """Ask an agent for its version. A known agent is started by its program only, without its arguments."""
    known = recognised(agent.argv)
    asked = agent.argv[:1] if known else agent.argv
    environment = build_environment(os.environ, given=agent.env)
    return await detect_version(asked, environment, Path.cwd())


def logged_in(agent: KnownAgent, env: Mapping[str, str]) -> str | None:
    """Return the variable or file that proves a login; None without one."""
    for key in agent.keys:
        if env.get(key) or os.environ.get(key):
            return key
    for place in agent.logins:
        if (Path(env.get("HOME") or Path.home()) / place).exists():
            return f"~/{place}"
    return None


async def finding(configured: Mapping[str, AgentSetting]) -> Sequence[Finding]:
    """Return a finding for each installed agent, and how to install the others."""
    seen = await look(configured)
    found = [_of_one(agent) for agent in seen if agent.program is not None]
    missing = [
        f"{agent.name} (`{agent.install}`)" for agent in seen if agent.program is None and agent.install
    ]
    if missing:
        found.append(Finding("other agents", "ok", f"not here: {', '.join(missing)}"))
    return found


def _of_one(agent: AgentSeen) -> Finding:
    where = f"{agent.title} {agent.version or 'of a version that it does not say'} at {agent.program}"
    what = f"agent {agent.name}"
    if agent.log_in is None:
        return Finding(what, "ok", where)
    if agent.logged_in is None:
        return Finding(
            what,
            "note",
            f"{where}; no login is to be seen",
            f"log in with {agent.log_in}, unless its login is in the keychain or its provider needs none",
        )
    return Finding(what, "ok", f"{where}, logged in by {agent.logged_in}")
