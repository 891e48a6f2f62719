"""Runs of agents of the Agent Client Protocol.

No human answers in a run. Tool calls are allowed unless a rule of the configuration denies them. Forms and plans need a human
and are refused. When the agent answers the prompt, the runner closes the agent's input and passes on its lines until it exits.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

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
from turnwire.protocol.claude.blocks import AnyBlock, ImageBlock, TextBlock
from turnwire.protocol.claude.messages import User
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.protocol.malformed import Malformed
from turnwire.runner.execution import AHEAD, RunExecution, how_it_ended
from turnwire.runner.family import RunFailed, RunFamily, Streams
from turnwire.runner.retry import Wait
from turnwire.runner.runner_lines import Run, RunParams

STOP = StopDeadlines(interrupt=2.0, close=3.0, terminate=2.0)
"""Seconds for a cancelled turn to end, and for an agent to save its session after the answer."""

MakesRuns: TypeAlias = Callable[[Agent, Rulebook, Settings, Opener, Watchdog | None], RunFamily]


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
    """A turnwire.runner.execution.RunConversation."""

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
        """The `session/prompt` request, once it is sent."""
        self._cannot: str | None = None
        """Why the agent cannot do what the run needs; None if it can."""

    def options(self) -> SessionOptions:
        """Return the options of the run's session."""
        return _options(self._run, self._agent, self._rulebook, self._settings)

    async def begin(self, session: AgentSession) -> None:
        """Send the prompt. Raises RequestFailed if the agent lacks something that the run needs."""
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
        """Return the agent's lines or, if the run is normalized, its events as JSON."""
        if self._is_normalized:
            return [to_json(event) for _, events in batch for event in events]
        return [
            item.line
            for item, _ in batch
            if isinstance(item, Received) and not isinstance(item.message, Malformed)
        ]

    def until_wait(self, batch: Sequence[InputWithEvents]) -> tuple[Sequence[InputWithEvents], Wait | None]:
        """Note the request that carries the prompt. Never waits for a rate limit."""
        for item, _ in batch:
            if isinstance(item, Sent):
                match item.message:
                    case Request(method="session/prompt") as prompt:
                        self._prompt = prompt
                    case _:
                        pass
        return batch, None

    def go_on(self, wait: Wait) -> None:
        """Do nothing: the run waits for no rate limit, and the agent's line about it is passed on."""

    def close(self) -> Sequence[AgentEvent]:
        """Return nothing: agents end their turns themselves."""
        return ()

    def on_notice(self, notice: SessionNotice) -> str | None:
        """Return the text of a diag line for a notice; None for no line."""
        match notice.code:
            case "initialize_failed":
                return None  # the run fails with the same reason
            case "mcp_failed" | "not_restored":
                self._cannot = self._cannot or notice.message
                return None
            case _:
                return notice.message

    def how(self, ended: Ended) -> str | None:
        """Return a sentence on how an agent ended before it answered."""
        if ended.reason == "stopped":
            return "the agent was stopped before it answered the prompt"
        return how_it_ended(ended, self.agent, "before it answered the prompt")


class AcpParams(RunParams, frozen=True, kw_only=True):
    """Params of an ACP run. Without a model the agent uses its default."""

    def check(self, message: User) -> None:
        """Raise ValueError for params that the protocol cannot carry."""
        self.refuse(
            ("system_prompt", "effort", "thinking_disabled", "user_agent"),
            "the Agent Client Protocol has no field for this",
        )
        content_blocks(message)


def family_of(conversation: type[AcpConversation], params: type[RunParams]) -> MakesRuns:
    """Return a function that makes the family of runs of an agent. Runs work in this process's folder."""

    def runs(
        agent: Agent, rulebook: Rulebook, settings: Settings, opener: Opener, watchdog: Watchdog | None
    ) -> RunFamily:
        async def perform(run: Run, streams: Streams, is_normalized: bool) -> None:
            spoken = conversation(run, agent, rulebook, settings, is_normalized=is_normalized)
            await RunExecution(run, streams, spoken, opener, watchdog).perform()

        return RunFamily(params, perform)

    return runs


acp_runs = family_of(AcpConversation, AcpParams)


def content_blocks(message: User) -> tuple[JsonObject, ...]:
    """Return a prompt as ACP content blocks. Raises ValueError for a block that is neither text nor an image."""
    blocks = tuple(_block(block, number) for number, block in enumerate(message.blocks))
    if not blocks:
        raise ValueError("the message is empty - at `$.message`")
    return blocks


def _block(block: AnyBlock, number: int) -> JsonObject:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": text}
        case ImageBlock(source=source) if source.get("type") == "base64":
            media_type, encoded = text_at(source, "media_type"), text_at(source, "data")
            if media_type and encoded:
                return {"type": "image", "mimeType": media_type, "data": encoded}
            raise ValueError(f"an image needs media_type and data - at `$.message.content[{number}]`")
        case _:
            raise ValueError(
                "an agent of the Agent Client Protocol takes text and base64 images, "
                f"nothing else - at `$.message.content[{number}]`"
            )
