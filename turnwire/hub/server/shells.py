"""The shells that one connection has opened: output to this connection alone, ended with it.

A shell is read only while few of its frames wait for `shell.ack`. A page that is slow, or sleeps, so makes the shell wait and
costs no memory: neither here nor in its browser, which takes whatever a WebSocket brings.
"""

import asyncio
import codecs
from collections.abc import Callable, Coroutine

from pydantic import JsonValue

from turnwire.hub.host import CommandRefused, Frontend, Shell, ShellHost
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames_out import OutFrame, ShellEnded, ShellFrame

MOST_SHELLS = 8
"""Shells of one connection."""

AHEAD = 32
"""Frames of a shell's output that are sent before one is acknowledged."""

Begin = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]


class _Open:
    """A shell, and how far its frontend has seen what it wrote."""

    def __init__(self, session: str, shell: Shell) -> None:
        self.session = session
        self.shell = shell
        self.sent = 0
        self.seen = 0
        self.moved = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class ConnectionShells:
    """The shells of one connection."""

    def __init__(
        self,
        host: ShellHost | None,
        send: Callable[[OutFrame], None],
        begin: Begin,
    ) -> None:
        """`host` opens them, None where shells are off; `send` writes a frame; `begin` starts a task of the hub's."""
        self._host = host
        self._send = send
        self._begin = begin
        self._count = 0
        self._opening = 0
        self._open: dict[str, _Open] = {}
        self._is_closed = False

    async def execute(self, command: frames.ShellCommand, frontend: Frontend) -> JsonValue:
        """Do a command about a shell; raises CommandRefused."""
        match command:
            case frames.ShellOpen():
                return {"shell": await self._opened(command, frontend)}
            case frames.ShellWrite():
                self._find(command).shell.write(command.text.encode())
            case frames.ShellResize():
                self._find(command).shell.resize(command.columns, command.rows)
            case frames.ShellAck():
                one = self._find(command)
                if command.number > one.sent:
                    raise CommandRefused(
                        "invalid_params", f"`number`: {one.sent} frames were sent so far.", "number"
                    )
                one.seen = max(one.seen, command.number)
                one.moved.set()
            case frames.ShellClose():
                await self._find(command).shell.close()
            case _:
                raise AssertionError("every command about a shell has its case")
        return None

    def close(self) -> None:
        """End all of them."""
        self._is_closed = True
        self.end()

    def end(self) -> None:
        """End those that are open now."""
        for one in self._open.values():
            if one.task is not None:
                one.task.cancel()

    async def _opened(self, command: frames.ShellOpen, frontend: Frontend) -> str:
        if self._host is None:
            raise CommandRefused("no_shell", 'Shells are off here; the setting `shell = "on"` allows them.')
        if len(self._open) + self._opening >= MOST_SHELLS:
            raise CommandRefused(
                "no_shell", f"This connection has {MOST_SHELLS} shells, the most allowed; close one."
            )
        self._opening += 1
        try:
            shell = await self._host.open(command, frontend)
        finally:
            self._opening -= 1
        if self._is_closed:
            await shell.close()
            raise CommandRefused("no_shell", "The connection has ended.")
        self._count += 1
        name = f"shell-{self._count}"
        one = self._open[name] = _Open(command.session, shell)
        one.task = self._begin(self._pass_on(name, one))
        return name

    def _find(self, command: frames.ShellAct) -> _Open:
        one = self._open.get(command.shell)
        if one is None or one.session != command.session:
            raise CommandRefused(
                "no_shell", f"This connection has no shell {command.shell[:100]!r} in this session.", "shell"
            )
        return one

    async def _pass_on(self, name: str, one: _Open) -> None:
        """Send what a shell writes, then how it ended."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            is_over = False
            while not is_over:
                while one.sent - one.seen >= AHEAD:
                    one.moved.clear()
                    await one.moved.wait()
                piece = await one.shell.read()
                is_over = not piece
                if text := decoder.decode(piece, final=is_over):
                    one.sent += 1
                    self._send(ShellFrame(session=one.session, shell=name, number=one.sent, text=text))
            await one.shell.close()
            self._send(ShellEnded(session=one.session, shell=name, code=one.shell.code))
        finally:
            self._open.pop(name, None)
            await one.shell.close()
