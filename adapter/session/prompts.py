"""Prompts that wait for their turn. Agents differ in what a second prompt does: they queue it, refuse it, or end the
first turn. So a session may send one at a time and keep the others here, where they can be taken back.
"""

import asyncio
from collections import deque
from collections.abc import Mapping

from msgspec import Struct, field

from turnwire.adapter.session.agent import RequestFailed
from turnwire.normalize.vocabulary import Priority
from turnwire.protocol.json_values import JsonObject, text_at

MAX_WAITING = 256
"""Prompts that may wait at a time."""


class Prompt(Struct, frozen=True):
    """A prompt for the agent."""

    uuid: str
    """turnwire's name for it."""
    content: tuple[JsonObject, ...]
    """Blocks of content, as the family has them."""
    priority: Priority = "next"
    """`now` goes before all others, `later` after them."""
    is_own: bool = False
    """turnwire itself sends it."""
    trace: Mapping[str, str] = field(default_factory=dict)
    """Trace context of its turn, by the names that the protocol keeps in `_meta`."""

    @property
    def text(self) -> str:
        """Its text, without attachments."""
        return "\n\n".join(text for block in self.content if (text := text_at(block, "text")))


class PromptQueue:
    """The waiting prompts of one session, in order."""

    def __init__(self, limit: int = MAX_WAITING) -> None:
        self._limit = limit
        self._waiting: deque[Prompt] = deque()
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def check_room(self) -> None:
        """Raise RequestFailed when no other prompt can wait."""
        if len(self._waiting) >= self._limit:
            raise RequestFailed(
                f"{self._limit} prompts already wait, the maximum; wait until some are sent, or take some back"
            )

    def put(self, prompt: Prompt) -> int:
        """Have a prompt wait, and return its place, from 1. A prompt that was taken before needs no room."""
        order = {"now": 0, "next": 1, "later": 2}
        place = sum(order[other.priority] <= order[prompt.priority] for other in self._waiting)
        self._waiting.insert(place, prompt)
        self._filled.set()
        return place + 1

    def withdraw(self, uuid: str) -> bool:
        """Take back a prompt. Returns whether it still waited."""
        found = next((prompt for prompt in self._waiting if prompt.uuid == uuid), None)
        if found is None:
            return False
        self._waiting.remove(found)
        return True

    def take(self, priority: Priority) -> Prompt | None:
        """Take the first prompt if it has this priority; otherwise None."""
        if not self._waiting or self._waiting[0].priority != priority:
            return None
        return self._waiting.popleft()

    def clear(self) -> list[Prompt]:
        """Take back all of them."""
        left = list(self._waiting)
        self._waiting.clear()
        return left

    async def next(self) -> Prompt:
        """Wait for a prompt, and take it from the queue."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        return self._waiting.popleft()
