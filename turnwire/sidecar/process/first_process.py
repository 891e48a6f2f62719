"""Be the first process of a container: pass signals on, reap what agents leave behind, and end as the sidecar ends.

A container engine can put a program of its own there (`docker run --init`). That program keeps the environment that the
container was started with, and an agent of the same user can read the tokens in it. Our first process restarted without them.
"""

import os
import signal
from typing import NoReturn

SENT_BY_A_PROCESS = 0
"""Highest `si_code` of signals that a process has sent (sigaction(2)). A terminal's signals reach the sidecar by themselves."""


def become_first() -> None:
    """Continue in a child and remain its parent. Returns in the child only. Call it before a thread is started."""
    everything = signal.valid_signals()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, everything)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return
    _stand_over(child, everything)


def _stand_over(child: int, signals: set[signal.Signals]) -> NoReturn:
    while True:
        received = signal.sigwaitinfo(signals)
        if received.si_signo == signal.SIGCHLD:
            _reap(child)
        elif received.si_code <= SENT_BY_A_PROCESS:
            os.kill(child, received.si_signo)


def _reap(child: int) -> None:
    """Reap all children that have ended; end with the status of this one, 128 and more for a signal, as a shell does."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)
