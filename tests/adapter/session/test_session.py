"""Sessions with agents that behave badly: silent, stubborn, dying, deaf."""

import asyncio
import os
import sys
import types
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from session_harness import SessionHarness, always

from turnwire.adapter.claude.opening import open_session
from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.mcp.mcp_host import HostedServer
from turnwire.adapter.options import CommandError, CommandOptions, SessionOptions
from turnwire.adapter.permissions.decisions import PermissionAnswer
from turnwire.adapter.process.cli import ProgramNotFound
from turnwire.adapter.process.identity import members
from turnwire.adapter.process.shutdown import StopDeadlines
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import AnswerRefused, RequestFailed, RequestTimeout
from turnwire.adapter.session.attachments import Attachment
from turnwire.adapter.session.notices import SessionNotice
from turnwire.normalize.inputs import Ended, Received
from turnwire.protocol.claude.control import ControlResponse
from turnwire.protocol.claude.messages import User
from turnwire.protocol.claude.requests import CanUseTool
from turnwire.protocol.json_values import Json, JsonObject
from waiting import until

AGENT = """
import json, os, signal, sys, time

def say(message):
    print(json.dumps(message), flush=True)

def ask(number, **request):
    say({"type": "control_request", "request_id": f"r{number}", "request": request})

def respond(message, **response):
    say({"type": "control_response", "response": {"subtype": "success", "request_id": message["request_id"], **response}})

def may(number, tool="Bash", **arguments):
    ask(number, subtype="can_use_tool", tool_name=tool, input=arguments)

def end():
    say({"type": "result", "subtype": "success", "is_error": False, "session_id": "s"})

def messages():
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("request", {}).get("subtype") == "initialize" and INITIALIZE:
            respond(message, response={"commands": []})
        else:
            yield message

INITIALIZE = True
"""

QUICK = StopDeadlines(interrupt=0.3, close=0.3, terminate=0.3)


class Stage:
    """Opens sessions on agents that are a few lines of Python."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notices: list[SessionNotice] = []

    @asynccontextmanager
    async def harness(self, program: str, **options: Json) -> AsyncIterator[SessionHarness]:
        script = self.folder / "agent.py"
        script.write_text(AGENT + program)
        wanted = replace(
            SessionOptions(
                workspace=self.folder,
                executable=(sys.executable, str(script)),
                environment={"PATH": os.environ["PATH"]},
                ask_version=False,
                stop=QUICK,
            ),
            **options,
        )
        async with asyncio.timeout(120), open_session(wanted, notify=self.notices.append) as session:
            harness = SessionHarness(session, lambda *_: None)
            reading = asyncio.create_task(harness.read())
            try:
                yield harness
            finally:
                await session.stop()
                await reading


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


async def test_a_cli_that_dies_in_a_turn_ends_the_session_with_its_last_words(stage: Stage) -> None:
    program = """
for message in messages():
    say({"type": "system", "subtype": "init", "session_id": "s"})
    may(1, command="ls")
    sys.stderr.write("out of memory")
    sys.stderr.flush()
    os.kill(os.getpid(), 9)
"""
    async with stage.harness(program) as harness:
        await harness.session.prompt("Go.")
        await harness.until(lambda: harness.ended)
        assert harness.ended == Ended("exited", None, "SIGKILL", "out of memory")
        assert not harness.session.busy
        assert harness.session.pending == ()
        with pytest.raises(AnswerRefused) as refused:
            harness.session.answer("r1", PermissionAnswer("allow_once"), by="ada")
        assert refused.value.code == "cancelled"
        with pytest.raises(ProcessGone, match="SIGKILL"):
            await harness.session.prompt("Again.")


async def test_a_cli_that_exits_at_once_says_so_to_whoever_prompts(stage: Stage) -> None:
    async with stage.harness("sys.stderr.write('error: unknown option'); sys.exit(1)") as harness:
        with pytest.raises(ProcessGone):
            await harness.session.prompt("Go.")
        await harness.until(lambda: harness.ended)
        assert harness.ended == Ended("exited", 1, None, "error: unknown option")
    assert [notice.code for notice in stage.notices] == ["initialize_failed"]


async def test_a_cli_that_never_answers_initialize_is_told_of(stage: Stage) -> None:
    async with stage.harness(
        "INITIALIZE = False\nfor m in messages(): pass", initialize_deadline=0.2
    ) as harness:
        with pytest.raises(RequestTimeout, match="did not answer initialize"):
            await harness.session.prompt("Go.")
    assert [notice.code for notice in stage.notices] == ["initialize_failed"]


async def test_a_cli_that_refuses_to_be_initialised_is_told_of(stage: Stage) -> None:
    program = """
for line in sys.stdin:
    message = json.loads(line)
    say({"type": "control_response", "response": {"subtype": "error", "request_id": message["request_id"], "error": "no"}})
"""
    async with stage.harness(program) as harness:
        with pytest.raises(RequestFailed, match="the CLI refused initialize: no"):
            await harness.session.prompt("Go.")


async def pass_time(harness: SessionHarness, seconds: float) -> None:
    """Let time pass with an agent that answers nothing."""
    with pytest.raises(RequestTimeout):
        await harness.session.control({"subtype": "unheard"}, seconds)


async def test_silence_in_a_turn_is_told_once_and_silence_between_turns_is_not(stage: Stage) -> None:
    program = """
for message in messages():
    if message["type"] == "user" and message["message"]["content"] == "end":
        end()
"""
    async with stage.harness(program, stall_after=0.1) as harness:
        await harness.session.initialized
        await pass_time(harness, 0.3)
        assert stage.notices == []
        await harness.session.prompt("Go.")
        await until(lambda: stage.notices)
        await pass_time(harness, 0.3)
        assert [notice.code for notice in stage.notices] == ["stalled"]
        await harness.session.prompt("end")
        await harness.until(lambda: harness.results)
        await harness.session.prompt("Go.")
        await until(lambda: len(stage.notices) == 3)
        assert [notice.code for notice in stage.notices] == ["stalled", "spoke", "stalled"]
        silent = stage.notices[0].silent_ms
        assert silent is not None
        assert silent >= 100


async def test_a_pending_permission_holds_up_neither_output_nor_an_interrupt(stage: Stage) -> None:
    program = """
for message in messages():
    if message["type"] == "user":
        may(1, command="ls")
        for number in range(5000):
            say({"type": "stream_event", "event": {"type": "ping", "number": number}})
    elif message["type"] == "control_request":
        say({"type": "control_cancel_request", "request_id": "r1"})
        respond(message)
        end()
"""
    async with stage.harness(program) as harness:
        await harness.session.prompt("Go.")
        await harness.until(lambda: len(harness.messages) >= 5001)
        assert harness.session.pending
        await harness.session.interrupt()
        await harness.until(lambda: harness.results)
        assert not harness.session.pending


async def test_version_1_is_answered_what_it_cancelled_or_its_turn_would_never_end(stage: Stage) -> None:
    program = """
for message in messages():
    if message["type"] == "user":
        may(1, command="ls")
    elif message["type"] == "control_request":
        say({"type": "control_cancel_request", "request_id": "r1"})
        respond(message)
    elif message["type"] == "control_response":
        end()
"""
    async with stage.harness(program, version="1.0.120") as harness:
        await harness.session.prompt("Go.")
        await harness.until(lambda: harness.session.pending)
        await harness.session.interrupt()
        await harness.until(lambda: harness.results)


async def test_an_interrupt_that_is_not_obeyed_ends_in_the_stop_ladder(stage: Stage) -> None:
    program = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for message in messages():
    if message["type"] == "control_request":
        respond(message)
while True:
    time.sleep(1)
"""
    async with stage.harness(program) as harness:
        await harness.session.prompt("Go.")
        await harness.session.interrupt(escalate_after=0.2)
        await harness.until(lambda: harness.ended)
        assert harness.ended == Ended("hung", None, "SIGKILL", "")


async def test_an_interrupt_is_obeyed_when_the_next_turn_begins_before_its_answer_is_read(
    stage: Stage,
) -> None:
    program = """
for message in messages():
    if message["type"] == "control_request":
        init = {"type": "system", "subtype": "init", "session_id": "s"}
        answer = {"subtype": "success", "request_id": message["request_id"], "response": {"still_queued": ["u"]}}
        result = {"type": "result", "subtype": "error_during_execution", "is_error": True, "session_id": "s"}
        lines = [{"type": "control_response", "response": answer}, result, init]
        sys.stdout.write("".join(json.dumps(line) + "\\n" for line in lines))
        sys.stdout.flush()
"""
    async with stage.harness(program) as harness:
        await harness.session.prompt("one")
        await harness.session.prompt("two")
        assert await harness.session.interrupt(escalate_after=60) == {"still_queued": ["u"]}
        assert harness.ended is None
        assert harness.session.busy


async def test_an_interrupt_that_is_not_answered_fails_or_ends_in_the_stop_ladder(stage: Stage) -> None:
    async with stage.harness("for message in messages(): pass") as harness:
        await harness.session.prompt("Go.")
        with pytest.raises(RequestTimeout, match="did not answer interrupt"):
            await harness.session.interrupt(0.1)
        assert not harness.ended
        assert await harness.session.interrupt(0.1, escalate_after=5) == {}
        await harness.until(lambda: harness.ended)
        assert harness.ended is not None
        assert harness.ended.reason == "hung"


async def test_old_versions_answer_a_mode_twice_and_the_first_answer_counts(stage: Stage) -> None:
    program = """
for message in messages():
    if message["type"] == "control_request":
        respond(message, response={"mode": "plan"})
        respond(message)
"""
    async with stage.harness(program) as harness:
        assert await harness.session.set_permission_mode("plan") == {"mode": "plan"}
        assert await harness.session.control({"subtype": "set_permission_mode", "mode": "plan"}) == {
            "mode": "plan"
        }


async def test_a_subtype_that_an_old_version_never_answers_has_a_deadline(stage: Stage) -> None:
    async with stage.harness("for message in messages(): pass", control_deadline=0.1) as harness:
        with pytest.raises(RequestTimeout, match="did not answer mcp_status"):
            await harness.session.control({"subtype": "mcp_status"})


async def test_nobody_initialises_a_second_time_and_so_undoes_the_hooks(stage: Stage) -> None:
    async with stage.harness("for message in messages(): pass") as harness:
        with pytest.raises(RequestFailed, match="only turnwire may send initialize"):
            await harness.session.control({"subtype": "initialize", "hooks": {}})


async def test_an_old_version_cannot_take_back_a_prompt(stage: Stage) -> None:
    async with stage.harness("for message in messages(): pass", version="2.0.14") as harness:
        with pytest.raises(RequestFailed, match=r"CLI 2\.0\.14 cannot take back"):
            await harness.session.withdraw("u")


async def test_a_prompt_that_is_to_come_now_interrupts_what_runs(stage: Stage) -> None:
    program = """
for message in messages():
    if message["type"] == "control_request":
        respond(message)
        end()
"""
    async with stage.harness(program) as harness:
        await harness.session.prompt("one")
        uuid = await harness.session.prompt("two", priority="now")
        prompts = [message for message in harness.sent if isinstance(message, User)]
        assert [(one.message.content, one.priority) for one in prompts] == [("one", None), ("two", "now")]
        assert prompts[1].uuid == uuid
        assert [type(message).__name__ for message in harness.sent[-3:]] == ["User", "ControlRequest", "User"]


async def test_prompts_keep_their_order_whatever_their_files_take(stage: Stage) -> None:
    async with stage.harness("for message in messages(): pass") as harness:
        await asyncio.gather(
            *(
                harness.session.prompt(
                    f"prompt {number}", attachments=[Attachment(b"x" * 4_000_000)] if number % 3 == 0 else []
                )
                for number in range(12)
            )
        )
        prompts = [str(message.message.content) for message in harness.sent if isinstance(message, User)]
        assert [prompt.rpartition("\n")[2] for prompt in prompts] == [
            f"prompt {number}" for number in range(12)
        ]


async def test_requests_nobody_knows_are_refused_so_that_the_cli_does_not_wait(stage: Stage) -> None:
    program = """
for message in messages():
    if message["type"] == "user":
        ask(1, subtype="novelty")
        ask(2, subtype="hook_callback", callback_id="stranger", input={"hook_event_name": "PreToolUse"})
    elif message["type"] == "control_response" and message["response"]["request_id"] == "r2":
        end()
"""
    async with stage.harness(program) as harness:
        await harness.session.prompt("Go.")
        await harness.until(lambda: harness.results)
        responses = [m for m in harness.sent if isinstance(m, ControlResponse)]
        assert responses[0].error == "turnwire does not answer novelty"
        assert responses[1].payload["hookSpecificOutput"]["permissionDecision"] == "deny"


async def hangs(_: JsonObject) -> JsonObject:
    await asyncio.Event().wait()
    return {}


async def echoes(message: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": message["id"], "result": {"echo": message["method"]}}


async def test_messages_for_hosted_servers_are_answered_by_these_and_a_flood_of_them_is_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = """
def pass_on(number, server, method, id):
    ask(number, subtype="mcp_message", server_name=server, message={"jsonrpc": "2.0", "id": id, "method": method})

for message in messages():
    if message["type"] == "user":
        pass_on(1, "echo", "ping", 1)
        pass_on(2, "none", "ping", 2)
    elif message["type"] == "control_response" and message["response"]["request_id"] == "r2":
        for number in (3, 4, 4, 5, 6):
            pass_on(number, "hang", "ping", number)
    elif message["type"] == "control_response" and message["response"]["request_id"] == "r6":
        say({"type": "control_cancel_request", "request_id": "r3"})
        say({"type": "control_cancel_request", "request_id": "never asked"})
        ask(9, subtype="novelty")
    elif message["type"] == "control_response" and message["response"]["request_id"] == "r9":
        pass_on(7, "echo", "again", 7)
    elif message["type"] == "control_response" and message["response"]["request_id"] == "r7":
        end()
"""
    servers = types.ModuleType("hosted_by_this_test")
    vars(servers).update(hangs=hangs, echoes=echoes)
    monkeypatch.setitem(sys.modules, servers.__name__, servers)
    hosted = {
        "echo": HostedServer(entry_point=f"{servers.__name__}:echoes"),
        "hang": HostedServer(entry_point=f"{servers.__name__}:hangs"),
    }
    async with stage.harness(program, hosted_servers=hosted, max_pending=2) as harness:
        await harness.session.prompt("Go.")
        await harness.until(lambda: harness.results)
        answers = {
            message.request_id: message.payload["mcp_response"]
            for message in harness.sent
            if isinstance(message, ControlResponse) and message.error is None
        }
    assert list(answers) == ["r1", "r2", "r5", "r6", "r7"]
    assert answers["r1"] == {"jsonrpc": "2.0", "id": 1, "result": {"echo": "ping"}}
    assert "no server 'none'" in answers["r2"]["error"]["message"]
    assert {answers[number]["error"]["message"] for number in ("r5", "r6")} == {"2 messages wait already"}
    assert answers["r7"]["result"] == {"echo": "again"}
    assert [notice.code for notice in stage.notices] == ["too_many_requests"]


NEWS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
"""


async def test_what_a_hosted_server_says_by_itself_is_passed_on_to_the_cli(stage: Stage) -> None:
    program = """
for message in messages():
    if message["type"] == "user":
        ask(1, subtype="mcp_message", server_name="news", message={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    elif message.get("request", {}).get("subtype") == "mcp_message":
        assert message["request"]["message"]["method"] == "notifications/tools/list_changed", message
        assert message["request"]["server_name"] == "news"
        respond(message, response={})
        end()
"""
    hosted = {"news": HostedServer(command=(sys.executable, "-I", "-S", "-c", NEWS))}
    async with stage.harness(program, hosted_servers=hosted) as harness:
        await harness.session.prompt("Go.")
        await harness.until(lambda: harness.results)


async def test_a_cli_that_keeps_its_classifier_in_plan_mode_is_told_of(stage: Stage) -> None:
    program = """
say({"type": "system", "subtype": "checkpointing", "on": os.environ.get("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING")})
for message in messages():
    if message.get("request", {}).get("subtype") == "apply_flag_settings":
        response = {"subtype": "error", "request_id": message["request_id"], "error": "no such flag"}
        say({"type": "control_response", "response": response})
    elif message["type"] == "control_request":
        respond(message, response={"heard": message["request"]["subtype"]})
"""
    options = {"version": "2.1.330", "policy": "plan", "command": CommandOptions(checkpointing=True)}
    async with stage.harness(program, **options) as harness:
        await harness.session.initialized
        assert harness.session.version == "2.1.330"
        assert [notice.code for notice in stage.notices] == ["plan_classifier"]
        assert "no such flag" in stage.notices[0].message
        assert await harness.session.control({"subtype": "interrupt"}) == {"heard": "interrupt"}
        assert await harness.session.set_model("opus") == {"heard": "set_model"}
        assert '"on": "true"' in next(
            one.line.decode() for one in harness.inputs if isinstance(one, Received)
        )


async def test_what_the_cli_still_waits_for_is_armed_again(stage: Stage) -> None:
    program = """
INITIALIZE = False
for message in messages():
    if message["type"] == "control_request":
        waiting = {"type": "control_request", "request_id": "old", "request":
            {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}}
        respond(message, response={}, pending_permission_requests=[waiting, waiting])
    elif message["type"] == "control_response":
        end()
"""
    async with stage.harness(program) as harness:
        await harness.session.initialized
        assert harness.session.pending == ("old",)
        harness.session.answer("old", PermissionAnswer("allow_once"), by="ada")
        await harness.until(lambda: harness.results)


@pytest.mark.long
async def test_a_hook_that_runs_goes_with_the_cli(stage: Stage) -> None:
    program = """
for message in messages():
    if message["type"] == "user":
        ask(1, subtype="hook_callback", callback_id="turnwire_hook_0", input={"hook_event_name": "Stop"})
"""
    started = stage.folder / "started"
    slow = f"import signal, time; signal.signal(15, signal.SIG_IGN); open({str(started)!r}, 'w'); time.sleep(600)"
    hooks = (HookSetting(event="Stop", command=(sys.executable, "-c", slow)),)
    async with stage.harness(program, hooks=hooks) as harness:
        await harness.session.prompt("Go.")
        await until(started.exists)
        assert len(members([harness.session.identity])) == 2
        assert harness.session.pending == ()
    assert members([harness.session.identity]) == []


async def test_a_stubborn_cli_is_gone_when_its_session_is_left(stage: Stage) -> None:
    program = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
say({"type": "system", "subtype": "ready"})
while True:
    time.sleep(1)
"""
    async with stage.harness(program) as harness:
        await harness.until(lambda: harness.messages)
    assert harness.ended == Ended("stopped", None, "SIGKILL")


async def test_a_cli_that_closes_its_stdout_and_lives_on_is_ended(stage: Stage) -> None:
    async with stage.harness("os.close(1)\ntime.sleep(600)", exit_deadline=0.1) as harness:
        await harness.until(lambda: harness.ended)
        assert harness.ended is not None
        assert harness.ended.signal == "SIGKILL"


async def test_an_error_of_the_caller_comes_out_as_it_is_and_the_cli_goes(stage: Stage) -> None:
    async def fail() -> None:
        async with stage.harness("for message in messages(): pass") as harness:
            desks.append(harness)
            raise ZeroDivisionError

    desks: list[SessionHarness] = []
    with pytest.raises(ZeroDivisionError):
        await fail()
    assert desks[0].ended is not None


async def test_a_session_that_nobody_reads_from_can_still_be_left(stage: Stage, tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(AGENT + "line = 'x' * 1_000_000\nwhile True: print(line)")
    options = SessionOptions(
        workspace=tmp_path,
        executable=(sys.executable, str(script)),
        environment={"PATH": os.environ["PATH"]},
        ask_version=False,
        initialize=False,
        stop=QUICK,
    )
    async with asyncio.timeout(120), open_session(options) as session:
        await until(lambda: not session.inbox._room.is_set())


async def test_what_cannot_start_is_refused_in_words(tmp_path: Path) -> None:
    options = SessionOptions(workspace=tmp_path, environment={"PATH": os.environ["PATH"]}, ask_version=False)
    with pytest.raises(ProgramNotFound, match="there is no program 'no-such-cli'"):
        async with open_session(replace(options, executable=("no-such-cli",))):
            pass
    impossible = replace(options, executable=("true",), command=CommandOptions(fork=True))
    with pytest.raises(CommandError, match="fork: needs resume"):
        async with open_session(impossible):
            pass


ODD_IDS = """
ODD = [5, 0, -1, 1.5, True, {"a": [1]}, [], "x" * 5000, "a\\u0000\\u001b\\n", "\\u202eq", "é"]
CANNOT = [{}, {"request_id": None}, {"request_id": ""}]
ASK = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}
for message in messages():
    if message["type"] == "user":
        for fields in CANNOT:
            say({"type": "control_request", **fields})
            say({"type": "control_request", **fields, "request": ASK})
        for name in ODD:
            say({"type": "control_request", "request_id": name, "request": ASK})
        say({"type": "control_request", "request_id": "other", "request": {"subtype": "dance"}})
        wanted = [json.dumps(name) for name in [*ODD, "other"]]
    elif message["type"] == "control_response":
        wanted.remove(json.dumps(message["response"]["request_id"]))
        if not wanted:
            end()
"""


async def test_a_person_answers_a_request_whatever_its_id_and_none_ends_the_session(stage: Stage) -> None:
    async with stage.harness(ODD_IDS) as harness:
        harness.answer = always("allow_once")
        result = await harness.turn("Ask.")
        assert result.subtype == "success"
        asked = [name for name, _ in harness.asked(CanUseTool)]
        assert len(set(asked)) == len(asked) == 11
        assert all(name.isascii() and name.isprintable() and 0 < len(name) <= 200 for name in asked)
        assert [one.pending_id for one in harness.decisions] == asked
        assert harness.session.pending == ()
        await harness.session.prompt("Go on.")  # it lives
