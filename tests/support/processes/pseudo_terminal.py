"""A command with a pseudo-terminal for its output: what it writes there, byte for byte."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path

from turnwire_process import DEADLINE, TURNWIRE

DRAWN = re.compile(r"\x1b\[[0-9;]*m|\r?\x1b\[(?:2K|1A)|\x1b\[\?25[lh]")
"""What turnwire itself sends to a terminal: colours, and the movements of a progress bar."""


def on_a_terminal(folder: Path, env: Mapping[str, str], *arguments: str) -> tuple[int, str]:
    """Run a command of turnwire whose standard output and error are a terminal; return its exit code and what it wrote."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.OPOST  # the terminal driver would write \r\n for \n
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    with subprocess.Popen(
        [*TURNWIRE, *arguments],
        cwd=folder,
        env={**env, "TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        written = bytearray()
        try:
            while chunk := os.read(ours, 1 << 16):
                written += chunk
        except OSError:  # nobody has the other side any more
            pass
        finally:
            os.close(ours)
        code = process.wait(DEADLINE)
    return code, written.decode("utf-8", "surrogateescape")
