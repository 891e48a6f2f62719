"""Proof that a process of this machine takes a conversation over: tickets, given out at a Unix socket.

A frontend names no process. The terminal's own process connects to the socket, and the kernel says which process that is. It reads a
ticket there and shows it in `native.begin`. Only processes of the sidecar's user, and root, reach the socket.
"""

import asyncio
import os
import secrets
import shutil
import socket
import struct
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path

from turnwire.sessions.hosted import refuse
from turnwire.sessions.terminal_state import TerminalProcess

TICKETS = 64
"""Tickets that count at a time; the oldest is dropped for one more."""

_LOCAL_PEERPID = 2
"""macOS: the option of a Unix socket that says which process is at its other end."""


class TerminalDoor:
    """The socket where terminals get their tickets. It is opened when somebody first asks for it."""

    def __init__(self, spawn: Callable[[Coroutine[None, None, None]], object]) -> None:
        """`spawn` starts the task that serves the socket."""
        self._spawn = spawn
        self._path: Path | None = None
        self._over = asyncio.Event()
        self._tickets: dict[str, TerminalProcess] = {}

    async def path(self) -> str:
        """Return the socket's path. Raises OSError."""
        if self._path is None or not self._path.exists():
            self.close()
            # a short path: a socket's address has 107 bytes; and a folder that only this user may enter
            self._path = Path(tempfile.mkdtemp(prefix="turnwire-")) / "door"
            self._over = asyncio.Event()
            server = await asyncio.start_unix_server(self._give, self._path)
            self._spawn(self._serve(server, self._path.parent, self._over))
        return str(self._path)

    def holder(self, ticket: str) -> TerminalProcess:
        """Return the process that has got a ticket; refuses one that nobody has."""
        found = self._tickets.get(ticket)
        if found is None or not found.is_alive:
            refuse(
                "invalid_params",
                "no process of the sidecar's machine has this ticket; send native.begin without one, and read one from its `door`",
                "ticket",
            )
        return found

    def close(self) -> None:
        """Give out no more tickets."""
        self._over.set()
        self._path = None

    @staticmethod
    async def _serve(server: asyncio.Server, folder: Path, over: asyncio.Event) -> None:
        try:
            await over.wait()
        finally:
            server.close()
            shutil.rmtree(folder, ignore_errors=True)

    async def _give(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            pid = _peer(writer.get_extra_info("socket"))
            if pid is not None:
                ticket = secrets.token_urlsafe(32)
                while len(self._tickets) >= TICKETS:
                    del self._tickets[next(iter(self._tickets))]
                self._tickets[ticket] = TerminalProcess(pid)
                writer.write(f"{ticket}\n".encode())
                await writer.drain()
        except OSError:
            pass  # it has gone
        finally:
            writer.close()


def _peer(there: socket.socket) -> int | None:
    """Return the process at the other end, of our user or of root; None for any other."""
    if sys.platform == "darwin":
        return there.getsockopt(0, _LOCAL_PEERPID) or None
    pid, uid, _ = struct.unpack("3i", there.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid if pid > 0 and uid in {0, os.getuid()} else None
