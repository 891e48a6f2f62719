"""The stand-in as an ACP agent, driven by the official client and held to the official models."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from acp import (
    RequestError,
    embedded_text_resource,
    image_block,
    resource_block,
    resource_link_block,
    text_block,
)

from acp_client import CAPABILITIES, DEADLINE, JSON, AcpAgent, acp_agent
from agent_process import agent, agent_command, script_file
from recordings import ROOT

SCRIPT = """
commands: [{name: compact, description: Compact, argumentHint: "[how]"}]
cost_per_turn: 0.5
turns:
  - match: ^tools
    steps:
      - thinking: A thought.
      - text: I look.
      - todos: [{content: Look, status: in_progress, activeForm: Looking}]
      - tool: Bash
        input: {command: ls}
        permission: true
        result: app.py
        structured: {stdout: app.py, stderr: ""}
        on_deny: [{text: "Then not."}]
      - parallel:
          - {tool: Read, input: {file_path: /p/a}, result: "1\\ta", acp: {locations: [{path: /p/a, line: 3}]}}
          - {tool: Edit, input: {file_path: /p/a, old_string: a, new_string: b}, result: Done., error: true}
          - {tool: Write, input: {file_path: /p/b, content: new}, result: [{type: text, text: Written}]}
      - tool: Task
        input: {description: Find, prompt: Find it.}
        steps: [{text: hidden}, {tool: Glob, input: {pattern: "*"}, result: app.py}]
        result: Found.
      - text: That is all.
  - match: ^asks
    steps:
      - ask:
          - {question: How loud?, header: Volume, multiSelect: false, options: [{label: Loud, description: x}]}
          - {question: Where?, header: Place, multiSelect: true, options: [{label: Here}, {label: There}]}
  - match: ^plan
    steps: [{plan: "# Plan", on_deny: [{text: No plan.}]}, {text: After.}]
  - match: ^hang
    steps: [{text: Waiting.}, {tool: Bash, input: {command: sleep}, seconds: 600}]
  - match: ^(max_tokens|refusal|max_turn_requests)
    steps: [{stop: refusal}]
  - match: ^turns
    steps: [{fail: error_max_turns}]
  - match: ^fails
    steps: [{fail: error_during_execution, errors: [It broke.]}]
  - match: ^login
    steps: [{api_error: authentication_failed, message: Please log in., status: 401}]
  - match: ^system
    steps:
      - {system: session_info_update, fields: {title: A title}}
      - {system: hook_started, fields: {hook: x}}
      - {rate_limit: {status: allowed}}
      - {compact: manual}
      - {request: {method: fs/read_text_file, params: {path: /none}}}
fallback:
  steps: [{text: "Heard {prompt}"}]
"""


@asynccontextmanager
async def scripted(
    folder: Path,
    script: str = SCRIPT,
    *options: str,
    capabilities: JSON | None = None,
    initialize: bool = True,
) -> AsyncIterator[AcpAgent]:
    """Run a script as an ACP agent; in the end all it said is held to the schema."""
    command = agent_command(script_file(folder, script), "--family", "acp", *options)
    async with acp_agent(
        command, env={"PYTHONPATH": str(ROOT)}, cwd=folder, capabilities=capabilities, initialize=initialize
    ) as running:
        yield running
        running.hold_all_to_schema()


async def say(running: AcpAgent, session: str, text: str) -> str:
    """Prompt, and return the stop reason."""
    reply = await running.connection.prompt(session_id=session, prompt=[text_block(text)])
    return reply.stop_reason


async def new(running: AcpAgent, folder: Path) -> str:
    return (await running.connection.new_session(cwd=str(folder), mcp_servers=[])).session_id


async def test_a_turn_streams_text_thoughts_calls_and_a_plan(tmp_path: Path) -> None:
    async with scripted(tmp_path) as running:
        session = await new(running, tmp_path)
        await running.until(lambda it: it.updates("available_commands_update"))
        running.answers.extend(["allow-once"])
        assert await say(running, session, "tools") == "end_turn"
        assert running.text("agent_thought_chunk") == "A thought."
        assert running.text() == "I look.That is all."
        assert running.updates("plan")[0]["entries"] == [
            {"content": "Look", "priority": "medium", "status": "in_progress"}
        ]
        bash, read, edit, write, task = running.calls()
        assert (bash["kind"], bash["status"], bash["title"]) == ("execute", "completed", "ls")
        assert bash["rawOutput"] == {"stdout": "app.py", "stderr": ""}
        assert read["locations"] == [{"path": "/p/a", "line": 3}]
        assert (edit["kind"], edit["status"]) == ("edit", "failed")
        assert write["content"][0] == {"type": "diff", "path": "/p/b", "oldText": None, "newText": "new"}
        assert (task["kind"], task["content"][0]["content"]["text"]) == ("think", "Found.")
        announced = next(update for update in running.updates("tool_call") if update["kind"] == "edit")
        assert announced["content"] == [{"type": "diff", "path": "/p/a", "oldText": "a", "newText": "b"}]
        assert running.asked[0]["toolCall"]["rawInput"] == {"command": "ls"}
        assert running.updates("usage_update")[-1]["cost"] == {"amount": 0.5, "currency": "USD"}


async def test_what_follows_each_answer_to_a_permission(tmp_path: Path) -> None:
    async with scripted(tmp_path) as running:
        session = await new(running, tmp_path)
        for answer, reason, said in [
            ("reject-once", "end_turn", "I look.Then not.That is all."),
            ("error", "end_turn", "I look.Then not.That is all."),
            ("no-such-option", "end_turn", "I look.Then not.That is all."),
            ("cancelled", "cancelled", "I look."),
            ("allow-always", "end_turn", "I look.That is all."),
        ]:
            running.forget()
            running.answers.append(answer)
            assert (await say(running, session, "tools"), running.text()) == (reason, said)
            assert running.calls()[0]["status"] == ("completed" if answer == "allow-always" else "failed")
        running.forget()
        assert await say(running, session, "tools") == "end_turn"
        assert running.asked == [], "it was allowed for good"


@pytest.mark.parametrize(("reject", "reason"), [("ends_turn", "end_turn"), ("cancels_turn", "cancelled")])
async def test_a_script_says_what_a_rejection_does_and_whether_calls_are_told_first(
    tmp_path: Path, reject: str, reason: str
) -> None:
    script = SCRIPT + f"acp: {{reject: {reject}, announces: false}}"
    async with scripted(tmp_path, script) as running:
        session = await new(running, tmp_path)
        running.answers.append("reject-once")
        assert await say(running, session, "tools") == reason
        assert running.calls() == [], "a call that is refused is never told"


async def test_stop_reasons_and_errors(tmp_path: Path) -> None:
    async with scripted(tmp_path) as running:
        session = await new(running, tmp_path)
        assert await say(running, session, "refusal") == "refusal"
        assert await say(running, session, "turns") == "max_turn_requests"
        with pytest.raises(RequestError) as broke:
            await say(running, session, "fails")
        assert (broke.value.code, broke.value.data) == (-32603, {"details": "It broke."})
        with pytest.raises(RequestError) as login:
            await say(running, session, "login")
        assert login.value.code == -32000
        assert await say(running, session, "system") == "end_turn"
        assert running.updates("session_info_update")[0]["title"] == "A title"
        assert "fs/read_text_file failed: -32002" in running.text()
        with pytest.raises(RequestError):
            await say(running, "no-such-session", "x")
        assert await say(running, session, "still here") == "end_turn"


async def test_a_cancel_ends_the_turn_and_its_call_and_the_next_turn_plays(tmp_path: Path) -> None:
    async with scripted(tmp_path) as running:
        session = await new(running, tmp_path)
        running.hold.clear()
        asks = asyncio.create_task(say(running, session, "tools"))
        await running.until(lambda it: it.asked)
        await running.connection.cancel(session_id=session)
        assert await asks == "cancelled"
        running.hold.set()
        running.forget()
        hangs = asyncio.create_task(say(running, session, "hang"))
        await running.until(lambda it: [call for call in it.calls() if call["status"] == "in_progress"])
        waits = asyncio.create_task(say(running, session, "queued"))
        await running.connection.cancel(session_id=session)
        assert await hangs == "cancelled"
        assert running.calls()[0]["status"] == "failed"
        assert await waits == "end_turn"
        assert running.text().endswith("Heard queued")


@pytest.mark.parametrize("then", ["refuse", "cancel_first"])
async def test_a_script_says_what_becomes_of_a_second_prompt(tmp_path: Path, then: str) -> None:
    script = SCRIPT + f"acp: {{second_prompt: {then}, call_at_cancel: open}}"
    async with scripted(tmp_path, script) as running:
        session = await new(running, tmp_path)
        first = asyncio.create_task(say(running, session, "hang"))
        await running.until(lambda it: [call for call in it.calls() if call["status"] == "in_progress"])
        if then == "refuse":
            with pytest.raises(RequestError) as refused:
                await say(running, session, "second")
            assert refused.value.code == -32600
            await running.connection.cancel(session_id=session)
        else:
            assert await say(running, session, "second") == "end_turn"
        assert await first == "cancelled"
        assert running.calls()[0]["status"] == "in_progress"


async def test_forms_and_plans_follow_the_answer(tmp_path: Path) -> None:
    async with scripted(tmp_path) as running:
        session = await new(running, tmp_path)
        running.forms.append({"q0": "Loud", "q1": ["Here"]})
        await say(running, session, "asks")
        assert running.text() == 'Answered: "How loud?"="Loud", "Where?"="[\'Here\']".'
        await running.connection.set_session_mode(session_id=session, mode_id="plan")
        running.answers.append("plan")
        await say(running, session, "plan")
        assert "No plan.After." in running.text()
        assert running.updates("current_mode_update") == []
        running.answers.append("accept-edits")
        await say(running, session, "plan")
        assert running.updates("current_mode_update")[-1]["currentModeId"] == "acceptEdits"
        assert running.calls()[-1]["kind"] == "switch_mode"


async def test_modes_and_options_are_told_and_changed(tmp_path: Path) -> None:
    async with scripted(tmp_path) as running:
        opened = await running.connection.new_session(cwd=str(tmp_path), mcp_servers=[])
        assert opened.modes is not None
        assert opened.modes.current_mode_id == "default"
        assert [option.id for option in opened.config_options or []] == ["mode", "model", "effort"]
        session = opened.session_id
        told = await running.connection.set_config_option(
            config_id="model", session_id=session, value="scripted-agent-2"
        )
        assert told is not None
        assert told.config_options[1].current_value == "scripted-agent-2"
        await running.connection.set_config_option(
            config_id="mode", session_id=session, value="bypassPermissions"
        )
        await say(running, session, "tools")
        assert running.asked == []
        assert running.updates("current_mode_update")[0]["currentModeId"] == "bypassPermissions"
        with pytest.raises(RequestError):
            await running.connection.set_config_option(config_id="model", session_id=session, value="none")
        with pytest.raises(RequestError):
            await running.connection.set_session_mode(session_id=session, mode_id="none")


async def test_a_session_is_listed_and_loaded_by_another_process(tmp_path: Path) -> None:
    state = ("--state", str(tmp_path / "state"))
    async with scripted(tmp_path, SCRIPT, *state) as running:
        session = await new(running, tmp_path)
        await say(running, session, "Remember this")
    async with scripted(tmp_path, SCRIPT + "resume: reject", *state) as running:
        listed = await running.connection.list_sessions(cwd=str(tmp_path))
        assert [(one.session_id, one.title) for one in listed.sessions] == [(session, "Remember this")]
        await running.connection.load_session(cwd=str(tmp_path), session_id=session, mcp_servers=[])
        assert (running.text("user_message_chunk"), running.text()) == (
            "Remember this",
            "Heard Remember this",
        )
        forked = await running.connection.fork_session(cwd=str(tmp_path), session_id=session)
        assert forked.session_id != session
        await running.connection.resume_session(cwd=str(tmp_path), session_id=session)
        await running.connection.close_session(session_id=session)
        with pytest.raises(RequestError) as unknown:
            await running.connection.load_session(cwd=str(tmp_path), session_id="no-such", mcp_servers=[])
        assert unknown.value.code == -32002


@pytest.mark.parametrize("replay", ["before_reply", "after_reply"])
async def test_a_script_has_a_past_that_is_replayed(tmp_path: Path, replay: str) -> None:
    script = f"""
acp:
  replay: {replay}
  subagents: shown
  history:
    - prompt: Once
      steps:
        - text: Then.
        - {{tool: Bash, input: {{command: ls}}, permission: true, result: app.py, seconds: 600}}
        - {{tool: Task, input: {{prompt: x}}, steps: [{{text: Sub.}}], result: y}}
"""
    async with scripted(tmp_path, script) as running:
        await running.connection.load_session(cwd=str(tmp_path), session_id="before", mcp_servers=[])
        await running.until(lambda it: len(it.calls()) == 2 and it.calls()[1].get("rawOutput"))
        kinds = [message.get("method") or "reply" for message in running.received[1:]]
        assert kinds[0 if replay == "after_reply" else -1] == "reply"
        assert running.text("user_message_chunk") == "Once"
        assert running.updates("agent_message_chunk")[-1]["_meta"]["claudeCode"]["parentToolUseId"]


async def test_a_script_may_demand_a_login(tmp_path: Path) -> None:
    async with scripted(tmp_path, SCRIPT + "acp: {login: required}") as running:
        with pytest.raises(RequestError) as refused:
            await new(running, tmp_path)
        assert refused.value.code == -32000
        with pytest.raises(RequestError):
            await running.connection.authenticate(method_id="none")
        await running.connection.authenticate(method_id="scripted-login")
        assert await say(running, await new(running, tmp_path), "hi") == "end_turn"


TOOLS = """
acp: {uses: [fs, terminal]}
fallback:
  steps:
    - {tool: Read, input: {file_path: /p/a}, result: pretended}
    - {tool: Edit, input: {file_path: /p/a, old_string: one, new_string: two}, result: pretended}
    - {tool: Write, input: {file_path: /p/b, content: new}, result: pretended}
    - {tool: Read, input: {file_path: /p/none}, result: pretended}
    - {tool: Bash, input: {command: exit 3}, result: pretended}
"""


async def test_files_and_commands_go_through_a_client_that_offers_them(tmp_path: Path) -> None:
    async with scripted(tmp_path, TOOLS) as running:
        running.files["/p/a"] = "one"
        await say(running, await new(running, tmp_path), "go")
        assert running.files == {"/p/a": "two", "/p/b": "new"}
        assert [call["status"] for call in running.calls()] == [
            "completed",
            "completed",
            "completed",
            "failed",
            "failed",
        ]
        assert running.calls()[4]["rawOutput"] == {"output": "from the terminal\n", "exitCode": 3}


async def test_without_the_clients_files_they_are_pretended(tmp_path: Path) -> None:
    async with scripted(tmp_path, TOOLS, capabilities={}) as running:
        session = await new(running, tmp_path)
        await say(running, session, "go")
        assert [call["rawOutput"] for call in running.calls()] == ["pretended"] * 5


async def test_what_is_no_request_is_refused_by_its_number(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, SCRIPT), "--family", "acp") as cli:

        async def error_of(line: bytes) -> tuple[object, int]:
            cli.send_raw(line + b"\n")
            answer = await cli.next()
            return answer["id"], answer["error"]["code"]

        assert await error_of(b"not json") == (None, -32700)
        assert await error_of(b"[]") == (None, -32600)
        assert await error_of(b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}') == (1, -32600)
        assert await error_of(b'{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}') == (
            "a",
            -32602,
        )
        cli.send({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"protocolVersion": 7}})
        assert (await cli.next())["result"]["protocolVersion"] == 1
        assert await error_of(b'{"jsonrpc":"2.0","id":3,"method":"no/such"}') == (3, -32601)
        assert await error_of(b'{"jsonrpc":"2.0","id":4,"method":"session/new","params":[]}') == (4, -32602)
        assert await error_of(b'{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"here"}}') == (
            5,
            -32602,
        )
        assert await cli.rest() == []
        assert await cli.exit_code() == 0


async def test_the_end_of_stdin_drops_a_running_turn(tmp_path: Path) -> None:
    async with agent(script_file(tmp_path, SCRIPT), "--family", "acp") as cli:
        cli.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}})
        await cli.next()
        cli.send(
            {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}
        )
        session = (await cli.next())["result"]["sessionId"]
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "hang"}]}
        cli.send({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": prompt})
        await cli.until(lambda message: '"in_progress"' in json.dumps(message))
        assert await cli.rest() == []
        assert await cli.exit_code() == 0


PLAIN = """
acp:
  modes: []
  message_ids: false
  usage: none
  api_errors: text
  config_options: [{id: fast, name: Fast, type: boolean, currentValue: false}]
turns:
  - match: ^odd
    steps:
      - {wait: 0}
      - {text: abcdef, chunk: 2, pace: 0.001}
      - {flood: 2, size: 4, rate: 1000}
      - {flood: 1, size: 4}
      - {huge: 20}
      - {request: {subtype: elicitation}}
      - tool: MultiEdit
        input: {file_path: /p/a, edits: [{old_string: a, new_string: b}, {old_string: c, new_string: d}]}
        result: [{type: image, source: {type: base64, media_type: image/png, data: QQ==}}, {thing: 1}]
      - {end: true}
      - text: never
  - match: ^asks
    steps: [{ask: [{question: "How loud? "}, {question: Where?}]}]
  - match: ^plan
    steps: [{plan: "# Plan"}, {text: never}]
  - match: ^api
    steps: [{api_error: rate_limit, message: Slow down.}]
  - match: ^crash
    steps: [{raw: last words}, {crash: 3}]
"""


async def test_a_script_says_what_an_agent_has_not_and_what_its_odd_steps_look_like(tmp_path: Path) -> None:
    async with scripted(tmp_path, PLAIN, capabilities={}) as running:
        opened = await running.connection.new_session(cwd=str(tmp_path), mcp_servers=[])
        session = opened.session_id
        assert opened.modes is None
        for name, value in (("fast", "yes"), ("slow", True)):
            with pytest.raises(RequestError):
                await running.connection.set_config_option(config_id=name, session_id=session, value=value)
        told = await running.connection.set_config_option(config_id="fast", session_id=session, value=True)
        assert told is not None
        assert told.config_options[0].current_value is True

        reply = await running.connection.prompt(session_id=session, prompt=[text_block("odd")])
        assert (reply.stop_reason, reply.usage) == ("end_turn", None)
        assert running.text() == "abcdef" + "0 ..1 ..0 .." + "0123456789abcdef0123"
        assert not any("messageId" in update for update in running.updates())
        (call,) = running.calls()
        assert [(part["type"], part.get("oldText")) for part in call["content"][:2]] == [
            ("diff", "a"), ("diff", "c"),
        ]  # fmt: skip
        assert [part["content"] for part in call["content"][2:]] == [
            {"type": "image", "mimeType": "image/png", "data": "QQ=="},
            {"type": "text", "text": "{'thing': 1}"},
        ]
        for prompt, reason, said in (
            ("asks", "end_turn", "How loud? Where?"),
            ("plan", "cancelled", ""),
            ("api", "end_turn", "Slow down."),
        ):
            running.forget()
            running.answers.append("cancelled")
            assert (await say(running, session, prompt), running.text()) == (reason, said)
            running.answers.clear()

        running.forget()
        await running.connection.prompt(
            session_id=session,
            prompt=[
                text_block("Look:"),
                resource_block(embedded_text_resource("file:///a", "inside")),
                resource_link_block("b", "file:///b"),
                image_block("QQ==", "image/png"),
            ],
        )
        assert running.text() == "Scripted echo: Look:\ninside\nfile:///b\n[image]"


async def test_a_session_is_deleted_and_a_crash_ends_the_agent(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with agent(script_file(tmp_path, PLAIN), "--family", "acp", "--state", str(state)) as cli:

        async def answer(number: int, method: str, **params: object) -> JSON:
            cli.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return await cli.until(lambda message: message.get("id") == number)

        await answer(0, "initialize", protocolVersion=1)
        session = (await answer(1, "session/new", cwd="/", mcpServers=[]))["result"]["sessionId"]
        odd = await answer(2, "session/new", cwd="/", mcpServers={})
        assert odd["error"]["data"] == "mcpServers is a list"
        for number, prompt in ((3, []), (4, [3])):
            answered = await answer(number, "session/prompt", sessionId=session, prompt=prompt)
            assert answered["error"]["code"] == -32602
        await answer(5, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}])
        assert [path.stem for path in state.iterdir()] == [session]
        assert (await answer(6, "session/delete", sessionId=session))["result"] == {}
        assert list(state.iterdir()) == []
        assert (await answer(7, "session/list"))["result"] == {"sessions": []}

        session = (await answer(8, "session/new", cwd="/", mcpServers=[]))["result"]["sessionId"]
        crash = {"sessionId": session, "prompt": [{"type": "text", "text": "crash"}]}
        cli.send({"jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": crash})
        while (line := await cli.line()) not in (b"last words\n", b""):
            pass
        assert line == b"last words\n"
        assert await cli.exit_code() == 3


@pytest.mark.long
async def test_the_demo_plays(tmp_path: Path) -> None:
    command = agent_command("demo", "--family", "acp")
    async with acp_agent(
        command, env={"PYTHONPATH": str(ROOT)}, cwd=tmp_path, capabilities=CAPABILITIES
    ) as running:
        running.forms.append({"q0": "Loud"})
        async with asyncio.timeout(DEADLINE):
            assert await say(running, await new(running, tmp_path), "hello") == "end_turn"
        assert "This is a scripted agent" in running.text()
        assert len(running.asked) == 2
        running.hold_all_to_schema()
