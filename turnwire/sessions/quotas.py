"""What a principal may use: sessions, running agents, bytes of events, dollars a day. A refusal names the principal and its limit.

A sidecar counts its own sessions, a hub those of all workers. Dollars are counted as turns end, so sessions that are deleted count, too.
"""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from pydantic import JsonValue

from turnwire._runtime.private_files import read_private, write_private
from turnwire.config.settings import Quota
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.sessions.hosted import refuse

EVERYBODY = "*"
"""Name of the quota of each principal that has none of its own."""

BEGINS = (frames.SessionCreate, frames.SessionFork, frames.LibraryOpen)
"""Commands that begin a session."""

RUNS = (frames.Prompt, frames.SessionResume, frames.SessionRetry)
"""Commands that have a session's agent work."""

ENDS = (frames.SessionClose, frames.SessionDelete)
"""Commands after which a session uses less."""

NO_AGENT = frozenset({"exited", "unreachable"})
"""States of a session without a running agent."""


PENDING = "pending:"
"""Before the name of a command whose session has no id yet."""

LONGEST_S = 180.0
"""How long a command counts that never ends."""

SETTLED_S = 5.0
"""How long a session counts that has just begun, or whose agent has: all hubs list it by then."""


class Spending(Protocol):
    """What principals have spent today (UTC)."""

    async def add(self, principal: str, dollars: float) -> None:
        """Add what a turn has cost."""
        ...

    async def today(self, principal: str) -> float:
        """Return what a principal has spent since midnight. Raises JournalError."""
        ...

    async def reserve(self, principal: str, name: str, seconds: float) -> Collection[str]:
        """Note that a command is about to use something; return all that is noted of the principal. Raises JournalError."""
        ...

    async def settle(self, principal: str, name: str, session: str | None, seconds: float) -> None:
        """Note what the command used, for so long: the session is listed by then. None if it used nothing. Raises JournalError."""
        ...


class Reservations:
    """What commands are about to use, in memory."""

    def __init__(self) -> None:
        self._until: dict[str, dict[str, float]] = {}

    async def reserve(self, principal: str, name: str, seconds: float) -> Collection[str]:
        """Note that a command is about to use something; return all that is noted of the principal."""
        now = time.monotonic()
        known = self._until.get(principal, {})
        live = {one: until for one, until in known.items() if until > now} | {name: now + seconds}
        self._until[principal] = live
        return set(live)

    async def settle(self, principal: str, name: str, session: str | None, seconds: float) -> None:
        """Note that the command is over. The sidecar itself lists at once what it used."""
        del session, seconds
        known = self._until.get(principal, {})
        known.pop(name, None)
        if not known:
            self._until.pop(principal, None)


class SpendingFile(Reservations):
    """The spending of one day in a file of the state directory."""

    def __init__(self, state_dir: Path) -> None:
        super().__init__()
        self._path = state_dir / "spending.json"
        self._writing = asyncio.Lock()

    async def add(self, principal: str, dollars: float) -> None:
        """Add what a turn has cost."""
        async with self._writing:
            await asyncio.to_thread(self._add, principal, dollars)

    async def today(self, principal: str) -> float:
        """Return what a principal has spent since midnight."""
        return (await asyncio.to_thread(self._read)).get(principal, 0.0)

    def _read(self) -> dict[str, float]:
        try:
            kept = json.loads(read_private(self._path, owners={os.getuid()}, follows_links=False))
            if kept["day"] == today():
                return {str(name): float(dollars) for name, dollars in kept["dollars"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # there is none, or another program has written it
        return {}

    def _add(self, principal: str, dollars: float) -> None:
        spent = self._read()
        spent[principal] = round(spent.get(principal, 0.0) + dollars, 10)
        write_private(self._path, json.dumps({"day": today(), "dollars": spent}).encode())


def today() -> str:
    """Return the day, in UTC."""
    return datetime.now(UTC).date().isoformat()


class Quotas:
    """The quotas of all principals."""

    def __init__(self, quotas: Mapping[str, Quota], spending: Spending) -> None:
        self._quotas = quotas
        self.spending = spending

    def of(self, principal: str | None) -> Quota | None:
        """Return a principal's quota; None for one without limits, and for the hub's own tokens."""
        return None if principal is None else self._quotas.get(principal, self._quotas.get(EVERYBODY))

    async def spent(self, principal: str | None, dollars: float | None) -> None:
        """Count what a turn has cost."""
        quota = self.of(principal)
        if principal is not None and dollars and quota is not None and quota.dollars_a_day is not None:
            await self.spending.add(principal, dollars)

    async def keep(
        self,
        command: frames.AnyCommand,
        user: str | None,
        sessions: Callable[[], Sequence[SessionSummary]],
        size: Callable[[str], int],
        execute: Callable[[], Awaitable[JsonValue]],
    ) -> JsonValue:
        """Do a command unless it would take its principal beyond its quota: the sender's, or the owner's of the session.

        Commands that come at the same time count each other. `size` returns the bytes of a session's log. Raises
        CommandRefused, JournalError, and what `execute` raises.
        """
        if not self._quotas or not isinstance(command, (*BEGINS, *RUNS, *ENDS)):
            return await execute()
        session = command.session if isinstance(command, (*RUNS, *ENDS)) else None
        if session is not None:
            user = next((one.owner for one in sessions() if one.session == session), None)
        quota = self.of(user)
        if user is None or quota is None:
            return await execute()
        if isinstance(command, ENDS):
            result = await execute()
            await self.spending.settle(user, command.session, None, 0)
            return result
        counts = quota.sessions is not None or quota.agents is not None
        own_id = command.id if len(command.id) == 36 else str(uuid4())
        name = f"{PENDING}{own_id}" if session is None else f"{session}@{own_id}"
        noted = await self.spending.reserve(user, name, LONGEST_S) if counts else ()
        used: str | None = None
        try:
            others = {one.partition("@")[0] for one in noted if one != name}
            own = [one for one in sessions() if one.owner == user]
            _check_counts(user, quota, session, own, others)
            await self._check_totals(user, quota, own, size)
            result = await execute()
            used = session
            if session is None and isinstance(result, dict):
                used = str(result.get("session"))
            return result
        finally:
            if counts:
                await self.spending.settle(user, name, used, SETTLED_S)

    async def _check_totals(
        self, user: str, quota: Quota, own: Sequence[SessionSummary], size: Callable[[str], int]
    ) -> None:
        if quota.bytes is not None:
            used = sum(size(one.session) for one in own)
            _within(user, "bytes of events", used, quota.bytes, "delete a session", setting="bytes")
        if quota.dollars_a_day is not None:
            spent = round(await self.spending.today(user), 2)
            _within(
                user,
                "dollars today",
                spent,
                quota.dollars_a_day,
                "wait for midnight UTC",
                setting="dollars_a_day",
            )


def _check_counts(
    user: str, quota: Quota, session: str | None, own: Sequence[SessionSummary], others: set[str]
) -> None:
    """Refuse a command beyond a quota. `others`: sessions, listed or not, that other commands begin or let run."""
    if session is None:
        _within(user, "sessions", len({one.session for one in own} | others), quota.sessions, "delete one")
    running = {one.session for one in own if one.state not in NO_AGENT}
    if session not in running:
        used = len((running | others) - {session})
        _within(user, "running agents", used, quota.agents, "close a session", setting="agents")


def _within(
    user: str, what: str, used: float, most: float | None, advice: str, *, setting: str = "sessions"
) -> None:
    if most is not None and used >= most:
        refuse(
            "limit_principal",
            f"the principal {user!r} has used {used:.10g} of its {most:.10g} {what}; {advice}, or have the operator raise "
            f"`{setting}` of {user!r} in the setting quotas",
        )
