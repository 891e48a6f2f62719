"""The connected frontends, and the list of sessions that all of them get.

The list is sent at once when it changes, and then at most every INTERVAL_S seconds. A frontend that
cannot take it now gets the newest one later. A frontend that changed the list gets it before its reply. A frontend
that may see only some sessions gets only these.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol, cast

import msgspec

from turnwire.hub.host import Host
from turnwire.hub.principals import Principal, Scope, SessionIndex, shown
from turnwire.hub.wire.frames_out import Sessions, SessionSummary, encode

INTERVAL_S = 0.25


class ListViewer(Protocol):
    """A frontend that shows the list."""

    @property
    def writable(self) -> bool:
        """Return whether it can take a frame now."""
        ...

    def send_text(self, text: bytes) -> None:
        """Write a frame."""
        ...


class FrontendRegistry:
    """The members, their names, and the list that each has."""

    def __init__(self, host: Host, tag: str | None = None) -> None:
        """`tag`: suffix after `@` for a hub in a fleet, so that two hubs never use the same name."""
        self._host = host
        self._end = "" if tag is None else f"@{tag}"
        self._members: dict[ListViewer, Principal] = {}
        self._told: dict[ListViewer, bytes] = {}
        """The last list of each; those who see the same share it."""
        self._lists: SessionLists | None = None
        """What the host listed last; None once it has changed."""
        self._waiting: set[ListViewer] = set()
        self._names: set[str] = set()
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._unwatch: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Watch the list."""
        self._unwatch = self._host.watch_sessions(self._changed)

    def stop(self) -> None:
        """Watch it no more."""
        self._unwatch()
        if self._timer is not None:
            self._timer.cancel()

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self._members)

    def join(self, member: ListViewer, principal: Principal) -> None:
        """Tell a member of changes from now on."""
        self._members[member] = principal
        if not principal.sees_all:
            self._told[member] = self._current().text(principal)

    def leave(self, member: ListViewer) -> None:
        """Tell it no more."""
        self._members.pop(member, None)
        self._told.pop(member, None)
        self._waiting.discard(member)

    def tell(self, member: ListViewer) -> None:
        """Send a member the newest list now, if it does not have it and can take it."""
        if member in self._waiting and member.writable:
            self._waiting.discard(member)
            text = self._told[member] = self._current().text(self._members[member])
            member.send_text(text)

    def knows(self, principal: Principal, session: str) -> bool:
        """Tell whether a principal may see a session, by what it was told and else by what there is now."""
        known = None if self._lists is None else self._lists.of(session)
        if known is None:
            known = next((one for one in self._host.sessions() if one.session == session), None)
        return known is not None and principal.sees(known)

    def take_name(self, wish: str | None) -> str:
        """Return a name that no other frontend has now, at any hub."""
        if wish is None:
            self._count += 1
            wish = f"frontend-{self._count}"
        name, number = f"{wish}{self._end}", 1
        while name in self._names:
            number += 1
            name = f"{wish}-{number}{self._end}"
        self._names.add(name)
        return name

    def free_name(self, name: str) -> None:
        """Let others have a name."""
        self._names.discard(name)

    def _changed(self) -> None:
        self._lists = None
        self._waiting |= self._members.keys()
        if self._timer is None:
            self._publish()

    def _publish(self) -> None:
        self._timer = None
        if not self._waiting:
            return
        # The newest number of a log changes without a word.
        lists = self._lists = SessionLists(self._host.sessions())
        for member in tuple(self._waiting):
            if not member.writable:
                continue
            self._waiting.discard(member)
            text = lists.text(self._members[member])
            if self._told.get(member) != text:
                self._told[member] = text
                member.send_text(text)
        self._timer = asyncio.get_running_loop().call_later(INTERVAL_S, self._publish)

    def _current(self) -> "SessionLists":
        if self._lists is None:
            self._lists = SessionLists(self._host.sessions())
        return self._lists


class SessionLists:
    """The sessions at one time, as each principal gets them: a session is encoded once, however many see it."""

    def __init__(self, sessions: Sequence[SessionSummary]) -> None:
        self._sessions = sessions
        self._numbers = {one.session: number for number, one in enumerate(sessions)}
        self._index: SessionIndex | None = None
        self._encoded: dict[int, msgspec.Raw] = {}
        """Sessions as those get them who do not see all."""
        self._texts: dict[tuple[Scope, str | None], bytes] = {}

    def of(self, session: str) -> SessionSummary | None:
        """Return a session of that id."""
        number = self._numbers.get(session)
        return None if number is None else self._sessions[number]

    def text(self, principal: Principal) -> bytes:
        """Return the list of a principal, as a frame."""
        key = principal.scope, None if principal.sees_all else principal.name
        if (text := self._texts.get(key)) is None:
            text = self._texts[key] = self._text(principal)
        return text

    def _text(self, principal: Principal) -> bytes:
        if principal.sees_all:
            return encode(Sessions(sessions=[*self._sessions]))
        if self._index is None:
            self._index = SessionIndex(self._sessions)
        pieces: list[msgspec.Raw] = []
        for number in self._index.seen(principal.scope, principal.name):
            if (piece := self._encoded.get(number)) is None:
                text = msgspec.json.encode(shown(self._sessions[number], principal))
                piece = self._encoded[number] = msgspec.Raw(text)
            pieces.append(piece)
        return encode(Sessions(sessions=cast("list[SessionSummary]", pieces)))
