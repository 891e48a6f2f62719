"""Turns, as a host sees them: each test is a short conversation with a real process."""

from pathlib import Path

import pytest

from agent_process import ASKING, STREAM, agent, script_file
from recordings import recording

TOOL = """
turns:
  - steps:
      - text: "I look."
      - tool: Bash
        input: {command: ls, description: List}
        description: List
        permission: true
        result: app.py
        structured: {stdout: app.py, stderr: ""}
        on_deny: [{text: "Then not."}]
      - text: "That is all, {prompt}."
"""


async def test_a_turn_is_init_text_and_result(tmp_path: Path) -> None:
    script = script_file(tmp_path, "turns: [{steps: [{text: 'Hello {prompt}'}]}]")
    async with agent(script, *STREAM) as cli:
        cli.prompt("you")
        result = await cli.result()
        assert [message["type"] for message in cli.received] == ["system", "assistant", "result"]
        assert result["result"] == "Hello you"
        assert result["is_error"] is False
        assert await cli.rest() == []
        assert await cli.exit_code() == 0


async def test_it_says_that_it_is_scripted(tmp_path: Path) -> None:
    async with agent("demo", *STREAM) as cli:
        cli.prompt("hi")
        init = await cli.next()
        assert init["model"] == "scripted-agent"
        assert init["apiKeySource"] == "none"
        assert "scripted agent" in init["claude_code_version"]
        assert "scripted agent" in (await cli.next())["message"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("argv", "version"),
    [
        (("-v",), "2.1.330"),
        (("stubborn", "--seed", "1", "--version"), "2.1.330"),
        (("demo", "--dialect-version", "1.0.120", "-v"), "1.0.120"),
        ((str(recording("2.0.14", "plain-text").folder), "-v"), "2.0.14"),
    ],
)
async def test_the_version_flag_tells_what_is_spoken_and_plays_nothing(
    argv: tuple[str, ...], version: str
) -> None:
    async with agent(*argv) as cli:
        assert await cli.line() == f"{version} (scripted agent)\n".encode()
        assert await cli.exit_code() == 0


async def test_a_script_that_is_not_there_is_one_sentence_and_exit_2() -> None:
    async with agent("no-such-script", *STREAM) as cli:
        assert await cli.exit_code() == 2
        assert "no-such-script: no such file" in await cli.stderr()


async def test_partial_messages_carry_the_same_text_as_the_assistant_line(tmp_path: Path) -> None:
    script = script_file(
        tmp_path, "turns: [{steps: [{thinking: 'Hm.'}, {text: 'A longer text, in pieces.', chunk: 4}]}]"
    )
    async with agent(script, *STREAM, "--include-partial-messages") as cli:
        cli.prompt("go")
        await cli.result()
        events = [message["event"] for message in cli.received if message["type"] == "stream_event"]
        assert [event["type"] for event in events if "delta" not in event["type"]] == [
            "message_start", "content_block_start", "content_block_stop", "content_block_start", "content_block_stop",
            "message_stop",
        ]  # fmt: skip
        deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
        assert "".join(delta.get("text", "") for delta in deltas) == "A longer text, in pieces."
        assert "".join(delta.get("thinking", "") for delta in deltas) == "Hm."
        assert cli.texts() == ["A longer text, in pieces."]


async def test_an_allowed_tool_runs(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, TOOL), *ASKING) as cli:
        cli.prompt("go")
        request = await cli.until_type("control_request")
        assert request["request"]["tool_name"] == "Bash"
        assert request["request"]["permission_suggestions"][0]["rules"] == [
            {"toolName": "Bash", "ruleContent": "ls"}
        ]
        cli.allow(request)
        result = await cli.result()
        assert cli.results_of_tools()[0]["content"] == "app.py"
        assert result["permission_denials"] == []
        assert cli.texts() == ["I look.", "That is all, go."]


async def test_a_denied_tool_fails_with_the_hosts_words(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, TOOL), *ASKING) as cli:
        cli.prompt("go")
        cli.answer(await cli.until_type("control_request"), behavior="deny", message="Not today.")
        result = await cli.result()
        assert cli.results_of_tools()[0]["content"] == "Not today."
        assert cli.results_of_tools()[0]["is_error"] is True
        assert [denial["tool_name"] for denial in result["permission_denials"]] == ["Bash"]
        assert cli.texts() == ["I look.", "Then not.", "That is all, go."]


async def test_deny_with_interrupt_ends_the_turn(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, TOOL), *ASKING) as cli:
        cli.prompt("go")
        cli.answer(await cli.until_type("control_request"), behavior="deny", message="Stop.", interrupt=True)
        result = await cli.result()
        assert result["subtype"] == "error_during_execution"
        assert cli.texts() == ["I look."]


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(
            {"request_id": "{id}", "response": {"result": {"behavior": "allow", "updatedInput": {}}}},
            id="outer",
        ),
        pytest.param(
            {
                "response": {
                    "subtype": "success",
                    "request_id": "{id}",
                    "response": {"behavior": "allow", "updatedInput": {}},
                }
            },
            id="official",
        ),
        pytest.param(
            {
                "request_id": "{id}",
                "response": {
                    "subtype": "success",
                    "request_id": "{id}",
                    "result": {"behavior": "allow", "updatedInput": {}},
                    "response": {"behavior": "allow", "updatedInput": {}},
                },
            },
            id="merged",
        ),
    ],
)
async def test_every_shape_of_a_control_response_is_taken(tmp_path: Path, shape: dict[str, object]) -> None:
    async with agent(script_file(tmp_path, TOOL), *ASKING) as cli:
        cli.prompt("go")
        request = await cli.until_type("control_request")

        def filled(value: object) -> object:
            if isinstance(value, dict):
                return {key: filled(inner) for key, inner in value.items()}
            return request["request_id"] if value == "{id}" else value

        answer = filled(shape)
        assert isinstance(answer, dict)
        cli.send({"type": "control_response", **answer})
        await cli.result()
        assert cli.results_of_tools()[0]["content"] == "app.py"


@pytest.mark.parametrize(
    ("version", "content"), [("2.1.101", "Tool permission request failed"), ("2.1.330", "app.py")]
)
async def test_a_bare_allow_is_a_denial_up_to_2_1_101(tmp_path: Path, version: str, content: str) -> None:
    async with agent(script_file(tmp_path, TOOL), *ASKING, "--dialect-version", version) as cli:
        cli.prompt("go")
        cli.answer(await cli.until_type("control_request"), behavior="allow")
        await cli.result()
        assert cli.results_of_tools()[0]["content"].startswith(content)


async def test_an_old_version_does_not_name_the_tool_call(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, TOOL), *ASKING, "--dialect-version", "1.0.120") as cli:
        cli.prompt("go")
        request = await cli.until_type("control_request")
        assert set(request["request"]) == {"subtype", "tool_name", "input", "permission_suggestions"}
        cli.allow(request)
        result = await cli.result()
        assert next(iter(result)) == "type"
        assert "tool_use_result" not in cli.received[-3]


async def test_a_rule_that_was_added_is_not_asked_again(tmp_path: Path) -> None:
    script = script_file(
        tmp_path, TOOL.replace("turns:\n  - steps", "fallback:\n  steps").replace("\n  ", "\n")
    )
    script.write_text(
        "fallback: {steps: [{tool: Bash, input: {command: ls}, permission: true, result: ok}]}", "utf-8"
    )
    async with agent(script, *ASKING) as cli:
        cli.prompt("first")
        request = await cli.until_type("control_request")
        cli.allow(request, updatedPermissions=request["request"]["permission_suggestions"])
        await cli.result()
        cli.prompt("second")
        await cli.result()
        assert [message["type"] for message in cli.received].count("control_request") == 1


async def test_nobody_is_asked_in_bypass_permissions(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, TOOL), *ASKING, "--permission-mode", "bypassPermissions") as cli:
        cli.prompt("go")
        await cli.result()
        assert cli.results_of_tools()[0]["content"] == "app.py"


async def test_without_a_permission_handler_a_question_is_a_denial(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, TOOL), *STREAM) as cli:
        cli.prompt("go")
        await cli.result()
        assert "haven't granted it" in cli.results_of_tools()[0]["content"]


async def test_the_end_of_stdin_denies_what_is_pending(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, TOOL), *ASKING) as cli:
        cli.prompt("go")
        await cli.until_type("control_request")
        rest = await cli.rest()
        assert "stream closed" in rest[0]["message"]["content"][0]["content"]
        assert rest[-1]["type"] == "result"
        assert await cli.exit_code() == 0


async def test_a_question_brings_the_humans_answers_back(tmp_path: Path) -> None:
    script = script_file(tmp_path, "turns: [{steps: [{ask: [{question: 'Which?', options: [{label: A}]}]}]}]")
    async with agent(script, *ASKING) as cli:
        cli.prompt("go")
        request = await cli.until_type("control_request")
        assert request["request"]["tool_name"] == "AskUserQuestion"
        answered = {**request["request"]["input"], "answers": {"Which?": "A"}}
        cli.answer(request, behavior="allow", updatedInput=answered)
        await cli.result()
        assert '"Which?"="A"' in cli.results_of_tools()[0]["content"]


async def test_a_rejected_plan_may_end_the_turn(tmp_path: Path) -> None:
    script = script_file(
        tmp_path, "turns: [{steps: [{plan: '# P', on_deny: [{text: No.}, {end: true}]}, {text: Go.}]}]"
    )
    async with agent(script, *ASKING) as cli:
        cli.prompt("go")
        request = await cli.until_type("control_request")
        assert request["request"]["input"] == {"plan": "# P"}
        cli.answer(request, behavior="deny", message="no")
        assert (await cli.result())["result"] == "No."


async def test_a_subagent_speaks_under_its_call(tmp_path: Path) -> None:
    steps = "[{text: inner}, {tool: Glob, result: a.py}]"
    script = script_file(
        tmp_path, f"turns: [{{steps: [{{tool: Task, input: {{prompt: P}}, steps: {steps}, result: done}}]}}]"
    )
    async with agent(script, *STREAM, "--include-partial-messages") as cli:
        cli.prompt("go")
        await cli.result()
        call = next(
            block["id"]
            for message in cli.received
            if message["type"] == "assistant"
            for block in message["message"]["content"]
            if block.get("name") == "Agent"
        )
        nested = [message for message in cli.received if message.get("parent_tool_use_id") == call]
        assert [message["type"] for message in nested] == ["user", "assistant", "assistant", "user"]
        assert "stream_event" not in {message["type"] for message in nested}


async def test_parallel_calls_are_announced_before_the_first_result(tmp_path: Path) -> None:
    script = script_file(
        tmp_path, "turns: [{steps: [{parallel: [{tool: Read, result: a}, {tool: Grep, result: b}]}]}]"
    )
    async with agent(script, *STREAM) as cli:
        cli.prompt("go")
        await cli.result()
        assert [message["type"] for message in cli.received] == [
            "system", "assistant", "assistant", "user", "user", "result",
        ]  # fmt: skip


async def test_a_seed_gives_the_same_ids(tmp_path: Path) -> None:
    script = script_file(tmp_path, "turns: [{steps: [{text: Hello}]}]")
    seen = []
    for _ in range(2):
        async with agent(script, *STREAM, "--seed", "7") as cli:
            cli.prompt("go")
            await cli.result()
            seen.append([message["uuid"] for message in cli.received])
    assert seen[0] == seen[1]


async def test_resume_keeps_the_session_and_a_fork_does_not(tmp_path: Path) -> None:
    script = script_file(tmp_path, "fallback: {steps: [{text: Hello}]}")
    session = "11111111-1111-4111-8111-111111111111"
    for options, same in (
        ((f"--resume={session}",), True),
        ((f"--resume={session}", "--fork-session"), False),
    ):
        async with agent(script, *STREAM, *options) as cli:
            cli.prompt("go")
            assert ((await cli.next())["session_id"] == session) is same


async def test_a_rejected_resume_is_one_line_on_stderr(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, "resume: reject"), *STREAM, "--resume=nope") as cli:
        assert await cli.exit_code() == 1
        assert await cli.stderr() == "No conversation found with session ID: nope\n"


async def test_a_prompt_on_the_command_line_is_one_turn(tmp_path: Path) -> None:
    async with agent(
        script_file(tmp_path, "turns: []"), "-p", "hello", "--output-format", "stream-json"
    ) as cli:
        assert (await cli.result())["result"] == "Scripted echo: hello"
        assert await cli.exit_code() == 0


async def test_what_an_agent_says_beside_its_answer_is_a_line_of_its_kind(tmp_path: Path) -> None:
    steps = """
turns:
  - steps:
      - {wait: 0}
      - {rate_limit: {status: allowed}}
      - {api_retry: {attempt: 1, max_retries: 10}}
      - {system: hook_started, fields: {hook: x}}
      - {compact: manual, pre_tokens: 7}
      - {todos: [{content: Look, status: pending, activeForm: Looking}]}
      - {stop: max_tokens}
      - {text: never}
"""
    async with agent(script_file(tmp_path, steps), *STREAM) as cli:
        cli.prompt("go")
        result = await cli.result()
        told = [(message["type"], message.get("subtype")) for message in cli.received[1:-1]]
        assert told == [
            ("rate_limit_event", None),
            ("system", "api_retry"),
            ("system", "hook_started"),
            ("system", "status"),
            ("system", "status"),
            ("system", "compact_boundary"),
            ("assistant", None),
            ("user", None),
        ]
        boundary = cli.received[6]["compact_metadata"]
        assert (boundary["trigger"], boundary["pre_tokens"]) == ("manual", 7)
        assert (result["subtype"], result["stop_reason"]) == ("success", "max_tokens")
        assert cli.texts() == []
