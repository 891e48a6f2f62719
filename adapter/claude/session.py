"""One session of a CLI that speaks Claude's protocol: the commands, in its words; see adapter/session/agent.py."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import uuid4

from turnwire.adapter.claude.attachments import compose
from turnwire.adapter.claude.client import ClaudeClient
from turnwire.adapter.claude.version import ClaudeCapabilities
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.attachments import Attachment
from turnwire.adapter.session.running_agent import RunningAgent, StartedAgent
from turnwire.normalize.vocabulary import Priority
from turnwire.protocol.claude.messages import User, UserBody
from turnwire.protocol.claude.requests import (
    AnyRequest,
    CancelAsyncMessage,
    Interrupt,
    SetModel,
    SetPermissionMode,
    UnknownRequest,
)
from turnwire.protocol.json_values import JsonObject


class ClaudeSession(RunningAgent[ClaudeClient]):
    """A running CLI."""

    def __init__(
        self, started: StartedAgent[ClaudeClient], *, version: str | None, capabilities: ClaudeCapabilities
    ) -> None:
        super().__init__(started)
        self.version = version
        """The CLI's version; None when it does not say."""
        self.capabilities = capabilities
        """What it can do."""
        self._prompting = asyncio.Lock()

    async def prompt(
        self,
        text: str,
        *,
        attachments: Sequence[Attachment] = (),
        priority: Priority = "next",
        uuid: str | None = None,
        trace: Mapping[str, str] | None = None,
    ) -> str:
        """Say something to the agent and return the prompt's uuid; waits for `initialize`.

        The CLI takes a trace context from its environment alone, so `trace` goes nowhere.

        Raises:
            AttachmentRefused: an attachment is not taken.
            ProcessGone, RequestTimeout, RequestFailed: there is no CLI that could be spoken to.
        """
        del trace
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
            await self.client.send(message)
        return uuid

    async def say(self, words: bytes) -> None:
        """Say a user message as it stands on the wire, without its newline; raises as `prompt` does."""
        await asyncio.shield(self.initialized)
        async with self._prompting:
            await self.client.post_line(words)

    async def interrupt(
        self, deadline: float | None = None, *, escalate_after: float | None = None
    ) -> JsonObject:
        """Stop the running turn; raises RequestTimeout, RequestFailed and ProcessGone.

        With `escalate_after`, the whole CLI is stopped when the turn has not ended so many seconds later.
        """
        # a prompt that waits may begin the next turn before the answer is seen: that one was not to be stopped
        turn = self._turns.running
        try:
            answer = await self.client.request(Interrupt(), deadline or self.options.control_deadline)
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

    async def control(self, request: JsonObject, deadline: float | None = None) -> JsonObject:
        """Make any control request: {"subtype": …, …}; raises RequestTimeout, RequestFailed and ProcessGone."""
        match request.get("subtype"):
            case "interrupt":
                return await self.interrupt(deadline)
            case "initialize":
                raise RequestFailed(
                    "only turnwire may send initialize, because another one would remove its hooks"
                )
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

    async def _stop_turn(self) -> None:
        await self.client.exchange(Interrupt(), self.options.stop.interrupt)

    async def _request(self, request: AnyRequest, deadline: float | None = None) -> JsonObject:
        return await self.client.request(request, deadline or self.options.control_deadline)
