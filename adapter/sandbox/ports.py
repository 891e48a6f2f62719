"""The ports of a sandbox's network, reached from outside: which servers listen there, and connections to them (Linux).

A helper program (namespace.py) is started for the first look, and ends with the sandbox.
"""

import asyncio
import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from turnwire.protocol.errors import TurnwireError

NAMESPACE_OF = 0x894C
"""SIOCGSKNS: the network namespace of a socket."""

ANSWER_S = 10.0
"""Seconds that the helper has to answer, and a server to take a connection."""

LONGEST = 1 << 13
"""Bytes of the helper's list of ports."""


class NoPort(TurnwireError):
    """Nothing listens on a port of the sandbox, or it has no network of its own; says which."""


class NetworkDoor:
    """Sockets of one network namespace."""

    def __init__(self, listener: socket.socket) -> None:
        """`listener`: any socket of that namespace. Raises OSError where the namespace cannot be joined."""
        namespace = fcntl.ioctl(listener, NAMESPACE_OF)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        argv = [os.path.realpath(sys.executable), "-I", "-S", "-c", _program()]
        with theirs:
            try:
                self._helper = subprocess.Popen(
                    [*argv, str(theirs.fileno()), str(namespace)],
                    pass_fds=[theirs.fileno(), namespace],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={},
                )
            except OSError:
                ours.close()
                raise
            finally:
                os.close(namespace)
        self._control = ours
        ours.settimeout(ANSWER_S)
        if ours.recv(16) != b"ready":
            self.close()
            raise OSError("the helper cannot join the network of the sandbox")

    def listening(self) -> list[int]:
        """Return the ports that are listened on; raises OSError."""
        self._control.send(b"?")
        said = self._control.recv(LONGEST).decode("ascii")
        return [int(one) for one in said.split(",") if one.isdecimal()]

    def socket(self, family: socket.AddressFamily) -> socket.socket:
        """Return a socket of the namespace that is not connected; raises OSError."""
        self._control.send(b"6" if family is socket.AF_INET6 else b"4")
        _, found, _, _ = socket.recv_fds(self._control, 1, 1)
        if not found:
            raise OSError("the helper has ended")
        return socket.socket(fileno=found[0])

    def close(self) -> None:
        """End the helper."""
        self._control.close()
        self._helper.wait()


class SandboxPorts:
    """The ports of all networks of one session: of its agent, and of terminals that it asked for."""

    def __init__(self) -> None:
        self._doors: dict[int, NetworkDoor] = {}
        """By the inode of the namespace."""
        self._asking = asyncio.Lock()

    async def listening(self, listeners: Iterable[socket.socket]) -> set[int]:
        """Return the ports that are listened on; `listeners`: a socket of each namespace."""
        async with self._asking:
            return await asyncio.to_thread(self._listening, list(listeners))

    def _listening(self, listeners: Iterable[socket.socket]) -> set[int]:
        return {port for door in self._through(listeners) for port in door.listening()}

    async def connect(self, listeners: Iterable[socket.socket], port: int) -> socket.socket:
        """Return a connection to a server; raises NoPort."""
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            async with self._asking:
                made = await asyncio.to_thread(self._sockets, list(listeners), family)
            connected: socket.socket | None = None
            for one in made:
                if connected is None and await _connects(one, address, port):
                    connected = one
                else:
                    one.close()
            if connected is not None:
                return connected
        raise NoPort(f"nothing listens on port {port} in this sandbox; start the server, then try again")

    def _sockets(
        self, listeners: Iterable[socket.socket], family: socket.AddressFamily
    ) -> list[socket.socket]:
        return [door.socket(family) for door in self._through(listeners)]

    def _through(self, listeners: Iterable[socket.socket]) -> list[NetworkDoor]:
        found: dict[int, NetworkDoor] = {}
        try:
            for listener in listeners:
                namespace = fcntl.ioctl(listener, NAMESPACE_OF)
                inode = os.fstat(namespace).st_ino
                os.close(namespace)
                if inode not in self._doors:
                    self._doors[inode] = NetworkDoor(listener)
                found[inode] = self._doors[inode]
        except OSError as error:
            raise NoPort(f"turnwire cannot join the network of this sandbox: {error}") from None
        return list(found.values())

    def close(self) -> None:
        """End the helpers."""
        for door in self._doors.values():
            door.close()
        self._doors.clear()


async def _connects(one: socket.socket, address: str, port: int) -> bool:
    one.setblocking(False)
    try:
        async with asyncio.timeout(ANSWER_S):
            await asyncio.get_running_loop().sock_connect(one, (address, port))
    except (OSError, TimeoutError):
        return False
    return True


@cache
def _program() -> str:
    return Path(__file__).with_name("namespace.py").read_text(encoding="utf-8")
