"""A bounded queue that one thread empties in batches: what a slow or dead receiver costs is what waits in it.

Whoever puts something in never waits, and what does not fit is lost and counted. Trouble is told once when it
begins and once when it ends, however long it lasts.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import structlog

log = structlog.get_logger()

Item = TypeVar("Item")

CALM_S = 30.0
"""Trouble is over when nothing was lost for so long: a receiver that is merely slow would else be news all the time."""


class Outbox(Generic[Item]):
    """Sends items to a receiver."""

    def __init__(
        self,
        what: str,
        send: Callable[[Sequence[Item]], str | None],
        *,
        room: int,
        batch: int,
        delay_s: float,
    ) -> None:
        """`send` takes a batch and returns None, or why it could not be sent; it may take its time."""
        self._what = what
        self._send = send
        self._room = room
        self._batch = min(batch, room)
        self._delay_s = delay_s
        self._waiting: deque[Item] = deque()
        self._changed = threading.Condition()
        self._open = True
        self._sending = 0
        self._in_trouble = False
        self._lost_at = 0.0
        self.lost = 0
        """Items that nobody took."""
        self._thread = threading.Thread(target=self._work, name=f"outbox {what}", daemon=True)
        self._thread.start()

    def put(self, items: Sequence[Item]) -> None:
        """Queue items; returns at once."""
        with self._changed:
            fits = max(self._room - len(self._waiting), 0) if self._open else 0
            self.lost += len(items) - min(fits, len(items))
            self._waiting.extend(items[:fits])
            if len(self._waiting) >= self._batch:
                self._changed.notify()
        if fits < len(items):
            self._trouble("there is no more room for what waits to be sent")

    def put_all(self, items: Sequence[Item]) -> None:
        """Queue items, and wait for room when there is none: for whoever can wait and must lose nothing."""
        for start in range(0, len(items), self._batch):
            part = items[start : start + self._batch]
            with self._changed:
                while len(self._waiting) + len(part) > self._room:
                    self._changed.wait()
            self.put(part)

    def close(self, within_s: float) -> bool:
        """Take nothing more and send what waits; False when it is not gone in time."""
        with self._changed:
            self._open = False
            self._changed.notify_all()
        self._thread.join(within_s)
        with self._changed:
            if not self._thread.is_alive():
                return True
            self.lost += len(self._waiting) + self._sending
            self._waiting.clear()
            self._sending = 0
            return False

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: not self._open or len(self._waiting) >= self._batch, self._delay_s
                )
                if not self._waiting:
                    if not self._open:
                        return
                    continue
                batch = [self._waiting.popleft() for _ in range(min(self._batch, len(self._waiting)))]
                self._sending = len(batch)
                self._changed.notify_all()
            try:
                failure = self._send(batch)
            except Exception as error:  # noqa: BLE001 - whatever goes wrong there must not end the thread
                failure = f"{type(error).__name__}: {error}"
            with self._changed:
                if failure is not None:
                    self.lost += self._sending
                self._sending = 0
            if failure is not None:
                self._trouble(failure)
            elif self._in_trouble and time.monotonic() - self._lost_at > CALM_S:
                self._in_trouble = False
                log.info(f"{self._what} are sent again", lost=self.lost)  # noqa: G004 - one sentence for each kind

    def _trouble(self, why: str) -> None:
        self._lost_at = time.monotonic()
        if not self._in_trouble:
            self._in_trouble = True
            log.warning(f"{self._what} cannot be sent and are lost; the sessions are not affected", why=why)  # noqa: G004 - as above
