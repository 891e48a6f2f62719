"""The conversations that an agent lists itself, where it keeps them in no files that are read here.

An agent is started for that, so it is asked only by who names it.
"""

import os
from datetime import datetime
from pathlib import Path

from turnwire.adapter.families import FAMILIES
from turnwire.adapter.options import CommandError, SessionOptions
from turnwire.adapter.process.cli import ProgramNotFound
from turnwire.adapter.process.environment import ALLOWED, EnvironmentRefused, build_environment
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.sandbox.settings import SandboxUnavailable
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.config.agents import AgentNotFoundError, family_named, find, sandbox_named
from turnwire.config.known_agents import KNOWN, recognised
from turnwire.config.sandbox import sandbox_settings
from turnwire.config.settings import Settings
from turnwire.config.state_directory import own_places
from turnwire.history.index import HistoryError, ListedConversation

READ = frozenset({"claude", "codex", "copilot", "cursor", "droid", "gemini", "kimi", "opencode", "qwen"})
"""Agents whose files are read."""

MOST = 1000
"""Conversations that are taken of an agent."""


def lists_itself(name: str, settings: Settings) -> bool:
    """Tell whether an agent has to be asked for its conversations."""
    setting, known = settings.agents.get(name), KNOWN.get(name)
    if whose_files(name, settings) in READ:
        return False
    return (setting is not None or known is not None) and FAMILIES[
        family_named(name, settings.agents)
    ].list_conversations is not None


def whose_files(name: str, settings: Settings) -> str:
    """Return the name under which an agent's files are listed: that of the program that a configured agent starts.

    The name may be one that nobody knows.
    """
    setting, known = settings.agents.get(name), KNOWN.get(name)
    about = recognised(setting.command) if setting is not None and setting.command else known
    return next((one for one in READ if about is KNOWN[one]), name)


async def listed_by_agent(name: str, settings: Settings, folder: Path) -> list[ListedConversation]:
    """Start an agent in a folder and return the conversations that it lists, the newest first; raises HistoryError."""
    from turnwire.adapter.sandbox.sandbox import open_sandbox  # noqa: PLC0415 - agents are asked seldom

    try:
        agent = find(name, settings.agents)
        family = FAMILIES[agent.family]
        if family.list_conversations is None:
            raise HistoryError(f"the agent {name!r} does not list its conversations")
        environment = build_environment(
            os.environ, allowed=(*ALLOWED, *agent.variables, *settings.pass_env), given=agent.env
        )
        level = sandbox_named(name, settings.agents, settings.sandbox)
        async with open_sandbox(
            sandbox_settings(agent, settings, level=level),
            workspace=folder,
            program=agent.argv[0],
            environment=environment,
            own_places=own_places(settings),
        ) as box:
            options = SessionOptions(
                workspace=folder, executable=agent.argv, environment=environment, family=family.name, box=box
            )
            told = await family.list_conversations(options, MOST)
    except (
        AgentNotFoundError, CommandError, EnvironmentRefused, OSError, ProcessGone, ProgramNotFound, RequestFailed, RequestTimeout,
        SandboxUnavailable,
    ) as error:  # fmt: skip
        raise HistoryError(f"the agent {name!r} did not list its conversations: {error}") from error
    found = [
        ListedConversation(
            id=one.id,
            path="",
            agent=name,
            folder=one.folder,
            title=one.title,
            first_prompt=None,
            began=None,
            ended=_moment(one.updated),
            turns=None,
            cost_usd=None,
            cost_is_whole=False,
            git_branch=None,
            model=None,
            version=None,
            size=0,
            branches=0,
        )
        for one in told
    ]
    return sorted(found, key=lambda one: -(one.ended or 0))


def _moment(told: str | None) -> float | None:
    try:
        return None if told is None else datetime.fromisoformat(told).timestamp()
    except (ValueError, OverflowError):
        return None
