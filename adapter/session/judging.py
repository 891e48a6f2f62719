"""Judges large requests in a thread, and holds back what the session says until it is known whether they are decided.

Reading rules about a line that an agent made long takes up to some 100 ms, in which nobody else would be served. While
a request is judged the session reads on, so what the agent takes back is never answered. What the session publishes and
does in the meantime waits behind it, in order, and a request that rules decide is published as decided.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from turnwire.adapter.permissions.decisions import Effect, Judge, Judged
from turnwire.adapter.permissions.real_paths import judge
from turnwire.adapter.session.core import Outputs, told_as_decided

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

MOST_HELD = 64
"""Outputs that are held before no more lines are read."""


class _Held(Struct):
    outputs: Outputs
    judged: set[str]
    """The requests in it that are being judged."""


class Judging:
    """The large requests of one session, which are judged one after another."""

    def __init__(self, tasks: asyncio.TaskGroup, on_judged: Callable[[Judged], None]) -> None:
        self._tasks = tasks
        self._on_judged = on_judged
        self._held: deque[_Held] = deque()
        self._waiting: deque[Judge] = deque()
        self._task: asyncio.Task[None] | None = None
        self._room = asyncio.Event()
        self._room.set()

    @property
    def is_holding(self) -> bool:
        """True while something is held back."""
        return bool(self._held)

    async def room(self) -> None:
        """Wait until so little is held that more may be read."""
        await self._room.wait()

    def hold(self, outputs: Outputs, judged: list[Judge]) -> None:
        """Hold outputs back behind those that are held, and judge what they ask for."""
        self._held.append(_Held(outputs, {one.request.request_id for one in judged}))
        if len(self._held) >= MOST_HELD:
            self._room.clear()
        self._waiting += judged
        if self._waiting and self._task is None:
            self._task = self._tasks.create_task(self._judge())

    def decided(self, request_id: str, more: Outputs) -> Iterator[Outputs]:
        """Take what follows from a judgement; yield what needs to be held no more, in order."""
        for held in self._held:
            if request_id in held.judged:
                held.judged.discard(request_id)
                together = Outputs(
                    [*held.outputs.happened, *more.happened], [*held.outputs.effects, *more.effects]
                )
                held.outputs = told_as_decided(together)
        while self._held and not self._held[0].judged:
            yield self._held.popleft().outputs
        if len(self._held) < MOST_HELD:
            self._room.set()

    def release(self) -> Iterator[Outputs]:
        """Judge nothing more, and yield all that is held."""
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
            self._task = None
        while self._held:
            yield self._held.popleft().outputs
        self._room.set()

    async def _judge(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            asked = self._waiting.popleft()
            self._on_judged(await loop.run_in_executor(_thread(), judge, asked))
        self._task = None


def without_judging(effects: list[Effect]) -> tuple[list[Effect], list[Judge]]:
    """Return the other effects, and what is to be judged."""
    judged = [effect for effect in effects if isinstance(effect, Judge)]
    return ([effect for effect in effects if not isinstance(effect, Judge)] if judged else effects), judged


@cache
def _thread() -> "ThreadPoolExecutor":
    """Return the one thread that judges for all sessions in turn: more would keep the loop from its share of the processor."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  few sessions have large requests

    return ThreadPoolExecutor(1, "judging")
