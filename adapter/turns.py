"""Is a turn running, and has the CLI gone silent in it? Tells once for each silence."""

import asyncio
from collections.abc import Callable

from protocol.claude.messages import Assistant, Message, StreamEvent
from protocol.claude.results import Result
from protocol.claude.system import Init


class TurnWatch:
    """Follows the messages of a session."""

    def __init__(self) -> None:
        self.busy = False
        """True from a prompt, or from the first line of a turn that the CLI starts by itself, to its result."""
        self._ends = 0
        """Turns that have ended."""
        self._changed = asyncio.Event()
        self._heard = asyncio.get_running_loop().time()

    def prompted(self) -> None:
        """A prompt was written."""
        self._heard = asyncio.get_running_loop().time()
        self._set(busy=True)

    def received(self, message: Message) -> None:
        """A line came."""
        self._heard = asyncio.get_running_loop().time()
        match message:
            case Result():
                self._set(busy=False)
            case Init() | StreamEvent():
                self._set(busy=True)
            case Assistant() if message.parent_tool_use_id is None:
                self._set(busy=True)
            case _:
                pass

    def ended(self) -> None:
        """The CLI has gone."""
        self._set(busy=False)

    @property
    def running(self) -> int | None:
        """The turn that runs, as `over` wants it named; None while none does."""
        return self._ends if self.busy else None

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

    def _set(self, *, busy: bool) -> None:
        if busy != self.busy:
            self.busy = busy
            self._ends += not busy
            self._changed.set()
