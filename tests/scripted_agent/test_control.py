"""Interrupts, queues, hooks and control requests, each as the version answers it."""

from pathlib import Path

import pytest

from agent_process import ASKING, STREAM, agent, script_file

SLOW_TOOL = "fallback: {steps: [{text: Start.}, {tool: Bash, input: {command: make}, seconds: 60, result: done}, {text: End.}]}"
ASKS = "fallback: {steps: [{tool: Bash, input: {command: ls}, permission: true, result: done}]}"
HOLDS = "turns: [{steps: [{request: {subtype: hold}}, {text: First.}]}]"
"""A turn that goes on when its request is answered."""


async def test_initialize_tells_the_commands(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, "commands: [{name: help, description: Help}]"), *STREAM) as cli:
        cli.control("1", subtype="initialize")
        response = (await cli.next())["response"]
        assert response["request_id"] == "1"
        assert response["response"]["commands"] == [{"name": "help", "description": "Help"}]
        assert response["response"]["models"][0]["displayName"] == "Scripted agent"


async def test_an_interrupt_ends_a_running_tool_and_the_turn(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, SLOW_TOOL), *STREAM) as cli:
        cli.prompt("go")
        await cli.until(lambda message: "'tool_use'" in str(message))
        cli.control("stop", subtype="interrupt")
        assert (await cli.next())["response"] == {
            "subtype": "success",
            "request_id": "stop",
            "response": {"still_queued": []},
        }
        assert (await cli.next())["message"]["content"][0]["is_error"] is True
        assert (await cli.next())["message"]["content"][0][
            "text"
        ] == "[Request interrupted by user for tool use]"
        assert (await cli.next())["subtype"] == "error_during_execution"
        cli.prompt("still there?")
        assert (await cli.next())["subtype"] == "init"


async def test_a_tool_runs_until_its_file_is_there_or_an_interrupt_comes(tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = f"fallback: {{steps: [{{tool: Bash, input: {{command: make}}, until: {go}, result: done}}]}}"
    async with agent(script_file(tmp_path, script), *STREAM) as cli:
        cli.prompt("wait")
        await cli.until(lambda message: "'tool_use'" in str(message))
        cli.control("stop", subtype="interrupt")
        assert (await cli.result())["subtype"] == "error_during_execution"
        cli.prompt("wait again")
        await cli.until(lambda message: "'tool_use'" in str(message))
        go.touch()
        assert (await cli.result())["subtype"] == "success"


async def test_an_interrupt_withdraws_a_pending_permission_and_a_late_answer_is_ignored(
    tmp_path: Path,
) -> None:
    async with agent(script_file(tmp_path, ASKS), *ASKING) as cli:
        cli.prompt("go")
        request = await cli.until_type("control_request")
        cli.control("stop", subtype="interrupt")
        assert await cli.next() == {"type": "control_cancel_request", "request_id": request["request_id"]}
        assert (await cli.next())["type"] == "control_response"
        cli.allow(request)
        assert (await cli.result())["subtype"] == "error_during_execution"
        cli.prompt("again")
        cli.allow(await cli.until_type("control_request"))
        assert (await cli.result())["subtype"] == "success"


@pytest.mark.parametrize(("version", "aborted"), [("2.1.101", []), ("2.1.330", [True])])
async def test_interrupted_text_ends_as_the_version_ends_it(
    tmp_path: Path, version: str, aborted: list[bool]
) -> None:
    script = script_file(tmp_path, "turns: [{steps: [{text: 'A very slow text', chunk: 2, pace: 600}]}]")
    async with agent(script, *STREAM, "--include-partial-messages", "--dialect-version", version) as cli:
        cli.prompt("go")
        await cli.until(lambda message: "text_delta" in str(message))
        cli.control("stop", subtype="interrupt")
        await cli.result()
        assert [message["aborted"] for message in cli.received if "aborted" in message] == aborted


async def test_an_interrupt_between_turns_is_answered_and_changes_nothing(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, "turns: []"), *STREAM) as cli:
        cli.control("stop", subtype="interrupt")
        assert (await cli.next())["response"]["subtype"] == "success"
        cli.prompt("hello")
        assert (await cli.result())["result"] == "Scripted echo: hello"


async def test_a_prompt_while_a_tool_runs_is_folded_into_the_turn(tmp_path: Path) -> None:
    script = script_file(
        tmp_path, "turns: [{steps: [{tool: Bash, permission: true, result: done}, {text: End.}]}]"
    )
    async with agent(script, *ASKING, "--replay-user-messages") as cli:
        cli.prompt("go")
        request = await cli.until_type("control_request")
        cli.prompt("and this", uuid="22222222-2222-4222-8222-222222222222")
        await cli.until(lambda message: message.get("state") == "queued")
        cli.allow(request)
        assert (await cli.result())["result"] == "Heard while working: and this"
        assert [message["state"] for message in cli.received if "state" in message] == ["queued", "started"]
        assert [message["message"]["content"] for message in cli.received if message.get("isReplay")] == [
            "go",
            "and this",
        ]
        assert (await cli.next())["state"] == "completed"


@pytest.mark.parametrize(
    ("version", "results"),
    [
        ("2.0.14", ["First.", "Scripted echo: b", "Scripted echo: c"]),
        ("2.1.330", ["First.", "Scripted echo: b\nc"]),
    ],
)
async def test_queued_prompts_are_one_turn_each_or_merged(
    tmp_path: Path, version: str, results: list[str]
) -> None:
    script = script_file(tmp_path, HOLDS)
    async with agent(script, *STREAM, "--dialect-version", version) as cli:
        cli.prompt("a")
        holding = await cli.until_type("control_request")
        cli.prompt("b")
        cli.prompt("c")
        cli.answer(holding)
        rest = await cli.rest()
        assert [message["result"] for message in rest if message["type"] == "result"] == results


async def test_set_model_and_mode_are_answered_and_told(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, "turns: []"), *STREAM) as cli:
        cli.control("1", subtype="set_model", model="opus")
        assert (await cli.next())["response"]["response"] == {"model": "scripted-agent:opus"}
        cli.control("2", subtype="set_permission_mode", mode="plan")
        assert (await cli.next())["response"]["response"] == {"mode": "plan"}
        assert (await cli.next())["permissionMode"] == "plan"
        cli.control("3", subtype="set_permission_mode", mode="nonsense")
        assert (await cli.next())["response"]["subtype"] == "error"
        cli.prompt("hi")
        init = await cli.next()
        assert (init["model"], init["permissionMode"]) == ("scripted-agent:opus", "plan")


async def test_what_it_does_not_know_is_refused_by_2_1_and_unanswered_before(tmp_path: Path) -> None:
    script = script_file(tmp_path, "turns: []")
    async with agent(script, *STREAM) as cli:
        cli.control("1", subtype="make_coffee")
        assert "make_coffee" in (await cli.next())["response"]["error"]
    async with agent(script, *STREAM, "--dialect-version", "2.0.14") as cli:
        cli.control("1", subtype="make_coffee")
        cli.control("2", subtype="set_permission_mode", mode="plan")
        answers = [(await cli.next())["response"] for _ in range(2)]
        assert [answer["request_id"] for answer in answers] == ["2", "2"]


async def test_a_hook_may_deny_a_tool(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, ASKS), *ASKING) as cli:
        hooks = {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["h"]}]}
        cli.control("1", subtype="initialize", hooks=hooks)
        cli.prompt("go")
        request = await cli.until_type("control_request")
        assert request["request"]["callback_id"] == "h"
        assert request["request"]["input"]["tool_input"] == {"command": "ls"}
        decision = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        }
        cli.answer(request, hookSpecificOutput=decision)
        await cli.result()
        assert cli.results_of_tools()[0]["content"] == "PreToolUse:Bash hook error: no"


async def test_a_hook_may_ask_about_a_tool_that_needs_no_permission(tmp_path: Path) -> None:
    script = script_file(tmp_path, "turns: [{steps: [{tool: Read, input: {file_path: a}, result: text}]}]")
    async with agent(script, *ASKING) as cli:
        cli.control("1", subtype="initialize", hooks={"PreToolUse": [{"hookCallbackIds": ["h"]}]})
        cli.prompt("go")
        decision = {"hookEventName": "PreToolUse", "permissionDecision": "ask"}
        cli.answer(await cli.until_type("control_request"), hookSpecificOutput=decision)
        asked = await cli.until_type("control_request")
        assert asked["request"]["subtype"] == "can_use_tool"
        cli.allow(asked)
        await cli.result()
        assert cli.results_of_tools()[0]["content"] == "text"


async def test_a_hook_may_block_the_prompt(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, "turns: []"), *STREAM) as cli:
        cli.control("1", subtype="initialize", hooks={"UserPromptSubmit": [{"hookCallbackIds": ["h"]}]})
        cli.prompt("go")
        cli.answer(await cli.until_type("control_request"), decision="block", reason="not now")
        assert "not now" in (await cli.result())["result"]
        assert cli.texts() == []


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("2.1.101", {"cancelled": True}),
        ("2.1.330", {"cancelled": True, "message_uuid": "22222222-2222-4222-8222-222222222222"}),
    ],
)
async def test_a_queued_prompt_is_taken_back(tmp_path: Path, version: str, told: dict[str, object]) -> None:
    script = script_file(tmp_path, HOLDS)
    async with agent(script, *STREAM, "--dialect-version", version) as cli:
        cli.prompt("first")
        holding = await cli.until_type("control_request")
        cli.prompt("second", uuid="22222222-2222-4222-8222-222222222222")
        cli.control("1", subtype="cancel_async_message", message_uuid="22222222-2222-4222-8222-222222222222")
        assert (await cli.until_type("control_response"))["response"]["response"] == told
        cli.control("2", subtype="cancel_async_message", message_uuid="22222222-2222-4222-8222-222222222222")
        assert (await cli.until_type("control_response"))["response"]["response"]["cancelled"] is False
        cli.answer(holding)
        rest = await cli.rest()
        assert [message["result"] for message in rest if message["type"] == "result"] == ["First."]


async def test_each_answer_to_a_permission_is_read_as_strictly_as_by_the_real_one(tmp_path: Path) -> None:
    tool = "{tool: Bash, input: {command: ls}, permission: true, blocked_path: /etc, result: ok}"
    async with agent(script_file(tmp_path, f"fallback: {{steps: [{tool}]}}"), *ASKING) as cli:
        permissions = [
            {"type": "setMode", "mode": "bypassPermissions", "destination": "session"},
            {"type": "addDirectories", "directories": ["/a"], "destination": "session"},
        ]
        for answer, content in (
            ({"behavior": "deny"}, "ZodError: message: Required"),
            ({"behavior": "maybe"}, "ZodError: behavior: invalid value 'maybe'"),
            ({"behavior": "allow", "updatedPermissions": permissions}, "ok"),
        ):
            cli.prompt("go")
            request = await cli.until_type("control_request")
            assert request["request"]["blocked_path"] == "/etc"
            cli.answer(request, **answer)
            await cli.result()
            assert cli.results_of_tools()[-1]["content"].endswith(content)
        asked = [message["type"] for message in cli.received].count("control_request")
        cli.prompt("nobody is asked now")
        await cli.result()
        assert [message["type"] for message in cli.received].count("control_request") == asked
        assert cli.results_of_tools()[-1]["content"] == "ok"


async def test_a_hook_may_approve_a_tool_or_say_nothing_of_it(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, ASKS), *ASKING) as cli:
        hooks = {"PreToolUse": [{"matcher": "Edit", "hookCallbackIds": ["no"]}, {"hookCallbackIds": ["h"]}]}
        cli.control("1", subtype="initialize", hooks=hooks)
        cli.prompt("go")
        cli.answer(await cli.until_type("control_request"), decision="approve")
        await cli.result()
        cli.prompt("again")
        cli.answer(await cli.until_type("control_request"))
        asked = await cli.until_type("control_request")
        assert asked["request"]["subtype"] == "can_use_tool"
        cli.allow(asked)
        await cli.result()
        assert [result["content"] for result in cli.results_of_tools()] == ["done", "done"]
        cli.control("2", subtype="mcp_status")
        cli.control("3", subtype="set_max_thinking_tokens", max_thinking_tokens=1000)
        told = [(await cli.next())["response"] for _ in range(2)]
        assert [(one["request_id"], one["subtype"]) for one in told] == [("2", "success"), ("3", "success")]
        assert told[0]["response"] == {"mcpServers": []}
