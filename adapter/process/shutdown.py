"""Stopping an agent step by step: interrupt the turn, close stdin, TERM, KILL; each step has its time, the last one cannot be refused."""

import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Literal, TypeAlias

from msgspec import Struct

from turnwire.adapter.process import suspend_aware
from turnwire.adapter.process.cli import CliProcess

Step: TypeAlias = Literal["interrupt", "close stdin", "SIGTERM", "SIGKILL"]


class StopDeadlines(Struct, frozen=True, kw_only=True):
    """Seconds that a CLI has for each step before the next one."""

    interrupt: float = 3.0
    """For the running turn to end; 0 for none: the agent is not told before its stdin is closed."""
    close: float = 3.0
    """To exit after its stdin was closed; with background commands the CLI waits for them."""
    terminate: float = 3.0
    """To exit after SIGTERM."""


@asynccontextmanager
async def kill_on_exit(process: CliProcess) -> AsyncIterator[None]:
    """See that nothing of a process is left when the context is, whatever happens in it."""
    try:
        yield
    finally:
        if not process.has_exited:
            process.kill()
        if not process.is_over:
            process.discard()
            await process.wait()


async def shut_down(
    process: CliProcess, deadlines: StopDeadlines, *, before: Sequence[Callable[[], Awaitable[None]]] = ()
) -> Step | None:
    """Stop a CLI and return the step that did it; None when it had exited before.

    Args:
        process: the CLI; its group goes with it.
        deadlines: the time for each step.
        before: what is done first, such as interrupting the turn; each has the time of the first step.
    """
    if process.has_exited:
        return None
    for act in before if deadlines.interrupt else ():
        try:
            async with suspend_aware.timeout(deadlines.interrupt):
                await act()
        except TimeoutError:
            pass
    process.close_input()
    if await process.exits_within(deadlines.close):
        return "close stdin"
    process.signal(signal.SIGTERM)
    if await process.exits_within(deadlines.terminate):
        return "SIGTERM"
    process.kill()
    await process.exited()
    return "SIGKILL"
