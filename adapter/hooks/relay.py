"""Pass a hook of an agent's own interface to the sidecar, and its answer back: standard input, a socket, standard output.

It is run as a file, with the standard library alone, once for each hook. Without a sidecar it says nothing, and the
interface asks its person as usual.
"""

import os
import socket
import sys


def relay(address: str) -> None:
    """Send standard input to a socket and write the answer to standard output."""
    with socket.socket(socket.AF_UNIX) as sidecar:
        sidecar.connect(address)
        sidecar.sendall(sys.stdin.buffer.read())
        sidecar.shutdown(socket.SHUT_WR)
        while answer := sidecar.recv(1 << 16):
            os.write(1, answer)


if __name__ == "__main__":
    try:
        relay(sys.argv[1])
    except OSError:
        sys.exit(0)
