"""One run of a one-shot agent: the prompt goes to its standard input, which is closed, and the turn ends with the process."""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from uuid import uuid4

import msgspec

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.one_shot.client import OneShotClient
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestFailed
from turnwire.adapter.session.attachments import Attachment, AttachmentRefused
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.lines import fail
from turnwire.adapter.session.running_agent import RunningAgent
from turnwire.normalize.vocabulary import Priority
from turnwire.protocol.json_values import JsonObject

PATIENCE = 2.0
"""Seconds that a process has to end by itself after SIGINT: OpenCode takes no notice of it."""


class OneShotSession(RunningAgent):
    """A running agent."""

    version: str | None = None
    """turnwire does not ask such an agent for its version. Its own report is in `session_info`."""

    def __init__(
        self,
        options: SessionOptions,
        *,
        argv: Sequence[str],
        process: CliProcess,
        client: OneShotClient,
        capabilities: Capabilities,
        inbox: Inbox,
        executor: SessionExecutor,
    ) -> None:
        super().__init__(
            options, process=process, argv=argv, lines=client.lines, inbox=inbox, executor=executor
        )
        self.capabilities = capabilities
        """What it can do."""
        self._client = client
        self._is_told = False
        self.initialized.set_result({})

    async def prompt(
        self,
        text: str,
        *,
        attachments: Sequence[Attachment] = (),
        priority: Priority = "next",
        uuid: str | None = None,
        trace: Mapping[str, str] | None = None,
    ) -> str:
        """Say the one prompt, and return its uuid.

        Raises:
            AttachmentRefused: there is one; these agents take none.
            RequestFailed: it has a prompt already.
            ProcessGone: there is no agent that could be spoken to.
        """
        del trace, priority
        if attachments:
            raise AttachmentRefused("this agent does not accept attachments; name the file in the prompt")
        if self._is_told:
            raise RequestFailed(
                "this agent takes one prompt and exits; wait for the end of its turn, then prompt again"
            )
        if self.process.has_exited:
            raise ProcessGone("the agent has exited")
        self._is_told = True
        uuid = uuid or str(uuid4())
        await self._client.prompt(text, uuid)
        self.close_input()
        return uuid

    async def say(self, words: bytes) -> None:
        """Say a text, a JSON string, as `prompt` does."""
        await self.prompt(msgspec.json.decode(words, type=str))

    async def withdraw(self, uuid: str) -> bool:  # noqa: ARG002 - none waits
        """Return False: no prompt waits."""
        return False

    def gone(self, reason: ProcessGone) -> None:
        """Let go what waits for the agent, which has gone."""
        fail(self.initialized, reason)

    async def interrupt(
        self, deadline: float | None = None, *, escalate_after: float | None = None
    ) -> JsonObject:
        """Stop the turn, and with it the process: by SIGINT, and where that does not end it, as any agent is stopped."""
        turn = self._turns.running
        if turn is None:
            return {}
        self._client.interrupted()
        self.process.signal(signal.SIGINT)
        if not await self._turns.over_within(min(PATIENCE, escalate_after or deadline or PATIENCE), turn):
            await self.stop()
        return {}

    async def control(self, request: JsonObject, deadline: float | None = None) -> JsonObject:
        """Do the one request that there is, {"subtype": "interrupt"}; raises RequestFailed for any other."""
        if request.get("subtype") == "interrupt":
            return await self.interrupt(deadline)
        raise RequestFailed(
            f"this agent has no control request {request.get('subtype')!r}; the only one is interrupt"
        )

    async def set_model(self, model: str | None) -> JsonObject:
        """Raise RequestFailed: a process keeps its model."""
        raise RequestFailed(f"this agent cannot change its model to {model!r} while it runs; start another")

    async def set_permission_mode(self, mode: str) -> JsonObject:
        """Raise RequestFailed: there are no modes."""
        raise RequestFailed(f"this agent has no permission modes, so {mode!r} cannot be set")

    async def _end_turn(self) -> None:
        turn = self._turns.running
        if turn is None:
            return
        self.process.signal(signal.SIGINT)
        await asyncio.sleep(0)
        await self._turns.over(turn)
