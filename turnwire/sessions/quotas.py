"""What a principal may use: sessions, running agents, bytes of events, dollars a day. A refusal names the principal and its limit.

A sidecar counts its own sessions, a hub those of all workers. Dollars are counted as turns end, so sessions that are deleted count, too.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from turnwire._runtime.private_files import make_private, open_private, read_private
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

NO_AGENT = frozenset({"exited", "unreachable"})
"""States of a session without a running agent."""


class Spending(Protocol):
    """What principals have spent today (UTC)."""

    async def add(self, principal: str, dollars: float) -> None:
        """Add what a turn has cost."""
        ...

    async def today(self, principal: str) -> float:
        """Return what a principal has spent since midnight. Raises JournalError."""
        ...


class SpendingFile:
    """The spending of one day in a file of the state directory."""

    def __init__(self, state_dir: Path) -> None:
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
        make_private(self._path.parent)
        fresh = self._path.with_suffix(".new")
        with os.fdopen(open_private(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
            json.dump({"day": today(), "dollars": spent}, file)
        fresh.replace(self._path)


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

    async def check(
        self,
        command: frames.AnyCommand,
        user: str | None,
        sessions: Callable[[], Sequence[SessionSummary]],
        size: Callable[[str], int],
    ) -> None:
        """Refuse a command that would take its principal beyond its quota: the sender's, or the owner's of the session.

        `size` returns the bytes of a session's log. Raises CommandRefused and JournalError.
        """
        if not self._quotas or not isinstance(command, (*BEGINS, *RUNS)):
            return
        session = command.session if isinstance(command, RUNS) else None
        if session is not None:
            user = next((one.owner for one in sessions() if one.session == session), None)
        quota = self.of(user)
        if user is None or quota is None:
            return
        own = [one for one in sessions() if one.owner == user]
        if session is None:
            _within(user, "sessions", len(own), quota.sessions, "delete one")
        if not any(one.session == session and one.state not in NO_AGENT for one in own):
            running = sum(one.state not in NO_AGENT for one in own)
            _within(user, "running agents", running, quota.agents, "close a session", setting="agents")
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


def _within(
    user: str, what: str, used: float, most: float | None, advice: str, *, setting: str = "sessions"
) -> None:
    if most is not None and used >= most:
        refuse(
            "limit_principal",
            f"the principal {user!r} has used {used:.10g} of its {most:.10g} {what}; {advice}, or have the operator raise "
            f"`{setting}` of {user!r} in the setting quotas",
        )
