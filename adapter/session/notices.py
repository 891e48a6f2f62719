"""Notices of a session that are not lines: trouble of turnwire, and silence of the agent."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct


class SessionNotice(Struct, frozen=True):
    """Something a frontend should know; nothing has been decided or ended by it."""

    code: Literal[
        "stalled",
        "lived_on",
        "spoke",
        "initialize_failed",
        "hook_failed",
        "hooks_not_run",
        "hook_not_obeyed",
        "prompt_blocked",
        "not_restored",
        "asks_not_everything",
        "mcp_failed",
        "grant_lost",
        "plan_classifier",
        "too_many_requests",
    ]
    """What kind of thing."""
    message: str
    """What happened, whose fault it is, and what to do."""
    silent_ms: int | None = None
    """How long the agent has said nothing, of `stalled`; `spoke` says that it does again."""


Notify: TypeAlias = Callable[[SessionNotice], None]
