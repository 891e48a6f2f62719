"""Decide when a run waits for a rate limit to pass: a pure state machine over the CLI's messages.

A run waits only for a limit that names its end, and only if the session to continue is known.
"""

from dataclasses import dataclass

from turnwire.normalize.inputs import Message
from turnwire.protocol.claude.notices import RateLimitEvent
from turnwire.protocol.claude.system import System
from turnwire.runner.runner_lines import RunParams

MARGIN = 1.0
"""Seconds beyond the end of a limit: clocks differ."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Stop the CLI, wait, and go on with the session without sending the message again."""

    seconds: float
    """How long."""
    session: str
    """The session to continue."""
    attempt: int
    """Which retry this is, from 1."""


class RateLimitRetry:
    """Follows one run through its CLIs."""

    def __init__(self, params: RunParams) -> None:
        self._left = params.rate_limit_max_retries
        self._max_retries = params.rate_limit_max_retries
        self._max_wait = params.max_wait
        self._session = params.resume

    def handle(self, message: Message, now: float) -> Wait | None:
        """Take the next message at `now` (seconds since 1970). None: it is passed on to the caller."""
        if isinstance(message, System | RateLimitEvent) and message.session_id:
            self._session = message.session_id
        if not isinstance(message, RateLimitEvent):
            return None
        limit = message.rate_limit_info
        if limit.status != "rejected" or limit.resets_at is None:
            return None
        seconds = max(0.0, limit.resets_at + MARGIN - now)
        if not self._left or seconds > self._max_wait or self._session is None:
            return None
        self._left -= 1
        return Wait(seconds, self._session, self._max_retries - self._left)
