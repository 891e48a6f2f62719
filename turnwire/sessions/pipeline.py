"""The story in one page: what happens in a session is translated, journaled, and so published.

    session inputs -> core -> journal (seq) -> hub -> frontends
                    `-> observers: recording, tracing, state

The same pipeline serves a live CLI, a recording that is played, and a runner. It never waits for a frontend, a
human or a tracer: observers are plain calls that must not block, and the journal takes events faster than it makes
them durable, within its bound.
"""

import logging
from collections.abc import Callable, Iterator, Sequence

from turnwire.journal.base import Entry, Journal
from turnwire.normalize.core import Core, InputWithEvents, happenings
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.events.limits import cut
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Received, Sent, SessionInput

log = logging.getLogger(__name__)

Observer = Callable[[SessionInput, Sequence[AgentEvent]], None]
"""Sees each input with the events it gave, in order. Must not block; one that raises sees nothing more."""


class Pipeline:
    """One session's way from what happens to what is published."""

    def __init__(
        self,
        session: str,
        journal: Journal,
        *,
        field_limit: int,
        keep_raw: bool = True,
        observers: Sequence[Observer] = (),
        state: Observer | None = None,
        core: Core | None = None,
    ) -> None:
        """`state` is the session's own account of itself: where it fails, the session does; an observer is left out."""
        self.session = session
        self.core = core or recorded_core()
        self._journal = journal
        self._field_limit = field_limit
        self._keep_raw = keep_raw
        self._observers = list(observers)
        self._state = state

    async def feed(self, batch: Sequence[SessionInput]) -> None:
        """Hand a batch to the core and append its events; waits while the journal has no room.

        Raises turnwire.journal.base.JournalUnavailable, and whatever goes wrong with an item once the events of those before it
        are appended.
        """
        failed: Exception | None = None
        happened: list[InputWithEvents] = []
        try:
            for told in happenings(self.core, batch):
                happened.append(told)  # noqa: PERF402 - those before an error count
        except Exception as error:  # noqa: BLE001 - raised again below
            failed = error
        await self.publish(happened)
        if failed is not None:
            raise failed

    async def publish(self, batch: Sequence[InputWithEvents]) -> None:
        """Append the events of what the core was told; waits and raises as `feed` does."""
        entries: list[Entry] = []
        failed: Exception | None = None
        for item, events in batch:
            try:
                if self._state is not None:
                    self._state(item, events)
                self._show(item, events)
                raw = item.line if self._keep_raw and isinstance(item, Received | Sent) else None
                entries += self._entries(events, raw)
            except Exception as error:  # noqa: BLE001 - raised again below
                failed = error
                break
        if entries:
            await self._journal.append(self.session, entries)
        if failed is not None:
            raise failed

    def _show(self, item: SessionInput, events: Sequence[AgentEvent]) -> None:
        for observer in tuple(self._observers):
            try:
                observer(item, events)
            except Exception:
                # Whoever looks on must not cost a session: the others go on, and so does the session.
                self._observers.remove(observer)
                log.exception(
                    "an observer of a session failed and was removed",
                    extra={"session": self.session},
                )

    def _entries(self, events: Sequence[AgentEvent], raw: bytes | None) -> Iterator[Entry]:
        for event in events:
            data = to_json(event)
            # No field can be over the limit in an event that is not: the common case costs one comparison.
            if len(data) > self._field_limit and (shorter := cut(event, self._field_limit)) is not event:
                yield Entry(to_json(shorter), whole=data, raw=raw)
            else:
                yield Entry(data, raw=raw)
            raw = None
