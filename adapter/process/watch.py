"""The watchdog's own process (adapter/process/watchdog.py has the sidecar's end of the pipe).

Standard library alone, and little of it: it starts whenever something is run. All that it needs is loaded before it waits.
"""

import signal
import sys

from turnwire.adapter.process.identity import ProcessIdentity, reap

_LOOKS = 5


def watch() -> None:
    """Be the watchdog: read the list until the pipe breaks, then end what is on it."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    guarded: dict[str, None] = {}
    for line in sys.stdin:
        action, identity = line[0], line[1:].strip()
        if action == "+":
            guarded[identity] = None
        else:
            guarded.pop(identity, None)
    # Nobody looks after this again, and what was being started may show itself only now.
    reap([ProcessIdentity.from_text(text) for text in guarded], looks=_LOOKS)
