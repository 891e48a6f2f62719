"""No process of ours is left, however turnwire ends and however stubborn the CLI is; each way many times over."""

import os
import signal
from pathlib import Path

import pytest

from live import descendants, gone, running, scripted_setup
from turnwire.client.events import MessageChunk
from turnwire.scripted_agent.loading import load

TIMES = 20 if "TURNWIRE_EXPLORE" in os.environ else 6

HANGS = "fallback: {steps: [{text: 'I work.'}, {hang: true}]}"
STUBBORN = f"ignore: [interrupt, stdin_close, sigterm]\n{HANGS}"


async def once(folder: Path, script: str, way: str, *, in_turn: bool) -> None:
    folder.mkdir()
    async with running(folder, scripted_setup(folder, "2.1.330", script)) as (frontend, served):
        if in_turn:
            await frontend.prompt("go")
            await frontend.until(MessageChunk)
        left = descendants(served.process.pid)
        assert left
        match way:
            case "SIGKILL":
                await served.kill()
            case "SIGINT":
                served.process.send_signal(signal.SIGINT)
                await served.ended()
            case _:
                pass  # the context ends it, with SIGTERM
    await gone(left)


@pytest.mark.parametrize(
    ("script", "way", "in_turn"),
    [
        pytest.param(HANGS, "SIGTERM", False, marks=pytest.mark.long),
        pytest.param(HANGS, "SIGTERM", True, marks=pytest.mark.long),
        pytest.param(HANGS, "SIGINT", True, marks=pytest.mark.long),
        (HANGS, "SIGKILL", True),
        pytest.param(STUBBORN, "SIGTERM", True, marks=pytest.mark.long),
        pytest.param(STUBBORN, "SIGKILL", True, marks=pytest.mark.long),
    ],
    ids=["idle-term", "term", "int", "kill", "stubborn-term", "stubborn-kill"],
)
async def test_nothing_is_left(tmp_path: Path, script: str, way: str, in_turn: bool) -> None:
    await once(tmp_path / "only", script, way, in_turn=in_turn)


@pytest.mark.long
@pytest.mark.parametrize("way", ["SIGTERM", "SIGINT", "SIGKILL"])
@pytest.mark.parametrize(
    ("script", "in_turn"), [(HANGS, False), (HANGS, True), (STUBBORN, True)], ids=["idle", "turn", "stubborn"]
)
async def test_nothing_is_left_many_times(tmp_path: Path, script: str, way: str, in_turn: bool) -> None:
    for number in range(TIMES):
        await once(tmp_path / str(number), script, way, in_turn=in_turn)


def test_the_bundled_stubborn_script_is_as_deaf_as_the_one_above() -> None:
    assert set(load("stubborn").ignore) == {"interrupt", "stdin_close", "sigterm"}
