"""The sessions of a sidecar, and the watchers of the list. Live and replay hosts share it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.sessions.hosted import Changed, HostedSession, refuse

Kind = TypeVar("Kind", bound=HostedSession)


class SessionRegistry(Generic[Kind]):
    """Sessions by id, in the order they came."""

    def __init__(self) -> None:
        self.sessions: dict[str, Kind] = {}
        self._watchers: list[Changed] = []
        self._told = True

    def summaries(self) -> Sequence[SessionSummary]:
        """Return all sessions as they are now."""
        return [session.summary() for session in self.sessions.values()]

    def find(self, session: str) -> Kind:
        """Return a session; refuses the command when there is none."""
        found = self.sessions.get(session)
        if found is None:
            refuse("unknown_session", f"there is no session {session!r}; session.list names them", "session")
        return found

    def watch(self, watcher: Changed) -> Callable[[], None]:
        """Tell the watcher about changes until the returned function is called."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def changed(self) -> None:
        """Notify the watchers soon, once for all changes of one pass of the event loop."""
        if self._told:
            self._told = False
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self._told = True
        for watcher in list(self._watchers):
            watcher()
