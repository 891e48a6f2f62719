"""`turnwire stdio` as a process: the documents' sessions over the scripted agent, and miriad-code over the real CLI."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_process import AgentProcess
from live import descendants, gone
from real_cli import real_cli, real_cli_environment
from recordings import ROOT
from scripted_messages_api import hang, http_error, plan, scripted_messages_api, text, tool_use
from turnwire.protocol.framing import DEFAULT_LIMIT as LIMIT
from turnwire_process import DEADLINE, TURNWIRE, environment
from waiting import until

JSON = dict[str, Any]

SCRIPT = """
turns:
  - match: Read
    steps:
      - text: I'll read that file for you.
      - tool: read
        input: {filePath: /tmp/test.txt}
        result: Hello from test file!
        until: told
      - text: "The file contains: Hello from test file!"
  - match: "^hang"
    steps: [{text: Waiting.}, {hang: true}]
  - match: "^crash"
    steps: [{text: Ouch.}, {crash: 3, last_words: no way}]
  - match: "^big"
    steps: [{huge: 3000000}]
fallback:
  steps: [{text: "Heard {prompt}"}]
"""


@asynccontextmanager
async def stdio(
    folder: Path, argv: list[str], env: Mapping[str, str], *options: str
) -> AsyncIterator[AgentProcess]:
    """Run it over a CLI, with the caller's options after ours."""
    config = folder / "turnwire.toml"
    config.write_text(f"[agents]\nunder = {json.dumps(argv)}\n")
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        "stdio",
        "--agent=under",
        f"--config={config}",
        *options,
        cwd=folder,
        env={**env, "PYTHONPATH": str(ROOT)},
        limit=1 << 26,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(DEADLINE):
            yield AgentProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def scripted(folder: Path, *options: str, **env: str) -> AbstractAsyncContextManager[AgentProcess]:
    script = folder / "script.yaml"
    script.write_text(SCRIPT)
    argv = [sys.executable, "-m", "turnwire.scripted_agent", str(script), "--seed=7"]
    return stdio(folder, argv, environment(folder / "home", **env), *options)


async def until_result(cli: AgentProcess) -> list[JSON]:
    start = len(cli.received)
    await cli.result()
    return cli.received[start:]


async def test_the_example_session_of_spec_1(tmp_path: Path) -> None:
    async with scripted(tmp_path, "--as", "miriad") as cli:
        (tmp_path / "told").touch()
        cli.prompt("Read /tmp/test.txt", session_id="sess_1")
        lines = [line for line in await until_result(cli) if line.get("subtype") != "init"]
        called, answered, told, result = lines
        said, call = called["message"]["content"]
        assert said == {"type": "text", "text": "I'll read that file for you."}
        assert call == {
            "type": "tool_use",
            "id": call["id"],
            "name": "read",
            "input": {"filePath": "/tmp/test.txt"},
        }
        assert answered["tool_result"] == {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": "Hello from test file!",
        }
        assert told["message"]["content"][0]["text"] == "The file contains: Hello from test file!"
        assert (result["subtype"], result["is_error"], result["result"]) == (
            "success",
            False,
            "The file contains: Hello from test file!",
        )
        cli.prompt("Thanks!", session_id="sess_1")
        assert (await cli.result())["result"] == "Heard Thanks!"
        assert await cli.rest() == []
        assert await cli.exit_code() == 0


async def test_queued_prompts_are_injected_at_a_tools_end(tmp_path: Path) -> None:
    async with scripted(tmp_path, "--as=miriad") as cli:
        cli.prompt("Read it")
        await cli.until(lambda line: "tool_use" in str(line))
        cli.prompt("one")
        cli.prompt("two")
        queued = [await cli.until(lambda line: line.get("subtype") == "queued") for _ in range(2)]
        (tmp_path / "told").touch()
        lines = await until_result(cli)
    assert [line["position"] for line in queued] == [1, 2]
    assert [line["message_count"] for line in lines if line.get("subtype") == "injected"] == [2]
    heard = [block.get("text") for block in lines[-2]["message"]["content"]]
    assert "Heard while working: one\n\ntwo" in str(heard[-1])


async def test_the_flows_of_spec_2_by_default(tmp_path: Path) -> None:
    async with scripted(tmp_path) as cli:
        cli.prompt("Hello", session_id="default")
        lines = await until_result(cli)
        assert [line["type"] for line in lines] == ["system", "assistant", "result"]
        assert lines[1]["message"]["content"] == [{"type": "text", "text": "Heard Hello"}]
        cli.send({"type": "control_request", "request_id": "1", "request": {"subtype": "interrupt"}})
        answer = await cli.until_type("control_response")
        assert answer["response"]["request_id"] == "1"
        assert await cli.rest() == []


async def test_json_rpc_is_heard_from_the_first_line(tmp_path: Path) -> None:
    async with scripted(tmp_path) as cli:
        cli.send({"jsonrpc": "2.0", "id": "a", "method": "run", "params": {"prompt": "Hello"}})
        answer = await _answer(cli, "a")
        assert answer["result"]["result"] == "Heard Hello"
        cli.send({"jsonrpc": "2.0", "id": "b", "method": "nothing"})
        assert (await _answer(cli, "b"))["error"]["code"] == -32601


async def _answer(cli: AgentProcess, request_id: str) -> JSON:
    while True:
        message: JSON = json.loads(await cli.line())
        if message.get("id") == request_id:
            return message


@pytest.mark.parametrize("spoken", ["miriad", "json_rpc"])
async def test_a_refused_prompt_is_answered_and_the_end_of_stdin_ends_it(tmp_path: Path, spoken: str) -> None:
    async with scripted(tmp_path, "--as", spoken) as cli:
        bad = {"type": "user", "message": {"role": "assistant", "content": "x"}}
        if spoken == "miriad":
            cli.send(bad)
            assert (await cli.next())["subtype"] == "error"
        else:
            cli.send({"jsonrpc": "2.0", "id": "a", "method": "run", "params": bad})
            assert (await _answer(cli, "a"))["error"]["code"] == -32602
        assert await cli.rest() == []
        assert await cli.exit_code() == 0


async def test_it_starts_as_the_agent_of_spec_1_does(tmp_path: Path) -> None:
    async with scripted(tmp_path, "--stdio", "--db", "./agent.db") as cli:
        (tmp_path / "told").touch()
        cli.prompt("Read /tmp/test.txt", session_id="sess_1")
        result = await cli.result()
        assert (result["session_id"], result["num_turns"]) == ("sess_1", 1)
        cli.prompt("Thanks!", session_id="sess_1")
        assert (await cli.result())["num_turns"] == 0
        assert await cli.rest() == []
        assert await cli.exit_code() == 0


async def test_large_lines_pass_whole(tmp_path: Path) -> None:
    async with scripted(tmp_path) as cli:
        cli.prompt("big")
        lines = await until_result(cli)
        assert len(lines[1]["message"]["content"][0]["text"]) == 3_000_000


DEAF = """
import json, os, sys, time
for _ in range(60):
    print(json.dumps({"type": "keep_alive"}), flush=True)
    time.sleep(0.05)
while not os.path.exists("listen"):
    time.sleep(0.05)
size = sum(map(len, sys.stdin.buffer))
print(json.dumps({"type": "system", "subtype": "counted", "size": size}), flush=True)
"""


@pytest.mark.long
async def test_a_caller_waits_for_a_cli_that_does_not_read_and_loses_nothing(tmp_path: Path) -> None:
    program = tmp_path / "deaf.py"
    program.write_text(DEAF)
    message = {"type": "user", "message": {"role": "user", "content": "x" * 1_000_000}}
    line = json.dumps(message).encode() + b"\n"
    async with stdio(tmp_path, [sys.executable, str(program)], environment(tmp_path / "home")) as cli:
        for _ in range(64):
            cli.send_raw(line)
        for _ in range(60):
            await cli.until_type("keep_alive")
        assert cli.process.stdin is not None
        assert cli.process.stdin.transport.get_write_buffer_size() > 40_000_000
        (tmp_path / "listen").touch()
        (counted,) = await cli.rest()
    assert counted["size"] == 64 * len(line)


async def test_a_cli_that_crashes_is_told_in_spec_1_and_by_the_exit_code(tmp_path: Path) -> None:
    async with scripted(tmp_path, "--as", "miriad") as cli:
        cli.prompt("crash")
        result = await cli.result()
        assert (result["subtype"], result["result"]) == (
            "error",
            "the agent exited with code 3 in the middle of a turn",
        )
        assert await cli.exit_code() == 3
        assert "no way" in await cli.stderr()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_the_cli_and_itself(tmp_path: Path, number: signal.Signals) -> None:
    async with scripted(tmp_path) as cli:
        cli.prompt("hang")
        await cli.until_type("assistant")
        cli.process.send_signal(number)
        assert await cli.exit_code() in (-number, 128 + number, 143)


@pytest.mark.long
async def test_a_cli_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "stubborn.yaml"
    script.write_text(
        "ignore: [sigterm, stdin_close, interrupt]\nfallback:\n  steps: [{text: No.}, {hang: true}]\n"
    )
    argv = [sys.executable, "-m", "turnwire.scripted_agent", str(script)]
    async with stdio(tmp_path, argv, environment(tmp_path / "home")) as cli:
        cli.prompt("stop")
        await cli.until_type("assistant")
        cli.process.terminate()
        assert await cli.exit_code() == -signal.SIGKILL


async def test_the_version_is_the_clis(tmp_path: Path) -> None:
    async with scripted(tmp_path, "-v") as cli:
        assert (await cli.line()).startswith(b"2.1.")
        assert await cli.exit_code() == 0
    async with scripted(tmp_path, "-v", TURNWIRE_DIALECT="miriad") as cli:
        assert (await cli.line()).startswith(b"2.0.0 (turnwire")


@pytest.mark.parametrize(
    ("option", "sentence"),
    [("--as=klingon", "--as must be one of"), ("--config", "--config needs a value")],
)
async def test_a_wrong_call_is_one_sentence(tmp_path: Path, option: str, sentence: str) -> None:
    async with scripted(tmp_path, option) as cli:
        assert await cli.exit_code() == 2
        said = await cli.stderr()
        assert sentence in said
        assert said.count("\n") == 1


async def test_a_session_is_recorded_where_that_is_wanted(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    async with scripted(tmp_path, TURNWIRE_RECORD="1", TURNWIRE_RECORD_DIR=str(folder)) as cli:
        cli.prompt("Hello")
        await cli.result()
        await cli.rest()
        assert await cli.exit_code() == 0
    rows = [json.loads(line) for path in folder.iterdir() for line in path.read_text().splitlines()]
    assert {"send", "recv", "exit"} <= {row["event"] for row in rows}


# miriad-code over the real CLI


@asynccontextmanager
async def real(folder: Path, api_url: str) -> AsyncIterator[AgentProcess]:
    env = real_cli_environment(folder / "home", api_url)
    options = ("--as", "miriad", "--permission-mode", "bypassPermissions")
    async with stdio(folder, [str(real_cli())], env, *options) as cli:
        yield cli


@pytest.mark.long
async def test_the_real_cli_hears_queued_prompts_before_its_next_model_call(tmp_path: Path) -> None:
    told = tmp_path / "told"
    waits = f"until [ -e '{told}' ]; do sleep 0.05; done; echo waited"
    with scripted_messages_api() as api:
        api.queue(
            [text("Working."), tool_use("Bash", command=waits, description="Wait")],
            [text("First is done.")],
        )
        async with real(tmp_path, api.url) as cli:
            cli.prompt("Go")
            await cli.until(lambda line: "tool_use" in str(line))
            cli.prompt("one")
            cli.prompt("two")
            queued = [await cli.until(lambda line: line.get("subtype") == "queued") for _ in range(2)]
            told.touch()
            lines = await until_result(cli)
            assert await cli.rest() == []
        heard = json.dumps(api.requests[1]["messages"][-1])
    kinds = [line.get("subtype") or line["type"] for line in lines]
    assert [line["position"] for line in queued] == [1, 2]
    assert kinds.count("injected") == 1
    assert (lines[-1]["subtype"], lines[-1]["result"]) == ("success", "First is done.")
    assert "one\\n\\ntwo" in heard
    assert len(api.requests) == 2


@pytest.mark.long
async def test_the_real_cli_is_interrupted_and_goes_on_with_what_waited(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        async with real(tmp_path, api.url) as cli:
            cli.prompt(plan([text("Waiting."), hang()]))
            await until(lambda: api.requests)
            cli.prompt("next")
            cli.send({"type": "control", "action": "status"})
            status = await cli.until(lambda line: line.get("subtype") == "status" and "running" in line)
            assert (status["running"], status["queued_messages"]) == (True, 1)
            cli.send({"type": "control", "action": "interrupt"})
            cancelled, done = await cli.result(), await cli.result()
    assert (cancelled["subtype"], done["subtype"], done["result"]) == ("cancelled", "success", "ok: next")
    assert "result" not in cancelled


@pytest.mark.long
async def test_the_real_cli_is_an_agent_of_spec_1(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        api.queue(
            [text("I look."), tool_use("Bash", command="echo seen", description="Look")],
            [text("Done.")],
            [http_error(403, "permission_error", "not you")],
        )
        async with real(tmp_path, api.url) as cli:
            for content in (42, [{"type": "zzz"}], ""):
                cli.prompt(content)  # type: ignore[arg-type]  # what is refused
                assert (await cli.next())["subtype"] == "error"
            cli.prompt("Go", session_id="mine")
            lines = await until_result(cli)
            cli.prompt("Again", session_id="mine")
            failed = await until_result(cli)
            assert await cli.rest() == []
        assert len(api.requests) == 3
    said = [line for line in lines if line["type"] == "assistant"]
    assert [[block["type"] for block in line["message"]["content"]] for line in said] == [
        ["text", "tool_use"],
        ["text"],
    ]
    (init,) = [line for line in lines if line.get("subtype") == "init"]
    assert init["session_id"] == "mine"
    assert init["cli_session_id"] not in ("mine", None)
    assert {line["session_id"] for line in (*lines, *failed) if "session_id" in line} == {"mine"}
    error, result = [line for line in failed if line.get("subtype") == "error"]
    assert (error["type"], "not you" in error["message"]) == ("system", True)
    assert (result["type"], result["is_error"]) == ("result", True)
    assert [line for line in failed if line["type"] == "assistant"] == []


# Claude's wire, byte for byte

DYING = {
    "mid-line": 'say(b\'{"type":"assistant","mess\')',
    "without a newline": 'say(b\'{"type":"keep_alive"}\')',
    "exit": "say(b'x\\n'); sys.exit(3)",
    "SIGKILL": "say(b'half'); os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "SIGSEGV": "os.kill(os.getpid(), signal.SIGSEGV)",
    "SIGPIPE": "signal.signal(13, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGPIPE)",
    "SIGRTMIN": "os.kill(os.getpid(), signal.SIGRTMIN)",
}

ODD = """
import os, signal, sys
def say(data):
    sys.stdout.buffer.write(data)
    sys.stdout.flush()
sys.stderr.write("last words without a newline")
sys.stderr.flush()
say(b'{"type":"keep_alive"}\\r\\n\\n\\r\\n {"a":"\\xff\\xe2\\x80\\xa8"} \\r\\r\\n')
say(sys.stdin.buffer.readline())
"""


async def said_of(argv: list[str], folder: Path, data: bytes) -> tuple[bytes, bytes, int | None]:
    """Give a program its stdin at once, and return its stdout, its stderr and how it ended."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=folder,
        env={**environment(folder / "home"), "PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE):
        out, err = await process.communicate(data)
    return out, err, process.returncode


def relayed(folder: Path, argv: list[str]) -> list[str]:
    config = folder / "turnwire.toml"
    config.write_text(f"[agents]\nunder = {json.dumps(argv)}\n")
    return [*TURNWIRE, "stdio", "--agent=under", f"--config={config}", "--as=claude"]


@pytest.mark.long
@pytest.mark.parametrize("way", DYING)
async def test_all_that_a_cli_says_and_its_end_are_its_own(tmp_path: Path, way: str) -> None:
    program = tmp_path / "odd.py"
    program.write_text(ODD + DYING[way])
    argv = [sys.executable, str(program)]
    prompt = b'{"type":"user","message":{"role":"user","content":"hi"}}\r\n'
    alone = await said_of(argv, tmp_path, prompt)
    assert prompt in alone[0]
    assert await said_of(relayed(tmp_path, argv), tmp_path, prompt) == alone


ECHO = """
import shutil, sys
shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)
"""


async def test_what_a_caller_says_arrives_byte_for_byte_and_what_is_dropped_is_told(tmp_path: Path) -> None:
    program = tmp_path / "echo.py"
    program.write_text(ECHO)
    keep = b'{"type":"keep_alive"}'
    given = b"%s\r\ngarbage\n\n[1]\n%s\n \r\n%s" % (keep, keep, keep)
    out, err, code = await said_of(relayed(tmp_path, [sys.executable, str(program)]), tmp_path, given)
    assert out == b"%s\r\n%s\n%s" % (keep, keep, keep)
    assert code == 0
    first, second = err.decode().splitlines()
    assert first.startswith("turnwire: a line of the caller is no message and was dropped: 7 bytes; ")
    assert second.startswith("turnwire: a line of the caller is no message and was dropped: 3 bytes; ")
    out, err, code = await said_of(
        relayed(tmp_path, [sys.executable, str(program)]), tmp_path, keep + b"\n" + keep[:9]
    )
    assert (out, code) == (keep + b"\n", 0)
    assert "was dropped: 9 bytes, where stdin ended; " in err.decode()


@pytest.mark.long
async def test_lines_too_long_to_be_read_pass_both_ways_and_are_told(tmp_path: Path) -> None:
    program = tmp_path / "echo.py"
    program.write_text(ECHO)
    message = b'{"type":"user","message":{"role":"user","content":"%b"}}' % (b"x" * LIMIT)
    given = b'{"type":"keep_alive"}\n%b\n{"type":"keep_alive"}\n' % message
    out, err, code = await said_of(relayed(tmp_path, [sys.executable, str(program)]), tmp_path, given)
    assert (len(out), out == given, code) == (len(given), True, 0)
    told = [
        f"line 2 of {who} was passed on unread: {len(message)} bytes" for who in ("the caller", "the agent")
    ]
    assert all(one in err.decode() for one in told), err


# A caller that goes away while it is asked, over the real CLI


def go(spoken: str) -> JSON:
    if spoken == "json_rpc":
        return {"jsonrpc": "2.0", "id": 1, "method": "run", "params": {"prompt": "go"}}
    return {"type": "user", "message": {"role": "user", "content": "go"}}


@pytest.mark.parametrize("spoken", ["claude", "miriad", "json_rpc"])
async def test_a_caller_that_closes_while_it_is_asked_denies_and_all_ends(
    tmp_path: Path, spoken: str
) -> None:
    with scripted_messages_api() as api:
        api.queue(
            [tool_use("Bash", command="touch made", description="Touch")], [text("It was not allowed.")]
        )
        env = real_cli_environment(tmp_path / "home", api.url)
        options = ("--as", spoken, "--permission-prompt-tool", "stdio")
        async with stdio(tmp_path, [str(real_cli())], env, *options) as cli:
            cli.send(go(spoken))
            await cli.until(lambda line: "can_use_tool" in str(line))
            said = await cli.rest()
            assert await cli.exit_code() == 0
        heard = api.requests[1]["messages"][-1]["content"][0]
    assert heard["is_error"] is True
    assert "closed" in heard["content"]
    assert "It was not allowed." in str(said[-1])
    assert not (tmp_path / "made").exists()


CALLER = """
import json, subprocess, sys, time
first, *argv = sys.argv[1:]
child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(first.encode() + b"\\n")
child.stdin.flush()
for line in child.stdout:
    if b"can_use_tool" in line:
        print(child.pid, flush=True)
        time.sleep(1000)
"""


@pytest.mark.long
@pytest.mark.parametrize("spoken", ["claude", "miriad", "json_rpc"])
async def test_a_caller_that_is_killed_while_it_is_asked_leaves_nothing(tmp_path: Path, spoken: str) -> None:
    config = tmp_path / "turnwire.toml"
    config.write_text(f"[agents]\nunder = {json.dumps([str(real_cli())])}\n")
    argv = [*TURNWIRE, "stdio", "--agent=under", f"--config={config}", "--as", spoken]
    argv += ["--permission-prompt-tool", "stdio"]
    with scripted_messages_api() as api:
        api.queue([tool_use("Bash", command="touch made", description="Touch")], [text("Denied.")])
        env = {**real_cli_environment(tmp_path / "home", api.url), "PYTHONPATH": str(ROOT)}
        caller = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", CALLER, json.dumps(go(spoken)), *argv),
            cwd=tmp_path,
            env=env,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            assert caller.stdout is not None
            async with asyncio.timeout(DEADLINE):
                turnwire = int(await caller.stdout.readline())
            left = [turnwire, *descendants(turnwire)]
            assert len(left) > 1
        finally:
            caller.kill()
            await caller.wait()
        await gone(left)
    assert not (tmp_path / "made").exists()


# What a caller introduces itself with, over the real CLI


class Rpc:
    """A caller of either wire that has hooks and an MCP server, and answers what it is asked."""

    def __init__(self, cli: AgentProcess, spoken: str) -> None:
        self.cli = cli
        self.is_rpc = spoken == "json_rpc"
        self.hooked: list[tuple[str, str]] = []
        self.called: list[JSON] = []

    def initialize(self, body: JSON) -> None:
        if self.is_rpc:
            self.cli.send({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": body})
        else:
            self.cli.control("i", subtype="initialize", **body)

    async def until_result(self) -> JSON:
        while True:
            line = await self.cli.next()
            asks = ("method" in line and "id" in line) if self.is_rpc else line["type"] == "control_request"
            if asks:
                self._answer(line)
            elif line.get("id") == 1 or line.get("type") == "result":
                return line

    def _answer(self, line: JSON) -> None:
        request = {"subtype": line["method"], **line["params"]} if self.is_rpc else line["request"]
        answer = self._hook(request) if request["subtype"] == "hook_callback" else self._mcp(request)
        if self.is_rpc:
            self.cli.send({"jsonrpc": "2.0", "id": line["id"], "result": answer})
        else:
            self.cli.answer(line, **answer)

    def _hook(self, request: JSON) -> JSON:
        event = request["input"]["hook_event_name"]
        self.hooked.append((event, request["callback_id"]))
        denies = {"permissionDecision": "deny", "permissionDecisionReason": "no touching"}
        return {"hookSpecificOutput": {"hookEventName": event, **denies}} if event == "PreToolUse" else {}

    def _mcp(self, request: JSON) -> JSON:
        assert (request["subtype"], request["server_name"]) == ("mcp_message", "calc")
        asked = request["message"]
        match asked["method"]:
            case "initialize":
                version = asked["params"]["protocolVersion"]
                info = {"name": "calc", "version": "1"}
                result: JSON = {
                    "protocolVersion": version,
                    "capabilities": {"tools": {}},
                    "serverInfo": info,
                }
            case "tools/list":
                result = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
            case "tools/call":
                self.called.append(asked["params"]["arguments"])
                result = {"content": [{"type": "text", "text": "the sum is 42"}]}
            case _:
                result = {}
        return {"mcp_response": {"jsonrpc": "2.0", "id": asked.get("id", 0), "result": result}}


@pytest.mark.long
@pytest.mark.parametrize("spoken", ["miriad", "json_rpc"])
async def test_hooks_servers_and_prompt_of_an_introduction_hold(tmp_path: Path, spoken: str) -> None:
    with scripted_messages_api() as api:
        api.queue(
            [tool_use("Bash", command="touch made", description="Touch")],
            [tool_use("mcp__calc__add", a=40, b=2)],
            [text("Done.")],
        )
        env = real_cli_environment(tmp_path / "home", api.url)
        options = ("--as", spoken, "--permission-mode", "bypassPermissions")
        async with stdio(tmp_path, [str(real_cli())], env, *options) as cli:
            caller = Rpc(cli, spoken)
            caller.initialize(
                {
                    "hooks": {
                        "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["guard"]}],
                        "PostToolUse": [{"matcher": None, "hookCallbackIds": ["after"]}],
                    },
                    "sdkMcpServers": ["calc"],
                    "systemPrompt": "You speak like a pirate.",
                }
            )
            cli.send(go(spoken))
            result = await caller.until_result()
            assert await cli.rest() == []
        requests = api.requests
    assert ("result" in result, "Done." in str(result)) == (True, True)
    assert "pirate" in json.dumps(requests[0]["system"])
    assert "no touching" in json.dumps(requests[1]["messages"][-1])
    assert not (tmp_path / "made").exists()
    assert caller.called == [{"a": 40, "b": 2}]
    assert "the sum is 42" in json.dumps(requests[2]["messages"][-1])
    assert caller.hooked == [("PreToolUse", "guard"), ("PostToolUse", "after")]


async def test_text_is_told_while_the_cli_hangs_behind_it(tmp_path: Path) -> None:
    async with scripted(tmp_path, "--as", "miriad") as cli:
        cli.prompt("hang")
        told = await cli.until_type("assistant")
        assert told["message"]["content"] == [{"type": "text", "text": "Waiting."}]
