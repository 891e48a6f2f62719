"""A sidecar that is killed in the middle of a turn, again and again: the log has no hole, and every turn ends once."""

import asyncio
import json
import os
import random
import shlex
from pathlib import Path

import pytest

from live import Frontend, descendants, gone, scripted_setup
from turnwire.adapter.process.identity import start_time
from turnwire.client import connect
from turnwire.client import events as ev
from turnwire.client.events import AgentEvent
from turnwire_process import DEADLINE, TURNWIRE, environment, turnwire
from waiting import until

STREAMING = """
fallback:
  steps:
    - text: "{prompt} and so on, for as long as anybody listens, and a little longer, because nobody ever stops it."
      chunk: 1
      pace: 0.005
    - tool: Bash
      input: {command: "sleep", description: "Sleep"}
      seconds: 60
"""


SLOW_TO_SAY_ITS_VERSION = """#!/bin/sh
echo $$ >told && mv told asked
exec sleep 600
"""


async def test_a_cli_that_is_asked_for_its_version_goes_with_a_sidecar_that_is_killed(tmp_path: Path) -> None:
    cli = tmp_path / "cli"
    cli.write_text(SLOW_TO_SAY_ITS_VERSION)
    cli.chmod(0o755)
    sidecar = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        "run",
        "--port",
        "0",
        "--state-dir",
        "state",
        "--",
        str(cli),
        cwd=tmp_path,
        env=environment(tmp_path),
    )
    asked = tmp_path / "asked"
    await until(asked.exists, DEADLINE)
    sidecar.kill()
    await sidecar.wait()
    pid = int(asked.read_text())
    await until(lambda: start_time(pid) is None)


WRAPPED = """#!/bin/sh
{command} "$@"
exit $?
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "lives", [2, pytest.param(30 if "TURNWIRE_EXPLORE" in os.environ else 12, marks=pytest.mark.long)]
)
async def test_no_cli_is_left_of_sidecars_that_are_killed_while_they_start(
    tmp_path: Path, lives: int
) -> None:
    chance = random.Random(lives)
    setup = scripted_setup(tmp_path, "2.1.330", STREAMING)
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(WRAPPED.format(command=shlex.join(setup.argv)))
    wrapper.chmod(0o755)
    for number in range(lives):
        argv = setup.argv if number % 2 else (str(wrapper),)
        sidecar = await asyncio.create_subprocess_exec(
            *TURNWIRE, "run", "--port", "0", "--state-dir", "state", "--", *argv,
            cwd=tmp_path, env=setup.env, stdout=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        # from the first process below it on: the watchdog, the question for a version, the CLI
        await until(lambda: descendants(sidecar.pid), DEADLINE)  # noqa: B023
        await asyncio.sleep(chance.random() * 0.8)
        sidecar.kill()
        await sidecar.wait()
        await until(lambda: not running_in(tmp_path), DEADLINE)


def running_in(folder: Path) -> list[int]:
    """The processes whose command line names something in a folder."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and str(folder).encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue  # it has gone
    return found


async def follow(frontend: Frontend) -> None:
    while True:
        await frontend.next()


@pytest.mark.long
@pytest.mark.parametrize("kills", [20 if "TURNWIRE_EXPLORE" in os.environ else 10])
async def test_a_sidecar_killed_while_text_streams_loses_nothing_and_ends_every_turn_once(
    tmp_path: Path, kills: int
) -> None:
    chance = random.Random(kills)
    setup = scripted_setup(tmp_path, "2.1.330", STREAMING)
    config = json.dumps(list(setup.argv))
    (tmp_path / "turnwire.toml").write_text(f"agent = 'streaming'\n[agents]\nstreaming = {config}\n")
    session, seen = "", dict[int, AgentEvent]()
    for number in range(1, kills + 2):
        async with turnwire(tmp_path, "serve", env=setup.env) as served, connect(served.url) as client:
            if not session:
                session = await client.create(workspace=str(tmp_path))
            frontend = await Frontend(client, session).caught_up()
            log = dict(zip(frontend.seqs, frontend.events, strict=True))
            assert sorted(log) == list(range(1, len(log) + 1))
            assert log | seen == log, "an event that was seen has gone or changed"
            started = [event.operation_id for event in frontend.seen(ev.TurnStarted)]
            assert started == [f"turn-{turn}" for turn in range(1, number)]
            assert started == [event.operation_id for event in frontend.seen(ev.Complete)]
            if number > kills:
                return
            await frontend.prompt(f"Number {number}")
            await frontend.until(ev.MessageChunk)
            reading = asyncio.create_task(follow(frontend))
            await asyncio.sleep(chance.random() * 0.5)
            children = descendants(served.process.pid)
            await served.kill()
            reading.cancel()
            seen = dict(zip(frontend.seqs, frontend.events, strict=True))
        await gone(children)
