"""Recordings played as a CLI: the host gets the recorded bytes, whatever it sends in its own words."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_process import STREAM, agent
from recordings import Recording, recording, recordings


def inputs(played: Recording) -> bytes:
    return b"".join(line + b"\n" for line in played.sent())


@pytest.mark.parametrize(
    "played",
    [
        pytest.param(played, marks=() if str(played) == "2.1.330/perm-allow" else pytest.mark.long)
        for played in recordings("perm-allow", "hooks-observe", "queue-at-start", "unicode", "ask-answered")
    ],
    ids=str,
)
async def test_the_recorded_inputs_give_the_recorded_bytes(played: Recording) -> None:
    async with agent(played.folder, *STREAM) as cli:
        cli.send_raw(inputs(played))
        assert cli.process.stdin is not None
        cli.process.stdin.close()
        written = []
        while line := await cli.line():
            written.append(line)
        shown = {row.line for row in played.timeline() if row.dir == "recv"}
        assert b"".join(written) == b"".join(
            line + b"\n" for number, line in enumerate(played.received()) if number in shown
        )
        assert await cli.exit_code() == 0


async def test_requests_of_the_host_are_answered_under_their_own_ids() -> None:
    played = recording("2.1.330", "interrupt-tool")
    async with agent(played.folder, *STREAM) as cli:
        cli.prompt("in my own words")
        await cli.until(lambda message: "'tool_use'" in str(message))
        cli.control("my-own-id", subtype="interrupt")
        assert (await cli.next())["response"]["request_id"] == "my-own-id"
        assert (await cli.result())["subtype"] == "error_during_execution"


async def test_it_waits_for_each_input() -> None:
    played = recording("2.1.330", "perm-allow")
    async with agent(played.folder, *STREAM) as cli:
        cli.prompt("go")
        request = await cli.until_type("control_request")
        cli.allow(request)
        await cli.result()
        cli.prompt("again")
        cli.allow(await cli.until_type("control_request"))
        await cli.result()
        assert [json.dumps(message) for message in cli.received] == [
            json.dumps(json.loads(line)) for line in played.received()
        ]


async def test_initialize_is_answered_though_it_was_not_recorded() -> None:
    async with agent(recording("2.1.330", "plain-text").folder, *STREAM) as cli:
        cli.control("1", subtype="initialize", hooks=None)
        response = (await cli.next())["response"]
        assert response["request_id"] == "1"
        assert response["subtype"] == "success"
        cli.control("2", subtype="make_coffee")
        cli.control("3", subtype="interrupt")
        refused, stopped = [(await cli.next())["response"] for _ in range(2)]
        assert (refused["request_id"], refused["error"]) == (
            "2",
            "the recording has no answer to make_coffee",
        )
        assert (stopped["request_id"], stopped["subtype"]) == ("3", "success")
        # the prompt that it waits for does not come any more
        assert await cli.rest() == []
        assert await cli.exit_code() == 0


async def test_a_killed_cli_is_killed_again() -> None:
    async with agent(recording("2.1.330", "kill-midturn").folder, *STREAM) as cli:
        cli.prompt("go")
        assert await cli.exit_code() == -9


async def test_a_failed_start_repeats_its_stderr_and_code() -> None:
    played = recording("2.1.330", "resume.12-bad-id")
    async with agent(played.folder, *STREAM) as cli:
        cli.send_raw(inputs(played))
        assert await cli.rest() == [json.loads(line) for line in played.received()]
        assert await cli.exit_code() == 1
        assert await cli.stderr() == played.stderr


async def test_a_folder_that_is_no_recording_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "timeline.jsonl").write_text('{"t": "soon"}\n')
    async with agent(tmp_path, *STREAM) as cli:
        assert await cli.exit_code() == 2
        stderr: Any = await cli.stderr()
        assert stderr.startswith("scripted agent: ")
        assert len(stderr.splitlines()) == 1
