"""Runs of agents of the Agent Client Protocol, with small agents that do what their prompts say."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp_agent
import pytest
from runner_harness import DEADLINE, Caller, cancel, request, serving

from turnwire.adapter.families import open_session
from turnwire.adapter.permissions.rules import read_rules
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.config.agents import Agent
from turnwire.config.rulebook import Rulebook
from turnwire.config.settings import Settings
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.messages import User
from turnwire.runner.acp_runs import AcpParams, acp_runs, content_blocks
from turnwire.runner.family import RunFamily
from turnwire.runner.runner_lines import Refused, Run, read_request, run_line
from turnwire.runner.server import RunnerOptions
from turnwire_process import TURNWIRE, environment
from waiting import until

JSON = dict[str, Any]
PROGRAM = str(Path(acp_agent.__file__))
SESSION = acp_agent.SESSION
NORMALIZED = RunnerOptions(normalized=True)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def prompt(content: object) -> JSON:
    return {"type": "user", "message": {"role": "user", "content": content}}


def ask(run_id: str, content: object, **params: object) -> bytes:
    return request(run_id, **{"message": prompt(content), "model": "small", **params})


@asynccontextmanager
async def family(*ways: str, rulebook: Rulebook | None = None) -> AsyncIterator[RunFamily]:
    agent = Agent("tester", (sys.executable, "-I", PROGRAM, *ways), family="acp")
    async with asyncio.timeout(DEADLINE), Watchdog.start() as watchdog:
        yield acp_runs(agent, rulebook or Rulebook(), Settings(), open_session, watchdog)


async def served(
    *lines: bytes,
    ways: tuple[str, ...] = (),
    options: RunnerOptions | None = None,
    rulebook: Rulebook | None = None,
) -> Caller:
    async with family(*ways, rulebook=rulebook) as runs, serving(runs, options) as (caller, task):
        caller.send(*lines)
        caller.close()
        await caller.read()
        await task
    assert caller.log.failures == []
    return caller


def texts(caller: Caller, run_id: str) -> str:
    """What the agent said, in words."""
    said = []
    for event in caller.events(run_id):
        match event:
            case {"params": {"update": {"sessionUpdate": "agent_message_chunk", "content": content}}}:
                said.append(content["text"])
            case _:
                pass
    return "".join(said)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# What a run may be asked for with


def read(**params: object) -> Run | Refused:
    whole = {"message": prompt("hi"), "rate_limit_max_retries": 0, **params}
    found = read_request(run_line("r", whole), AcpParams)
    assert isinstance(found, Run | Refused)
    return found


def test_an_agent_takes_its_own_model_where_none_is_named() -> None:
    for params in ({}, {"model": None}, {"model": "m"}):
        found = read(**params)
        assert isinstance(found, Run)
        assert found.params.model == params.get("model")
    refused = read(model="")
    assert isinstance(refused, Refused)
    assert "$.model" in refused.error


def test_what_the_protocol_has_no_place_for_is_refused_by_name() -> None:
    found = read(system_prompt="Be brief.", effort="low", thinking_disabled=True, user_agent="ua/1")
    assert found == Refused(
        "r",
        "invalid-params: system_prompt, effort, thinking_disabled, user_agent: "
        "the Agent Client Protocol has no field for this; leave it out",
    )
    assert isinstance(read(thinking_disabled=False, rate_limit_max_retries=5, effort=None), Run)


def test_text_and_images_become_content_blocks_in_their_order() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    message = decode(json.dumps(prompt([{"type": "text", "text": "a"}, image])).encode())
    assert isinstance(message, User)
    assert content_blocks(message) == (
        {"type": "text", "text": "a"},
        {"type": "image", "mimeType": "image/png", "data": PIXEL},
    )


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ([], "message is empty"),
        ([{"type": "text", "text": "a"}, {"type": "document", "source": {}}], "$.message.content[1]"),
        ([{"type": "image", "source": {"type": "url", "url": "https://x"}}], "$.message.content[0]"),
        ([{"type": "image", "source": {"type": "base64", "data": ""}}], "media_type and data"),
    ],
)
def test_what_is_neither_text_nor_an_image_is_refused_by_its_place(content: object, named: str) -> None:
    refused = read(message=prompt(content))
    assert isinstance(refused, Refused)
    assert refused.error.startswith("invalid-params: ")
    assert named in refused.error


# Runs


async def test_a_run_gets_the_agents_lines_byte_for_byte_and_one_end() -> None:
    caller = await served(ask("a", "text"))
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello. "}}
    params = {"sessionId": SESSION, "update": update}
    said = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})
    answer = json.dumps({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}})
    head = '{"type":"event","id":"a","event":'
    assert [line.decode() for line in caller.lines[-3:]] == [
        f"{head}{said}}}",
        f"{head}{answer}}}",
        '{"type":"end","id":"a","status":"ok"}',
    ]
    # what the conversation was opened with is told as well: it names the session to go on with
    assert caller.events("a")[1]["result"]["sessionId"] == SESSION
    assert caller.notes == []


async def test_calls_are_allowed_unless_a_rule_says_otherwise_and_forms_are_declined() -> None:
    asked = json.dumps({"mode": "form", "message": "Name?", "requestedSchema": {"type": "object"}})
    form = "ask elicitation/create " + asked.replace(" ", "")
    rules = read_rules([{"action": "deny", "tool": "Bash"}])
    free = await served(ask("a", f"tool {form}"))
    assert '"optionId": "once"' in texts(free, "a")
    assert '{"action": "decline"}' in texts(free, "a")
    ruled = await served(ask("a", "tool"), rulebook=Rulebook(rules))
    assert '"optionId": "no"' in texts(ruled, "a")
    wondering = Rulebook(read_rules([{"action": "ask", "tool": "Bash"}]))
    asked_for = await served(ask("a", "tool text"), rulebook=wondering)
    assert '"optionId": "no"' in texts(asked_for, "a")
    assert "Hello." in texts(asked_for, "a")
    assert {caller.ends()["a"]["status"] for caller in (free, ruled, asked_for)} == {"ok"}


async def test_runs_together_say_what_each_says_alone() -> None:
    names = [f"r{number}" for number in range(4)]
    caller = await served(*(ask(name, f"text {name} tool") for name in names))
    assert {end["status"] for end in caller.ends().values()} == {"ok"}
    for name in names:
        said = texts(caller, name)
        assert said.startswith(f"Hello. {name} [")
        assert not any(other in said for other in names if other != name)


@pytest.mark.parametrize("options", [None, NORMALIZED])
async def test_a_cancelled_run_cancels_the_turn_and_tells_its_end(
    tmp_path: Path, options: RunnerOptions | None
) -> None:
    async with family() as runs, serving(runs, options) as (caller, task):
        caller.send(ask("a", "text mark wait"))
        await until((tmp_path / "mark").exists)
        caller.send(ask("b", "text"), cancel("a"))
        caller.close()
        await caller.read()
        await task
    assert {run: end["status"] for run, end in caller.ends().items()} == {"a": "cancelled", "b": "ok"}
    events = caller.events("a")
    if options is None:
        assert events[-1]["result"] == {"stopReason": "cancelled"}
    else:
        completed = [event for event in events if event["type"] == "complete"]
        assert [event["data"]["outcome"] for event in completed] == ["interrupted"]
        assert events[-1]["type"] == "process_status"
    assert caller.log.failures == []


async def test_a_cancel_is_heard_while_nobody_reads_and_before_the_agent_has_said_anything() -> None:
    async with family() as runs, serving(runs) as (caller, task):
        caller.send(ask("a", "flood wait"))
        output = caller.runner._streams.output
        await until(lambda: output._waiting)  # the run waits for a reader
        caller.send(cancel("a"), ask("b", "text"))
        await until(lambda: list(caller.runner._runs) == ["b"])
        caller.close()
        await caller.read()
        await task
    assert {run: end["status"] for run, end in caller.ends().items()} == {"a": "cancelled", "b": "ok"}
    assert len(texts(caller, "a")) < 20_000 * 50
    async with family("mute") as runs, serving(runs) as (caller, task):
        caller.send(ask("a", "text"))
        await until(lambda: caller.runner._runs)
        caller.send(cancel("a"))
        caller.close()
        await caller.read()
        await task
    assert [json.loads(line) for line in caller.lines] == [{"type": "end", "id": "a", "status": "cancelled"}]


@pytest.mark.parametrize(
    ("ways", "words", "error"),
    [
        ((), "last-words die", "the agent was ended by SIGKILL before it answered the prompt: that was all"),
        ((), "refuse", "the agent refuses session/prompt: the model is not there (-32603)"),
        (("login",), "text", "Tester needs a login first: Authentication required."),
        (("v9",), "text", "the agent speaks version 9 of the Agent Client Protocol"),
    ],
)
async def test_an_agent_that_dies_or_refuses_ends_the_run_with_the_reason(
    ways: tuple[str, ...], words: str, error: str
) -> None:
    caller = await served(ask("a", words), ways=ways)
    end = caller.ends()["a"]
    assert end["status"] == "error"
    assert end["error"].startswith(error)


async def test_normalized_a_run_has_one_turn_and_completes_it_though_the_agent_dies() -> None:
    caller = await served(ask("a", "text"), ask("b", "text die"), options=NORMALIZED)
    for run_id, outcome in (("a", "completed"), ("b", "process_exited")):
        events = caller.events(run_id)
        assert [event["type"] for event in events].count("turn_started") == 1
        outcomes = [event["data"]["outcome"] for event in events if event["type"] == "complete"]
        assert outcomes == [outcome]
        assert "Hello. " in [event["text"] for event in events if event["type"] == "message_chunk"]


async def test_a_run_goes_on_with_a_session_which_the_agent_tells_again_first() -> None:
    caller = await served(ask("a", "text", resume=SESSION), ask("b", "text", resume="nobody's"))
    assert texts(caller, "a") == "an old answerHello. "
    assert caller.ends()["a"]["status"] == "ok"
    assert "no session nobody's" in caller.ends()["b"]["error"]
    normalized = await served(ask("a", "text", resume=SESSION), options=NORMALIZED)
    told = [event for event in normalized.events("a") if event["type"] == "message_chunk"]
    assert [(event["text"], event.get("history")) for event in told] == [
        ("an old answer", True),
        ("Hello. ", None),
    ]


async def test_servers_are_handed_over_and_those_that_the_agent_cannot_reach_fail_the_run() -> None:
    program = {"command": "calc", "args": ["-x"], "env": {"A": "1"}}
    caller = await served(
        ask("a", "tell-opened", mcp_servers={"calc": program}),
        ask("b", "text", mcp_servers={"far": {"type": "sse", "url": "https://far"}}),
    )
    handed = json.loads(texts(caller, "a"))[0]["mcpServers"]
    assert handed == [
        {"name": "calc", "command": "calc", "args": ["-x"], "env": [{"name": "A", "value": "1"}]}
    ]
    assert "no MCP servers of the kind sse" in caller.ends()["b"]["error"]
    assert texts(caller, "b") == ""


async def test_an_image_reaches_an_agent_that_takes_images_and_no_other() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    caller = await served(ask("a", [image], model=None))
    assert '"type":"image"' in texts(caller, "a")
    bare = await served(ask("a", [image], model=None), ways=("bare",))
    assert bare.ends()["a"]["error"] == "Tester does not accept images; leave them out"


async def test_a_model_that_the_agent_does_not_have_fails_the_run_with_those_it_has() -> None:
    caller = await served(ask("a", "text", model="large"), ask("b", "text", model="huge"))
    assert caller.ends()["a"]["status"] == "ok"
    assert caller.ends()["b"]["error"] == "the agent has no model 'huge'; it has: small, large"
    resumed = await served(ask("a", "text", model="huge", resume=SESSION))
    assert "no model 'huge'" in resumed.ends()["a"]["error"]


async def test_lines_that_are_no_message_become_notes_and_nothing_is_lost() -> None:
    caller = await served(ask("a", "garbage text"))
    assert caller.ends()["a"]["status"] == "ok"
    assert texts(caller, "a") == "Hello. "
    assert {(note["id"], note["level"]) for note in caller.diags()} == {("a", "warn")}
    assert any("no json" in note["message"] for note in caller.diags())


# The command


async def runner(folder: Path, *arguments: str, send: bytes = b"", **env: str) -> tuple[int, JSON, JSON]:
    """Exit code, and the last lines on stdout and stderr."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(*TURNWIRE, "runner", *arguments),
        cwd=folder,
        env=environment(folder / "home", **env),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    async with asyncio.timeout(DEADLINE):
        output, notes = await process.communicate(send)
    assert process.returncode is not None
    last = [json.loads(part.splitlines()[-1]) if part else {} for part in (output, notes)]
    return process.returncode, last[0], last[1]


async def test_the_command_runs_an_agent_by_its_command_line(tmp_path: Path) -> None:
    ended = await runner(tmp_path, "--family", "acp", "--", sys.executable, PROGRAM, send=ask("a", "text"))
    assert ended == (0, {"type": "end", "id": "a", "status": "ok"}, {})


@pytest.mark.long
async def test_the_command_runs_the_demo_by_its_name_in_another_model(tmp_path: Path) -> None:
    help_, effort = ask("a", "/help", model="scripted-agent-2"), ask("b", "/help", effort="low")
    asked = b"".join([effort, help_])
    ended = await runner(tmp_path, "--agent", "demo-acp", send=asked)
    assert ended == (0, {"type": "end", "id": "a", "status": "ok"}, {})


@pytest.mark.long
async def test_a_command_that_cannot_be_is_one_fatal_line(tmp_path: Path) -> None:
    agents = json.dumps({"q": {"command": [sys.executable], "family": "qwen"}})
    for arguments, words in (
        (["--family", "acp"], "--family says"),
        (["--agent", "q"], "speaks qwen"),
        (["--agent", "demo-acp", "--", "my-agent"], "give one of them"),
    ):
        code, _, fatal = await runner(tmp_path, *arguments, TURNWIRE_AGENTS=agents)
        assert (code, fatal["type"]) == (2, "fatal")
        assert words in fatal["message"]
