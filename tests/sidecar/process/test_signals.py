"""How long a process that was asked to stop may take, and who does not have to wait for it."""

import asyncio
import signal
import sys

from recordings import ROOT

STAYS = """
import asyncio, sys
from turnwire.sidecar.process.signals import on_stop

async def main():
    on_stop(lambda number: print(number.name, flush=True), float(sys.argv[1]), insists=sys.argv[2] == "insists")
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
"""A turnwire that does not end, whatever it is told."""


async def stays(seconds: float, insists: str) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STAYS, str(seconds), insists, cwd=ROOT,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert await said(process) == b"ready\n"
    return process


async def said(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        return await process.stdout.readline()


async def test_who_does_not_end_in_time_says_so_and_is_ended() -> None:
    process = await stays(0.05, "waits")
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(60):
        _, complained = await process.communicate()
    assert b"turnwire: did not end within 0.05 s of SIGTERM" in complained
    assert process.returncode == 128 + signal.SIGTERM


async def test_a_second_ctrl_c_ends_it_at_once_and_other_signals_wait() -> None:
    process = await stays(600, "insists")
    for number in (signal.SIGINT, signal.SIGTERM):
        process.send_signal(number)
        assert await said(process) == f"{number.name}\n".encode()
    assert process.returncode is None
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(60):
        assert await process.wait() == 128 + signal.SIGINT
