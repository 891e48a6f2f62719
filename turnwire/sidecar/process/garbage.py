"""When Python looks for garbage among objects that refer to each other: hardly while a process starts, for what it loads stays."""

import atexit
import gc

STARTING = 1_000_000
"""Objects that there may be more than at the last look before the next; a start makes up to 300,000, and keeps them."""
WORKING = 20_000
"""The same once a process has started and goes on for long."""


def starting() -> None:
    """Leave what is loaded now alone, and at the end as well: then all is let go whole."""
    gc.set_threshold(STARTING)
    atexit.register(gc.freeze)


def started() -> None:
    """Look from now on, and never among what has been loaded."""
    gc.freeze()
    gc.set_threshold(WORKING)
