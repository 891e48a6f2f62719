"""One run of a one-shot agent: the prompt goes to its standard input, which is closed, and the turn ends with the process."""

import msgspec

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.one_shot.client import OneShotClient
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestFailed
from turnwire.adapter.session.running_agent import StartedAgent
from turnwire.adapter.streams.json_agent import JsonAgent
from turnwire.normalize.vocabulary import Priority
from turnwire.protocol.json_values import JsonObject

PATIENCE = 2.0
"""Maximum seconds that a process may take to end after SIGINT. OpenCode ignores the signal."""


class OneShotSession(JsonAgent[OneShotClient]):
    """A running agent that takes one prompt and exits."""

    def __init__(
        self,
        started: StartedAgent[OneShotClient],
        capabilities: Capabilities,
        *,
        max_prompt: int | None = None,
    ) -> None:
        """max_prompt: maximum bytes of the prompt."""
        super().__init__(started, capabilities)
        self._max_prompt = max_prompt
        self._is_told = False
        self._is_written = False

    @property
    def is_spent(self) -> bool:
        """True once its one turn is over. The process may take a while to exit."""
        return self._is_written and not self.busy

    async def wait_spent(self) -> None:
        """Wait until the process has exited, and stop one that lives on."""
        if not await self.process.exits_within(self.options.stop.close):
            await self.stop()

    async def _prompt(self, text: str, uuid: str, priority: Priority) -> None:
        del priority
        if self._is_told:
            raise RequestFailed(
                "this agent takes one prompt and exits; wait for the end of its turn, then prompt again"
            )
        if self.process.has_exited:
            raise ProcessGone("the agent has exited")
        size = len(text.encode("utf-8", "replace"))
        if self._max_prompt is not None and size > self._max_prompt:
            raise RequestFailed(
                f"this agent takes its prompt on the command line, which holds {self._max_prompt:,} bytes, and this "
                f"prompt has {size:,}; shorten it, or write it into a file and name that in the prompt"
            )
        self._is_told = True
        await self.client.prompt(text, uuid)
        self._is_written = True
        self.close_input()

    async def say(self, words: bytes) -> None:
        """Send a text, a JSON string, as `prompt` does."""
        await self.prompt(msgspec.json.decode(words, type=str))

    async def interrupt(
        self, deadline: float | None = None, *, escalate_after: float | None = None
    ) -> JsonObject:
        """Stop the turn and the process: by SIGINT, and if that has no effect, as any agent is stopped."""
        if self._turns.running is not None:
            self.client.interrupted()
        return await super().interrupt(deadline, escalate_after=escalate_after)

    def _patience(self, wanted: float | None) -> float:
        return min(PATIENCE, wanted or PATIENCE)

    async def _escalate(self, patience: float, *, is_asked: bool) -> None:
        del patience, is_asked
        await self.stop()
