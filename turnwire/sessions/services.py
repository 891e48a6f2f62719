"""What every live session of a sidecar shares with the others."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence

from msgspec import Struct

from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.config.settings import Settings
from turnwire.journal.base import Journal
from turnwire.journal.sessions import SessionRecord
from turnwire.sessions.hosted import Changed
from turnwire.sessions.pipeline import Observer


class SessionServices(Struct, frozen=True):
    """What every live session shares with the others."""

    settings: Settings
    journal: Journal
    watchdog: Watchdog
    audit: Callable[[str], AuditTrail | None]
    """Opens the audit trail for a session; None where nothing is kept."""
    grants: GrantStore | None
    """Always-answers that outlive their session; None where nothing is kept."""
    spawn: Callable[[str, Coroutine[None, None, None]], asyncio.Task[None]]
    """Starts a task of a session; what goes wrong in it ends it, and nothing else."""
    save: Callable[[SessionRecord], None]
    """Has the record written soon, without waiting for it."""
    keep: Callable[[SessionRecord], Awaitable[None]]
    """Has the record written before anything else happens."""
    forget: Callable[[str], Awaitable[None]]
    """Removes a session's record."""
    changed: Changed
    """Tells that a list of sessions would look different now."""
    observers: Callable[[str, str], Sequence[Observer]]
    """Who else sees a session's inputs and events: recording, tracing."""
    turn_over: Callable[[str, float | None], None] = lambda _name, _cost_usd: None
    """Tells that a turn of a session has ended, and what it has cost in dollars, if that is known."""
