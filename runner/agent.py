"""What runner/run.py needs of a Claude Code CLI; sidecar/runner/agent.py makes one of a process, a test of a script."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from normalize.inputs import Ended, Received
from protocol.claude.control import ControlResponse
from protocol.claude.requests import AnyRequest
from protocol.errors import TurnwireError
from protocol.json_values import JsonObject
from runner.wire import RunParams


class AgentFailed(TurnwireError):
    """The CLI cannot be started, or does not answer; says why."""


class AgentGone(AgentFailed):
    """The CLI takes no more input; its last batch and `ended` tell why."""


@dataclass(frozen=True, slots=True)
class Start:
    """What to start."""

    params: RunParams
    resume: str | None
    """The session to go on with."""
    goes_on: bool = False
    """True when the session's last turn was stopped by a rate limit and is to be finished without a prompt."""


class Agent(Protocol):
    """A running CLI of one run."""

    def batches(self) -> AsyncIterator[list[Received]]:
        """Yield what the CLI writes, until its output ends. Reading it is what lets the CLI write on."""
        ...

    async def say(self, line: bytes) -> None:
        """Write a whole line; raises AgentGone."""
        ...

    def answer(self, response: ControlResponse) -> None:
        """Answer a request of the CLI."""
        ...

    async def ask(self, request: AnyRequest, deadline: float) -> JsonObject:
        """Ask the CLI, while its output is read; raises AgentGone, or AgentFailed when it refuses or is silent."""
        ...

    def close_input(self) -> None:
        """Say that nothing more will be said."""
        ...

    async def ended(self) -> Ended:
        """Wait for the exit, after the last batch, and say how it was."""
        ...


AgentFactory: TypeAlias = Callable[[Start], AbstractAsyncContextManager[Agent]]
"""Runs a CLI while the context is open; raises AgentFailed."""
