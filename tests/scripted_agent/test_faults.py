"""The ways in which the agent misbehaves on purpose."""

import signal
from pathlib import Path

import pytest

from agent_process import STREAM, agent, script_file


async def test_a_crash_has_its_exit_code_and_last_words(tmp_path: Path) -> None:
    script = script_file(
        tmp_path, "turns: [{steps: [{text: a}, {crash: 3, last_words: out of ideas}, {text: b}]}]"
    )
    async with agent(script, *STREAM) as cli:
        cli.prompt("go")
        await cli.until_type("assistant")
        assert await cli.line() == b""
        assert await cli.exit_code() == 3
        assert await cli.stderr() == "out of ideas\n"


async def test_a_crash_may_be_a_signal(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, "turns: [{steps: [{crash: SIGKILL}]}]"), *STREAM) as cli:
        cli.prompt("go")
        assert await cli.exit_code() == -signal.SIGKILL


async def test_a_crash_before_any_input(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, "start: [{stderr: no luck}, {crash: 7}]"), *STREAM) as cli:
        assert await cli.exit_code() == 7
        assert await cli.stderr() == "no luck\n"


async def test_garbage_is_written_as_it_stands(tmp_path: Path) -> None:
    script = script_file(
        tmp_path, "turns: [{steps: [{raw: 'not json'}, {raw: {type: new}}, {raw: half, newline: false}]}]"
    )
    async with agent(script, *STREAM) as cli:
        cli.prompt("go")
        await cli.next()
        assert await cli.line() == b"not json\n"
        assert await cli.line() == b'{"type":"new"}\n'
        assert (await cli.line()).startswith(b"half{")


async def test_a_huge_line_is_one_line(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, "turns: [{steps: [{huge: 3000000}]}]"), *STREAM) as cli:
        cli.prompt("go")
        assert len((await cli.result())["result"]) == 3_000_000


async def test_a_flood_is_complete_and_in_order(tmp_path: Path) -> None:
    script = script_file(tmp_path, "turns: [{steps: [{flood: 2000, size: 8}]}]")
    async with agent(script, *STREAM, "--include-partial-messages") as cli:
        cli.prompt("go")
        await cli.result()
        deltas = [m["event"]["delta"]["text"] for m in cli.received if "text_delta" in str(m.get("event"))]
        assert [int(delta.split()[0]) for delta in deltas] == list(range(2000))


async def test_an_interrupt_stops_a_flood(tmp_path: Path) -> None:
    script = script_file(tmp_path, "turns: [{steps: [{flood: 100000000}]}]")
    async with agent(script, *STREAM, "--include-partial-messages") as cli:
        cli.prompt("go")
        await cli.until(lambda message: "text_delta" in str(message))
        cli.control("stop", subtype="interrupt")
        assert (await cli.result())["subtype"] == "error_during_execution"


async def test_a_stubborn_agent_outlives_interrupt_end_of_stdin_and_sigterm() -> None:
    async with agent("stubborn", *STREAM) as cli:
        cli.prompt("go")
        await cli.until_type("assistant")
        cli.control("stop", subtype="interrupt")
        cli.control("alive", subtype="mcp_status")
        assert (await cli.next())["response"]["request_id"] == "alive"
        cli.process.terminate()
        cli.control("still alive", subtype="mcp_status")
        assert (await cli.next())["response"]["request_id"] == "still alive"
        assert cli.process.stdin is not None
        cli.process.stdin.close()
        await cli.process.stdin.wait_closed()
        assert cli.process.returncode is None
        cli.process.kill()
        assert await cli.exit_code() == -signal.SIGKILL


async def test_an_api_failure_is_a_synthetic_message_and_a_success_that_is_an_error(tmp_path: Path) -> None:
    script = script_file(
        tmp_path, "turns: [{steps: [{api_error: rate_limit, message: Slow down, status: 429}]}]"
    )
    async with agent(script, *STREAM) as cli:
        cli.prompt("go")
        result = await cli.result()
        assert (result["subtype"], result["is_error"], result["api_error_status"]) == ("success", True, 429)
        assert cli.received[1]["message"]["model"] == "<synthetic>"
        assert cli.received[1]["error"] == "rate_limit"


@pytest.mark.parametrize(("version", "is_error"), [("2.0.14", False), ("2.1.330", True)])
async def test_a_failed_turn_has_no_result_text(tmp_path: Path, version: str, is_error: bool) -> None:
    script = script_file(tmp_path, "turns: [{steps: [{text: a}, {fail: error_max_turns, errors: [enough]}]}]")
    async with agent(script, *STREAM, "--dialect-version", version) as cli:
        cli.prompt("go")
        result = await cli.result()
        assert "result" not in result
        assert result["is_error"] is is_error
        assert result.get("errors") == (["enough"] if is_error else None)


@pytest.mark.parametrize(
    ("version", "line", "code"),
    [
        ("2.1.330", b"this is not json\n", 1),
        ("1.0.120", b"\n", 1),
        ("1.0.120", b'{"type":"no_such_type"}\n', 1),
        ("2.1.330", b"\n", 0),
        ("2.1.330", b'{"type":"no_such_type"}\n', 0),
        ("2.1.330", b'{"type":"user","message":{"role":"assistant","content":"x"}}\n', 1),
    ],
)
async def test_input_that_kills_the_real_cli_kills_the_agent(
    tmp_path: Path, version: str, line: bytes, code: int
) -> None:
    async with agent(script_file(tmp_path, "turns: []"), *STREAM, "--dialect-version", version) as cli:
        cli.send_raw(line)
        await cli.rest()
        assert await cli.exit_code() == code
        assert (await cli.stderr() != "") is bool(code)
