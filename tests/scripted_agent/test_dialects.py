"""The stand-in in other dialects: what miriad-code and JSON-RPC promise of an agent."""

from pathlib import Path
from typing import Any

import pytest

from agent_process import AgentProcess, agent, script_file

JSON = dict[str, Any]

SCRIPT = """
turns:
  - match: Read
    steps:
      - text: I'll read that file for you.
      - tool: read
        input: {filePath: /tmp/test.txt}
        result: Hello from test file!
      - text: "The file contains: Hello from test file!"
  - match: hang
    steps: [{text: Waiting.}, {hang: true}]
  - match: slow
    steps: [{text: Working.}, {request: {subtype: hold}}, {text: Slowly done.}]
fallback:
  steps: [{text: "Heard {prompt}"}]
"""


def short(message: JSON) -> JSON:
    """A message without what differs from run to run."""
    dropped = {"session_id", "duration_ms", "usage", "num_turns"}
    return {key: value for key, value in message.items() if key not in dropped}


async def until_result(cli: AgentProcess) -> list[JSON]:
    start = len(cli.received)
    await cli.result()
    return [short(message) for message in cli.received[start:]]


def said(text: str) -> JSON:
    return {
        "type": "assistant",
        "message": {
            "role": "assistant",
            "content": [{"type": "text", "text": text}],
            "model": "scripted-agent",
        },
    }


async def test_the_example_session_of_spec_1(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, SCRIPT), "--dialect", "miriad", "--seed=1") as cli:
        cli.prompt("Read /tmp/test.txt", session_id="sess_1")
        lines = await until_result(cli)
        call = lines[0]["message"]["content"][1]
        assert lines == [
            {
                "type": "assistant",
                "message": {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I'll read that file for you."},
                        {
                            "type": "tool_use",
                            "id": call["id"],
                            "name": "read",
                            "input": {"filePath": "/tmp/test.txt"},
                        },
                    ],
                    "model": "scripted-agent",
                },
            },
            {
                "type": "system",
                "subtype": "tool_result",
                "tool_result": {
                    "type": "tool_result",
                    "tool_use_id": call["id"],
                    "content": "Hello from test file!",
                },
            },
            said("The file contains: Hello from test file!"),
            {
                "type": "result",
                "subtype": "success",
                "is_error": False,
                "result": "The file contains: Hello from test file!",
            },
        ]
        cli.prompt("Thanks!", session_id="sess_1")
        assert (await until_result(cli))[0] == said("Heard Thanks!")


async def test_prompts_in_a_turn_are_queued_and_injected_as_one(tmp_path: Path) -> None:
    script = script_file(tmp_path, SCRIPT.replace("tool: read", "tool: read\n        permission: true"))
    async with agent(script, "--dialect", "miriad", "--permission-prompt-tool", "stdio") as cli:
        cli.prompt("Read it")
        asked = await cli.until_type("control_request")
        cli.prompt("one")
        cli.prompt("two")
        cli.allow(asked)
        lines = await until_result(cli)
    assert [line for line in lines if line.get("subtype") in ("queued", "injected")] == [
        {"type": "system", "subtype": "queued", "position": 1},
        {"type": "system", "subtype": "queued", "position": 2},
        {"type": "system", "subtype": "injected", "message_count": 2, "content_length": len("one\n\ntwo")},
    ]
    blocks = [block for line in lines if line["type"] == "assistant" for block in line["message"]["content"]]
    assert {"type": "text", "text": "Heard while working: one\n\ntwo"} in blocks


async def test_prompts_that_the_turn_did_not_hear_are_injected_into_the_next(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, SCRIPT), "--dialect", "miriad") as cli:
        cli.prompt("slow")
        holding = await cli.until_type("control_request")
        cli.prompt("one")
        cli.prompt("two")
        cli.answer(holding)
        await until_result(cli)
        lines = await until_result(cli)
    assert lines[0] == {"type": "system", "subtype": "injected", "message_count": 2, "content_length": 8}
    assert lines[1] == said("Heard one\n\ntwo")


async def test_interrupt_and_status_are_control_messages(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, SCRIPT), "--dialect", "miriad") as cli:
        cli.send({"type": "control", "action": "status"})
        idle = await cli.next()
        assert (idle["running"], idle["queued_messages"]) == (False, 0)
        cli.prompt("hang")
        await cli.until_type("assistant")
        cli.prompt("next")
        cli.send({"type": "control", "action": "status"})
        status = await cli.until(lambda message: message.get("subtype") == "status")
        assert (status["running"], status["queued_messages"]) == (True, 1)
        assert status["session_id"] == idle["session_id"]
        cli.send({"type": "control", "action": "interrupt"})
        result = await cli.result()
        assert (result["subtype"], result["is_error"]) == ("cancelled", False)
        assert (await cli.result())["result"] == "Heard next"


@pytest.mark.parametrize("line", [b"junk\n", b'{"type":"jump"}\n', b'{"type":"control","action":"x"}\n'])
async def test_what_it_does_not_understand_is_an_error_and_no_end(tmp_path: Path, line: bytes) -> None:
    async with agent(script_file(tmp_path, SCRIPT), "--dialect", "miriad") as cli:
        cli.send_raw(line)
        error = await cli.next()
        assert (error["type"], error["subtype"]) == ("system", "error")
        cli.prompt("hi")
        assert (await cli.result())["result"] == "Heard hi"


async def test_json_rpc_answers_every_run(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, SCRIPT), "--dialect", "json_rpc") as cli:

        async def answers(*ids: int) -> list[JSON]:
            found: dict[int, JSON] = {}
            while len(found) < len(ids):
                message = await cli.next()
                assert message["jsonrpc"] == "2.0"
                if "id" in message:
                    found[message["id"]] = message
            return [found[number] for number in ids]

        def run(number: int, text: str) -> None:
            cli.send({"jsonrpc": "2.0", "id": number, "method": "run", "params": {"prompt": text}})

        run(1, "hi")
        (first,) = await answers(1)
        assert first["result"]["result"] == "Heard hi"
        assert cli.received[0] == {
            "jsonrpc": "2.0",
            "method": "assistant",
            "params": cli.received[0]["params"],
        }
        run(2, "slow")
        holding = await cli.until(lambda message: message.get("method") == "hold")
        run(3, "one")
        run(4, "two")
        cli.send({"jsonrpc": "2.0", "id": holding["id"], "result": {}})
        slow, *joined = await answers(2, 3, 4)
        assert slow["result"]["result"] == "Slowly done."
        assert [answer["result"]["result"] for answer in joined] == ["Heard one\n\ntwo"] * 2
        run(5, "hang")
        await cli.until(lambda message: message.get("method") == "assistant")
        cli.send({"jsonrpc": "2.0", "id": 6, "method": "interrupt"})
        interrupted, done = await answers(5, 6)
        assert interrupted["error"]["code"] == -32800
        assert done["result"] == {"still_queued": []}


async def test_an_unknown_dialect_is_refused(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, SCRIPT), "--dialect", "klingon") as cli:
        assert await cli.exit_code() == 2
        assert "klingon is none of claude, miriad, json_rpc" in await cli.stderr()
