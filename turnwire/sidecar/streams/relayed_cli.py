"""Run one CLI whose streams are passed on, from its start to its exit code."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from turnwire.adapter.process.cli import CliProcess, Enters
from turnwire.adapter.process.shutdown import StopDeadlines, kill_on_exit, shut_down
from turnwire.adapter.process.transport import Exit
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.sidecar.process.signals import number_of, on_stop

STOP = StopDeadlines(interrupt=0.0, close=0.5, terminate=3.0)
SIGNAL_GRACE = 3.0
"""Seconds that a CLI has to exit after a signal. The official SDK waits longer before it kills turnwire."""

UNSAID = 8 * 1024 * 1024
"""Maximum bytes that wait to be written to the CLI. Above it no more input is read."""


async def run_cli(
    argv: Sequence[str],
    work: Callable[[CliProcess], Awaitable[Exit]],
    *,
    workspace: Path,
    environment: Mapping[str, str],
    stop_timeout: float,
    sandbox: Enters | None,
) -> int:
    """Run a CLI until `work` with it is done; returns its exit code, or -N for signal N. Raises ProgramNotFound.

    A stop signal is passed on to the CLI. After it all is over within `stop_timeout` seconds.
    """
    async with Watchdog.start() as watchdog:
        process = await CliProcess.spawn(
            argv,
            workspace=workspace,
            environment=environment,
            watchdog=watchdog,
            reads_stderr=True,
            sandbox=sandbox,
        )
        async with kill_on_exit(process):
            on_stop(partial(_end, process), stop_timeout)
            try:
                ended = await work(process)
            finally:
                process.discard()
                await shut_down(process, STOP)
    return -number_of(ended.signal) if ended.signal else ended.code or 0


def _end(process: CliProcess, number: signal.Signals) -> None:
    """Pass a signal on to the CLI. Kill a CLI that ignores it after a while."""
    process.signal(number)
    asyncio.get_running_loop().call_later(SIGNAL_GRACE, _kill, process)


def _kill(process: CliProcess) -> None:
    if not process.has_exited:
        process.kill()
