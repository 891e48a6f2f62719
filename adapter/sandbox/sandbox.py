"""The sandbox of one session: what its programs are started with, and the proxy that serves them.

A sandbox lasts as long as its session. Each program that is started in it (the agent, a terminal that the agent asked for) has
namespaces of its own, the same places, and one proxy.
"""

import asyncio
import logging
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from turnwire._runtime.task_owner import TaskOwner
from turnwire.adapter.sandbox import linux, macos
from turnwire.adapter.sandbox.available import check_available
from turnwire.adapter.sandbox.copies import Copies
from turnwire.adapter.sandbox.environment import kept_outside
from turnwire.adapter.sandbox.gate import HostGate
from turnwire.adapter.sandbox.own_files import set_aside
from turnwire.adapter.sandbox.parts import OwnParts
from turnwire.adapter.sandbox.planted import Planted, set_aside_after_kill
from turnwire.adapter.sandbox.ports import NoPort, SandboxPorts
from turnwire.adapter.sandbox.profile import HELD, SAME_FOLDER, Profile, build_profile
from turnwire.adapter.sandbox.proxy import HEAD_LIMIT, Proxy
from turnwire.adapter.sandbox.settings import SandboxSettings, SandboxUnavailable
from turnwire.adapter.sandbox.system_calls import compiled
from turnwire.adapter.sandbox.upstream import Upstream
from turnwire.adapter.workspace.git import Git, GitRefused
from turnwire.normalize.vocabulary import SandboxLevel

log = logging.getLogger(__name__)

IDENTITY_S = 10.0
"""Seconds in which git says who commits."""

PROXY_PORT = 3128
"""Where the proxy is in the sandbox."""

DROPPED = (
    "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DISPLAY", "DOCKER_HOST", "GIT_SSH", "GIT_SSH_COMMAND", "GPG_AGENT_INFO",
    "SSH_AGENT_PID", "SSH_AUTH_SOCK", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "XDG_RUNTIME_DIR",
)  # fmt: skip
"""Variables that name what is not in a sandbox."""


NO_SSH = {
    "GIT_SSH_COMMAND": "echo 'turnwire: git over ssh does not work in this sandbox, which has no keys. Use an https address.' >&2; false #",
    "GIT_SSH_VARIANT": "ssh",
}
"""What git runs in the place of ssh: words instead of a name that cannot be resolved."""


class Entry(Struct, frozen=True):
    """How a program is started in a sandbox."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    passed: Sequence[int] = ()
    """Descriptors that it gets: the launcher's end of a socket, the filter of system calls. Of this process until `close`."""

    def close(self) -> None:
        """Let go of the descriptors, once the program has been started."""
        for one in self.passed:
            os.close(one)


class Sandbox:
    """Where the programs of one session run."""

    def __init__(
        self,
        level: SandboxLevel,
        profile: Profile,
        gate: HostGate,
        tasks: TaskOwner,
        temporary: str | None,
        *,
        copies: Mapping[str, str] = MappingProxyType({}),
        upstream: Upstream | None = None,
        kept_outside: Mapping[str, str] = MappingProxyType({}),
        identity: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.level = level
        self.profile = profile
        self.gate = gate
        self._tasks = tasks
        self._temporary = temporary
        self._copies = copies
        self._kept_outside = kept_outside
        """Variables that the agent does not get. One of the same name with another value is the agent's own."""
        self._identity = identity
        self._proxy = Proxy(gate, upstream)
        self._servers: list[asyncio.Server] = []
        self._networks: list[socket.socket] = []
        """A socket of each network that programs of this session have."""
        self._ports = SandboxPorts()
        self._closing: list[Callable[[], Awaitable[None]]] = []
        self._port = 0

    def enter(self, argv: Sequence[str], workspace: Path, environment: Mapping[str, str]) -> Entry:
        """Return how to start a program in here; its path must be absolute. Raises OSError."""
        given = self._environment(environment)
        if self._temporary is not None:
            ports = None if self.level == "files" else [self._port, *self.gate.loopback_ports]
            text = macos.sandbox_profile(self.profile, temporary=self._temporary, ports=ports)
            return Entry([macos.PROGRAM, "-p", text, *argv], given)
        ports_inside = [PROXY_PORT, *self.gate.loopback_ports]
        folders = [place for place in self.profile.hidden if os.path.isdir(place)]
        inside = linux.bwrap_arguments(
            self.profile,
            has_network=self.level == "files",
            folders=folders,
            copies=self._copies,
            start=os.path.realpath(workspace),
        )
        bwrap = shutil.which(linux.PROGRAM) or linux.PROGRAM
        with ExitStack() as held:  # closed should the next of them not be had
            control, passed = -1, []
            if (number := _filter()) is not None:
                held.callback(os.close, number)
                passed.append(number)
                inside = ["--seccomp", str(number), *inside]
            if self.level == "network":
                ours, theirs = socket.socketpair()
                control = theirs.detach()
                passed.append(control)
                self._tasks.keep("sandbox sockets", self._take_listeners(ours, ports_inside))
            held.pop_all()
        launcher = [_python(), "-I", "-S", "-c", _launcher(), str(control), ",".join(map(str, ports_inside))]
        return Entry([bwrap, *inside, *launcher, *argv], given, passed)

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
        self._networks += [one.dup() for one in listeners[:1]]
        for port, listener in zip(ports, listeners, strict=False):
            serve = self._proxy.serve if port == PROXY_PORT else partial(self._proxy.relay_port, port)
            self._servers.append(await asyncio.start_server(serve, sock=listener, limit=HEAD_LIMIT))

    async def open_proxy(self) -> None:
        """Serve the proxy on this machine's loopback, where sandboxes have no network of their own (macOS)."""
        server = await asyncio.start_server(self._proxy.serve, "127.0.0.1", 0, limit=HEAD_LIMIT)
        self._port = server.sockets[0].getsockname()[1]
        self._servers.append(server)

    async def listening(self) -> list[int]:
        """Return the ports that servers in here listen on, without those of turnwire. Raises NoPort."""
        self._check_network()
        ours = {PROXY_PORT, *self.gate.loopback_ports}
        return sorted(await self._ports.listening(self._networks) - ours)

    async def connect(self, port: int) -> socket.socket:
        """Return a connection to a server that a program in here has started. Raises NoPort."""
        self._check_network()
        return await self._ports.connect(self._networks, port)

    def _check_network(self) -> None:
        if not self._networks:
            raise NoPort(
                "this session has no network of its own; its servers are reached at the machine's own ports"
            )

    def on_close(self, closing: Callable[[], Awaitable[None]]) -> None:
        """Have something closed before the sandbox is."""
        self._closing.append(closing)

    async def close(self) -> None:
        """Serve nothing more."""
        for closing in self._closing:
            await closing()
        for server in self._servers:
            server.close()
        await asyncio.to_thread(self._ports.close)
        for one in self._networks:
            one.close()
        await self._proxy.close()
        await self._tasks.close()

    def _environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        given = {
            name: value
            for name, value in environment.items()
            if name not in DROPPED and self._kept_outside.get(name) != value
        }
        given = {**self._identity, **given}
        given["TMPDIR"] = self._temporary or "/tmp"
        given["TURNWIRE_SANDBOX"] = self.level
        if self.level == "network":
            proxy = f"http://127.0.0.1:{self._port or PROXY_PORT}"
            given |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), proxy)
            given |= dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
            given["NODE_USE_ENV_PROXY"] = "1"
            given |= NO_SSH
        return given


@asynccontextmanager
async def open_sandbox(
    settings: SandboxSettings,
    *,
    workspace: Path,
    program: str,
    environment: Mapping[str, str],
    own_places: Sequence[str] = (),
    tell: Callable[[str], object] = lambda _: None,
) -> AsyncIterator[Sandbox | None]:
    """Have a sandbox while the context is open; None for the level `off`. Raises SandboxUnavailable.

    The arguments are those of build_profile, and `tell`: called at the end if files were set aside, with a text for people.
    """
    for told in await set_aside_after_kill(settings.notes):
        tell(told)
    if settings.level == "off":
        yield None
        return
    await check_available(settings.level)
    try:
        profile = build_profile(
            settings, workspace=workspace, program=program, environment=environment, own_places=own_places
        )
        upstream = Upstream.of_environment(environment) if settings.level == "network" else None
        gate = HostGate(
            settings.hosts,
            settings.api_hosts,
            is_behind=(lambda _: False) if upstream is None else upstream.takes,
        )
        parts = OwnParts(() if sys.platform == "darwin" else profile.parts, profile.roots)
        with ExitStack() as begun:
            begun.callback(parts.close)
            await asyncio.to_thread(parts.take_in)
            copies = Copies(profile.copied, profile.roots)
            begun.callback(copies.close)
            make(profile)
            begun.callback(unmake, profile)
            planted = Planted(
                profile.workspace,
                profile.loads,
                profile.protected,
                frozenset(map(os.path.normpath, settings.unprotected)),
            )
            await planted.look(environment, settings.notes)
            begun.pop_all()
    except (OSError, ValueError) as error:
        raise SandboxUnavailable(f"there can be no sandbox for this session: {error}") from None
    identity = await _identity(profile, environment)
    temporary = tempfile.mkdtemp(prefix="turnwire-") if sys.platform == "darwin" else None
    async with TaskOwner() as tasks:
        sandbox = Sandbox(
            settings.level,
            profile,
            gate,
            tasks,
            temporary,
            copies={**copies.places, **profile.private},
            upstream=upstream,
            kept_outside=kept_outside(environment, settings.passes),
            identity=identity,
        )
        try:
            if temporary is not None and settings.level == "network":
                await sandbox.open_proxy()
            yield sandbox
        finally:
            await sandbox.close()
            unmake(profile)
            set_aside(profile.missing)
            if said := await planted.set_aside():
                tell(said)
            await asyncio.to_thread(copies.close)
            await asyncio.to_thread(parts.close)
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)


async def _identity(profile: Profile, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which git knows who commits: the person's configuration is hidden."""
    git = Git(Path(profile.workspace), {name: environment[name] for name in ("HOME", "PATH", "XDG_CONFIG_HOME") if name in environment})  # fmt: skip
    found: dict[str, str] = {}
    with suppress(GitRefused, TimeoutError):
        async with asyncio.timeout(IDENTITY_S):
            for part in ("name", "email"):
                if value := await git.tells("config", f"user.{part}"):
                    found |= dict.fromkeys(
                        (f"GIT_AUTHOR_{part.upper()}", f"GIT_COMMITTER_{part.upper()}"), value
                    )
    return found


def _filter() -> int | None:
    """Return a pipe with the filter of system calls, which is read once; None where there is none. Raises OSError."""
    content = compiled(os.uname().machine)
    if not content:
        return None
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as file:
        file.write(content)
    return reading


def make(profile: Profile) -> None:
    """Make the folders and files that keep a place in a workspace."""
    for place in profile.made:
        with suppress(FileExistsError):
            os.mkdir(place)
        HELD[place] += 1
    for place in profile.made_files:
        with suppress(FileExistsError):
            number = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
            with os.fdopen(number, "w", encoding="ascii") as file:
                file.write(_content(place))
        HELD[place] += 1


def unmake(profile: Profile) -> None:
    """Remove them once no sandbox of this process needs them; a folder in which there is something stays, and a file that was changed outside."""
    for place in (*profile.made_files, *reversed(profile.made)):
        HELD[place] -= 1
        if HELD[place] <= 0:
            del HELD[place]
            with suppress(OSError, ValueError):
                if place not in profile.made_files:
                    os.rmdir(place)
                elif Path(place).read_text(encoding="utf-8") == _content(place):
                    os.unlink(place)


def _content(place: str) -> str:
    return SAME_FOLDER if os.path.basename(place) == "commondir" else ""


@cache
def _launcher() -> str:
    return Path(__file__).with_name("launcher.py").read_text(encoding="utf-8")


@cache
def _python() -> str:
    """Return the interpreter itself: a virtual environment may be where a sandbox does not show it."""
    return os.path.realpath(sys.executable)
