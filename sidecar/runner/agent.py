"""One CLI of a run: no built-in tools, no questions, partial messages; its MCP servers are all it can use.

A turn that a rate limit stopped is finished by asking the CLI to go on with it by itself: a resumed CLI with
CLAUDE_CODE_RESUME_INTERRUPTED_TURN in its environment takes up the turn without a new prompt (2.1).
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from adapter.claude.client import Client
from adapter.process.cli import CliProcess, ProgramNotFound
from adapter.process.environment import ALLOWED, EnvironmentRefused, build_environment
from adapter.process.shutdown import StopDeadlines, climb
from adapter.process.transport import ProcessGone
from adapter.process.watchdog import Watchdog
from adapter.session.agent import RequestFailed, RequestTimeout
from normalize.inputs import Ended, Received
from protocol.claude.control import ControlResponse
from protocol.claude.requests import AnyRequest
from protocol.json_values import JsonObject
from runner.agent import AgentFailed, AgentGone, Start

STOP = StopDeadlines(interrupt=0.0, close=0.5, terminate=2.0)
"""A run that is cancelled is to be over soon; a turn that was refused is over by itself."""

DRAIN = 5.0
"""Seconds for the last output of a CLI that has been stopped."""

PROTOCOL = (
    "-p",
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--tools=",
    "--strict-mcp-config",
    "--permission-mode=bypassPermissions",
)
"""What every run has."""

CLIENT_APP = "CLAUDE_AGENT_SDK_CLIENT_APP"
GO_ON = "CLAUDE_CODE_RESUME_INTERRUPTED_TURN"


def arguments(start: Start) -> list[str]:
    """Return the options of a run's CLI."""
    params = start.params
    options = [
        ("--model", params.model),
        ("--system-prompt", params.system_prompt),
        ("--effort", params.effort),
        ("--thinking", "disabled" if params.thinking_disabled else None),
        ("--mcp-config", json.dumps({"mcpServers": params.mcp_servers}) if params.mcp_servers else None),
        ("--resume", start.resume),
    ]
    return [*PROTOCOL, *(f"{name}={value}" for name, value in options if value is not None)]


class RunnerAgents:
    """Starts CLIs for a runner."""

    def __init__(self, executable: Sequence[str], pass_env: Sequence[str], watchdog: Watchdog) -> None:
        self._executable = executable
        self._allowed = (*ALLOWED, *pass_env)
        self._watchdog = watchdog

    @asynccontextmanager
    async def start(self, start: Start) -> AsyncIterator["RunnerAgent"]:
        """Run a CLI while the context is open; raises AgentFailed."""
        given: dict[str, str] = {}
        if start.params.user_agent is not None:
            given[CLIENT_APP] = start.params.user_agent
        if start.goes_on:
            given[GO_ON] = "1"
        argv = [*self._executable, *arguments(start)]
        if any("\0" in argument for argument in argv):
            raise AgentFailed("a parameter contains a NUL character")
        try:
            process = await CliProcess.spawn(
                argv,
                workspace=Path.cwd(),
                environment=build_environment(os.environ, allowed=self._allowed, given=given),
                watchdog=self._watchdog,
            )
        except (EnvironmentRefused, ProgramNotFound, OSError) as error:
            raise AgentFailed(str(error)) from error
        client = Client(process, on_sent=lambda _: None)
        writer = asyncio.ensure_future(client.write_posted())
        try:
            yield RunnerAgent(process, client)
        finally:
            try:
                await climb(process, STOP)
            finally:
                writer.cancel()
                if not process.has_exited:
                    process.kill()  # we were cancelled once more
                await asyncio.shield(_bury(process))


async def _bury(process: CliProcess) -> None:
    try:
        async with asyncio.timeout(DRAIN):
            while await process.read():
                pass  # what is unread would keep the process from being over
            await process.wait()
    except TimeoutError:
        pass  # something it started holds its output open; the watchdog has it on its list


class RunnerAgent:
    """A running CLI; a runner.agent.Agent."""

    def __init__(self, process: CliProcess, client: Client) -> None:
        self._process = process
        self._client = client

    def batches(self) -> AsyncIterator[list[Received]]:
        """Yield what the CLI writes."""
        return self._client.batches()

    async def say(self, line: bytes) -> None:
        """Write a whole line."""
        try:
            await self._process.write(line)
        except ProcessGone as gone:
            raise AgentGone(str(gone)) from gone

    def answer(self, response: ControlResponse) -> None:
        """Answer a request of the CLI."""
        self._client.post(response)

    async def ask(self, request: AnyRequest, deadline: float) -> JsonObject:
        """Ask the CLI."""
        try:
            return await self._client.request(request, deadline)
        except ProcessGone as gone:
            raise AgentGone(str(gone)) from gone
        except (RequestFailed, RequestTimeout) as error:
            raise AgentFailed(str(error)) from error

    def close_input(self) -> None:
        """Say that nothing more will be said."""
        self._process.close_input()

    async def ended(self) -> Ended:
        """Wait for the exit and say how it was."""
        ended = await self._process.wait()
        return Ended("exited", ended.code, ended.signal, self._process.stderr_tail)
