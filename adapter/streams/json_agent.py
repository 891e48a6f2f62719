"""The common part of agents that write JSON lines: they take no attachments, and interrupt is their only control request."""

import signal
from abc import abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar
from uuid import uuid4

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.session.agent import RequestFailed
from turnwire.adapter.session.attachments import Attachment, AttachmentRefused
from turnwire.adapter.session.running_agent import RunningAgent, StartedAgent
from turnwire.adapter.streams.client import StreamClient
from turnwire.normalize.vocabulary import Priority
from turnwire.protocol.json_values import JsonObject

Client = TypeVar("Client", bound=StreamClient)


class JsonAgent(RunningAgent[Client]):
    """A running agent that writes JSON lines."""

    version: str | None = None
    """turnwire does not ask such an agent for its version. Its own report is in `session_info`."""

    def __init__(self, started: StartedAgent[Client], capabilities: Capabilities) -> None:
        super().__init__(started)
        self.capabilities = capabilities
        """What it can do."""
        self.begin()

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
        await self._prompt(text, uuid, priority)
        return uuid

    @abstractmethod
    async def _prompt(self, text: str, uuid: str, priority: Priority) -> None:
        """Send or queue a prompt."""

    @abstractmethod
    async def say(self, words: bytes) -> None:
        """Send JSON of the agent's own vocabulary as a prompt; raises as `prompt` does."""

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

    async def _stop_turn(self) -> None:
        self.process.signal(signal.SIGINT)
