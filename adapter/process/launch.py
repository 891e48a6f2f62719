"""Run a program that dies with its parent: `python -I -S launch.py PARENT PROGRAM ARGUMENT…` (Linux).

The parent-death signal has to be asked for between fork and exec. Doing that with preexec_fn runs Python in a child of
a process with threads, which may deadlock; a program that becomes the CLI by exec costs some milliseconds and is safe.
Standard library alone, run as a file.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
CANNOT_RUN = 127


def main(parent: int, argv: list[str]) -> int:
    """Become the program; returns only when that fails."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return CANNOT_RUN  # the parent died before it could be watched
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"turnwire: cannot run {argv[0]}: {error.strerror}\n")
    return CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
