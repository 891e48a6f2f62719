"""The common part of agents that write JSON lines: they take no attachments, and interrupt is their only control request."""

import signal
from abc import abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Generic, TypeVar
from uuid import uuid4

from msgspec import Struct

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestFailed
from turnwire.adapter.session.attachments import Attachment, AttachmentRefused
from turnwire.adapter.session.executor import SessionExecutor
from turnwire.adapter.session.inbox import Inbox
from turnwire.adapter.session.lines import fail
from turnwire.adapter.session.running_agent import RunningAgent
from turnwire.adapter.streams.client import StreamClient
from turnwire.normalize.vocabulary import Priority
from turnwire.protocol.json_values import JsonObject

Client = TypeVar("Client", bound=StreamClient)


class StartedAgent(Struct, Generic[Client], frozen=True, kw_only=True):
    """A process that runs, and what its session works with."""

    options: SessionOptions
    argv: Sequence[str]
    process: CliProcess
    client: Client
    """Reads and writes its lines."""
    capabilities: Capabilities
    """What it can do."""
    inbox: Inbox
    executor: SessionExecutor


class JsonAgent(RunningAgent, Generic[Client]):
    """A running agent that writes JSON lines."""

    version: str | None = None
    """turnwire does not ask such an agent for its version. Its own report is in `session_info`."""

    def __init__(self, started: StartedAgent[Client]) -> None:
        super().__init__(
            started.options,
            process=started.process,
            argv=started.argv,
            lines=started.client.lines,
            inbox=started.inbox,
            executor=started.executor,
        )
        self.capabilities = started.capabilities
        """What it can do."""
        self._client = started.client
        self.initialized.set_result({})

    def background(self) -> Sequence[Coroutine[Any, Any, None]]:
        """Return coroutines to run beside the session."""
        return ()

    async def prompt(
        self,
        text: str,
        *,
        attachments: Sequence[Attachment] = (),
        priority: Priority = "next",
        uuid: str | None = None,
        trace: Mapping[str, str] | None = None,
    ) -> str:
        """Send a prompt to the agent, at the end of its turn if one runs, and return the prompt's uuid.

        Raises:
            AttachmentRefused: there is one; these agents take none.
            ProcessGone, RequestTimeout, RequestFailed: the agent cannot take a prompt.
        """
        del trace
        if attachments:
            raise AttachmentRefused("this agent does not accept attachments; name the file in the prompt")
        uuid = uuid or str(uuid4())
        await self._prompt(text, uuid, at_once=priority == "now")
        return uuid

    @abstractmethod
    async def _prompt(self, text: str, uuid: str, *, at_once: bool) -> None:
        """Send or queue a prompt. at_once: interrupt the running turn for it."""

    @abstractmethod
    async def say(self, words: bytes) -> None:
        """Send JSON of the agent's own vocabulary as a prompt; raises as `prompt` does."""

    async def withdraw(self, uuid: str) -> bool:  # noqa: ARG002 - none waits
        """Return False: no prompt waits."""
        return False

    def gone(self, reason: ProcessGone) -> None:
        """Release what waits for the agent, which has exited."""
        fail(self.initialized, reason)

    async def interrupt(
        self, deadline: float | None = None, *, escalate_after: float | None = None
    ) -> JsonObject:
        """Stop the running turn. Raises RequestTimeout and ProcessGone.

        deadline, escalate_after: seconds. With `escalate_after` the agent is stopped if the turn still runs after it.
        """
        turn = self._turns.running
        if turn is not None:
            await self._stop_turn()
            patience = self._patience(escalate_after or deadline)
            if not await self._turns.over_within(patience, turn):
                await self._escalate(patience, is_asked=escalate_after is not None)
        return {}

    def _patience(self, wanted: float | None) -> float:
        """Return the seconds that an interrupted turn may take to end."""
        return wanted or self.options.control_deadline

    @abstractmethod
    async def _escalate(self, patience: float, *, is_asked: bool) -> None:
        """Handle an interrupt without effect. is_asked: the caller wants the agent to be stopped."""

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
        self.process.signal(signal.SIGINT)
