"""Runs of agents of the Agent Client Protocol.

Nobody can be asked in a run: calls are allowed unless a rule of the configuration says otherwise, and what is left to a
human all the same, a form or a plan, is refused. The run is over when the prompt has its answer: then the agent's input
is closed, and what it still says until its exit is told.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from turnwire.adapter.family import Opener
from turnwire.adapter.options import CommandOptions, SessionOptions
from turnwire.adapter.process.environment import ALLOWED, EnvironmentRefused, build_environment
from turnwire.adapter.process.shutdown import StopDeadlines
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent import AgentSession, RequestFailed
from turnwire.adapter.session.notices import SessionNotice
from turnwire.config.agents import Agent
from turnwire.config.rulebook import Rulebook
from turnwire.config.sandbox import hidden_places, sandbox_settings
from turnwire.config.settings import Settings
from turnwire.normalize.core import Core, InputWithEvents
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.inputs import Ended, Message, Received, Sent
from turnwire.protocol.acp.messages import Batch, Request, Response
from turnwire.protocol.malformed import Malformed
from turnwire.runner.acp import AcpParams, content_blocks
from turnwire.runner.family import RunFailed, RunFamily, Streams
from turnwire.runner.retry import Wait
from turnwire.runner.wire import Run
from turnwire.sidecar.streams.runner.execution import AHEAD, RunExecution, how_it_ended

STOP = StopDeadlines(interrupt=2.0, close=3.0, terminate=2.0)
"""A turn that is cancelled has a moment to end, and an agent that has answered one to write down what it keeps."""


def acp_runs(
    agent: Agent, rulebook: Rulebook, settings: Settings, opener: Opener, watchdog: Watchdog | None
) -> RunFamily:
    """Return how runs of an agent are performed, in the folder of this process."""

    async def perform(run: Run, streams: Streams, is_normalized: bool) -> None:
        conversation = AcpConversation(run, agent, rulebook, settings, is_normalized=is_normalized)
        await RunExecution(run, streams, conversation, opener, watchdog).perform()

    return RunFamily(AcpParams, perform)


def _options(run: Run, agent: Agent, rulebook: Rulebook, settings: Settings) -> SessionOptions:
    params = run.params
    try:
        environment = build_environment(
            os.environ, allowed=(*ALLOWED, *agent.variables, *settings.pass_env), given=agent.env
        )
    except EnvironmentRefused as error:
        raise RunFailed(str(error)) from error
    return SessionOptions(
        workspace=Path.cwd(),
        executable=agent.argv,
        command=CommandOptions(
            model=params.model, resume=params.resume, mcp_servers=params.mcp_servers or {}
        ),
        environment=environment,
        family="acp",
        policy="autonomous",
        rules=rulebook.rules,
        hooks=rulebook.hooks,
        sandbox=sandbox_settings(agent, settings, level=agent.sandbox or settings.sandbox),
        own_places=hidden_places(settings, agent.sandbox or settings.sandbox),
        client_files=agent.client_files,
        client_terminals=agent.client_terminals,
        auto_deny_as="runner",
        max_pending=settings.max_pending,
        initialize_deadline=settings.agent_start_timeout_s,
        control_deadline=settings.agent_answer_timeout_s,
        stop=STOP,
        line_limit=settings.max_line_bytes,
        ahead=AHEAD,
    )


class AcpConversation:
    """A turnwire.sidecar.streams.runner.execution.Conversation."""

    agent = "the agent"
    answers: frozenset[type[Message]] = frozenset({Response, Batch})
    lingers: float | None = None
    core: Core | None = None

    def __init__(
        self, run: Run, agent: Agent, rulebook: Rulebook, settings: Settings, *, is_normalized: bool
    ) -> None:
        self.error: str | None = None
        self._run = run
        self._agent = agent
        self._rulebook = rulebook
        self._settings = settings
        self._is_normalized = is_normalized
        self._prompt: Request | None = None
        """The prompt, once it is said."""
        self._cannot: str | None = None
        """What the run asks for that the agent would go without."""

    def options(self) -> SessionOptions:
        """Return what to start."""
        return _options(self._run, self._agent, self._rulebook, self._settings)

    async def begin(self, session: AgentSession) -> None:
        """Say the prompt."""
        if self._cannot is not None:
            raise RequestFailed(f"the agent cannot do what the run needs: {self._cannot}")
        await session.say(msgspec.json.encode(content_blocks(self._run.message)))

    def is_answer(self, received: Received) -> bool:
        """Tell whether a line answers the prompt."""
        message = received.message
        for one in message.messages if isinstance(message, Batch) else (message,):
            if isinstance(one, Response) and self._prompt is not None and one.id == self._prompt.id:
                if one.error is not None:
                    why = one.error.message or "it does not say why"
                    self.error = f"the agent refuses session/prompt: {why} ({one.error.code})"
                return True
        return False

    def payloads(self, batch: Sequence[InputWithEvents]) -> list[bytes]:
        """Return the lines or the events of an input."""
        if self._is_normalized:
            return [to_json(event) for _, events in batch for event in events]
        return [
            item.line
            for item, _ in batch
            if isinstance(item, Received) and not isinstance(item.message, Malformed)
        ]

    def until_wait(self, batch: Sequence[InputWithEvents]) -> tuple[Sequence[InputWithEvents], Wait | None]:
        """Note the request that says the prompt; no limit is waited for."""
        for item, _ in batch:
            if isinstance(item, Sent):
                match item.message:
                    case Request(method="session/prompt") as prompt:
                        self._prompt = prompt
                    case _:
                        pass
        return batch, None

    def go_on(self, wait: Wait) -> None:
        """The run waits for no limit; the agent's line about it is passed on."""

    def close(self) -> Sequence[AgentEvent]:
        """Return nothing: agents end their turns themselves."""
        return ()

    def on_notice(self, notice: SessionNotice) -> str | None:
        """Return the output for a notice."""
        match notice.code:
            case "initialize_failed":
                return None  # who waits for the conversation is told so, too
            case "mcp_failed" | "not_restored":
                self._cannot = self._cannot or notice.message
                return None
            case _:
                return notice.message

    def how(self, ended: Ended) -> str:
        """Say how an agent ended that has not answered."""
        if ended.reason == "stopped":
            return "the agent was stopped before it answered the prompt"
        return how_it_ended(ended, self.agent, "before it answered the prompt")
