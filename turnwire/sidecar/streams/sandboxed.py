"""The sandbox of an agent whose lines are relayed. Without a session nobody can be asked about hosts."""

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from turnwire.adapter.process.cli import Enters
from turnwire.config.agents import Agent
from turnwire.config.settings import Settings


@asynccontextmanager
async def sandboxed(
    agent: Agent, settings: Settings, environment: Mapping[str, str], workspace: Path
) -> AsyncIterator[Enters | None]:
    """Open the agent's sandbox, if it has one. Unknown hosts are refused."""
    level = agent.sandbox or settings.sandbox
    if level == "off":
        yield None
        return
    from turnwire.adapter.sandbox.sandbox import open_sandbox  # noqa: PLC0415 - few of them have one
    from turnwire.config.sandbox import sandbox_settings  # noqa: PLC0415 - as above
    from turnwire.config.state_directory import own_places  # noqa: PLC0415 - as above

    async with open_sandbox(
        sandbox_settings(agent, settings, level=level),
        workspace=workspace,
        program=agent.argv[0],
        environment=environment,
        own_places=own_places(settings),
        tell=lambda text: sys.stderr.write(f"turnwire: {text}\n"),
    ) as sandbox:
        yield sandbox
