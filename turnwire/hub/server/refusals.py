"""Connections that were refused or closed, counted by reason and logged at a limited rate."""

import logging
from collections import Counter

log = logging.getLogger(__name__)

LOG_EVERY_S = 60.0
"""A reason is logged at once, and then at most this often (in seconds), with the count since."""

REASONS = {
    "full": "All places were taken by frontends that had shown a token.",
    "crowded": "Dropped before it had shown a token, to make room for a newer one.",
    "no_request": "It went, or its time was over, before it had sent a whole request.",
    "tls": "The TLS handshake failed, or was not done in time.",
    "no_hello": "A WebSocket showed no token in time.",
    "wrong_token": "A wrong token.",
    "guessing": "A wrong token, after too many from the same address.",
    "control_frames": "It sent too many pings or pongs.",
    "unread": "A frontend did not read what waited for it.",
}
"""Reason -> its meaning."""

COMMON = frozenset({"no_request", "tls"})
"""Reasons that probes and browsers cause every day."""


class Refusals:
    """Counts and logs them."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        """How many there were, by reason."""
        self._logged: dict[str, tuple[float, int]] = {}

    def add(self, reason: str, address: str, now: float) -> None:
        """Count one."""
        self.counts[reason] += 1
        at, before = self._logged.get(reason, (-LOG_EVERY_S, 0))
        if now - at < LOG_EVERY_S:
            return
        count = self.counts[reason]
        self._logged[reason] = now, count
        fields = {"reason": reason, "count": count - before, "last_address": address}
        log.log(logging.INFO if reason in COMMON else logging.WARNING, REASONS[reason], extra=fields)
