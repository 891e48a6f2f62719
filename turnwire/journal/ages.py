"""The clock by which events age. It never counts more time than has really passed, as far as turnwire can know.

Retention deletes for good, so the wall clock alone does not decide: with a clock that is a month ahead, a start would
delete every event. The age clock follows the wall clock only as far as another clock agrees. Within one boot of the
machine that is the boot clock, which nobody sets and which continues while the machine sleeps. Over a reboot
a few days may have passed unseen. turnwire trusts a wall clock that is further ahead only after it has run
beside it for a day without another jump. It trusts a wall clock that goes back at once, because that only keeps
events longer.
"""

import logging
import time

import msgspec
from msgspec import Struct

from turnwire.journal.timestamps import MICROSECONDS, Clock

log = logging.getLogger(__name__)

GRACE_S = 86_400.0
"""How long a clock that jumped ahead has to be watched before it is believed."""
PLAUSIBLE_S = 3 * 86_400.0
"""Maximum time that may pass unseen: a long weekend."""
SHARE = 10
"""At most this share of the retention age, 1 / SHARE."""


class ClockState(msgspec.Struct, frozen=True):
    """The clocks' state, stored with the events. All times in microseconds."""

    trusted: int
    """The age clock."""
    wall: int
    """The wall clock then."""
    steady: int
    """The boot clock then."""
    boot: str
    """Id of the boot that the boot clock belongs to; empty if unknown."""
    waited: int = 0
    """How long the wall clock has been watched since it jumped ahead."""


def steadily() -> int:
    """Return microseconds of a clock that people and servers cannot set."""
    # Without CLOCK_BOOTTIME (macOS) the sleep of a machine counts as time that nobody saw.
    number = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(number) // 1000


class Limits(Struct, frozen=True):
    """When a wall clock is believed; in microseconds."""

    plausible: int
    grace: int

    @classmethod
    def for_retention(cls, max_age_s: float | None, grace_s: float = GRACE_S) -> "Limits":
        """Return the limits for a retention."""
        plausible_s = PLAUSIBLE_S if max_age_s is None else min(PLAUSIBLE_S, max_age_s / SHARE)
        return cls(int(plausible_s * MICROSECONDS), int(grace_s * MICROSECONDS))


class AgeClock:
    """Returns the time by which events are old; for one thread."""

    def __init__(
        self,
        wall: Clock,
        steady: Clock,
        limits: Limits,
        *,
        boot: str = "",
        known: ClockState | None = None,
        newest: int = 0,
    ) -> None:
        """`known`: the last stored state. Without it, `newest` counts: the time of the newest event."""
        self._wall, self._steady, self._limits = wall, steady, limits
        now, ticks = wall(), steady()
        if known is None:
            known = ClockState(newest or now, now, ticks, boot)
        elif not boot or known.boot != boot or known.steady > ticks:
            # Another run of the machine: nobody knows how long it was off.
            known = ClockState(known.trusted, known.wall, ticks, boot, known.waited)
        self.witness = known
        """The current state."""
        self._told = False

    def __call__(self) -> int:
        """Look at the clocks and return the time, in microseconds since 1970."""
        known = self.witness
        wall, ticks = self._wall(), self._steady()
        elapsed = max(0, ticks - known.steady)
        expected = known.trusted + elapsed
        waited = 0
        if wall <= expected + self._limits.plausible:
            trusted, self._told = wall, False
        else:
            is_constant = abs(wall - known.wall - elapsed) <= self._limits.plausible
            waited = known.waited + elapsed if is_constant else 0
            trusted = expected
            if waited >= self._limits.grace:
                trusted, waited = wall, 0
                log.warning("turnwire now trusts the clock that was ahead; events age by it")
            elif not self._told:
                self._told = True
                log.warning(
                    "the clock is ahead of the time that is known to have passed; events do not age by it for now",
                    extra={
                        "ahead_s": (wall - expected) // MICROSECONDS,
                        "believed_in_s": (self._limits.grace - waited) // MICROSECONDS,
                    },
                )
        self.witness = ClockState(trusted, wall, ticks, known.boot, waited)
        return trusted


def kept(witness: ClockState) -> str:
    """Return a witness as text."""
    return msgspec.json.encode(witness).decode()


def read(text: str | bytes | None) -> ClockState | None:
    """Return the witness that a text has; None when it has none."""
    try:
        return None if text is None else msgspec.json.decode(text, type=ClockState)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
