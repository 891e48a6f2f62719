"""Plays a recording at its own pace, faster, or as fast as possible. Can pause, and jump ahead.

The recording is read while it is played, so its size costs no memory. Published events stay published: jumping back
means playing again, as a new session (see replay.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from turnwire._runtime.task_owner import set_within
from turnwire.normalize.inputs import SessionInput
from turnwire.recordings.recorded import Timed

BATCH = 256
"""Inputs that are fed at a time when there is no pace to keep."""

LONGEST_PAUSE_S = 5.0
"""Longest pause at speed 1, in seconds, even if a human thought for an hour."""

Feed = Callable[[Sequence[SessionInput]], Awaitable[None]]


class Player:
    """One recording being played into a pipeline."""

    def __init__(
        self,
        recording: Iterable[Timed],
        length: int,
        feed: Feed,
        *,
        speed: float | None,
        position: float = 0.0,
    ) -> None:
        """`length` is about how many inputs the recording has, to tell positions by."""
        self._items = iter(recording)
        self._length = max(length, 1)
        self._feed = feed
        self._speed = speed
        self._next: Timed | None = None
        """The next input; None before the beginning and after the end."""
        self._pause = 0.0
        """Seconds between the input before and the next one."""
        self._played = 0
        self._over = False
        self._target = int(position * self._length)
        self._paused = False
        self._changed = asyncio.Event()

    @property
    def position(self) -> float:
        """Played share of the recording, from 0 to 1; 1 only at the end."""
        return 1.0 if self._over else min(self._played / self._length, 0.9999)

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
        """Jump ahead to a share of the recording. Positions behind the current one have no effect."""
        self._target = int(position * self._length)
        self._changed.set()

    async def run(self) -> None:
        """Play to the end."""
        self._advance()
        while self._next is not None:
            if self._played < self._target:
                await self._feed_some(min(self._target - self._played, BATCH))
            elif self._paused:
                await self._wait(None)
            elif self._speed is None:
                await self._feed_some(BATCH)
            elif await self._wait(self._pause / self._speed):
                await self._feed_some(1)
        self._over = True

    async def _feed_some(self, count: int) -> None:
        batch: list[SessionInput] = []
        while self._next is not None and len(batch) < count:
            batch.append(self._next.input)
            self._advance()
        self._played += len(batch)
        await self._feed(batch)

    def _advance(self) -> None:
        before, self._next = self._next, next(self._items, None)
        self._pause = 0.0
        if before is not None and self._next is not None:
            earlier, later = before.at, self._next.at
            if earlier is not None and later is not None:
                self._pause = min(max(later - earlier, 0.0), LONGEST_PAUSE_S)

    async def _wait(self, seconds: float | None) -> bool:
        """Wait. False if a command arrived meanwhile and everything must be reconsidered."""
        self._changed.clear()
        if seconds == 0:
            await asyncio.sleep(0)
            return True
        return not await set_within(self._changed, seconds)
