"""The first program on a pseudo-terminal: PROGRAM ARGUMENT…; it takes the terminal as its own and becomes the program.

Job control needs a session whose controlling terminal this is. In a sandbox it runs inside, where nothing of turnwire is
visible. So it is read as text and run by `python -c`, on the standard library alone. It also drops turnwire's variables.
"""

import fcntl
import os
import signal
import sys
import termios


def main(argv: list[str]) -> None:
    """Become the program; never returns."""
    try:
        os.setsid()
    except PermissionError:
        pass  # it leads a session already
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGPIPE,
        signal.SIGXFSZ,
    ):
        signal.signal(number, signal.SIG_DFL)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TURNWIRE_")}
    try:
        os.execve(argv[0], argv, environment)
    except OSError as error:
        os.write(2, f"turnwire: cannot run {argv[0]}: {error.strerror}\r\n".encode(errors="replace"))
    os._exit(127)


if __name__ == "__main__":
    main(sys.argv[1:])
