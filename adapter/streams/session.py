"""A running agent that takes prompts as JSON lines: prompts wait in a queue, and it gets one at a time."""

from collections.abc import Coroutine, Sequence
from typing import Any
from uuid import uuid4

import msgspec

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.session.prompts import Prompt
from turnwire.adapter.session.running_agent import StartedAgent
from turnwire.adapter.streams.client import StreamClient
from turnwire.adapter.streams.json_agent import JsonAgent
from turnwire.adapter.streams.words import Words
from turnwire.normalize.vocabulary import Priority


class StreamSession(JsonAgent[StreamClient]):
    """A running agent that stays alive between prompts."""

    def __init__(self, started: StartedAgent[StreamClient], capabilities: Capabilities, words: Words) -> None:
        super().__init__(started, capabilities)
        self._words = words

    def background(self) -> Sequence[Coroutine[Any, Any, None]]:
        """Return the one task that sends prompts."""
        return [self._serve(self._say)]

    async def _prompt(self, text: str, uuid: str, priority: Priority) -> None:
        self._put(Prompt(uuid, (self._words.prompt(text, uuid),), priority), text)
        if priority == "now":
            await self._interrupt_for(uuid)

    async def say(self, words: bytes) -> None:
        """Send a JSON object as it is, when the turn is over; raises as `prompt` does."""
        self._put(Prompt(str(uuid4()), (msgspec.json.decode(words, type=dict),)))

    async def _say(self, prompt: Prompt) -> None:
        if self.stopping is not None:
            self._taken_back(prompt.uuid)
            return
        await self.client.say(*prompt.content)
        await self._turns.over(self._turns.running)

    async def _stop_turn(self) -> None:
        words = self._words.interrupt()
        if words is None:
            await super()._stop_turn()
        else:
            await self.client.say(words)
