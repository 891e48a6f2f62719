"""How long to wait before the next attempt to connect: doubling, bounded, with jitter so that many clients spread out."""

import random
from collections.abc import Callable


class Backoff:
    """The waits between attempts, in seconds: from `first` on doubling up to `most`, half of each fixed, half random."""

    def __init__(
        self, first: float = 0.25, most: float = 10.0, random: Callable[[], float] = random.random
    ) -> None:
        self._first = first
        self._most = most
        self._random = random
        self._next = first

    def next(self) -> float:
        """Return the seconds to wait now."""
        full = min(self._most, self._next)
        self._next = min(self._most, self._next * 2)
        return full / 2 + full / 2 * self._random()

    def reset(self) -> None:
        """Begin anew after a connection that worked."""
        self._next = self._first
