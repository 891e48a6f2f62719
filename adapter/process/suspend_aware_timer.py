"""A timeout that ignores time while the machine or the process is suspended.

Clocks go on during a suspend, and would use up the timeout. So only a little of the time between two looks counts,
and the waiter looks that often. Imports nothing: supervisors and the watchdog use this, too.
"""

STEP_S = 0.5
"""Seconds between two looks that count at most."""


class SuspendAwareTimer:
    """Counts down seconds at each look. Times are those of one monotonic clock, in seconds."""

    def __init__(self, seconds: float, now: float) -> None:
        self._left = seconds
        self._looked = now

    def left(self, now: float) -> float:
        """Look: the seconds that are left; 0 or less when they are over."""
        self._left -= min(now - self._looked, STEP_S)
        self._looked = now
        return self._left

    def pause(self, now: float) -> float:
        """Look: the seconds until the next look, at most; 0 when they are over."""
        return max(0.0, min(self.left(now), STEP_S / 2))
