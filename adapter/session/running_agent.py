"""The common part of every running agent: a process, a core, and their state. adapter/session/loop.py runs it.

A family's session adds the commands, in its own protocol. Separate tasks wait for people, hooks, git and servers. So
a request that is pending for an hour does not delay the two tasks that read and write.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import Literal

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
from turnwire.adapter.session.agent import AnswerRefused
from turnwire.adapter.session.attachments import AttachmentFolder
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.lines import Lines
from turnwire.normalize.core import InputWithEvents
from turnwire.protocol.json_values import JsonObject


class RunningAgent(ABC):
    """The part of an turnwire.adapter.session.agent.AgentSession that families share."""

    def __init__(
        self,
        options: SessionOptions,
        *,
        process: CliProcess,
        argv: Sequence[str],
        lines: Lines,
        inbox: Inbox,
        executor: SessionExecutor,
    ) -> None:
        self.options = options
        self.identity: ProcessIdentity = process.identity
        """The identity to record, to reap the agent after a crash."""
        self.argv = tuple(argv)
        """How the agent was started."""
        self.initialized: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        """The agent's answer to our greeting, or the error instead of it."""
        self.stopping: Literal["stopped", "hung"] | None = None
        """Why we stop the agent; None while we do not."""
        self.process = process
        self.inbox = inbox
        self.executor = executor
        self._lines = lines
        self._turns = executor.turns
        self._folder = AttachmentFolder(options.workspace, options.name)

    @property
    def has_exited(self) -> bool:
        """True once the process is gone. Its last output may still be on the way."""
        return self.process.has_exited

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self._turns.busy

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that wait for a human."""
        return self.executor.pending

    @property
    def blank_lines(self) -> int:
        """Lines of nothing, in a row with others, that were skipped."""
        return self._lines.blank

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

    @abstractmethod
    async def _end_turn(self) -> None:
        """Have the agent end the turn that runs, and wait until it has."""

    async def _deny_pending(self) -> None:
        """Deny the pending requests before stdin closes. After that an agent denies on its own."""
        self.executor.handle(Stopping())
        await self._lines.all_written()
