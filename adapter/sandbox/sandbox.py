"""The sandbox of one session: what its programs are started with, and the proxy that serves them.

A sandbox lasts as long as its session. Each program that is started in it (the agent, a terminal that the agent asked for) has
namespaces of its own, the same places, and one proxy.
"""

import asyncio
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from pathlib import Path

from msgspec import Struct

from turnwire._runtime.task_owner import TaskOwner
from turnwire.adapter.sandbox import linux, macos
from turnwire.adapter.sandbox.available import check_available
from turnwire.adapter.sandbox.gate import HostGate
from turnwire.adapter.sandbox.profile import HELD, Profile, build_profile
from turnwire.adapter.sandbox.proxy import HEAD_LIMIT, Proxy
from turnwire.adapter.sandbox.settings import SandboxSettings, SandboxUnavailable
from turnwire.normalize.vocabulary import SandboxLevel

PROXY_PORT = 3128
"""Where the proxy is in the sandbox."""

DROPPED = (
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "GIT_SSH_COMMAND",
    "GIT_SSH",
)
"""Variables that name what is not in a sandbox."""


class Entry(Struct, frozen=True):
    """How a program is started in a sandbox."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    control: socket.socket | None
    """The launcher's end; to be closed once it has been started."""

    def close(self) -> None:
        """Let go of the launcher's end."""
        if self.control is not None:
            self.control.close()


class Sandbox:
    """Where the programs of one session run."""

    def __init__(
        self, level: SandboxLevel, profile: Profile, gate: HostGate, tasks: TaskOwner, temporary: str | None
    ) -> None:
        self.level = level
        self.profile = profile
        self.gate = gate
        self._tasks = tasks
        self._temporary = temporary
        self._proxy = Proxy(gate)
        self._servers: list[asyncio.Server] = []
        self._port = 0

    def enter(self, argv: Sequence[str], workspace: Path, environment: Mapping[str, str]) -> Entry:
        """Return how to start a program in here; its path must be absolute. Raises OSError."""
        given = self._environment(environment)
        if self._temporary is not None:
            ports = None if self.level != "network" else [self._port, *self.gate.loopback_ports]
            text = macos.sandbox_profile(self.profile, temporary=self._temporary, ports=ports)
            return Entry([macos.PROGRAM, "-p", text, *argv], given, None)
        ours = theirs = None
        ports_inside = [PROXY_PORT, *self.gate.loopback_ports]
        if self.level == "network":
            ours, theirs = socket.socketpair()
            self._tasks.keep("sandbox sockets", self._take_listeners(ours, ports_inside))
        folders = [place for place in self.profile.hidden if os.path.isdir(place)]
        inside = linux.bwrap_arguments(
            self.profile, has_network=theirs is None, folders=folders, start=os.path.realpath(workspace)
        )
        launcher = [
            _python(),
            "-I",
            "-S",
            "-c",
            _launcher(),
            str(theirs.fileno() if theirs else -1),
            ",".join(map(str, ports_inside)),
        ]
        return Entry([shutil.which(linux.PROGRAM) or linux.PROGRAM, *inside, *launcher, *argv], given, theirs)

    async def _take_listeners(self, ours: socket.socket, ports: Sequence[int]) -> None:
        """Take the sockets that the launcher opens, and serve them."""
        loop = asyncio.get_running_loop()
        with ours:
            ours.setblocking(False)
            ready = asyncio.Event()
            loop.add_reader(ours, ready.set)
            try:
                await ready.wait()
            finally:
                loop.remove_reader(ours)
            _, found, _, _ = socket.recv_fds(ours, 1, len(ports))
        listeners = [socket.socket(fileno=one) for one in found]
        for port, listener in zip(ports, listeners, strict=False):
            serve = self._proxy.serve if port == PROXY_PORT else partial(self._proxy.relay_port, port)
            self._servers.append(await asyncio.start_server(serve, sock=listener, limit=HEAD_LIMIT))

    async def open_proxy(self) -> None:
        """Serve the proxy on this machine's loopback, where sandboxes have no network of their own (macOS)."""
        server = await asyncio.start_server(self._proxy.serve, "127.0.0.1", 0, limit=HEAD_LIMIT)
        self._port = server.sockets[0].getsockname()[1]
        self._servers.append(server)

    async def close(self) -> None:
        """Serve nothing more."""
        for server in self._servers:
            server.close()
        await self._proxy.close()
        await self._tasks.close()

    def _environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        given = {name: value for name, value in environment.items() if name not in DROPPED}
        given["TMPDIR"] = self._temporary or "/tmp"
        given["TURNWIRE_SANDBOX"] = self.level
        if self.level == "network":
            proxy = f"http://127.0.0.1:{self._port or PROXY_PORT}"
            given |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), proxy)
            given |= dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
            given["NODE_USE_ENV_PROXY"] = "1"
        return given


@asynccontextmanager
async def open_sandbox(
    settings: SandboxSettings,
    *,
    workspace: Path,
    program: str,
    environment: Mapping[str, str],
    own_places: Sequence[str] = (),
) -> AsyncIterator[Sandbox | None]:
    """Have a sandbox while the context is open; None for the level `off`. Raises SandboxUnavailable.

    The arguments are those of build_profile.
    """
    if settings.level == "off":
        yield None
        return
    await check_available(settings.level)
    try:
        profile = build_profile(
            settings, workspace=workspace, program=program, environment=environment, own_places=own_places
        )
        gate = HostGate(settings.hosts, settings.api_hosts)
        make(profile)
    except (OSError, ValueError) as error:
        raise SandboxUnavailable(f"there can be no sandbox for this session: {error}") from None
    temporary = tempfile.mkdtemp(prefix="turnwire-") if sys.platform == "darwin" else None
    async with TaskOwner() as tasks:
        sandbox = Sandbox(settings.level, profile, gate, tasks, temporary)
        try:
            if temporary is not None and settings.level == "network":
                await sandbox.open_proxy()
            yield sandbox
        finally:
            await sandbox.close()
            unmake(profile)
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)


def make(profile: Profile) -> None:
    """Make the folders that keep a place in a workspace."""
    for place in profile.made:
        with suppress(FileExistsError):
            os.mkdir(place)
        HELD[place] += 1


def unmake(profile: Profile) -> None:
    """Remove them once no sandbox of this process needs them; one in which there is something stays."""
    for place in reversed(profile.made):
        HELD[place] -= 1
        if HELD[place] <= 0:
            del HELD[place]
            with suppress(OSError):
                os.rmdir(place)


@cache
def _launcher() -> str:
    return Path(__file__).with_name("launcher.py").read_text(encoding="utf-8")


@cache
def _python() -> str:
    """Return the interpreter itself: a virtual environment may be where a sandbox does not show it."""
    return os.path.realpath(sys.executable)
