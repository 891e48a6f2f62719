"""One CLI session: the process, its protocol and its permissions, composed; commands in, what happened out.

`adapter.claude.opening.open_session` makes it; adapter/agent_session.py is its public face. One task reads, one writes; people, hooks, git and MCP servers are waited for
by tasks beside them, so a request that is pending for an hour holds up nothing. What happens comes out of `batches()`
in the order in which it happened.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Literal
from uuid import uuid4

from adapter.agent_session import RequestFailed, RequestTimeout
from adapter.attachments import Attachment, AttachmentFolder
from adapter.claude.attachments import compose
from adapter.claude.client import Client
from adapter.claude.version import ClaudeCapabilities
from adapter.executor import SessionExecutor
from adapter.inbox import Inbox
from adapter.options import SessionOptions
from adapter.permissions.decisions import PermissionAnswer, QuestionAnswer, Stopping
from adapter.process.cli import CliProcess
from adapter.process.identity import ProcessIdentity
from adapter.process.shutdown import climb
from adapter.process.transport import ProcessGone
from normalize.core import Happened
from normalize.vocabulary import Priority
from protocol.claude.messages import User, UserBody
from protocol.claude.requests import (
    AnyRequest,
    CancelAsyncMessage,
    Interrupt,
    SetModel,
    SetPermissionMode,
    UnknownRequest,
)
from protocol.json_values import JsonObject


class Session:
    """A running CLI."""

    def __init__(
        self,
        options: SessionOptions,
        *,
        process: CliProcess,
        argv: Sequence[str],
        version: str | None,
        capabilities: ClaudeCapabilities,
        client: Client,
        inbox: Inbox,
        executor: SessionExecutor,
    ) -> None:
        self.options = options
        self.identity: ProcessIdentity = process.identity
        """What to record, to reap the CLI after a crash."""
        self.argv = tuple(argv)
        """How the CLI was started."""
        self.version = version
        """The CLI's version; None when it does not say."""
        self.capabilities = capabilities
        """What it can do."""
        self.initialized: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        """The answer to `initialize`: commands, models, …; or why there is none."""
        self._process = process
        self._client = client
        self._inbox = inbox
        self._turns = executor.turns
        self._executor = executor
        self._prompting = asyncio.Lock()
        self._folder = AttachmentFolder(options.workspace, options.name)
        self.stopping: Literal["stopped", "hung"] | None = None
        """Why we stop the CLI; None while we do not."""

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self._turns.busy

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that wait for a human."""
        return self._executor.pending

    def batches(self) -> AsyncIterator[list[Happened]]:
        """Yield what happens and what is published of it, in order, until Ended; for one consumer."""
        return self._inbox.batches()

    async def prompt(
        self,
        text: str,
        *,
        attachments: Sequence[Attachment] = (),
        priority: Priority = "next",
        uuid: str | None = None,
    ) -> str:
        """Say something to the agent and return the prompt's uuid; waits for `initialize`.

        Raises:
            AttachmentRefused: an attachment is not taken.
            ProcessGone, RequestTimeout, RequestFailed: there is no CLI that could be spoken to.
        """
        await asyncio.shield(self.initialized)
        uuid = uuid or str(uuid4())
        # prompts keep their order, however long their files take to be written
        async with self._prompting:
            content = await asyncio.to_thread(
                compose, self._folder, text, attachments, self.options.attachments
            )
            if priority == "now" and self.busy:
                await self.interrupt()
            message = User(
                message=UserBody(content=content),
                uuid=uuid,
                session_id="",
                # 1.0 and 2.0 know no priorities: there a prompt always waits its turn
                priority=None if priority == "next" else priority,
            )
            await self._client.send(message)
        return uuid

    async def interrupt(
        self, deadline: float | None = None, *, escalate_after: float | None = None
    ) -> JsonObject:
        """Stop the running turn; raises RequestTimeout, RequestFailed and ProcessGone.

        With `escalate_after`, the whole CLI is stopped when the turn has not ended so many seconds later.
        """
        # a prompt that waits may begin the next turn before the answer is seen: that one was not to be stopped
        turn = self._turns.running
        try:
            answer = await self._client.request(Interrupt(), deadline or self.options.control_deadline)
        except RequestTimeout:
            if escalate_after is None:
                raise
            if turn is not None and self._turns.running != turn:
                return {}  # it did what it was asked, without a word
        else:
            if escalate_after is None or await self._turns.over_within(escalate_after, turn):
                return answer
        await self.stop("hung")
        return {}

    def respond(self, pending_id: str, answer: PermissionAnswer, by: str) -> None:
        """Answer a permission request; raises AnswerRefused."""
        self._executor.answered(pending_id, answer, by)

    def answer(self, pending_id: str, answer: QuestionAnswer, by: str) -> None:
        """Answer a question, an elicitation or a dialog; raises AnswerRefused."""
        self._executor.answered(pending_id, answer, by)

    async def control(self, request: JsonObject, deadline: float | None = None) -> JsonObject:
        """Make any control request: {"subtype": …, …}; raises RequestTimeout, RequestFailed and ProcessGone."""
        match request.get("subtype"):
            case "interrupt":
                return await self.interrupt(deadline)
            case "initialize":
                raise RequestFailed("initialize belongs to turnwire: another one would undo its hooks")
            case _:
                pass
        return await self._request(UnknownRequest(request), deadline)

    async def set_model(self, model: str | None) -> JsonObject:
        """Change the model; None for the default one."""
        return await self._request(SetModel(model=model))

    async def set_permission_mode(self, mode: str) -> JsonObject:
        """Change the CLI's permission mode."""
        return await self._request(SetPermissionMode(mode=mode))

    async def withdraw(self, uuid: str) -> bool:
        """Take back a prompt that still waits, and tell whether it did; raises RequestFailed where the CLI cannot."""
        if not self.capabilities.withdraws_prompts:
            raise RequestFailed(f"CLI {self.version} cannot take back a prompt")
        answer = await self._request(CancelAsyncMessage(message_uuid=uuid))
        return answer.get("cancelled") is True

    @property
    def blank_lines(self) -> int:
        """Lines of nothing, in a row with others, that were passed over."""
        return self._client.blank_lines

    async def stop(self, reason: Literal["stopped", "hung"] = "stopped") -> None:
        """Climb the stop ladder until the CLI is gone; `batches()` ends with Ended(reason)."""
        if self.stopping is None and not self._process.has_exited:
            self.stopping = reason
        await climb(
            self._process,
            self.options.stop,
            before=[self._end_turn, self._deny_pending] if reason == "stopped" else [self._deny_pending],
        )

    def remove_attachments(self) -> None:
        """Remove the files that were saved for this session."""
        self._folder.remove()

    async def _end_turn(self) -> None:
        turn = self._turns.running
        if turn is None:
            return
        try:
            await self._client.exchange(Interrupt(), self.options.stop.interrupt)
        except (ProcessGone, RequestTimeout):
            return
        await self._turns.over(turn)

    async def _deny_pending(self) -> None:
        """Answer what still waits while it can be answered: with its stdin closed the CLI denies in nobody's name."""
        self._executor.happened(Stopping())
        await self._client.all_written()

    async def _request(self, request: AnyRequest, deadline: float | None = None) -> JsonObject:
        return await self._client.request(request, deadline or self.options.control_deadline)
