"""Notices of a session that are not lines: trouble of turnwire, and silence of the agent."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct


class SessionNotice(Struct, frozen=True):
    """A fact for frontends. It decides or ends nothing."""

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
        "rules_in_doubt",
        "mcp_failed",
        "grant_lost",
        "plan_classifier",
        "too_many_requests",
        "set_aside",
        "conversation_in_use",
    ]
    """Its kind."""
    message: str
    """What happened, why, and what to do."""
    silent_ms: int | None = None
    """For `stalled`: milliseconds of the agent's silence. `spoke` reports its end."""


Notify: TypeAlias = Callable[[SessionNotice], None]
