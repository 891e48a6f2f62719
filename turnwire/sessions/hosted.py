"""The interface of a session for the host, live or replayed."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NoReturn, Protocol

from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames_out import SessionSummary

Changed = Callable[[], None]
"""Called when the session's entry in the list of sessions has changed."""


class HostedSession(Protocol):
    """A session that frontends can see."""

    def summary(self) -> SessionSummary:
        """Return the session's entry in the list."""
        ...


def refuse(code: str, message: str, field: str | None = None) -> NoReturn:
    """Refuse a command."""
    raise CommandRefused(code, message, field)


def timestamp() -> str:
    """Return the time of day as summaries and records have it: RFC 3339, UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
