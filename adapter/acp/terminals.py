"""terminal/*: commands that an agent has its client run; only where the operator has allowed it.

Each is a process of its own in the workspace, supervised as agents are, and with the agent's environment. Both outputs
are one, and the last of it is kept. What is left when the session ends is killed.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from turnwire.adapter.process.cli import CliProcess, Enters, ProgramNotFound
from turnwire.adapter.process.transport import Exit
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import Json, JsonObject, text_at

MAX_TERMINALS = 32
"""Terminals of one session at a time."""

MAX_OUTPUT = 1024 * 1024
"""Bytes of a terminal's output that are kept, at most; the end of it."""

_LINE = re.compile(r"[\s;&|<>$`'\"*?(){}\\]")
"""What only a shell understands: some agents put a whole line into `command`."""


class TerminalRefused(TurnwireError):
    """A terminal that the agent does not get, or does not have."""


class _Terminal:
    """One command, and what it said."""

    def __init__(self, process: CliProcess, limit: int) -> None:
        self.process = process
        self.truncated = False
        self.exit: Exit | None = None
        self._limit = limit
        self._kept = bytearray()

    async def follow(self) -> Exit:
        """Keep what it says until it has ended."""
        while chunk := await self.process.read():
            self._kept += chunk
            if len(self._kept) > self._limit:
                self.truncated = True
                del self._kept[: len(self._kept) - self._limit]
        self.exit = await self.process.wait()
        return self.exit

    def output(self) -> str:
        """Return what is kept, cut on the border of a character."""
        kept = bytes(self._kept)
        if self.truncated:
            while kept and kept[0] & 0xC0 == 0x80:
                kept = kept[1:]
        return kept.decode("utf-8", "replace")


class Terminals:
    """The terminals of one session."""

    def __init__(
        self,
        workspace: Path,
        environment: Mapping[str, str],
        *,
        tasks: asyncio.TaskGroup,
        watchdog: Watchdog | None = None,
        sandbox: Enters | None = None,
        limit: int = MAX_TERMINALS,
        max_output: int = MAX_OUTPUT,
    ) -> None:
        self._workspace = workspace
        self._environment = environment
        self._tasks = tasks
        self._watchdog = watchdog
        self._sandbox = sandbox
        self._limit = limit
        self._max_output = max_output
        self._numbers = count(1)
        self._starting = 0
        self._running: dict[str, tuple[_Terminal, asyncio.Task[Exit]]] = {}
        self._closed = False

    async def answer(self, method: str, params: JsonObject) -> Json:
        """Do what a request asks for and return its result; raises TerminalRefused."""
        match method:
            case "terminal/create":
                return {"terminalId": await self._create(params)}
            case "terminal/output":
                terminal, _ = self._find(params)
                return {
                    "output": terminal.output(),
                    "truncated": terminal.truncated,
                    **({} if terminal.exit is None else {"exitStatus": _status(terminal.exit)}),
                }
            case "terminal/wait_for_exit":
                _, following = self._find(params)
                return _status(await asyncio.shield(following))
            case "terminal/kill":
                terminal, _ = self._find(params)
                terminal.process.kill()
                return {}
            case "terminal/release":
                terminal, _ = self._find(params)
                terminal.process.kill()
                del self._running[text_at(params, "terminalId")]
                return {}
            case _:
                raise TerminalRefused(f"there is no {method}")

    async def close(self) -> None:
        """End what still runs."""
        self._closed = True
        following = [following for _, following in self._running.values()]
        for terminal, _ in self._running.values():
            terminal.process.kill()
        self._running.clear()
        if following:
            await asyncio.wait(following)

    async def _create(self, params: JsonObject) -> str:
        if len(self._running) + self._starting >= self._limit:
            raise TerminalRefused(f"there are {self._limit} terminals, the maximum; release one")
        asked = params.get("outputByteLimit")
        limit = min(asked, self._max_output) if isinstance(asked, int) and asked >= 0 else self._max_output
        self._starting += 1
        try:
            process = await CliProcess.spawn(
                _argv(text_at(params, "command"), params.get("args")),
                workspace=await asyncio.to_thread(self._place, text_at(params, "cwd")),
                environment={**self._environment, **_variables(params.get("env"))},
                watchdog=self._watchdog,
                sandbox=self._sandbox,
            )
        except (ProgramNotFound, OSError, ValueError) as error:
            raise TerminalRefused(f"the command cannot be started: {error}") from None
        finally:
            self._starting -= 1
        terminal = _Terminal(process, limit)
        process.close_input()
        following = self._tasks.create_task(terminal.follow())
        if self._closed:
            process.kill()
        name = f"terminal-{next(self._numbers)}"
        self._running[name] = terminal, following
        return name

    def _place(self, cwd: str) -> Path:
        """Return the folder a command runs in: the workspace, or one inside of it, links followed."""
        if not cwd:
            return self._workspace
        with suppress(OSError, ValueError, RuntimeError):
            place = Path(cwd).resolve(strict=True)
            if place.is_dir() and place.is_relative_to(self._workspace.resolve()):
                return place
        raise TerminalRefused(f"{cwd[:200]!r} is not a folder in the workspace {self._workspace}")

    def _find(self, params: JsonObject) -> tuple[_Terminal, asyncio.Task[Exit]]:
        name = text_at(params, "terminalId")
        if name not in self._running:
            raise TerminalRefused(f"there is no terminal {name[:200]!r}")
        return self._running[name]


def _argv(command: str, args: Json) -> Sequence[str]:
    if not command or "\0" in command:
        raise TerminalRefused("a terminal needs a command; send one in `command`")
    given = [str(argument) for argument in args] if isinstance(args, list) else []
    if not given and _LINE.search(command):
        return ["/bin/sh", "-c", f"exec 2>&1\n{command}"]
    return ["/bin/sh", "-c", 'exec "$0" "$@" 2>&1', command, *given]


def _variables(env: Json) -> dict[str, str]:
    return {
        text_at(one, "name"): text_at(one, "value")
        for one in (env if isinstance(env, list) else [])
        if text_at(one, "name") and not {"=", "\0"} & set(text_at(one, "name"))
    }


def _status(exit_: Exit) -> JsonObject:
    return {"exitCode": exit_.code, "signal": exit_.signal}
