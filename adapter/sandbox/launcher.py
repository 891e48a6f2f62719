"""The first program in a sandbox (Linux): CONTROL PORTS PROGRAM ARGUMENT…; it becomes the agent.

bwrap ignores the signals that ask a program to end, so that they reach the agent alone; here they get their meaning
back. With a CONTROL other than -1 it opens the listening sockets of the new network namespace, one for each of PORTS
on 127.0.0.1. It sends them to turnwire. A socket belongs to the namespace in which it was made, so no process has to
pass on bytes in here. Read as text and run by `python -c`: standard library alone, and nothing of turnwire is visible
where it runs.
"""

import os
import signal
import sys


def main(arguments: list[str]) -> None:
    """Open the sockets, then become the agent; never returns."""
    control, ports, argv = int(arguments[0]), arguments[1], arguments[2:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if control >= 0:
        send_listeners(control, [int(port) for port in ports.split(",")])
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        os.write(2, f"turnwire: cannot run {argv[0]} in the sandbox: {error.strerror}\n".encode())
    os._exit(127)


def send_listeners(control: int, ports: list[int]) -> None:
    """Open the sockets and hand them over."""
    import socket  # noqa: PLC0415 - a sandbox of files needs none

    with socket.socket(fileno=control) as turnwire:
        listeners = [socket.create_server(("127.0.0.1", port), backlog=128) for port in ports]
        socket.send_fds(turnwire, [b"1"], [one.fileno() for one in listeners])
        for one in listeners:
            one.close()


if __name__ == "__main__":
    main(sys.argv[1:])
