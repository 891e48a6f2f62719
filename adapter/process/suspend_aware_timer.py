"""A deadline by the time that passes while we run: a machine, or a process, that stood still has cost nobody his grace.

Clocks go on meanwhile, and whoever was given three seconds would have had none of them. So of the time between two looks
no more than a little counts, and whoever waits looks that often. Imports nothing: supervisors and the watchdog use this, too.
"""

STEP_S = 0.5
"""Seconds between two looks that count at most."""


class SuspendAwareTimer:
    """So many seconds, of which each look takes what has passed. Times are those of one monotonic clock, in seconds."""

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
