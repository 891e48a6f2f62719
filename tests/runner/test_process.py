"""`turnwire runner` as a process with scripted agents under it, driven by hand and by the client."""

import asyncio
import json
import os
import random
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from runner_harness import cancel, request

from agent_process import script_file
from turnwire.runner.client import AHEAD, ClientRun, RunError, RunnerClient
from turnwire_process import DEADLINE, TURNWIRE, environment
from waiting import until

JSON = dict[str, Any]
LONG = pytest.mark.long
MESSAGE = {"type": "user", "message": {"role": "user", "content": "go"}}

SCRIPT = """
turns:
  - match: hang
    steps: [{text: Waiting.}, {hang: true}]
  - match: flood
    steps: [{flood: 20000, size: 400}]
  - match: crash
    steps: [{text: Ouch.}, {crash: 3, last_words: "no\\nway"}]
  - match: limit
    steps: [{rate_limit: {status: rejected, resetsAt: 1}}, {api_error: rate_limit, message: Limited., status: 429}]
fallback:
  steps:
    - thinking: Let me see what {prompt} is.
    - text: You said {prompt}, I think.
    - tool: Bash
      input: {command: "echo {prompt}"}
      result: "{prompt}"
    - text: Done with {prompt}.
"""


def command(folder: Path, *options: str) -> tuple[list[str], dict[str, str]]:
    """The argv of a runner over the scripted agent, and its environment."""
    script = script_file(folder, SCRIPT)
    argv = json.dumps([sys.executable, "-m", "turnwire.scripted_agent", str(script), "--seed=7"])
    env = environment(folder / "home", TURNWIRE_AGENTS=f'{{"mine": {argv}}}', TURNWIRE_AGENT="mine")
    return [*TURNWIRE, "runner", *options], env


def prompt(text: str) -> JSON:
    return {"type": "user", "message": {"role": "user", "content": text}}


def ask(run_id: str, text: str, **params: object) -> bytes:
    return request(run_id, message=prompt(text), **params)


@dataclass
class Running:
    process: asyncio.subprocess.Process

    def send(self, *lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.writelines(lines)

    async def line(self) -> JSON:
        assert self.process.stdout is not None
        message: JSON = json.loads(await self.process.stdout.readline())
        return message

    async def rest(self) -> tuple[list[JSON], list[JSON]]:
        """End stdin; everything on stdout and stderr."""
        output, notes = await self.process.communicate(b"")
        return [[json.loads(line) for line in part.split(b"\n")[:-1]] for part in (output, notes)]  # type: ignore[return-value]


@asynccontextmanager
async def runner(folder: Path, *options: str) -> AsyncIterator[Running]:
    argv, env = command(folder, *options)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *argv, cwd=folder, env=env, stdin=pipe, stdout=pipe, stderr=pipe, limit=1 << 26
    )
    try:
        async with asyncio.timeout(DEADLINE):
            yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def ends(lines: list[JSON]) -> dict[str, JSON]:
    found = [line for line in lines if line["type"] == "end"]
    assert len({end["id"] for end in found}) == len(found)
    return {end["id"]: end for end in found}


def steady(event: JSON) -> JSON:
    """An event without what differs from run to run: ids come from a seed, times do not."""
    text = re.sub(r'"(timestamp|duration_ms|duration_api_ms)": ("[^"]*"|\d+)', '"t": 0', json.dumps(event))
    whole: JSON = json.loads(text)
    return whole


def events(lines: list[JSON], run_id: str) -> list[JSON]:
    return [steady(line["event"]) for line in lines if line["type"] == "event" and line["id"] == run_id]


async def test_requests_are_answered_and_stderr_carries_nothing_else(tmp_path: Path) -> None:
    async with runner(tmp_path) as running:
        running.send(ask("a", "hello"), b"junk\n", ask("b", "crash"), b'{"type":"x","id":"c"}\n')
        lines, notes = await running.rest()
        assert running.process.returncode == 0
    assert [end.get("error", end["status"]) for end in (ends(lines)[name] for name in "abc")] == [
        "ok",
        "the CLI exited with code 3 without a result: no way",
        "unknown-type: x",
    ]
    assert notes == []
    said = events(lines, "a")
    assert [event["type"] for event in said if event["type"] != "stream_event"] == [
        "system",
        "assistant",
        "assistant",
        "assistant",
        "user",
        "assistant",
        "result",
    ]
    assert any(event["type"] == "stream_event" for event in said)
    log = (tmp_path / "home/.local/state/turnwire/runner.log").read_text()
    assert '"dropped": {"no JSON object": 1}' in log


async def test_a_rate_limit_leads_to_a_retry_of_the_same_session(tmp_path: Path) -> None:
    async with runner(tmp_path) as running:
        running.send(ask("a", "limit", rate_limit_max_retries=1))
        lines, notes = await running.rest()
    # a stand-in that is resumed has nothing to go on with: it ends, and the run says so
    assert ends(lines)["a"]["error"] == "the CLI exited with code 0 without a result"
    assert [note["message"] for note in notes] == ["rate limit: waiting 0 s, then retry 1 of 1"]
    assert [event["type"] for event in events(lines, "a")] == ["system"]


async def test_a_missing_program_is_fatal(tmp_path: Path) -> None:
    async with runner(tmp_path, "--agent", "nobody") as running:
        lines, notes = await running.rest()
        assert running.process.returncode == 2
    assert lines == []
    (fatal,) = notes
    assert list(fatal) == ["type", "message"]
    assert fatal["type"] == "fatal"


@pytest.mark.parametrize(
    "options",
    [
        ["--bogus"],
        ["--max-running", "0"],
        *(
            pytest.param(options, marks=LONG)
            for options in (["--max-running"], ["--at-end", "never"], ["extra"])
        ),
    ],
)
async def test_a_wrong_call_is_one_fatal_line(tmp_path: Path, options: list[str]) -> None:
    async with runner(tmp_path, *options) as running:
        lines, notes = await running.rest()
        assert running.process.returncode == 2
    assert lines == []
    assert [(note["type"], bool(note["message"])) for note in notes] == [("fatal", True)]


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=LONG)])
async def test_a_terminated_runner_ends_its_runs_and_says_why(tmp_path: Path, number: signal.Signals) -> None:
    async with runner(tmp_path) as running:
        running.send(ask("a", "hang"))
        await running.line()
        running.process.send_signal(number)
        lines, notes = await running.rest()
        assert running.process.returncode == 128 + number
    assert ends(lines)["a"]["status"] == "cancelled"
    assert notes[-1] == {"type": "fatal", "message": f"ended by {number.name}"}


async def test_a_caller_that_has_gone_ends_the_runner(tmp_path: Path) -> None:
    argv, env = command(tmp_path)
    read, write = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=tmp_path,
        env=env,
        stdin=asyncio.subprocess.PIPE,
        stdout=write,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(write)
    os.close(read)
    assert process.stdin is not None
    process.stdin.write(ask("a", "flood"))
    assert process.stderr is not None
    async with asyncio.timeout(DEADLINE):
        notes = (await process.stderr.read()).split(b"\n")
        assert await process.wait() == 1
    assert json.loads(notes[-2])["type"] == "fatal"
    process.stdin.close()


async def test_the_end_of_stdin_cancels_what_runs_by_option(tmp_path: Path) -> None:
    async with runner(tmp_path, "--at-end", "cancel") as running:
        running.send(ask("a", "hang"))
        await running.line()
        lines, _ = await running.rest()
        assert running.process.returncode == 0
    assert ends(lines)["a"]["status"] == "cancelled"


@pytest.mark.long
async def test_a_slow_reader_loses_nothing_and_cancels_reach_the_agents(tmp_path: Path) -> None:
    async with runner(tmp_path) as running:
        running.send(ask("a", "flood"), ask("b", "flood"))
        for _ in range(20):
            await running.line()
        running.send(cancel("a"))
        lines, notes = await running.rest()
    assert {run: end["status"] for run, end in ends(lines).items()} == {"a": "cancelled", "b": "ok"}
    deltas = [event for event in events(lines, "b") if event["type"] == "stream_event"]
    assert len(deltas) > 19_950
    assert notes == []


async def alone_and_together(folder: Path, number: int) -> None:
    async with runner(folder) as running:
        running.send(ask("r", "hello"))
        lines, _ = await running.rest()
        alone = events(lines, "r")
    async with runner(folder) as running:
        running.send(*(ask(f"r{index}", "hello") for index in range(number)))
        lines, notes = await running.rest()
    assert {end["status"] for end in ends(lines).values()} == {"ok"}
    assert len(ends(lines)) == number
    for index in range(number):
        assert events(lines, f"r{index}") == alone
    assert notes == []


@pytest.mark.long
async def test_runs_together_say_what_each_says_alone(tmp_path: Path) -> None:
    await alone_and_together(tmp_path, 8)


@pytest.mark.long
async def test_many_runs_together_say_what_each_says_alone(tmp_path: Path) -> None:
    await alone_and_together(tmp_path, 200 if "TURNWIRE_EXPLORE" in os.environ else 80)


# The client


@asynccontextmanager
async def client(folder: Path, *, ahead: int = AHEAD) -> AsyncIterator[RunnerClient]:
    argv, env = command(folder)
    async with (
        asyncio.timeout(DEADLINE),
        RunnerClient(argv, env=env, cwd=str(folder), ahead=ahead) as running,
    ):
        yield running


async def run(running: RunnerClient, text: str) -> ClientRun:
    return await running.run(model="m", message=prompt(text), rate_limit_max_retries=0)


async def gathered(of: ClientRun) -> list[str]:
    return [event["type"] async for event in of]


async def test_the_client_iterates_many_runs_over_one_process(tmp_path: Path) -> None:
    async with client(tmp_path) as running:
        runs = [await run(running, f"prompt {number}") for number in range(5)]
        kinds = await asyncio.gather(*(gathered(one) for one in runs))
        assert all(kind[0] == "system" and kind[-1] == "result" for kind in kinds)
        assert {one.status for one in runs} == {"ok"}


async def test_the_client_cancels_a_run(tmp_path: Path) -> None:
    async with client(tmp_path) as running:
        hanging = await run(running, "hang")
        async for event in hanging:
            if event["type"] == "assistant":
                await hanging.cancel()
        assert hanging.status == "cancelled"
        await hanging.cancel()
        assert (await gathered(await run(running, "again")))[-1] == "result"


async def test_an_error_is_raised_where_the_events_end(tmp_path: Path) -> None:
    async with client(tmp_path) as running:
        with pytest.raises(RunError, match="exited with code 3"):
            await gathered(await run(running, "crash"))
        with pytest.raises(RunError, match="invalid-params"):
            await gathered(await running.run(model=""))


@pytest.mark.long
async def test_a_runner_that_is_killed_ends_its_runs_and_the_next_run_has_a_new_one(tmp_path: Path) -> None:
    async with client(tmp_path) as running:
        hanging = await run(running, "hang")
        first = running.pid
        assert first is not None
        events = aiter(hanging)
        while (await anext(events))["type"] != "assistant":
            pass
        os.kill(first, signal.SIGKILL)
        with pytest.raises(RunError, match="the runner has ended"):
            [event async for event in events]
        assert hanging.status == "error"
        assert (await gathered(await run(running, "again")))[-1] == "result"
        assert running.pid not in (None, first)


@pytest.mark.long
async def test_a_run_that_nobody_iterates_costs_no_more_than_the_bound(tmp_path: Path) -> None:
    async with client(tmp_path, ahead=100_000) as running:
        flood = await run(running, "flood")
        await until(lambda: flood.waits > 100_000)
        # whatever else the runner has to say, it is told to wait: it ends only once somebody iterates
        for _ in range(5):
            await asyncio.sleep(0.1)
            assert flood.waits < 1_000_000
            assert flood.status is None
        kinds = await gathered(flood)
        assert kinds.count("stream_event") > 19_950
        assert flood.status == "ok"


@pytest.mark.long
async def test_an_iterator_that_is_left_early_blocks_no_other_run(tmp_path: Path) -> None:
    async with client(tmp_path, ahead=100_000) as running:
        flood = await run(running, "flood")
        async for event in flood:
            if event["type"] == "stream_event":
                break
        assert (await gathered(await run(running, "hello")))[-1] == "result"
        await until(lambda: flood.status == "ok")
        assert flood.waits == 0
        with pytest.raises(RuntimeError, match="iterated only once"):
            await gathered(flood)


async def test_random_cancels_over_real_processes(tmp_path: Path) -> None:
    chance = random.Random(3)
    async with client(tmp_path) as running:
        runs = [await run(running, chance.choice(["hang", "hello"])) for _ in range(10)]
        reading = [asyncio.create_task(gathered(one)) for one in runs]
        for one in chance.sample(runs, 10):
            await one.cancel()
        await asyncio.gather(*reading)
        assert {one.status for one in runs} <= {"ok", "cancelled"}
