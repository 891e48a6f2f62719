"""Is a turn running, and has the CLI gone silent in it? Tells once for each silence."""

import asyncio
from collections.abc import Callable

from adapter.core import SessionCore


class TurnWatch:
    """Lets others wait for what the core says of turns, and for silence."""

    def __init__(self, core: SessionCore) -> None:
        self._core = core
        self._seen = core.turn
        self._changed = asyncio.Event()
        self._heard = asyncio.get_running_loop().time()

    @property
    def busy(self) -> bool:
        """True while a turn is open."""
        return self._core.busy

    def changed(self, *, heard: bool = True) -> None:
        """Something happened; `heard`: it was a line of the CLI. A turn's silence begins with the turn at the earliest."""
        turned = self._core.turn != self._seen
        if heard or turned:
            self._heard = asyncio.get_running_loop().time()
        if turned:
            self._seen = self._core.turn
            self._changed.set()

    @property
    def running(self) -> int | None:
        """The turn that runs, as `over` wants it named; None while none does."""
        return self._core.turn

    async def over(self, turn: int | None) -> None:
        """Wait until a turn is over; the next one may have begun then, and have begun before this was called."""
        while turn is not None and self.running == turn:
            self._changed.clear()
            await self._changed.wait()

    async def over_within(self, seconds: float, turn: int | None) -> bool:
        """Wait until a turn is over, for so many seconds at most, and tell whether it is."""
        try:
            async with asyncio.timeout(seconds):
                await self.over(turn)
        except TimeoutError:
            return False
        return True

    async def watch(self, seconds: float, waits: Callable[[], bool], tell: Callable[[float], None]) -> None:
        """Call `tell` with the seconds of silence, once for each; `waits` says that the CLI is waiting for us."""
        told_for = -1.0
        while True:
            if not self.busy:
                self._changed.clear()
                await self._changed.wait()
                continue
            now = asyncio.get_running_loop().time()
            left = self._heard + seconds - now
            if left > 0:
                await asyncio.sleep(left)
            elif waits():
                self._heard = now
            else:
                if told_for != self._heard:
                    told_for = self._heard
                    tell(now - self._heard)
                await asyncio.sleep(seconds)
