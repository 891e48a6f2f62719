"""A process in its own session. On Linux a supervisor starts it and adopts the processes that it leaves.

The supervisor (adapter/process/supervisor.py) is our child, connected by a socket. When we die, the socket closes,
and the supervisor ends all processes below it.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, cast

from msgspec import Struct
from msgspec.structs import replace

from turnwire.adapter.process import cgroup, suspend_aware

log = logging.getLogger(__name__)

SUPERVISOR = (
    "-I",
    "-S",
    "-c",
    # imported, so that it is compiled once
    "import sys; sys.path.insert(0, sys.argv[1]); from turnwire.adapter.process.supervisor import main; main(sys.argv[2:])",
    str(Path(__file__).parents[3]),
)
"""How Python becomes the supervisor, before its own arguments."""

INSIST = 3.0
"""Seconds that SIGKILL may take. A process that lives longer is stuck in the kernel, or we may not kill it."""

END_MARGIN = 5.0
"""Extra seconds for a supervisor after its work. Then it is killed, and remaining processes are found by their mark."""

ROOM = 8
"""Descriptors that the start of a process takes for a moment, and one more."""

CAN_SUPERVISE = sys.platform.startswith("linux") and bool(sys.executable)


class Start(Struct, frozen=True, kw_only=True):
    """What to start."""

    argv: Sequence[str]
    workspace: Path
    environment: Mapping[str, str]
    stdin: BinaryIO | int
    """The process's end of it, or asyncio.subprocess.DEVNULL."""
    stdout: BinaryIO | int
    stderr: BinaryIO | int
    shield: Sequence[int] | None = None
    """Of a sandbox: the descriptors that it gets. What is started ignores the signals that ask a program to end,
    which its launcher heeds again: they are for the program inside. For a supervisor alone."""


class Child(asyncio.SubprocessProtocol):
    """A process whose parent we are."""

    def __init__(self, on_exit: Callable[[], None]) -> None:
        self.exited = asyncio.Event()
        self._on_exit = on_exit
        self._transport: asyncio.SubprocessTransport | None = None

    @classmethod
    async def start(cls, start: Start, *, on_exit: Callable[[], None], keeps: Sequence[int] = ()) -> "Child":
        """Start it, with `keeps` as further descriptors; raises OSError."""
        _look_for_room()
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: cls(on_exit),
            *start.argv,
            stdin=start.stdin,
            stdout=start.stdout,
            stderr=start.stderr,
            cwd=start.workspace,
            env=dict(start.environment),
            start_new_session=True,
            pass_fds=tuple(keeps),
        )
        return child

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the process."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def process_exited(self) -> None:
        """Note the exit."""
        self.exited.set()
        self._on_exit()

    @property
    def pid(self) -> int:
        """Its process id; also the id of its group."""
        assert self._transport is not None
        return self._transport.get_pid()

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return None if self._transport is None else self._transport.get_returncode()

    def kill(self) -> None:
        """Kill it, it alone."""
        if self._transport is not None and not self.exited.is_set():
            try:
                # the transport's own way looks whether it has exited, which takes the exit code from who waits for it
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def close(self) -> None:
        """Let go of it; kills one that still runs."""
        if self._transport is not None:
            self._transport.close()


class Supervised(asyncio.Protocol):
    """A process below a supervisor; the loop's protocol of the socket to it."""

    def __init__(self, on_exit: Callable[[], None]) -> None:
        self.pid = 0
        """The process id of the program; also the id of its group."""
        self.code: int | None = None
        """Its exit code, negative for a signal; None while it runs."""
        self.exited = asyncio.Event()
        self._on_exit = on_exit
        self._supervisor: Child | None = None
        self._control: asyncio.Transport | None = None
        self._received = b""
        self._started = asyncio.Event()
        self._is_deaf = False
        self._is_left = False
        self._left: int | None = None
        self._cgroup: str | None = None
        """The folder of the program's own."""
        self._over = asyncio.Event()

    @classmethod
    async def start(
        cls, start: Start, mark: str, *, on_exit: Callable[[], None], contained: bool = True
    ) -> "Supervised":
        """Start it, in a cgroup of its own if wanted and possible; its environment is the given one and the mark. Raises OSError."""
        self = cls(on_exit)
        beneath = cgroup.find_own() if contained else None
        if contained and beneath is None:
            self._uncontained("no cgroup v2 is mounted where ours is seen")
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                shield = "" if start.shield is None else f",{','.join(map(str, start.shield))}"
                argv = [
                    sys.executable,
                    *SUPERVISOR,
                    f"{theirs.fileno()}{shield}",
                    mark,
                    beneath or "",
                    *start.argv,
                ]
                self._supervisor = await Child.start(
                    replace(start, argv=argv),
                    on_exit=self._look,
                    keeps=[theirs.fileno(), *(start.shield or ())],
                )
            ours.setblocking(False)
            await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=ours)
            await self._started.wait()
        except BaseException:
            if self._control is None:
                ours.close()
            self.close()
            if self._supervisor is not None:
                # it ends all that it has started by then, now that its socket is closed
                await self._wait_for_supervisor(INSIST + END_MARGIN)
            raise
        return self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the socket."""
        self._control = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Hear the supervisor."""
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            what, _, argument = line.partition(b" ")
            match what:
                case b"contained":
                    self._cgroup = os.fsdecode(argument)
                case b"uncontained":
                    self._uncontained(argument.decode(errors="replace"))
                case b"started":
                    self.pid = int(argument)
                    self._started.set()
                case b"exited":
                    self._exit(int(argument))
                case b"ended":
                    self._left = int(argument)
                case _:
                    pass

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio names it
        """Note that the supervisor says nothing more."""
        self._is_deaf = True
        self._look()

    def signal(self, number: int) -> None:
        """Send a signal to the program's group and to everything else below the supervisor."""
        self._tell(f"signal {int(number)}")

    def kill_supervisor(self) -> None:
        """End a supervisor that does nothing any more; the program goes with it."""
        if self._supervisor is not None:
            self._supervisor.kill()

    async def end(self, grace: float) -> bool:
        """End everything that is left, by SIGTERM and after `grace` seconds by SIGKILL; tell whether nothing is."""
        self._tell(f"end {grace} {INSIST}")
        await self._wait_for_supervisor(grace + INSIST + END_MARGIN)
        if self._left is None and self._cgroup is not None:
            # somebody killed the supervisor, and nobody is left to adopt; what is in the cgroup is known all the same
            await asyncio.to_thread(cgroup.end, self._cgroup, INSIST)
        return self._left == 0

    async def _wait_for_supervisor(self, seconds: float) -> None:
        if not await suspend_aware.within(seconds, self._over.wait()):
            self.kill_supervisor()
            await self._over.wait()

    def close(self) -> None:
        """Let go of it; a supervisor that still runs ends everything by itself."""
        self._is_left = True
        if self._control is None:
            self._is_deaf = True
        else:
            self._control.close()
        self._look()

    def _uncontained(self, reason: str) -> None:
        log.debug("a CLI runs without a cgroup of its own", extra={"reason": reason})

    def _tell(self, line: str) -> None:
        if self._control is not None and not self._is_deaf:
            self._control.write(line.encode() + b"\n")

    def _look(self) -> None:
        """Take the supervisor for gone once it has exited and all that it said is heard."""
        if not self._is_deaf or self._supervisor is None or not self._supervisor.exited.is_set():
            return
        self.pid = self.pid or self._supervisor.pid
        self._over.set()
        if self._is_left:
            self._supervisor.close()
        self._exit(self._supervisor.code)
        self._started.set()

    def _exit(self, code: int | None) -> None:
        if not self.exited.is_set():
            self.code = code
            self.exited.set()
            self._on_exit()


def _look_for_room() -> None:
    """Raise OSError where too few descriptors are left to start a process: uvloop, if it finds that out, leaves open what it has."""
    with ExitStack() as held:
        for _ in range(ROOM // 2):
            for descriptor in os.pipe():
                held.callback(os.close, descriptor)


def kill_group(pid: int) -> None:
    """Kill the process group of our child, which runs or has just exited."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # PermissionError: macOS says so of a group of zombies
