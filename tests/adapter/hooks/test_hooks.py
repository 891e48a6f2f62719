import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from turnwire.adapter.hooks.programs import MAX_ANSWER, HookFailed, run_hook
from turnwire.adapter.hooks.settings import HookError, HookSetting, callback_id, find_hook, read_hooks
from turnwire.adapter.process import suspend_aware_timer
from turnwire.adapter.process.identity import start_time
from turnwire.protocol.json_values import JsonObject
from waiting import clock_that_jumps, until

PAYLOAD: JsonObject = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}


async def run(hook: HookSetting, folder: Path, payload: JsonObject = PAYLOAD) -> JsonObject:
    async with asyncio.timeout(120):
        return await run_hook(hook, payload, workspace=folder, environment={"PATH": os.environ["PATH"]})


def program(code: str, timeout: float = 60) -> HookSetting:
    return HookSetting(event="PreToolUse", command=(sys.executable, "-c", code), timeout=timeout)


async def test_a_command_gets_json_and_answers_json(tmp_path: Path) -> None:
    code = "import json, os, sys; p = json.load(sys.stdin); print(json.dumps({'tool': p['tool_name'], 'cwd': os.getcwd()}))"
    assert await run(program(code), tmp_path) == {"tool": "Bash", "cwd": str(tmp_path)}


async def test_a_command_that_says_nothing_has_no_opinion(tmp_path: Path) -> None:
    assert await run(program("pass"), tmp_path) == {}


@pytest.mark.parametrize(("event", "word"), [("PreToolUse", "deny"), ("Stop", "block")])
async def test_exit_code_2_blocks_with_the_reason_on_stderr(event: str, word: str, tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('not on a Friday'); sys.exit(2)"
    answer = await run(program(code), tmp_path, {"hook_event_name": event})
    assert answer == {"decision": word, "reason": "not on a Friday"}


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("import sys; sys.stderr.write('oops'); sys.exit(1)", "exit code 1: oops"),
        ("print('hello')", "not JSON"),
        ("print('[1]')", "not a JSON object"),
        ("print('{\"a\":' * 500 + '1' + '}' * 500)", "nested deeper"),
        (f"print('x' * {MAX_ANSWER + 10})", "larger than"),
    ],
)
async def test_everything_else_is_a_failure(code: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(HookFailed, match=complaint):
        await run(program(code), tmp_path)


async def test_a_command_that_is_missing_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(HookFailed, match="cannot run no-such-hook"):
        await run(HookSetting(event="Stop", command=("no-such-hook",)), tmp_path)


async def test_a_command_that_leaves_a_daemon_with_its_output_answers_when_it_exits(tmp_path: Path) -> None:
    code = f"""
import subprocess
daemon = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
open({str(tmp_path / "pid")!r}, "w").write(str(daemon.pid))
print('{{"decision": "deny"}}')
"""
    try:
        assert await run(program(code), tmp_path) == {"decision": "deny"}
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@pytest.mark.long
async def test_a_command_that_takes_too_long_goes_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(tmp_path / "pids")!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
time.sleep(600)
"""
    file = tmp_path / "pids"
    hook = program(code, timeout=600)
    running = asyncio.create_task(run_hook(hook, PAYLOAD, workspace=tmp_path, environment={}))
    await until(lambda: file.exists() and len(file.read_text().split()) == 2)
    pids = [int(word) for word in file.read_text().split()]
    # ten minutes that nobody stood still
    monkeypatch.setattr(suspend_aware_timer, "STEP_S", 600)
    await clock_that_jumps()(600)
    with pytest.raises(HookFailed, match=r"no answer within 600 s"):
        await running
    await until(lambda: all(start_time(pid) is None for pid in pids))


async def test_a_machine_that_stood_still_has_cost_a_hook_nothing(tmp_path: Path) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    code = f"""
import pathlib, time
pathlib.Path({str(begun)!r}).touch()
while not pathlib.Path({str(go)!r}).exists():
    time.sleep(0.01)
print('{{"decision": "approve"}}')
"""
    running = asyncio.create_task(run(program(code), tmp_path))
    await until(begun.exists)
    await clock_that_jumps()(100)
    go.touch()
    assert await running == {"decision": "approve"}


# By URL


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        status = int(self.path.rpartition("/")[2] or 200)
        answer = json.dumps({"heard": json.loads(body)["tool_name"], "path": self.path}).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class names it so
        pass


@pytest.fixture
def url() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


async def test_a_url_gets_json_by_post_and_answers_json(url: str, tmp_path: Path) -> None:
    answer = await run(HookSetting(event="PreToolUse", url=f"{url}/hook/200"), tmp_path)
    assert answer == {"heard": "Bash", "path": "/hook/200"}


async def test_a_url_that_fails_is_a_failure(url: str, tmp_path: Path) -> None:
    with pytest.raises(HookFailed, match="status 500"):
        await run(HookSetting(event="PreToolUse", url=f"{url}/500"), tmp_path)
    with pytest.raises(HookFailed, match="cannot reach"):
        await run(HookSetting(event="PreToolUse", url="http://127.0.0.1:9/"), tmp_path)


# The configuration


def test_hooks_are_read_and_found_by_their_callback_id() -> None:
    hooks = read_hooks(
        [
            {"event": "PostToolUse", "matcher": "Edit|Write", "command": ["./notify", "-v"], "timeout": 5},
            {"event": "Stop", "url": "http://localhost:9000/hook"},
            {"event": "Stop", "command": "./one-word"},
        ]
    )
    assert hooks[0] == HookSetting(
        event="PostToolUse", matcher="Edit|Write", command=("./notify", "-v"), timeout=5.0
    )
    assert hooks[2].command == ("./one-word",)
    assert [find_hook(hooks, callback_id(number)) for number in range(4)] == [*hooks, None]
    assert find_hook(hooks, "turnwire_hook_x") is None
    assert find_hook(hooks, "0") is None
    assert hooks[0].cli_timeout > hooks[0].timeout


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({"command": ["x"]}, "event must name"),
        ({"event": "Stop"}, "either command or url"),
        ({"event": "Stop", "command": ["x"], "url": "http://127.0.0.1:1/"}, "either command or url"),
        ({"event": "Stop", "command": []}, None),
        ({"event": "Stop", "command": [1]}, "list of words"),
        ({"event": "Stop", "command": ["x"], "timeout": 0}, "timeout must be"),
        ({"event": "Stop", "command": ["x"], "timeout": True}, "timeout must be"),
        ({"event": "Stop", "command": ["x"], "matcher": 1}, "matcher must be"),
        ({"event": "Stop", "command": ["x"], "when": "now"}, "unknown key when"),
        ({"event": "Stop", "url": "https://127.0.0.1:1/"}, "on loopback"),
        ({"event": "Stop", "url": "http://example.org:80/"}, "on loopback"),
        ({"event": "Stop", "url": "http://127.0.0.1.example.org:80/"}, "on loopback"),
        ({"event": "Stop", "url": "http://user@127.0.0.1:80/"}, "on loopback"),
        ({"event": "Stop", "url": "http://127.0.0.1:x/"}, "on loopback"),
        ({"event": "Stop", "url": 3}, "on loopback"),
    ],
)
def test_a_hook_that_cannot_be_read_is_refused_with_its_number(
    entry: dict[str, object], complaint: str | None
) -> None:
    with pytest.raises(HookError, match=rf"^hook 1: .*{complaint or ''}"):
        read_hooks([entry])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "[::1]", "localhost"])
def test_loopback_has_several_names(host: str) -> None:
    assert read_hooks([{"event": "Stop", "url": f"http://{host}:9000/"}])[0].url == f"http://{host}:9000/"
