"""Plays a recording at its own pace, faster, or as fast as possible; pauses, and jumps ahead.

What was published stays published: jumping back means playing again, as a new session (see replay.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from normalize.inputs import SessionInput
from tracing.recording import Timed

BATCH = 256
"""Inputs that are fed at a time when there is no pace to keep."""

LONGEST_PAUSE_S = 5.0
"""A human who thought for an hour is waited for no longer than this, at speed 1."""

Feed = Callable[[Sequence[SessionInput]], Awaitable[None]]


class Player:
    """One recording being played into a pipeline."""

    def __init__(
        self, recording: Iterable[Timed], feed: Feed, *, speed: float | None, position: float = 0.0
    ) -> None:
        self._items = list(recording)
        self._feed = feed
        self._speed = speed
        self._next = 0
        self._target = int(position * len(self._items))
        self._paused = False
        self._changed = asyncio.Event()

    @property
    def position(self) -> float:
        """Share of the recording that was played, from 0 to 1."""
        return self._next / len(self._items) if self._items else 1.0

    @property
    def speed(self) -> float | None:
        """Times the recorded pace; 0 while paused, None for as fast as possible."""
        return 0.0 if self._paused else self._speed

    @property
    def pace(self) -> float | None:
        """Times the recorded pace, paused or not; None for as fast as possible."""
        return self._speed

    def play(self, speed: float | None = None) -> None:
        """Go on, at another speed if one is given."""
        self._paused = False
        self._speed = speed or self._speed
        self._changed.set()

    def pause(self) -> None:
        """Stop where we are."""
        self._paused = True
        self._changed.set()

    def seek(self, position: float) -> None:
        """Jump ahead to a share of the recording; what lies behind us stays played."""
        self._target = int(position * len(self._items))
        self._changed.set()

    async def run(self) -> None:
        """Play to the end."""
        while self._next < len(self._items):
            if self._next < self._target:
                await self._feed_until(min(self._target, self._next + BATCH))
            elif self._paused:
                await self._wait(None)
            elif self._speed is None:
                await self._feed_until(self._next + BATCH)
            elif await self._wait(self._pause_before(self._next) / self._speed):
                await self._feed_until(self._next + 1)

    async def _feed_until(self, end: int) -> None:
        batch = [timed.input for timed in self._items[self._next : end]]
        self._next += len(batch)
        await self._feed(batch)

    async def _wait(self, seconds: float | None) -> bool:
        """Wait; False when a command came in between and everything is to be considered again."""
        self._changed.clear()
        if seconds == 0:
            await asyncio.sleep(0)
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return True
        return False

    def _pause_before(self, index: int) -> float:
        if index == 0:
            return 0.0
        earlier, later = self._items[index - 1].at, self._items[index].at
        if earlier is None or later is None:
            return 0.0
        return min(max(later - earlier, 0.0), LONGEST_PAUSE_S)
