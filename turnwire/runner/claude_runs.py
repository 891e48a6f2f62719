"""Runs of Claude Code: no built-in tools, no questions, partial messages; the MCP servers of a run are all it can use.

A rate limit can stop a turn. The runner then asks the CLI to finish it. A resumed CLI with
CLAUDE_CODE_RESUME_INTERRUPTED_TURN in its environment continues the turn without a new prompt (2.1).
"""

import os
from collections.abc import Sequence
from pathlib import Path

from turnwire.adapter.family import Opener
from turnwire.adapter.options import CommandOptions, SessionOptions
from turnwire.adapter.process.environment import ALLOWED, EnvironmentRefused, build_environment
from turnwire.adapter.process.shutdown import StopDeadlines
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.sandbox.settings import SandboxSettings
from turnwire.adapter.session.agent import AgentSession
from turnwire.adapter.session.notices import SessionNotice
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import Ended, Message, Received
from turnwire.protocol.claude.control import ControlCancelRequest, ControlRequest, ControlResponse
from turnwire.protocol.claude.results import Result
from turnwire.protocol.malformed import Malformed
from turnwire.runner.execution import AHEAD, RunExecution, how_it_ended
from turnwire.runner.family import RunFailed, RunFamily, Streams
from turnwire.runner.mcp_wait import ServerDeadlines, connect_servers
from turnwire.runner.retry import RateLimitRetry, Wait
from turnwire.runner.run_core import RunCore
from turnwire.runner.runner_lines import ClaudeParams, Run

STOP = StopDeadlines(interrupt=0.0, close=0.5, terminate=2.0)
"""Seconds to stop a CLI: a cancelled run should end soon, and a refused turn ends on its own."""

LINGERS = 10.0
"""Seconds until a CLI is stopped that is silent after its result, or that still runs after the end of its output."""

CLIENT_APP = "CLAUDE_AGENT_SDK_CLIENT_APP"
GO_ON = "CLAUDE_CODE_RESUME_INTERRUPTED_TURN"


def claude_runs(
    executable: Sequence[str],
    pass_env: Sequence[str],
    opener: Opener,
    watchdog: Watchdog | None,
    *,
    lingers: float = LINGERS,
    servers: ServerDeadlines = ServerDeadlines(),  # noqa: B008 - frozen
    sandbox: SandboxSettings = SandboxSettings(),  # noqa: B008 - frozen
    own_places: Sequence[str] = (),
) -> RunFamily:
    """Return how runs of a CLI are performed, in the folder of this process."""

    async def perform(run: Run, streams: Streams, is_normalized: bool) -> None:
        conversation = _Conversation(
            run,
            executable,
            (*ALLOWED, *pass_env),
            core=RunCore(RateLimitRetry(run.params), streams.now, new_core() if is_normalized else None),
            is_normalized=is_normalized,
            lingers=lingers,
            servers=servers,
            sandbox=sandbox,
            own_places=own_places,
        )
        await RunExecution(run, streams, conversation, opener, watchdog).perform()

    return RunFamily(ClaudeParams, perform)


_UNTOLD = frozenset({ControlRequest, ControlResponse, ControlCancelRequest, Malformed})
"""Messages that are not passed on: the control protocol is between the runner and the CLI, as in the SDK; malformed lines cannot
be embedded."""


class _Conversation:
    """A turnwire.runner.execution.RunConversation."""

    agent = "the CLI"
    answers: frozenset[type[Message]] = frozenset({Result})

    def __init__(
        self,
        run: Run,
        executable: Sequence[str],
        allowed: Sequence[str],
        *,
        core: RunCore,
        is_normalized: bool,
        lingers: float,
        servers: ServerDeadlines,
        sandbox: SandboxSettings,
        own_places: Sequence[str],
    ) -> None:
        self._sandbox = sandbox
        self._own_places = own_places
        self.lingers: float | None = lingers
        self.core = core
        self._run = run
        self._executable = executable
        self._allowed = allowed
        self._is_normalized = is_normalized
        self._servers = servers
        self._resume = run.params.resume
        """The session to go on with."""
        self._goes_on = False
        """True if a rate limit stopped the session's last turn, so that it is finished without a prompt."""

    @property
    def error(self) -> str | None:
        """None: a result that is an error contains its reason."""
        return None

    def options(self) -> SessionOptions:
        params = self._run.params
        given = {} if params.user_agent is None else {CLIENT_APP: params.user_agent}
        if self._goes_on:
            given[GO_ON] = "1"
        try:
            environment = build_environment(os.environ, allowed=self._allowed, given=given)
        except EnvironmentRefused as error:
            raise RunFailed(str(error)) from error
        return SessionOptions(
            workspace=Path.cwd(),
            executable=self._executable,
            command=CommandOptions(
                model=params.model,
                system_prompt=params.system_prompt,
                effort=params.effort,
                thinking_disabled=bool(params.thinking_disabled),
                mcp_servers=params.mcp_servers or {},
                resume=self._resume,
                permission_mode="bypassPermissions",
                tools=(),
                unattended=True,
            ),
            environment=environment,
            ask_version=False,
            initialize=bool(params.mcp_servers),
            auto_deny_as="runner",
            sandbox=self._sandbox,
            own_places=self._own_places,
            initialize_deadline=self._servers.connect,
            exit_deadline=self.lingers or 0.0,
            stop=STOP,
            ahead=AHEAD,
        )

    async def begin(self, session: AgentSession) -> None:
        if self._run.params.mcp_servers:
            await connect_servers(session, self._run.params.mcp_servers, self._servers)
        if self._goes_on:
            session.close_input()
        else:
            await session.say(bytes(self._run.params.message))

    def is_answer(self, received: Received) -> bool:
        return type(received.message) in self.answers

    def payloads(self, batch: Sequence[InputWithEvents]) -> list[bytes]:
        if self._is_normalized:
            return [to_json(event) for _, events in batch for event in events]
        return [
            item.line for item, _ in batch if type(item) is Received and type(item.message) not in _UNTOLD
        ]

    def until_wait(self, batch: Sequence[InputWithEvents]) -> tuple[Sequence[InputWithEvents], Wait | None]:
        if self.core.wait is not None:
            for number, (item, _) in enumerate(batch):
                if isinstance(item, Received) and item.message is self.core.stopped_at:
                    return batch[:number], self.core.wait
        return batch, None

    def go_on(self, wait: Wait) -> None:
        self._resume, self._goes_on = wait.session, True
        self.core.go_on()

    def close(self) -> Sequence[AgentEvent]:
        self.core.go_on()
        return self.core.handle(Ended("stopped"))

    def on_notice(self, notice: SessionNotice) -> str | None:
        match notice.code:
            case "initialize_failed":
                return None  # who waits for it is told so, too
            case "lived_on":
                return f"the CLI lived on for {self.lingers:.0f} s after the end of its output and is stopped"
            case _:
                return notice.message

    def how(self, ended: Ended) -> str:
        if ended.reason == "stopped":
            return "the CLI ended its output without a result, and was stopped"
        return how_it_ended(ended, self.agent, "without a result")
