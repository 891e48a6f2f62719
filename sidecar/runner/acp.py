"""Runs of agents of the Agent Client Protocol: each is a session (adapter/acp/opening.py) with one prompt.

Nobody can be asked in a run: calls are allowed unless a rule of the configuration says otherwise, and what is left to a
human all the same, a form or a plan, is refused. The run is over when the prompt has its answer: then the agent's input
is closed, and what it still says until its exit is told.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from adapter.acp.client import AgentError, messages_of
from adapter.acp.opening import open_acp_session
from adapter.acp.session import AcpSession
from adapter.options import CommandError, CommandOptions, SessionOptions
from adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from adapter.process.cli import ProgramNotFound
from adapter.process.environment import ALLOWED, EnvironmentRefused, build_environment
from adapter.process.shutdown import StopDeadlines
from adapter.process.transport import ProcessGone
from adapter.process.watchdog import Watchdog
from adapter.session.agent import RequestFailed, RequestTimeout
from adapter.session.executor import AnswerRefused
from adapter.session.notices import SessionNotice
from normalize.core import Happened
from normalize.events import AgentEvent, Complete, PermissionRequest, QuestionRequest, to_json
from normalize.inputs import Ended, Received, Sent
from protocol.acp.messages import Request, Response
from protocol.malformed import Malformed
from runner.acp import AcpParams, content_blocks
from runner.family import RunFailed, RunFamily, Streams
from runner.output import OutputLost
from runner.wire import EventLines, Run, diag_line
from sidecar.config.agents import Agent
from sidecar.config.rulebook import Rulebook
from sidecar.config.settings import Settings

STOP = StopDeadlines(interrupt=2.0, close=3.0, terminate=2.0)
"""A turn that is cancelled has a moment to end, and an agent that has answered one to write down what it keeps."""

UNANSWERED = 5.0
"""Seconds after which a request that cannot be refused with one of its own options is dismissed, and the turn with it."""

NOBODY = "runner"
"""Who refuses what is left to a human."""


def acp_runs(agent: Agent, rulebook: Rulebook, settings: Settings, watchdog: Watchdog) -> RunFamily:
    """Return how runs of an agent are performed, in the folder of this process."""

    async def perform(run: Run, streams: Streams, is_normalized: bool) -> None:
        payloads = _normalized if is_normalized else _verbatim
        await _Performance(run, streams, payloads).perform(_options(run, agent, rulebook, settings), watchdog)

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
        client_files=agent.client_files,
        client_terminals=agent.client_terminals,
        answer_timeout=UNANSWERED,
        max_pending=settings.max_pending,
        initialize_deadline=settings.agent_start_timeout_s,
        control_deadline=settings.agent_answer_timeout_s,
        stop=STOP,
        line_limit=settings.max_line_bytes,
    )


def _verbatim(happened: Happened) -> list[bytes]:
    """Return the agent's line, byte for byte, unless it is no JSON that could be embedded."""
    match happened.input:
        case Received(line=line, message=message) if not isinstance(message, Malformed):
            return [line]
        case _:
            return []


def _normalized(happened: Happened) -> list[bytes]:
    """Return the AgentEvents."""
    return [to_json(event) for event in happened.events]


def _is_of_the_end(happened: Happened) -> bool:
    """Tell whether something is told of a run that was cancelled: its turn's end, and what is not the agent's."""
    is_said = isinstance(happened.input, Received)
    return not is_said or any(isinstance(event, Complete) for event in happened.events)


class _Performance:
    """Performs one run."""

    def __init__(self, run: Run, streams: Streams, payloads: Callable[[Happened], list[bytes]]) -> None:
        self._run = run
        self._streams = streams
        self._payloads = payloads
        self._lines = EventLines(run.id)
        self._prompt: Request | None = None
        """The prompt, once it is said."""
        self._is_answered = False
        self._error: str | None = None
        """Why the run fails."""
        self._cannot: str | None = None
        """What the run asks for that the agent would go without."""
        self._ended: Ended | None = None
        self._untold: Sequence[Happened] = ()
        """What was taken from the session and is not told yet."""

    async def perform(self, options: SessionOptions, watchdog: Watchdog) -> None:
        """Run to the end; raises RunFailed and runner.output.OutputLost."""
        try:
            async with open_acp_session(options, watchdog=watchdog, notify=self._notice) as session:
                try:
                    await self._converse(session)
                except asyncio.CancelledError:
                    await self._leave(session)
                    raise
        except (CommandError, ProgramNotFound, OSError) as error:
            raise RunFailed(str(error)) from error
        if self._error is not None:
            raise RunFailed(self._error)

    async def _converse(self, session: AcpSession) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                opening = tasks.create_task(self._open(session))
                async for batch in session.batches():
                    was_answered = self._is_answered
                    await self._tell(session, batch)
                    if self._is_answered and not was_answered:
                        tasks.create_task(session.stop())
                opening.cancel()
        except* OutputLost as lost:
            raise _first(lost) from None
        if not self._is_answered and self._error is None:
            self._error = _how(self._ended or Ended("stopped"))

    async def _open(self, session: AcpSession) -> None:
        try:
            await asyncio.shield(session.initialized)
            if self._cannot is not None:
                raise RequestFailed(f"the run asks for what the agent cannot do: {self._cannot}")
            await session.prompt_blocks(content_blocks(self._run.message))
        except ProcessGone:
            pass  # how it ended says more
        except (RequestFailed, RequestTimeout) as error:
            self._error = str(error)
            await session.stop()

    async def _tell(self, session: AcpSession, batch: Sequence[Happened]) -> None:
        self._take(session, batch)
        payloads = [payload for happened in batch for payload in self._payloads(happened)]
        notes = b"".join(
            self._note(happened.input) for happened in batch if isinstance(happened.input, Received)
        )
        if payloads:
            await self._streams.output.put(self._lines.of(payloads))
        self._untold = ()
        if notes:
            await self._streams.notes.put(notes)

    def _take(self, session: AcpSession, batch: Sequence[Happened]) -> None:
        self._untold = batch
        for happened in batch:
            match happened.input:
                case Sent(message=Request(method="session/prompt") as prompt):
                    self._prompt = prompt
                case Received(message=message):
                    for one in messages_of(message):
                        if isinstance(one, Response):
                            self._answered(one)
                case Ended() as ended:
                    self._ended = ended
                case _:
                    pass
            for event in happened.events:
                _refuse(session, event)

    def _answered(self, response: Response) -> None:
        if self._prompt is None or self._is_answered or response.id != self._prompt.id:
            return
        self._is_answered = True
        if response.error is not None:
            self._error = str(AgentError("session/prompt", response.error))

    async def _leave(self, session: AcpSession) -> None:
        """Stop the agent of a run that was cancelled. What it still says is read, and of it the turn's end is told.

        Nothing waits for a reader here; there is no more of it than ends a turn.
        """
        self._add_last(self._untold)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(session.stop())
            if self._ended is None:
                async for batch in session.batches():
                    self._add_last(batch)

    def _add_last(self, batch: Sequence[Happened]) -> None:
        last = [one for happened in batch if _is_of_the_end(happened) for one in self._payloads(happened)]
        if last:
            self._streams.output.add(self._lines.of(last))

    def _note(self, received: Received) -> bytes:
        match received.message:
            case Malformed(reason=reason) if received.line.strip():
                text = received.line[:200].decode("utf-8", "replace")
                words = f"the agent wrote a line that is no message ({reason}): {text}"
                return diag_line(self._run.id, "warn", words)
            case _:
                return b""

    def _notice(self, notice: SessionNotice) -> None:
        match notice.code:
            case "initialize_failed":
                pass  # who waits for the conversation is told so, too
            case "mcp_failed" | "not_restored":
                self._cannot = self._cannot or notice.message
            case _:
                self._streams.notes.add(diag_line(self._run.id, "warn", notice.message))


def _refuse(session: AcpSession, event: AgentEvent) -> None:
    """Answer what is left to a human: the agent waits for an answer for ever."""
    if not isinstance(event, PermissionRequest | QuestionRequest) or event.pending_id not in session.pending:
        return
    try:
        if isinstance(event, QuestionRequest):
            session.answer(event.pending_id, QuestionAnswer(action="decline"), NOBODY)
            return
        kinds = ("reject_once", "reject_always")
        options = [option.option_id for option in event.permission_options if option.kind in kinds]
        if options:
            session.respond(event.pending_id, PermissionAnswer(options[0]), NOBODY)
    except AnswerRefused:
        pass  # it is answered already


def _how(ended: Ended) -> str:
    if ended.reason == "stopped":
        return "the agent was stopped before it answered the prompt"
    how = f"was ended by {ended.signal}" if ended.signal else f"exited with code {ended.exit_code}"
    said = f": {ended.stderr_tail}" if ended.stderr_tail.strip() else ""
    return f"the agent {how} before it answered the prompt{said}"


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
