"""Tune Python's garbage collector: hardly any collection while a process starts, since everything that it loads stays."""

import atexit
import gc

STARTING = 1_000_000
"""New objects before the next collection during the start. A start creates up to 300,000 and keeps them."""
WORKING = 20_000
"""New objects before the next collection after the start."""


def starting() -> None:
    """Exclude from collection what is loaded now, at the end as well: then everything is freed at once."""
    gc.set_threshold(STARTING)
    atexit.register(gc.freeze)


def started() -> None:
    """Turn garbage collection on, and exclude all objects that exist already."""
    gc.freeze()
    gc.set_threshold(WORKING)
