"""Watch whether a turn runs, and whether the agent is silent in it. Reports each silence once, and its end once."""

import asyncio
from collections.abc import Callable

from turnwire.adapter.process import suspend_aware
from turnwire.adapter.session.core import SessionCore
from turnwire.adapter.session.notices import Notify, SessionNotice


class TurnWatch:
    """Lets others wait for the start and end of turns, and for silence."""

    def __init__(self, core: SessionCore) -> None:
        self._core = core
        self._seen = core.turn
        self._changed = asyncio.Event()
        self._heard = asyncio.get_running_loop().time()
        self._on_speech: Callable[[], None] | None = None
        """Called at the end of a reported silence."""

    @property
    def busy(self) -> bool:
        """True while a turn is open."""
        return self._core.busy

    def changed(self, *, heard: bool = True) -> None:
        """Note an input; `heard`: it was a line of the CLI. A turn's silence starts with the turn at the earliest."""
        if heard and self._on_speech is not None:
            on_speech, self._on_speech = self._on_speech, None
            on_speech()
        turned = self._core.turn != self._seen
        if heard or turned:
            self._heard = asyncio.get_running_loop().time()
        if turned:
            self._seen = self._core.turn
            self._changed.set()

    @property
    def running(self) -> int | None:
        """The running turn, for `over`; None without one."""
        return self._core.turn

    async def over(self, turn: int | None) -> None:
        """Wait until a turn is over; the next one may have begun then, and have begun before this was called."""
        while turn is not None and self.running == turn:
            self._changed.clear()
            await self._changed.wait()

    async def over_within(self, seconds: float, turn: int | None) -> bool:
        """Wait until a turn is over, for so many seconds at most, and tell whether it is."""
        return await suspend_aware.within(seconds, self.over(turn))

    async def watch(
        self,
        seconds: float,
        waits: Callable[[], bool],
        on_silence: Callable[[float], None],
        on_speech: Callable[[], None] = lambda: None,
    ) -> None:
        """Call `on_silence` with the seconds of silence, once for each, and `on_speech` at the first line after it.

        `waits` returns whether the agent waits for us.
        """
        told_for = -1.0
        while True:
            if not self.busy:
                self._changed.clear()
                await self._changed.wait()
                continue
            loop = asyncio.get_running_loop()
            now = loop.time()
            left = self._heard + seconds - now
            if left > 0:
                pause = min(left, seconds / 8)
                await asyncio.sleep(pause)
                # while the machine stood still nobody could speak, and what had been said is read only now
                woken = loop.time()
                self._heard = min(self._heard + (woken - now - pause), woken)
            elif waits():
                self._heard = now
            else:
                if told_for != self._heard:
                    told_for = self._heard
                    self._on_speech = on_speech
                    on_silence(now - self._heard)
                await asyncio.sleep(seconds)

    async def report(self, seconds: float, waits: Callable[[], bool], notify: Notify) -> None:
        """Watch, and tell frontends."""

        def on_silence(silent: float) -> None:
            message = f"the agent has said nothing for {silent:.0f} s; interrupt it, or wait on"
            notify(SessionNotice("stalled", message, round(silent * 1000)))

        def on_speech() -> None:
            notify(SessionNotice("spoke", "the agent speaks again"))

        await self.watch(seconds, waits, on_silence, on_speech)
