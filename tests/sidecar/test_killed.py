"""A sidecar that is killed in the middle of a turn, again and again: the log has no hole, and every turn ends once."""

import asyncio
import json
import random
from pathlib import Path

import pytest

from hub.client import connect
from live import Frontend, descendants, gone, scripted_stand
from normalize import events as ev
from normalize.events import AgentEvent
from turnwire_process import turnwire

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


async def follow(frontend: Frontend) -> None:
    while True:
        await frontend.next()


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.long)])
async def test_a_sidecar_killed_while_text_streams_loses_nothing_and_ends_every_turn_once(
    tmp_path: Path, kills: int
) -> None:
    chance = random.Random(kills)
    stand = scripted_stand(tmp_path, "2.1.330", STREAMING)
    config = json.dumps(list(stand.argv))
    (tmp_path / "turnwire.toml").write_text(f"agent = 'streaming'\n[agents]\nstreaming = {config}\n")
    session, seen = "", dict[int, AgentEvent]()
    for number in range(1, kills + 2):
        async with turnwire(tmp_path, "serve", env=stand.env) as served, connect(served.url) as client:
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
