"""Run `turnwire stdio` between a caller on stdin and stdout and a CLI.

Lines are read with all their bytes, and written to the CLI as in every session (adapter/session/lines.py). The bridge
decides what to do with each. A separate task reads the caller, so neither side waits for the other. A caller that reads
stdout slowly slows the CLI down. The CLI's stderr is forwarded.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from turnwire._runtime.task_owner import first_of
from turnwire.adapter.process.cli import CliProcess, Enters
from turnwire.adapter.process.transport import Exit
from turnwire.adapter.session.lines import Lines
from turnwire.normalize.inputs import Ended, SessionInput
from turnwire.protocol.dialects import CLAUDE, DIALECTS, Dialect, recognise
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.framing import LinePiece, OversizeLine, WholeFramer, ending
from turnwire.runner.input import Input
from turnwire.runner.output import Output, OutputLost
from turnwire.sidecar.streams.relayed_cli import UNSAID, run_cli
from turnwire.sidecar.streams.stdio.arguments import NEW, GoesOn
from turnwire.sidecar.streams.stdio.bridge import BridgeOutput, StdioBridge

if TYPE_CHECKING:
    from turnwire.adapter.process.conversation_lock import ConversationLock

GRACE_S = 2.0
"""Seconds in which another process may end that has the conversation: a caller often goes on while its last one still ends."""
AGAIN_S = 0.05

Observe: TypeAlias = Callable[[Sequence[SessionInput]], None]
"""Called with the inputs between us and the CLI, in order."""

LAST_WORDS = 10.0
"""Seconds that a reader of stderr has to read the rest after the CLI has exited."""


PAUSE_S = 0.5
"""Seconds of silence after which held-back text is written, without waiting for a call in the same message."""


async def serve(
    argv: Sequence[str],
    environment: Mapping[str, str],
    *,
    spoken: Dialect,
    agent: Dialect,
    observe: Observe,
    stop_timeout: float,
    goes_on: GoesOn = NEW,
    sandbox: Enters | None = None,
) -> int:
    """Serve the caller until the CLI has gone; returns its exit code, of a signal -N.

    After a signal that asks to stop, all is over within `stop_timeout` seconds. Raises ProgramNotFound, and
    ConversationInUse if another agent goes on with the conversation.
    """
    driven = Driven(goes_on, environment)
    try:
        if goes_on.conversation is not None:
            await driven.take(goes_on.conversation)
        return await run_cli(
            argv,
            lambda process: Relay(process, spoken, agent, observe, driven.take).run(),
            workspace=Path.cwd(),
            environment=environment,
            stop_timeout=stop_timeout,
            sandbox=sandbox,
        )
    except OutputLost:
        return 1
    finally:
        driven.close()


class Driven:
    """Locks the conversation of the CLI."""

    def __init__(self, goes_on: GoesOn, environment: Mapping[str, str]) -> None:
        self._goes_on = goes_on
        self._environment = environment
        self._lock: ConversationLock | None = None

    async def take(self, conversation: str) -> None:
        """Lock a conversation. Raises ConversationInUse if the CLI goes on with one that another agent has, and keeps for GRACE_S."""
        from turnwire.adapter.process.conversation_lock import ConversationLock  # noqa: PLC0415 - not before there is one

        if self._lock is None:
            self._lock = ConversationLock("claude", self._environment, f"stdio-{os.getpid()}")
        loop = asyncio.get_running_loop()
        until = loop.time() + GRACE_S
        while True:
            try:
                return self._lock.take(conversation)
            except TurnwireError:
                # one that begins is nobody else's, whatever its id
                if not self._goes_on.is_known or self._goes_on.conversation not in (None, conversation):
                    return None
                if loop.time() >= until:
                    raise
            await asyncio.sleep(AGAIN_S)

    def close(self) -> None:
        """Let go of it."""
        if self._lock is not None:
            self._lock.close()


class Relay:
    """Joins the caller and the CLI."""

    def __init__(
        self,
        process: CliProcess,
        spoken: Dialect,
        agent: Dialect,
        observe: Observe,
        take: Callable[[str], Awaitable[None]],
    ) -> None:
        """take: called with the id of the conversation once the CLI names it; raises TurnwireError if the CLI has to end."""
        self._process = process
        self._take = take
        self._conversation: str | None = None
        self._spoken = spoken
        self._agent = agent
        self._observe = observe
        # The CLI is always read. If much waits to be written to it, the caller waits instead.
        self._lines = Lines(process, most_posted=sys.maxsize)
        self._output = Output(1)
        self._errors = Output(2)
        self._bridge: StdioBridge | None = None
        self._heard = asyncio.Event()
        """Set when the CLI has written something."""

    async def run(self) -> Exit:
        """Run until the CLI is gone, and return how it ended. Raises OutputLost, and what `take` raises."""
        try:
            async with asyncio.TaskGroup() as tasks:
                others = [
                    tasks.create_task(self._read_caller()),
                    tasks.create_task(self._lines.write_posted()),
                    tasks.create_task(self._output.lost()),
                    tasks.create_task(self._notice_pauses()),
                ]
                relaying = tasks.create_task(self._relay_stderr())
                await self._read_cli()
                ended = await self._process.wait()
                await _within(LAST_WORDS, relaying)
                for other in others:
                    other.cancel()
            how = Ended("exited", ended.code, ended.signal, self._process.stderr_tail)
            await self._do(self._joined().on_exit(how))
            await self._output.flush()
        except* TurnwireError as failed:
            raise first_of(failed) from None
        return ended

    async def _read_caller(self) -> None:
        framer = WholeFramer()
        async for chunk in Input(sys.stdin.fileno()).chunks():
            for lines in framer.slices(chunk):
                await self._on_caller(lines)
                await asyncio.sleep(0)
        await self._on_caller(framer.close())
        await self._do(self._joined().on_close())

    async def _on_caller(self, lines: Sequence[bytes | LinePiece | OversizeLine]) -> None:
        for line in lines:
            match line:
                case LinePiece(data):
                    moves = self._joined().on_caller_piece(data)
                case OversizeLine():
                    moves = self._joined().on_caller_overlong(line)
                case _:
                    body, end = ending(line)
                    if not body.strip():
                        continue
                    moves = self._joined(body).on_caller_line(body, end)
            await self._do(moves)
            await self._lines.below(UNSAID)

    async def _notice_pauses(self) -> None:
        """Write held-back text once the CLI has been silent for a moment, because it may write no more."""
        while True:
            await self._heard.wait()
            self._heard.clear()
            await asyncio.sleep(PAUSE_S)
            if not self._heard.is_set() and self._bridge is not None:
                await self._do(self._bridge.on_pause())

    async def _read_cli(self) -> None:
        framer = WholeFramer()
        while chunk := await self._process.read():
            self._heard.set()
            for lines in framer.slices(chunk):
                await self._do(*map(self._on_cli, lines))
                await self._look_at_conversation()
                await asyncio.sleep(0)
        await self._do(*map(self._on_cli, framer.close()))

    async def _look_at_conversation(self) -> None:
        named = None if self._bridge is None else self._bridge.session_id
        if named is not None and named != self._conversation:
            self._conversation = named
            try:
                await self._take(named)
            except TurnwireError:
                self._process.kill()
                raise

    def _on_cli(self, line: bytes | LinePiece | OversizeLine) -> BridgeOutput:
        match line:
            case LinePiece(data):
                return self._joined().on_cli_piece(data)
            case OversizeLine():
                return self._joined().on_cli_overlong(line)
            case _:
                return self._joined().on_cli_line(*ending(line))

    async def _relay_stderr(self) -> None:
        """Forward the CLI's stderr, byte for byte, as fast as the caller reads it."""
        try:
            while chunk := await self._process.read_stderr():
                await self._errors.put(chunk)
            await self._errors.flush()
        except OutputLost:
            self._process.discard_stderr()  # a caller may not read it

    def _joined(self, first_line: bytes = b"") -> StdioBridge:
        """Return the bridge. The caller's first line decides its dialect, if nothing else does."""
        if self._bridge is None:
            spoken = self._spoken
            if spoken.name == "auto":
                spoken = DIALECTS[recognise([first_line]) or CLAUDE.name]
            # For a caller of Claude's dialect, an agent of unknown dialect is Claude, byte for byte.
            agent = CLAUDE if self._agent.name == "auto" else self._agent
            self._bridge = StdioBridge(spoken, agent)
        return self._bridge

    async def _do(self, *moves: BridgeOutput) -> None:
        for move in moves:
            self._post(move)
        if said := b"".join(line for move in moves for line in move.to_caller):
            await self._output.put(said)
        if notices := "".join(f"turnwire: {notice}\n" for move in moves for notice in move.notices):
            try:
                await self._errors.put(notices.encode())
            except OutputLost:
                pass  # a caller may not read it, as above

    def _post(self, moves: BridgeOutput) -> None:
        self._observe(moves.seen)
        if moves.to_cli:
            self._lines.post(b"".join(moves.to_cli))
        if moves.close:
            self._lines.post(b"", after=self._process.close_input)


async def _within(seconds: float, task: asyncio.Task[None]) -> None:
    """Wait for a task for at most this many seconds, then cancel it."""
    try:
        async with asyncio.timeout(seconds):
            await task
    except TimeoutError:
        pass  # the timeout has cancelled it
