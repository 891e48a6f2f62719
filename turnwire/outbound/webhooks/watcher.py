"""Read new events from the journal and hand them to receivers by kind.

The watcher reads by cursor after the journal has announced progress, as frontends do. So receivers get only stored
events, and a slow receiver does not slow down a session.
"""

import asyncio
import logging
import re
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from turnwire.journal.base import Journal, JournalError
from turnwire.normalize.events.envelope import Cursor, Envelope

log = logging.getLogger(__name__)

_kind = re.compile(rb'\{"type":"(\w+)"')
"""Matches the beginning of an event's JSON."""


class EventReceiver(Protocol):
    """A receiver of events. Its methods never wait."""

    def start(self) -> None:
        """Start; events follow."""
        ...

    def receive(self, envelope: Envelope, kind: str, epoch: str) -> None:
        """Take an event. kind: its type. epoch: the life of the log that contains it."""
        ...

    def stop(self) -> None:
        """Stop sending."""
        ...


class EventFilter(Struct, frozen=True):
    """The kinds of events that a receiver gets."""

    kinds: frozenset[str]
    to: EventReceiver


class EventWatcher:
    """Hands events of the journal to receivers."""

    def __init__(self, journal: Journal, wanted: Sequence[EventFilter]) -> None:
        self._journal = journal
        self._wanted = wanted
        self._kinds = frozenset[str]().union(*(each.kinds for each in wanted))
        self._positions: dict[str, int] = {}
        self._ahead: set[str] = set()
        self._progress = asyncio.Event()

    async def begin(self) -> None:
        """Note the end of each log and start the receivers. Earlier events are not sent. Raises JournalError."""
        self._positions = {one.session: one.last for one in await self._journal.logs()}
        for each in self._wanted:
            each.to.start()

    async def run(self) -> None:
        """Watch until cancelled."""
        leave = self._journal.watch(self._ahead_of)
        try:
            while True:
                await self._progress.wait()
                self._progress.clear()
                await asyncio.sleep(0)  # frontends that watch the session come first
                while self._ahead:
                    await self._read(self._ahead.pop())
        finally:
            leave()

    def stop(self) -> None:
        """Stop all receivers."""
        for each in self._wanted:
            each.to.stop()

    def _ahead_of(self, session: str, last: int) -> None:
        if last > self._positions.get(session, 0):
            self._ahead.add(session)
            self._progress.set()

    async def _read(self, session: str) -> None:
        try:
            while self._journal.last(session) > self._positions.get(session, 0):
                epoch = self._journal.epoch
                position = self._positions.get(session, 0)
                page = await self._journal.read_after(session, Cursor(epoch, position))
                for envelope in page.envelopes:
                    found = _kind.match(envelope.event)
                    kind = found[1].decode() if found else ""
                    if kind in self._kinds:
                        for each in self._wanted:
                            if kind in each.kinds:
                                each.to.receive(envelope, kind, page.cursor.epoch)
                self._positions[session] = page.cursor.seq
                await asyncio.sleep(0)  # reading a log in memory does not wait
                if not page.envelopes:
                    return
        except JournalError as error:
            log.warning(
                "no webhook gets events: the log cannot be read",
                extra={"session": session, "error": str(error)},
            )
