"""One running agent of such a family: prompts wait here, and one at a time is on the wire."""

import asyncio
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from uuid import uuid4

import msgspec

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.attachments import Attachment, AttachmentRefused
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.lines import fail
from turnwire.adapter.session.running_agent import RunningAgent
from turnwire.adapter.streams.client import StreamClient
from turnwire.adapter.streams.words import Words
from turnwire.normalize.events import Queued, Withdrawn
from turnwire.normalize.inputs import Announced
from turnwire.normalize.vocabulary import Priority
from turnwire.protocol.json_values import JsonObject

MOST_PROMPTS = 1000
"""Prompts that may wait."""


class StreamSession(RunningAgent):
    """A running agent."""

    version: str | None = None
    """turnwire does not ask such an agent for its version. Its own report is in `session_info`."""

    def __init__(
        self,
        options: SessionOptions,
        *,
        process: CliProcess,
        client: StreamClient,
        words: Words,
        capabilities: Capabilities,
        inbox: Inbox,
        executor: SessionExecutor,
    ) -> None:
        super().__init__(
            options,
            process=process,
            argv=options.executable,
            lines=client.lines,
            inbox=inbox,
            executor=executor,
        )
        self.capabilities = capabilities
        """What it can do."""
        self._client = client
        self._words = words
        self._waiting: deque[tuple[str, JsonObject]] = deque()
        self._is_saying = False
        self._has_waiting = asyncio.Event()
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
        """Say something to the agent when its turn is over, and return the prompt's uuid.

        Raises:
            AttachmentRefused: there is one; these agents take none.
            ProcessGone, RequestTimeout, RequestFailed: there is no agent that could be spoken to.
        """
        del trace
        if attachments:
            raise AttachmentRefused("this agent does not accept attachments; name the file in the prompt")
        uuid = uuid or str(uuid4())
        self._put(uuid, self._words.prompt(text, uuid), first=priority == "now")
        if priority == "now":
            await self.interrupt()
        return uuid

    async def say(self, words: bytes) -> None:
        """Say a JSON object as it is, when the turn is over; raises as `prompt` does."""
        self._put(str(uuid4()), msgspec.json.decode(words, type=dict), first=False)

    def _put(self, uuid: str, words: JsonObject, *, first: bool) -> None:
        if self.process.has_exited:
            raise ProcessGone("the agent has exited")
        if len(self._waiting) >= MOST_PROMPTS:
            raise RequestFailed(f"{MOST_PROMPTS} prompts wait already; wait for one to be answered")
        if first:
            self._waiting.appendleft((uuid, words))
        else:
            self._waiting.append((uuid, words))
        place = 1 if first else len(self._waiting)
        if self._is_saying or place > 1:
            self.executor.handle(Announced(Queued(position=place, prompt=uuid)))
        self._has_waiting.set()

    async def serve(self) -> None:
        """Say the prompts, one after another, until the agent is gone; the one task that does."""
        try:
            while True:
                await self._has_waiting.wait()
                if self.stopping is not None:
                    self.withdraw_all()
                    return
                _, words = self._waiting.popleft()
                if not self._waiting:
                    self._has_waiting.clear()
                self._is_saying = True
                await self._client.say(words)
                await self._turns.over(self._turns.running)
                self._is_saying = False
        except ProcessGone:
            pass  # its end is told by whoever reads

    def withdraw_all(self) -> None:
        """Take back what waits: the agent is gone and will hear nothing more."""
        waiting = [uuid for uuid, _ in self._waiting]
        self._waiting.clear()
        self._has_waiting.clear()
        for uuid in waiting:
            self.executor.handle(Announced(Withdrawn(prompt=uuid)))

    def gone(self, reason: ProcessGone) -> None:
        """Let go what waits for the agent, which has gone."""
        fail(self.initialized, reason)
        self.withdraw_all()

    async def withdraw(self, uuid: str) -> bool:
        """Take back a prompt that still waits, and tell whether it did."""
        found = next((one for one in self._waiting if one[0] == uuid), None)
        if found is None:
            return False
        self._waiting.remove(found)
        if not self._waiting:
            self._has_waiting.clear()
        self.executor.handle(Announced(Withdrawn(prompt=uuid)))
        return True

    async def interrupt(
        self, deadline: float | None = None, *, escalate_after: float | None = None
    ) -> JsonObject:
        """Stop the running turn; what waits goes on after it. Raises RequestTimeout and ProcessGone.

        With `escalate_after`, the whole agent is stopped when the turn has not ended so many seconds later.
        """
        turn = self._turns.running
        if turn is None:
            return {}
        await self._stop_turn()
        patience = escalate_after or deadline or self.options.control_deadline
        if await self._turns.over_within(patience, turn):
            return {}
        if escalate_after is None:
            raise RequestTimeout("interrupt", patience)
        await self.stop("hung")
        return {}

    async def control(self, request: JsonObject, deadline: float | None = None) -> JsonObject:
        """Do the one request that there is, {"subtype": "interrupt"}; raises RequestFailed for any other."""
        if request.get("subtype") == "interrupt":
            return await self.interrupt(deadline)
        raise RequestFailed(
            f"this agent has no control request {request.get('subtype')!r}; the only one is interrupt"
        )

    async def set_model(self, model: str | None) -> JsonObject:
        """Raise RequestFailed: the model cannot be changed."""
        raise RequestFailed(
            f"this agent cannot change its model to {model!r} while it runs; start another session"
        )

    async def set_permission_mode(self, mode: str) -> JsonObject:
        """Raise RequestFailed: there are no modes."""
        raise RequestFailed(f"this agent has no permission modes, so {mode!r} cannot be set")

    async def _end_turn(self) -> None:
        turn = self._turns.running
        if turn is None:
            return
        try:
            await self._stop_turn()
        except ProcessGone:
            return
        await self._turns.over(turn)

    async def _stop_turn(self) -> None:
        words = self._words.interrupt()
        if words is None:
            self.process.signal(signal.SIGINT)
        else:
            await self._client.say(words)
