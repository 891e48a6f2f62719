"""What a session has to tell beside its lines: trouble of ours, and silence of the CLI's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class SessionNotice:
    """Something a frontend should know; nothing has been decided or ended by it."""

    code: Literal[
        "stalled",
        "initialize_failed",
        "hook_failed",
        "mcp_failed",
        "grant_lost",
        "plan_classifier",
        "too_many_requests",
    ]
    """What kind of thing."""
    message: str
    """What happened, whose fault it is, and what to do."""


Notify: TypeAlias = Callable[[SessionNotice], None]
