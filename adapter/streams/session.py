"""A running agent that takes prompts as JSON lines: prompts wait in a queue, and it gets one at a time."""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import Any
from uuid import uuid4

import msgspec

from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.streams.client import StreamClient
from turnwire.adapter.streams.json_agent import JsonAgent, StartedAgent
from turnwire.adapter.streams.words import Words
from turnwire.normalize.events import Queued, Withdrawn
from turnwire.normalize.inputs import Announced
from turnwire.protocol.json_values import JsonObject

MOST_PROMPTS = 1000
"""Maximum number of waiting prompts."""


class StreamSession(JsonAgent[StreamClient]):
    """A running agent that stays alive between prompts."""

    def __init__(self, started: StartedAgent[StreamClient], words: Words) -> None:
        super().__init__(started)
        self._words = words
        self._waiting: deque[tuple[str, JsonObject]] = deque()
        self._is_saying = False
        self._has_waiting = asyncio.Event()

    def background(self) -> Sequence[Coroutine[Any, Any, None]]:
        """Return the one task that sends prompts."""
        return [self._serve()]

    async def _prompt(self, text: str, uuid: str, *, at_once: bool) -> None:
        self._put(uuid, self._words.prompt(text, uuid), first=at_once, text=text)
        if at_once:
            await self.interrupt()

    async def say(self, words: bytes) -> None:
        """Send a JSON object as it is, when the turn is over; raises as `prompt` does."""
        self._put(str(uuid4()), msgspec.json.decode(words, type=dict), first=False)

    def _put(self, uuid: str, words: JsonObject, *, first: bool, text: str | None = None) -> None:
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
            self.executor.handle(Announced(Queued(position=place, prompt=uuid, text=text)))
        self._has_waiting.set()

    async def _serve(self) -> None:
        """Send the prompts, one after another, until the agent is gone."""
        try:
            while True:
                await self._has_waiting.wait()
                if self.stopping is not None:
                    self._withdraw_all()
                    return
                _, words = self._waiting.popleft()
                if not self._waiting:
                    self._has_waiting.clear()
                self._is_saying = True
                await self._client.say(words)
                await self._turns.over(self._turns.running)
                self._is_saying = False
        except ProcessGone:
            pass  # the reader reports its end

    def _withdraw_all(self) -> None:
        waiting = [uuid for uuid, _ in self._waiting]
        self._waiting.clear()
        self._has_waiting.clear()
        for uuid in waiting:
            self.executor.handle(Announced(Withdrawn(prompt=uuid)))

    def gone(self, reason: ProcessGone) -> None:
        """Release what waits for the agent, which has exited."""
        super().gone(reason)
        self._withdraw_all()

    async def withdraw(self, uuid: str) -> bool:
        """Withdraw a waiting prompt. Returns False if it does not wait."""
        found = next((one for one in self._waiting if one[0] == uuid), None)
        if found is None:
            return False
        self._waiting.remove(found)
        if not self._waiting:
            self._has_waiting.clear()
        self.executor.handle(Announced(Withdrawn(prompt=uuid)))
        return True

    async def _escalate(self, patience: float, *, is_asked: bool) -> None:
        if not is_asked:
            raise RequestTimeout("interrupt", patience)
        await self.stop("hung")

    async def _stop_turn(self) -> None:
        words = self._words.interrupt()
        if words is None:
            await super()._stop_turn()
        else:
            await self._client.say(words)
