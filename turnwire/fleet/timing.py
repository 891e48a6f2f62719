"""The times of a fleet, all of them from the one that is configured: the lease."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """How long what lasts, in seconds. All workers and hubs of a fleet have the same lease."""

    lease_s: float = 10.0
    """A worker that has not been heard of for so long is gone, and hubs know it by then."""
    done_s: float = 150.0
    """A command whose worker lives and does not answer for so long is given up; an agent's start takes up to a minute."""
    ask_s: float = 10.0
    """Workers that are asked side by side about their conversations have so long; who is later is left out, and named."""
    repeat_s: float = 3600.0
    """A command may be sent again for so long, and gets its first answer."""
    beats: int = 8
    """How often a lease is renewed and looked at while it lasts."""
    pause_s: float = 0.2
    """How long Redis is left alone after it failed, and how often a list that changes is told."""

    @property
    def key_ms(self) -> int:
        """Milliseconds that the key of a lease lives unless it is renewed: hubs look twice before they believe that it is gone."""
        return int(self.lease_s * 500)

    @property
    def beat_s(self) -> float:
        """How often a lease is renewed and looked at."""
        return self.lease_s / self.beats

    @property
    def fresh_ms(self) -> int:
        """Milliseconds after which a command that was not begun is not begun any more."""
        return int(self.lease_s * 1000)

    @property
    def repeat_ms(self) -> int:
        """The same as `repeat_s`, in milliseconds."""
        return int(self.repeat_s * 1000)

    @property
    def block_ms(self) -> int:
        """Milliseconds that a read waits in Redis for something new."""
        return max(100, int(self.lease_s * 500))
