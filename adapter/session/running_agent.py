"""The common part of every running agent: a process, a core, and their state. adapter/session/loop.py runs it.

A family's session adds the commands, in its own protocol. Separate tasks wait for people, hooks, git and servers. So
a request that is pending for an hour does not delay the two tasks that read and write.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Generic, Literal, Protocol, TypeVar

from msgspec import Struct

from turnwire.adapter.options import SessionOptions
from turnwire.adapter.permissions.decisions import (
    Answered,
    PermissionAnswer,
    QuestionAnswer,
    Refuse,
    Stopping,
)
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.identity import ProcessIdentity
from turnwire.adapter.process.shutdown import shut_down
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import AnswerRefused, RequestFailed, RequestTimeout
from turnwire.adapter.session.attachments import AttachmentFolder
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.lines import Lines, fail
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.adapter.session.prompts import Prompt, PromptQueue
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.events import Queued, Withdrawn
from turnwire.normalize.inputs import Announced, Received
from turnwire.protocol.json_values import JsonObject


class AgentClient(Protocol):
    """An agent's lines as messages, both ways."""

    lines: Lines
    """The agent's streams."""

    def batches(self) -> AsyncIterator[list[Received]]:
        """Yield the agent's lines until its output ends, in lists of bounded size."""
        ...

    async def write_posted(self) -> None:
        """Write the queue until the agent accepts no more."""
        ...

    def give_up(self, reason: ProcessGone) -> None:
        """Fail everything that waits and every later write or request: the agent is gone."""
        ...


Client = TypeVar("Client", bound=AgentClient)


class StartedAgent(Struct, Generic[Client], frozen=True, kw_only=True):
    """A process that runs, and what its session works with."""

    options: SessionOptions
    argv: Sequence[str]
    process: CliProcess
    client: Client
    """Reads and writes its lines."""
    inbox: Inbox
    executor: SessionExecutor


class RunningAgent(ABC, Generic[Client]):
    """The part of an turnwire.adapter.session.agent.AgentSession that families share.

    Agents differ in what a second prompt does. A family may keep prompts here and send one at a time.
    """

    interrupt_name = "interrupt"
    """The family's word for an interrupt, for errors."""

    def __init__(self, started: StartedAgent[Client]) -> None:
        self.options = started.options
        self.identity: ProcessIdentity = started.process.identity
        """The identity to record, to reap the agent after a crash."""
        self.argv = tuple(started.argv)
        """How the agent was started."""
        self.initialized: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        """The agent's answer to our greeting, or the error instead of it."""
        self.stopping: Literal["stopped", "hung"] | None = None
        """Why we stop the agent; None while we do not."""
        self.process = started.process
        self.client = started.client
        self.inbox = started.inbox
        self.executor = started.executor
        self._turns = started.executor.turns
        self._folder = AttachmentFolder(started.options.workspace, started.options.name)
        self._queue = PromptQueue()
        self._is_saying = False
        """Whether a prompt of the queue is on the wire, or its turn runs."""

    @property
    def has_exited(self) -> bool:
        """True once the process is gone. Its last output may still be on the way."""
        return self.process.has_exited

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self._turns.busy

    @property
    def is_spent(self) -> bool:
        """True once an agent of one turn has had it. Most agents take any number."""
        return False

    async def wait_spent(self) -> None:
        """Wait until the process of a spent agent is gone."""

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that wait for a human."""
        return self.executor.pending

    @property
    def blank_lines(self) -> int:
        """Lines of nothing, in a row with others, that were skipped."""
        return self.client.lines.blank

    def batches(self) -> AsyncIterator[list[InputWithEvents]]:
        """Yield inputs with their events, in order, until Ended. For one consumer."""
        return self.inbox.batches()

    def answer(self, pending_id: str, answer: PermissionAnswer | QuestionAnswer, by: str) -> None:
        """Answer a request that waits for a human; raises AnswerRefused when the answer does not count."""
        for effect in self.executor.handle(Answered(pending_id, answer, by)):
            if isinstance(effect, Refuse):
                raise AnswerRefused(effect)

    def close_input(self) -> None:
        """Close the agent's input. The agent finishes its work and exits."""
        self.process.close_input()

    async def stop(self, reason: Literal["stopped", "hung"] = "stopped") -> None:
        """Stop the agent step by step, until it is gone; `batches()` ends with Ended(reason)."""
        if self.stopping is None and not self.process.has_exited:
            self.stopping = reason
        await shut_down(
            self.process,
            self.options.stop,
            before=[self._end_turn, self._deny_pending] if reason == "stopped" else [self._deny_pending],
        )

    def remove_attachments(self) -> None:
        """Remove the files that were saved for this session."""
        self._folder.remove()

    async def fail_to_open(self, error: Exception, notify: Notify) -> None:
        """End an agent with which no conversation can be opened: fail what waits, publish the reason, stop it."""
        if isinstance(error, ProcessGone) and await self.process.exits_within(self.options.stop.close):
            # how it ended says more than a closed pipe: the reader fails it, once all is read
            await asyncio.wait([self.initialized])
        self.refuse(error)
        # who stops an agent that still begins need not be told that it has not begun
        if self.stopping is None:
            notify(SessionNotice("initialize_failed", str(self.initialized.exception() or error)))
        await self.stop()

    # Turns

    @property
    def _turn_to_stop(self) -> int | None:
        """The turn that an interrupt stops; None without one."""
        return self._turns.running

    async def interrupt(
        self, deadline: float | None = None, *, escalate_after: float | None = None
    ) -> JsonObject:
        """Stop the running turn; what waits goes on after it. Raises RequestTimeout and ProcessGone.

        deadline, escalate_after: seconds. With `escalate_after` the agent is stopped if the turn still runs after it.
        """
        turn = self._turn_to_stop
        if turn is not None:
            await self._stop_turn()
            patience = self._patience(escalate_after or deadline)
            if not await self._turns.over_within(patience, turn):
                await self._escalate(patience, is_asked=escalate_after is not None)
        return {}

    def _patience(self, wanted: float | None) -> float:
        """Return the seconds that an interrupted turn may take to end."""
        return wanted or self.options.control_deadline

    async def _escalate(self, patience: float, *, is_asked: bool) -> None:
        """Handle an interrupt without effect. is_asked: the caller wants the agent to be stopped."""
        if not is_asked:
            raise RequestTimeout(self.interrupt_name, patience)
        await self.stop("hung")

    @abstractmethod
    async def _stop_turn(self) -> None:
        """Tell the agent to end the turn that runs; raises RequestTimeout and ProcessGone."""

    async def _end_turn(self) -> None:
        """Have the agent end the turn that runs, and wait until it has."""
        turn = self._turn_to_stop
        if turn is None:
            return
        try:
            await self._stop_turn()
        except (ProcessGone, RequestTimeout):
            return
        await self._turns.over(turn)

    # Prompts that wait here

    def _put(self, prompt: Prompt, text: str | None = None) -> None:
        """Have a prompt wait. text: its text, if its content does not tell. Raises ProcessGone and RequestFailed."""
        if self.process.has_exited:
            raise ProcessGone("the agent has exited")
        self._queue.check_room()
        self._wait(prompt, text)

    def _wait(self, prompt: Prompt, text: str | None = None) -> None:
        place = self._queue.put(prompt)
        # the first one is said at once where none is being said
        place -= not self._is_saying
        if place:
            queued = Queued(position=place, prompt=prompt.uuid, text=text or prompt.text or None)
            self.executor.handle(Announced(queued))

    async def _interrupt_for(self, uuid: str) -> None:
        """Stop the running turn for a prompt that waits; takes the prompt back when that fails."""
        try:
            await self.interrupt()
        except BaseException:
            await self.withdraw(uuid)  # it is refused, so it must not be said later
            raise

    async def _serve(self, say: Callable[[Prompt], Awaitable[None]]) -> None:
        """Say the prompts, one after another, until the agent is gone."""
        try:
            await asyncio.shield(self.initialized)
            while True:
                prompt = await self._queue.next()
                self._is_saying = True
                await say(prompt)
                self._is_saying = False
        except (ProcessGone, RequestFailed, RequestTimeout):
            pass  # told by whoever opened the conversation, or by the agent's end

    async def withdraw(self, uuid: str) -> bool:
        """Take back a prompt that still waits, and tell whether it did."""
        if not self._queue.withdraw(uuid):
            return False
        self._taken_back(uuid)
        return True

    def _taken_back(self, uuid: str) -> None:
        self.executor.handle(Announced(Withdrawn(prompt=uuid)))

    def begin(self, said: JsonObject | None = None) -> None:
        """Let prompts go on: the conversation is open. said: the agent's answer to our greeting."""
        if not self.initialized.done():
            self.initialized.set_result(said or {})

    def refuse(self, reason: Exception) -> None:
        """Fail everything that waits for the agent: no conversation can be opened, or the agent is gone."""
        fail(self.initialized, reason)
        for prompt in self._queue.clear():
            self._taken_back(prompt.uuid)

    async def _deny_pending(self) -> None:
        """Deny the pending requests before stdin closes. After that an agent denies on its own."""
        self.executor.handle(Stopping())
        await self.client.lines.all_written()
