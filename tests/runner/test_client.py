"""The client of a runner, before runners that do as a few lines of Python say."""

import asyncio
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from turnwire.runner.client import ClientRun, RunError, RunnerClient
from turnwire.runner.runner_lines import Diag, Fatal

NOTES_AND_WAITS = """
import sys
run = __import__("json").loads(sys.stdin.readline())["id"]
print('{"type":"diag","id":"%s","level":"warn","message":"a note"}' % run, file=sys.stderr, flush=True)
sys.stdin.read()
"""

HEAD = """
import json, sys

def started():
    return json.loads(sys.stdin.readline() or sys.exit(0))["id"]

def tell(stream, **message):
    print(json.dumps(message), file=stream, flush=True)

def event(run, n):
    tell(sys.stdout, type="event", id=run, event={"n": n})

def end(run):
    tell(sys.stdout, type="end", id=run, status="ok")
"""


async def test_a_run_ends_when_its_callers_own_function_fails_at_a_note() -> None:
    def on_note(note: Diag | Fatal) -> None:
        raise ValueError("the caller's own defect")

    argv = [sys.executable, "-c", NOTES_AND_WAITS]
    async with asyncio.timeout(60), RunnerClient(argv, on_note=on_note) as client:
        run = await client.run(model="m", message="hello")
        with pytest.raises(RunError, match=r"the caller's own defect"):
            async for _ in run:
                pass


def runner_of(folder: Path, source: str) -> list[str]:
    """A runner that does what a few lines of Python say; they have `started`, `tell` and `event`."""
    program = folder / "runner.py"
    program.write_text(HEAD + textwrap.dedent(source))
    return [sys.executable, "-I", "-S", str(program)]


async def events_of(run: ClientRun) -> list[Any]:
    return [event async for event in run]


async def test_foreign_lines_are_passed_over_and_words_on_stderr_say_why_a_runner_ended(
    tmp_path: Path,
) -> None:
    notes: list[Diag | Fatal] = []
    argv = runner_of(
        tmp_path,
        """
        run = started()
        print("no message", flush=True)
        event("somebody", 0)
        tell(sys.stderr, type="diag", id="somebody", level="warn", message="not yours")
        tell(sys.stderr, type="diag", id=run, level="warn", message="yours")
        event(run, 1)
        print("out of paper", file=sys.stderr, flush=True)
        sys.exit(3)
        """,
    )
    async with asyncio.timeout(60), RunnerClient(argv, on_note=notes.append) as client:
        run = await client.run(model="m")
        events = aiter(run)
        assert await anext(events) == {"n": 1}
        with pytest.raises(RunError, match=r"the runner has ended \(exit 3\): out of paper"):
            await anext(events)
        assert run.notes == [Diag(id=run.id, level="warn", message="yours")]
        assert len(notes) == 2
        with pytest.raises(RuntimeError, match="a run can be iterated only once"):
            await anext(aiter(run))


async def test_what_a_runner_calls_fatal_is_the_error_of_its_runs_and_the_next_run_has_a_new_one(
    tmp_path: Path,
) -> None:
    argv = runner_of(tmp_path, "started(); tell(sys.stderr, type='fatal', message='no such program')")
    async with asyncio.timeout(60), RunnerClient(argv) as client:
        assert client.pid is None
        for _ in range(2):
            with pytest.raises(RunError, match=r"the runner has ended \(exit 0\): no such program"):
                await events_of(await client.run(model="m"))


async def test_events_of_an_iterator_that_was_left_are_for_nobody_and_its_run_has_an_end(
    tmp_path: Path,
) -> None:
    argv = runner_of(
        tmp_path,
        """
        first = started()
        event(first, 1)
        second = started()
        event(first, 2)
        event(second, 3)
        end(first)
        end(second)
        started()
        """,
    )
    async with asyncio.timeout(60), RunnerClient(argv) as client:
        left = await client.run(model="m")
        events = left.__aiter__()
        assert await anext(events) == {"n": 1}
        await events.aclose()  # type: ignore[attr-defined]  # it is a generator
        assert await events_of(await client.run(model="m")) == [{"n": 3}]
        assert (left.status, left.waits) == ("ok", 0)
        await left.cancel()  # it has ended, so nothing is sent


async def test_a_client_whose_context_was_left_starts_no_other_runner(tmp_path: Path) -> None:
    ends = runner_of(tmp_path, "while True: end(started())")
    async with asyncio.timeout(60), RunnerClient(ends) as client:
        with pytest.raises(TypeError):
            await client.run(model=object())
        assert client.pid is None
        assert await events_of(await client.run(model="m", message="hello")) == []
    with pytest.raises(RunError, match="the client was closed"):
        await client.run(model="m", message="hello")
    assert client.pid is None


async def test_an_event_with_half_a_pair_of_surrogates_arrives_and_so_does_the_next(tmp_path: Path) -> None:
    argv = runner_of(tmp_path, "run = started(); event(run, '\\ud83e'); event(run, 2); end(run); started()")
    async with asyncio.timeout(60), RunnerClient(argv) as client:
        first, second = await events_of(await client.run(model="m"))
        assert (first, second) == ({"n": "\ud83e"}, {"n": 2})


async def test_what_waits_for_an_iterator_is_bounded_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    argv = runner_of(
        tmp_path,
        """
        run = started()
        for number in range(3000):
            event(run, str(number).rjust(1000))
        end(run)
        started()
        """,
    )
    async with asyncio.timeout(60), RunnerClient(argv, ahead=1000) as client:
        run = await client.run(model="m")
        most, seen = 0, 0
        async for event in run:
            assert event == {"n": str(seen).rjust(1000)}
            seen += 1
            most = max(most, run.waits)
            await asyncio.sleep(0)  # time in which more could be read
        assert seen == 3000
        assert most < 1_000_000


async def test_a_runner_that_hears_nothing_any_more_is_ended_when_its_caller_fails(tmp_path: Path) -> None:
    argv = runner_of(
        tmp_path,
        """
        import os, time
        run = started()
        os.close(0)
        event(run, 1)
        time.sleep(600)
        """,
    )

    async def failing(client: RunnerClient) -> None:
        async with client:
            runs.append(await client.run(model="m"))
            assert await anext(aiter(runs[0])) == {"n": 1}
            await runs[0].cancel()  # nobody reads it
            assert client.pid is not None
            raise ZeroDivisionError

    runs: list[ClientRun] = []
    client = RunnerClient(argv)
    async with asyncio.timeout(60):
        with pytest.raises(ZeroDivisionError):
            await failing(client)
    assert (client.pid, runs[0].status) == (None, "error")
