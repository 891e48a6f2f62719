"""Nothing is left behind, however the sidecar ends."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.identity import ProcessIdentity, is_alive, members, start_time
from turnwire.adapter.process.watchdog import Watchdog
from waiting import until

ROOT = Path(__file__).parents[3]

LIVES = 20 if "TURNWIRE_EXPLORE" in os.environ else 8

STUBBORN_FAMILY = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('x', flush=True); time.sleep(600)"
for own_session in (False, True):
    subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE, start_new_session=own_session).stdout.readline()
print("ready", flush=True)
while True:
    time.sleep(1)
"""

SIDECAR = f"""
import asyncio, json, os, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from turnwire.adapter.process.shutdown import StopDeadlines, shut_down
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.watchdog import Watchdog

async def main(ending):
    async with Watchdog.start() as watchdog:
        process = await CliProcess.spawn(
            [sys.executable, "-c", {STUBBORN_FAMILY!r}], workspace=Path("."), environment={{}}, watchdog=watchdog
        )
        await process.read()
        print(json.dumps([process.identity.to_text(), watchdog.pid]), flush=True)
        if ending == "normal":
            await shut_down(process, StopDeadlines(close=0.1, terminate=0.1))
            await process.wait()
        else:
            await asyncio.Event().wait()

asyncio.run(main(sys.argv[1]))
"""


WRAPPER = """
import subprocess, sys, time
child = "import os, time; open('told', 'w').write(str(os.getpid())); os.rename('told', 'child'); time.sleep(600)"
subprocess.Popen([sys.executable, "-c", child], start_new_session=True)
time.sleep(600)
"""

KILLED_BETWEEN = f"""
import asyncio, os, signal, sys, time
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.process.watchdog import Watchdog

async def main():
    async with Watchdog.start() as watchdog:
        guard = watchdog.guard
        def killed_before(identity):
            if identity.pid > 0:
                while not Path("child").exists():
                    time.sleep(0.01)
                os.kill(os.getpid(), signal.SIGKILL)
            guard(identity)
        watchdog.guard = killed_before
        await CliProcess.spawn([sys.executable, "-c", {WRAPPER!r}], workspace=Path("."), environment={{}}, watchdog=watchdog)

asyncio.run(main())
"""


async def test_what_a_wrapper_starts_is_ended_though_the_sidecar_was_killed_before_it_knew_the_pid(
    tmp_path: Path,
) -> None:
    sidecar = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED_BETWEEN, cwd=tmp_path)
    async with asyncio.timeout(120):
        assert await sidecar.wait() == -signal.SIGKILL
    child = int((tmp_path / "child").read_text())
    await until(lambda: start_time(child) is None)


async def live_and_die(ending: str, folder: Path) -> tuple[ProcessIdentity, int]:
    """Run a sidecar with a stubborn family until it ends as said; returns the CLI's identity and the watchdog's pid."""
    sidecar = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SIDECAR, ending, cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    assert sidecar.stdout is not None
    async with asyncio.timeout(120):
        text, watchdog = json.loads(await sidecar.stdout.readline())
        if ending != "normal":
            sidecar.send_signal(signal.Signals[ending])
        await sidecar.wait()
    return ProcessIdentity.from_text(text), watchdog


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    "ending",
    [
        "normal",
        pytest.param("SIGTERM", marks=pytest.mark.long),
        "SIGKILL",
        pytest.param("SIGINT", marks=pytest.mark.long),
    ],
)
async def test_no_process_is_left_after(ending: str, tmp_path: Path) -> None:
    identity, watchdog = await live_and_die(ending, tmp_path)
    await until(lambda: not is_alive(identity) and not members([identity]) and not exists(watchdog))


@pytest.mark.long
@pytest.mark.parametrize("ending", ["normal", "SIGTERM", "SIGKILL", "SIGINT"])
async def test_no_process_is_left_in_many_lives_that_end_by(ending: str, tmp_path: Path) -> None:
    for _ in range(LIVES):
        identity, watchdog = await live_and_die(ending, tmp_path)
        await until(lambda: not is_alive(identity) and not members([identity]) and not exists(watchdog))  # noqa: B023


async def test_a_watchdog_lets_go_of_what_has_ended(tmp_path: Path) -> None:
    async with asyncio.timeout(60):
        async with Watchdog.start() as watchdog:
            process = await CliProcess.spawn(
                [sys.executable, "-c", "pass"], workspace=tmp_path, environment={}, watchdog=watchdog
            )
            await process.wait()
        assert not exists(watchdog.pid)


async def test_a_watchdog_that_was_killed_costs_nothing_else(tmp_path: Path) -> None:
    async with asyncio.timeout(60), Watchdog.start() as watchdog:
        os.kill(watchdog.pid, signal.SIGKILL)
        for _ in range(2):
            process = await CliProcess.spawn(
                [sys.executable, "-c", "print('x')"], workspace=tmp_path, environment={}, watchdog=watchdog
            )
            assert await process.read() == b"x\n"
            await process.wait()
