"""One run of any agent: a session with one prompt, and its output as event lines.

The agent is read only as fast as its lines can be written, so a slow reader of the runner slows the agent down. After the
answer
the agent's input is closed; its further output is passed on until it exits. An agent that does not exit is stopped.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from turnwire._runtime.task_owner import first_of
from turnwire.adapter.family import Opener
from turnwire.adapter.options import CommandError, ConversationInUse, SessionOptions
from turnwire.adapter.process.cli import ProgramNotFound
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.sandbox.settings import SandboxUnavailable
from turnwire.adapter.session.agent import AgentSession, RequestFailed, RequestTimeout
from turnwire.adapter.session.notices import SessionNotice
from turnwire.normalize.core import Core, InputWithEvents
from turnwire.normalize.events import AgentEvent, Complete
from turnwire.normalize.inputs import Ended, Message, Received
from turnwire.protocol.malformed import Malformed
from turnwire.runner.family import RunFailed, Streams
from turnwire.runner.output import OutputLost
from turnwire.runner.retry import Wait
from turnwire.runner.runner_lines import EventLines, Run, diag_line

AHEAD = 256 * 1024
"""Bytes of an agent's lines that may wait for their turn to be written: many runs share one reader."""


class RunConversation(Protocol):
    """The part of a run that depends on the family. A run may use several agents, one after another, until the prompt is answered."""

    agent: str
    """The agent in sentences: "the CLI", "the agent"."""
    answers: frozenset[type[Message]]
    """The types of messages that may answer a prompt."""
    lingers: float | None
    """Seconds of silence allowed after the answer; None for the deadlines of stopping."""

    @property
    def core(self) -> Core | None:
        """Return the core for the run's inputs; None for a new core of the family."""
        ...

    def options(self) -> SessionOptions:
        """Return the options of the session. Raises RunFailed."""
        ...

    async def begin(self, session: AgentSession) -> None:
        """Send the prompt once that is possible. Raises RunFailed, RequestFailed, RequestTimeout and ProcessGone."""
        ...

    def is_answer(self, received: Received) -> bool:
        """Return whether a line answers the prompt. Its message has one of the types in `answers`."""
        ...

    def payloads(self, batch: Sequence[InputWithEvents]) -> list[bytes]:
        """Return the JSON values for an input."""
        ...

    def until_wait(self, batch: Sequence[InputWithEvents]) -> tuple[Sequence[InputWithEvents], Wait | None]:
        """Take inputs. Returns those to pass on, and the wait that replaces the rest, with the agent stopped."""
        ...

    def go_on(self, wait: Wait) -> None:
        """The wait is over: the next agent finishes the turn."""
        ...

    def close(self) -> Sequence[AgentEvent]:
        """Return the events of a run's end that no agent has had."""
        ...

    def on_notice(self, notice: SessionNotice) -> str | None:
        """Return the output for a notice; None without one."""
        ...

    @property
    def error(self) -> str | None:
        """Why the run fails though its prompt was answered; None when it does not."""
        ...

    def how(self, ended: Ended) -> str | None:
        """Say how an agent ended that has not answered; None where its end is the answer."""
        ...


def is_end_of_run(happened: InputWithEvents) -> bool:
    """Tell whether an input of a cancelled run is passed on: the end of its turn, and inputs that are not the agent's."""
    is_said = isinstance(happened.input, Received)
    return not is_said or any(isinstance(event, Complete) for event in happened.events)


def how_it_ended(ended: Ended, agent: str, lacking: str) -> str:
    """Return a sentence on how an agent exited: "the CLI exited with code 1 without a result: its last words"."""
    how = f"was ended by {ended.signal}" if ended.signal else f"exited with code {ended.exit_code}"
    said = f": {ended.stderr_tail}" if ended.stderr_tail.strip() else ""
    return f"{agent} {how} {lacking}{said}"


class RunExecution:
    """Performs one run."""

    def __init__(
        self,
        run: Run,
        streams: Streams,
        conversation: RunConversation,
        opener: Opener,
        watchdog: Watchdog | None,
    ) -> None:
        self._run = run
        self._streams = streams
        self._conversation = conversation
        self._opener = opener
        self._watchdog = watchdog
        self._lines = EventLines(run.id)
        self._looked_at = conversation.answers | {Malformed}
        self._is_answered = False
        self._is_stopping = False
        self._error: str | None = None
        """Why the run fails."""
        self._ended: Ended | None = None
        self._untold: Sequence[InputWithEvents] = ()
        """Inputs that were read from the session and not passed on yet."""

    async def perform(self) -> None:
        """Run to the end; raises RunFailed and turnwire.runner.output.OutputLost."""
        try:
            while (wait := await self._one_agent()) is not None:
                retries = self._run.params.rate_limit_max_retries
                await self._note(
                    f"rate limit: waiting {wait.seconds:.0f} s, then retry {wait.attempt} of {retries}"
                )
                await asyncio.sleep(wait.seconds)
                self._conversation.go_on(wait)
        finally:
            if self._ended is None and (events := self._conversation.close()):
                # it cannot wait: the run may be cancelled
                self._add_last([InputWithEvents(Ended("stopped"), events)])
        if self._error is None:
            ended = self._ended or Ended("stopped")
            self._error = self._conversation.error if self._is_answered else self._conversation.how(ended)
        if self._error is not None:
            raise RunFailed(self._error)

    async def _one_agent(self) -> Wait | None:
        conversation = self._conversation
        try:
            opened = self._opener(
                conversation.options(),
                core=conversation.core,
                watchdog=self._watchdog,
                notify=self._on_notice,
            )
            async with opened as session:
                try:
                    return await self._follow(session)
                except asyncio.CancelledError:
                    await self._leave(session)
                    raise
        except ConversationInUse as error:
            raise RunFailed(f"conversation-in-use: {error.sentence}") from error
        except (CommandError, ProgramNotFound, SandboxUnavailable, OSError) as error:
            raise RunFailed(str(error)) from error

    async def _follow(self, session: AgentSession) -> Wait | None:
        """Pass on the agent's output until its end, or until a rate limit to wait for."""
        try:
            async with asyncio.TaskGroup() as tasks:
                beginning = tasks.create_task(self._begin(session))
                batches = session.batches()
                while True:
                    try:
                        batch = await self._next(batches)
                    except TimeoutError:
                        await self._on_silence(session, tasks)
                        batches = session.batches()
                        continue
                    if batch is None:
                        break
                    was_answered = self._is_answered
                    wait = await self._tell(batch)
                    if wait is not None:
                        beginning.cancel()
                        return wait
                    if self._is_answered and not was_answered:
                        self._let_go(session, tasks)
                beginning.cancel()
        except* OutputLost as lost:
            raise first_of(lost) from None
        return None

    async def _begin(self, session: AgentSession) -> None:
        try:
            await asyncio.shield(session.initialized)
            await self._conversation.begin(session)
        except ProcessGone:
            pass  # how it ended says more
        except (RequestFailed, RequestTimeout, RunFailed) as error:
            self._error = str(error)
            await session.stop()

    async def _next(self, batches: AsyncIterator[list[InputWithEvents]]) -> list[InputWithEvents] | None:
        """Return the next inputs; None after the end. Raises TimeoutError for an agent that is silent after its answer."""
        waits = self._is_answered and not self._is_stopping
        async with asyncio.timeout(self._conversation.lingers if waits else None):
            return await anext(batches, None)

    def _let_go(self, session: AgentSession, tasks: asyncio.TaskGroup) -> None:
        """Let an agent exit that has answered."""
        if self._conversation.lingers is None:
            self._is_stopping = True
            tasks.create_task(session.stop())
        else:
            session.close_input()

    async def _on_silence(self, session: AgentSession, tasks: asyncio.TaskGroup) -> None:
        if session.has_exited:
            return  # what it has left behind is still looked for
        self._is_stopping = True
        tasks.create_task(session.stop())
        conversation = self._conversation
        await self._note(
            f"{conversation.agent} was silent for {conversation.lingers:.0f} s after its result and is stopped"
        )

    async def _tell(self, batch: Sequence[InputWithEvents]) -> Wait | None:
        """Pass on inputs up to a rate limit to wait for, and return that."""
        told, wait = self._conversation.until_wait(batch)
        notes = self._look_at(told)
        self._untold = told
        if payloads := self._conversation.payloads(told):
            await self._streams.output.put(self._lines.lines(payloads))
        self._untold = ()
        if notes:
            await self._streams.notes.put(notes)
        return wait

    def _look_at(self, batch: Sequence[InputWithEvents]) -> bytes:
        """Look for the answer, the end and malformed lines. Returns the notes about the latter."""
        notes = b""
        for item, _ in batch:
            if type(item) is Received:
                if type(item.message) in self._looked_at:
                    notes += self._note_of(item)
                    self._is_answered = self._is_answered or self._conversation.is_answer(item)
            elif type(item) is Ended:
                self._ended = item
        return notes

    async def _leave(self, session: AgentSession) -> None:
        """Stop the agent of a cancelled run. Read its further lines, and pass on only the end of the turn.

        Nothing waits for a reader here; there is no more of it than ends a turn.
        """
        self._add_last(self._untold)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(session.stop())
            if self._ended is None:
                async for batch in session.batches():
                    self._look_at(batch)
                    self._add_last(batch)

    def _add_last(self, batch: Sequence[InputWithEvents]) -> None:
        last = [happened for happened in batch if is_end_of_run(happened)]
        if payloads := self._conversation.payloads(last):
            self._streams.output.add(self._lines.lines(payloads))

    def _note_of(self, received: Received) -> bytes:
        match received.message:
            case Malformed(reason=reason) if received.line.strip():
                text = received.line[:200].decode("utf-8", "replace")
                words = f"{self._conversation.agent} wrote a line that is no message ({reason}): {text}"
                return diag_line(self._run.id, "warn", words)
            case _:
                return b""

    async def _note(self, text: str) -> None:
        await self._streams.notes.put(diag_line(self._run.id, "warn", text))

    def _on_notice(self, notice: SessionNotice) -> None:
        if notice.code == "lived_on":
            if self._is_stopping:
                return  # its silence was told
            self._is_stopping = True
        if (text := self._conversation.on_notice(notice)) is not None:
            self._streams.notes.add(diag_line(self._run.id, "warn", text))
