"""When a key may decide: after a second, and when all that would be allowed has been in view. Pure.

Time is counted in ticks of the screen's own clock, not by the wall: while the terminal stands still no tick comes, and keys that
were typed meanwhile come before the next one.
"""

from turnwire.client.events import PermissionOption

from .showing import is_permanent

TICK_S = 0.1
"""Seconds between two ticks."""

ARMED_AFTER = 10
"""Ticks that something has to stand unchanged before a key decides."""


class Gate:
    """Guards one request. An answer that is remembered wants a second key, a second later."""

    def __init__(self) -> None:
        self._ticks = 0
        self._reached = 0
        self._total = 0
        self._seen = False
        self._confirmation_seen = False
        self.confirming: PermissionOption | None = None
        """The answer that is to be confirmed."""

    @property
    def armed(self) -> bool:
        """Say whether a key decides by now, as far as time goes."""
        return self._ticks >= ARMED_AFTER

    @property
    def seen(self) -> bool:
        """Say whether all of what would be allowed has been in view."""
        return self._seen

    @property
    def reached(self) -> int:
        """Return the first row that has not been in view; a jump over rows does not count."""
        return self._reached

    def tick(self, first: int, beyond: int, total: int) -> None:
        """Count a tick in which the rows from `first` up to `beyond` of `total` were on the screen, of what is to be seen."""
        self._ticks += 1
        if total != self._total:  # the lines are wrapped anew
            self._total, self._reached = total, 0
        if first <= self._reached:
            self._reached = max(self._reached, beyond)
        whole = self._reached >= total
        if self.confirming is not None:
            self._confirmation_seen = self._confirmation_seen or whole
        else:
            self._seen = self._seen or whole

    def moved(self) -> None:
        """Begin the second anew: something else stands there now."""
        self._ticks = 0

    def back(self) -> None:
        """Leave the confirmation."""
        self.confirming = None
        self.moved()

    def press(self, option: PermissionOption) -> PermissionOption | None:
        """Take a key that means this answer; returns it when it is decided."""
        if not self.armed or self.refusal(option):
            return None
        if is_permanent(option) and self.confirming is not option:
            self.confirming = option
            self._confirmation_seen = False
            self._reached = 0
            self.moved()
            return None
        return option

    def refusal(self, option: PermissionOption) -> str:
        """Say why this answer cannot be given yet; empty when it can, or when it is only too early."""
        if self.confirming is option and not self._confirmation_seen:
            return "scroll through what is remembered first"
        if option.kind in {"reject_once", "reject_always"} or self._seen:
            return ""
        return "scroll through what is allowed first"
