"""An MCP server on stdin and stdout that forwards to a socket. An agent starts it to reach a server inside its caller.

Run by its path, without turnwire: `python mcp_pipe.py SOCKET NAME`.
"""

import os
import socket
import sys
import threading


def main(path: str, name: str) -> None:
    """Pass bytes both ways until either side ends."""
    joined = socket.socket(socket.AF_UNIX)
    joined.connect(path)
    joined.sendall(name.encode() + b"\n")

    def up() -> None:
        while chunk := os.read(0, 1 << 16):
            joined.sendall(chunk)
        joined.shutdown(socket.SHUT_WR)

    threading.Thread(target=up, daemon=True).start()
    while chunk := joined.recv(1 << 16):
        view = memoryview(chunk)
        while view:
            view = view[os.write(1, view) :]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
