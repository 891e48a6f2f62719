"""The runner with agents that play steps: requests in, lines out."""

import asyncio
import json
import os
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from runner_harness import (
    DEADLINE,
    INIT,
    RESULT,
    SESSION,
    Agents,
    Fails,
    Hang,
    Start,
    Step,
    cancel,
    limited,
    request,
    said,
    served,
    serving,
)

from turnwire.adapter.families import open_session
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.normalize.inputs import Ended
from turnwire.protocol.json_values import JsonObject
from turnwire.runner import server
from turnwire.runner.claude_runs import claude_runs
from turnwire.runner.family import RunFamily
from turnwire.runner.mcp_wait import ServerDeadlines
from turnwire.runner.output import OutputLost
from turnwire.runner.server import RunnerOptions
from waiting import until

GOOD: list[Step] = [INIT, said("hello"), RESULT]


def always(*steps: Step) -> Agents:
    return Agents(lambda start, number: steps)


async def test_a_run_gets_its_lines_byte_for_byte_and_one_end() -> None:
    odd = b'{ "type" : "brand_new", "n": 1e400, "s":"\xe2\x80\xa8" }'
    agents = always(INIT, odd, RESULT)
    caller = await served(agents, request("a"))
    head = b'{"type":"event","id":"a","event":'
    assert caller.lines == [head + line + b"}" for line in (INIT, odd, RESULT)] + [
        b'{"type":"end","id":"a","status":"ok"}'
    ]
    assert caller.notes == []
    (agent,) = agents.started
    assert agent.heard == [b'{"type": "user", "message": {"role": "user", "content": "hi"}}']
    assert agent.closed
    assert agent.stopped


@asynccontextmanager
async def real(tmp_path: Path, program: str, lingers: float = 10.0) -> AsyncIterator[RunFamily]:
    """Runs of a CLI that is a small program."""
    file = tmp_path / "agent.py"
    file.write_text(
        "import json, os, signal, sys, time\n"
        "def say(message): print(json.dumps(message), flush=True)\n"
        "def hear(): return json.loads(sys.stdin.readline())\n"
        'prompt = hear()\nsay({"type": "system", "subtype": "init", "session_id": "s"})\n' + program
    )
    async with asyncio.timeout(DEADLINE), Watchdog.start() as watchdog:
        yield claude_runs([sys.executable, str(file)], (), open_session, watchdog, lingers=lingers)


async def test_the_control_protocol_is_no_event_and_requests_are_answered(tmp_path: Path) -> None:
    program = """
def ask(number, **request): say({"type": "control_request", "request_id": number, "request": request}); return hear()
answers = [
    ask("1", subtype="can_use_tool", tool_name="Bash", input={}),
    ask("2", subtype="elicitation", mcp_server_name="s", message="?"),
    ask("3", subtype="brand_new"),
]
say({"type": "control_response", "response": {"subtype": "success", "request_id": "0"}})
say({"type": "control_cancel_request", "request_id": "1"})
say({"type": "result", "subtype": "success", "is_error": False, "result": json.dumps(answers), "argv": sys.argv[1:]})
"""
    async with real(tmp_path, program) as runs:
        caller = await served(runs, request("a"))
    assert [event["type"] for event in caller.events("a")] == ["system", "result"]
    denied, declined, refused = (answer["response"] for answer in json.loads(caller.events("a")[1]["result"]))
    assert denied["response"]["behavior"] == "deny"
    assert declined["response"] == {"action": "decline"}
    assert refused["error"] == "turnwire does not answer brand_new"
    assert "--permission-prompt-tool=stdio" not in caller.events("a")[1]["argv"]
    assert {"--tools=", "--strict-mcp-config", "--permission-mode=bypassPermissions"} <= set(
        caller.events("a")[1]["argv"]
    )


async def test_a_line_that_is_no_message_becomes_a_note() -> None:
    caller = await served(always(INIT, b"Oops\nno", b"", b"[1]", RESULT), request("a"))
    assert len(caller.events("a")) == 2
    assert [(note["type"], note["id"], note["level"]) for note in caller.diags()] == [
        ("diag", "a", "warn")
    ] * 2
    assert caller.ends()["a"]["status"] == "ok"


async def test_a_cli_that_ends_without_a_result_is_an_error_on_one_line() -> None:
    agents = always(INIT, Fails(Ended("exited", 1, None, "first\n\tsecond\r\n")))
    caller = await served(agents, request("a"))
    error = "the CLI exited with code 1 without a result: first second"
    assert caller.ends()["a"] == {"type": "end", "id": "a", "status": "error", "error": error}
    killed = await served(always(Fails(Ended("exited", None, "SIGKILL"))), request("a"))
    assert killed.ends()["a"]["error"] == "the CLI was ended by SIGKILL without a result"


async def test_an_error_result_is_passed_on_and_the_run_is_ok() -> None:
    result = b'{"type":"result","subtype":"success","is_error":true,"result":"no"}'
    caller = await served(always(result, Fails(Ended("exited", 1))), request("a"))
    assert caller.ends()["a"]["status"] == "ok"


async def test_a_cli_that_cannot_be_started_is_an_error() -> None:
    agents = always()
    agents.refuse = "there is no\nprogram"
    caller = await served(agents, request("a"))
    assert caller.ends()["a"]["error"] == "there is no program"


async def test_bad_requests_are_told_and_the_others_counted() -> None:
    caller = await served(
        always(*GOOD),
        b"junk\n",
        b"\n",
        b'{"type":"run"}\n',
        b'{"type":"jump","id":"u"}\n',
        request("p", model=""),
        cancel("nobody"),
        request("good"),
        b'{"type":"run","id":"cut',
    )
    ends = caller.ends()
    assert ends["u"]["error"] == "unknown-type: jump"
    assert ends["p"]["error"].startswith("invalid-params: ")
    assert ends["good"]["status"] == "ok"
    assert caller.log.counts == ["no JSON object", "no id", "cancel without a run", "no JSON object"]
    assert caller.notes == []


async def test_a_duplicate_id_is_refused_and_the_first_run_goes_on() -> None:
    async with asyncio.timeout(DEADLINE), serving(always(INIT, Hang())) as (caller, task):
        caller.send(request("a"), request("a"), cancel("a"))
        caller.close()
        await caller.read()
        await task
    ends = [line for line in caller.said() if line["type"] == "end"]
    assert [end.get("error", end["status"]) for end in ends] == ["duplicate-id", "cancelled"]


async def test_two_runs_do_not_go_on_with_one_conversation_at_once() -> None:
    async with asyncio.timeout(DEADLINE), serving(always(INIT, Hang())) as (caller, task):
        caller.send(request("a", resume="c"), request("b", resume="c"), request("d", resume="other"))
        caller.send(cancel("d"), cancel("a"))
        caller.close()
        await caller.read()
        await task
    ends = caller.ends()
    assert ends["b"]["error"] == "conversation-in-use: the run a goes on with c; wait for its end"
    assert [ends[name]["status"] for name in ("a", "d")] == ["cancelled", "cancelled"]


async def test_an_id_may_be_used_again_after_its_end() -> None:
    agents = always(*GOOD)
    async with asyncio.timeout(DEADLINE), serving(agents) as (caller, task):
        caller.send(request("a"))
        await until(lambda: agents.started and agents.started[0].stopped and not caller.runner._runs)
        caller.send(request("a"))
        caller.close()
        await caller.read()
        await task
    assert [line["status"] for line in caller.said() if line["type"] == "end"] == ["ok", "ok"]


async def test_a_cancel_stops_its_run_alone() -> None:
    def script(start: Start, number: int) -> list[Step]:
        return [INIT, Hang()] if number == 0 else GOOD

    agents = Agents(script)
    async with asyncio.timeout(DEADLINE), serving(agents) as (caller, task):
        caller.send(request("a"))
        await until(lambda: agents.started)
        caller.send(request("b"), cancel("a"), cancel("a"))
        caller.close()
        await caller.read()
        await task
    assert {run: end["status"] for run, end in caller.ends().items()} == {"a": "cancelled", "b": "ok"}
    assert agents.started[0].stopped


async def test_a_run_that_is_cancelled_before_it_began_has_an_end() -> None:
    agents = always(Hang())
    caller = await served(agents, request("a"), cancel("a"))
    assert caller.ends()["a"]["status"] == "cancelled"
    assert agents.started == []


async def test_the_end_of_input_cancels_what_runs_by_option() -> None:
    caller = await served(
        always(INIT, Hang()), request("a"), request("b"), options=RunnerOptions(at_end="cancel")
    )
    assert [end["status"] for end in caller.ends().values()] == ["cancelled", "cancelled"]


async def test_a_runner_that_is_cancelled_ends_every_run() -> None:
    agents = always(INIT, Hang())
    async with asyncio.timeout(DEADLINE), serving(agents) as (caller, task):
        caller.send(request("a"), request("b"))
        await until(lambda: len(agents.started) == 2)
        task.cancel()
        await caller.read()
    assert sorted(end["status"] for end in caller.ends().values()) == ["cancelled", "cancelled"]
    assert all(agent.stopped for agent in agents.started)


async def test_runs_beyond_the_places_wait_their_turn_and_too_many_are_refused() -> None:
    agents = always(INIT, Hang())
    options = RunnerOptions(max_running=1, max_runs=2)
    async with asyncio.timeout(DEADLINE), serving(agents, options) as (caller, task):
        caller.send(request("a"), request("b"), request("c"))
        await until(lambda: agents.started)
        assert len(agents.started) == 1
        caller.send(cancel("a"))
        await until(lambda: len(agents.started) == 2)
        caller.send(cancel("b"))
        caller.close()
        await caller.read()
        await task
    assert caller.ends()["c"]["error"] == "overloaded: 2 runs are not done yet"


async def test_a_rate_limit_is_waited_for_and_the_session_goes_on_without_the_message() -> None:
    def script(start: Start, number: int) -> list[Step]:
        return [INIT, said("one"), limited(998.5), said("lost"), RESULT] if number == 0 else [INIT, *GOOD[1:]]

    agents = Agents(script)
    caller = await served(agents, request("a", rate_limit_max_retries=1))
    assert [event["type"] for event in caller.events("a")] == [
        "system",
        "assistant",
        "system",
        "assistant",
        "result",
    ]
    (note,) = caller.diags()
    assert note == {
        "type": "diag",
        "id": "a",
        "level": "warn",
        "message": "rate limit: waiting 0 s, then retry 1 of 1",
    }
    first, second = agents.started
    assert (first.start.resume, first.start.goes_on) == (None, False)
    assert (second.start.resume, second.start.goes_on) == (SESSION, True)
    assert (len(first.heard), second.heard, second.closed) == (1, [], True)
    assert caller.ends()["a"]["status"] == "ok"


@pytest.mark.parametrize(
    ("line", "params"),
    [
        (limited(999.0), {"rate_limit_max_retries": 0}),
        (limited(1200.0), {"rate_limit_max_retries": 5}),
        (limited(999.0, "allowed_warning"), {"rate_limit_max_retries": 5}),
    ],
)
async def test_any_other_rate_limit_is_passed_on(line: bytes, params: dict[str, int]) -> None:
    caller = await served(always(INIT, line, RESULT), request("a", **params))
    assert [event["type"] for event in caller.events("a")] == ["system", "rate_limit_event", "result"]
    assert caller.notes == []


async def test_a_run_can_be_cancelled_while_it_waits_for_a_limit() -> None:
    agents = always(INIT, limited(1100.0), RESULT)
    async with asyncio.timeout(DEADLINE), serving(agents) as (caller, task):
        caller.send(request("a", rate_limit_max_retries=1))
        await until(lambda: agents.started and agents.started[0].stopped)
        caller.send(cancel("a"))
        caller.close()
        await caller.read()
        await task
    assert caller.ends()["a"]["status"] == "cancelled"


async def test_a_run_with_servers_says_nothing_before_they_are_connected() -> None:
    pending: JsonObject = {"mcpServers": [{"name": "s", "status": "pending"}]}
    connected: JsonObject = {"mcpServers": [{"name": "s", "status": "connected"}]}
    looks: list[JsonObject] = [{"mcpServers": []}, pending]
    agents = Agents(lambda start, number: [*[said(str(n)) for n in range(50)], Hang()])
    agents.answers = {"mcp_status": looks}
    async with asyncio.timeout(DEADLINE), serving(agents) as (caller, _):
        caller.send(request("a", mcp_servers={"s": {"command": "x"}}))
        await until(lambda: agents.started)
        agent = agents.started[0]
        await until(lambda: agent.given == 50 and looks == [pending])
        assert agent.heard == []
        looks.append(connected)
        await until(lambda: agent.heard)
        assert looks == [connected]


@pytest.mark.parametrize("status", ["failed", "needs-auth", "disabled"])
async def test_a_server_that_does_not_connect_fails_the_run(status: str) -> None:
    agents = Agents(lambda start, number: [INIT, Hang()])
    agents.answers = {"mcp_status": [{"mcpServers": [{"name": "s", "status": status, "error": "no\nway"}]}]}
    caller = await served(agents, request("a", mcp_servers={"s": {"command": "x"}}))
    assert caller.ends()["a"]["error"] == f"MCP server s: {status}: no way"
    assert agents.started[0].heard == []


async def test_normalized_events_are_agent_events_and_end_the_turn_in_every_case() -> None:
    normalized = RunnerOptions(normalized=True)
    caller = await served(always(*GOOD), request("a"), options=normalized)
    kinds = [event["type"] for event in caller.events("a")]
    assert "message_chunk" in kinds
    assert kinds.count("complete") == 1
    crashed = await served(
        always(INIT, said("half"), Fails(Ended("exited", 3))), request("a"), options=normalized
    )
    assert [event["type"] for event in crashed.events("a")].count("complete") == 1


async def test_normalized_a_cancelled_run_completes_its_turn() -> None:
    agents = always(INIT, said("half"), Hang())
    async with asyncio.timeout(DEADLINE), serving(agents, RunnerOptions(normalized=True)) as (caller, task):
        caller.send(request("a"))
        await until(lambda: agents.started and agents.started[0].given == 2)
        caller.send(cancel("a"))
        caller.close()
        await caller.read()
        await task
    kinds = [event["type"] for event in caller.events("a")]
    assert kinds.count("complete") == 1
    assert caller.said()[-1]["status"] == "cancelled"


async def test_normalized_a_turn_goes_on_over_a_rate_limit() -> None:
    def script(start: Start, number: int) -> list[Step]:
        return [INIT, said("one"), limited(990.0)] if number == 0 else [INIT, said("two"), RESULT]

    caller = await served(
        Agents(script), request("a", rate_limit_max_retries=1), options=RunnerOptions(normalized=True)
    )
    events = caller.events("a")
    assert [event["type"] for event in events].count("complete") == 1
    assert [event["text"] for event in events if event["type"] == "message_chunk"] == ["one", "two"]


async def test_two_hundred_runs_at_once_each_say_what_they_say_alone() -> None:
    def lines(number: int) -> list[bytes]:
        chance = random.Random(number)
        return [INIT, *(said("x" * chance.randrange(3000)) for _ in range(chance.randrange(40))), RESULT]

    agents = Agents(lambda start, number: lines(int(start.model or 0)))
    requests = [request(f"r{number}", model=str(number)) for number in range(200)]
    caller = await served(agents, *requests)
    together: dict[str, list[bytes]] = {}
    for line in caller.lines:
        message = json.loads(line)
        assert list(message)[:2] == ["type", "id"]
        together.setdefault(message["id"], []).append(line)
    for number in range(200):
        head = f'{{"type":"event","id":"r{number}","event":'.encode()
        alone = [head + line + b"}" for line in lines(number)]
        assert together[f"r{number}"] == [*alone, f'{{"type":"end","id":"r{number}","status":"ok"}}'.encode()]


async def test_random_cancels_leave_one_end_each() -> None:
    chance = random.Random(7)
    agents = Agents(
        lambda start, number: [
            INIT,
            *[said("x")] * chance.randrange(30),
            *([Hang()] if number % 3 == 0 else []),
            RESULT,
        ]
    )
    names = [f"r{number}" for number in range(150)]
    async with asyncio.timeout(DEADLINE), serving(agents) as (caller, task):
        for name in names:
            caller.send(request(name))
            await asyncio.sleep(0)
            for _ in range(chance.randrange(3)):
                caller.send(cancel(chance.choice(names)))
        caller.send(*(cancel(name) for name in names))
        caller.close()
        await caller.read()
        await task
    ends = caller.ends()
    assert sorted(ends) == sorted(names)
    assert {end["status"] for end in ends.values()} <= {"ok", "cancelled"}


async def test_a_slow_reader_slows_the_agents_down_and_cancels_are_heard_all_the_same() -> None:
    block = said("x" * 100_000)
    agents = always(INIT, *[block] * 500, RESULT)
    async with asyncio.timeout(DEADLINE), serving(agents) as (caller, task):
        caller.send(request("a"), request("b"))
        given = -1
        while not agents.started or given != (given := sum(agent.given for agent in agents.started)):
            for _ in range(1000):
                await asyncio.sleep(0)
        assert given < 40  # what fits into the bound, not the thousand that there are
        caller.send(cancel("a"))
        await until(lambda: agents.started[0].stopped)
        caller.close()
        await caller.read()
        await task
    ends = caller.ends()
    assert (ends["a"]["status"], ends["b"]["status"]) == ("cancelled", "ok")
    assert len(caller.events("b")) == 502


async def test_a_reader_that_has_gone_ends_the_runner() -> None:
    agents = always(INIT, *[said("x")] * 1000, Hang())
    async with asyncio.timeout(DEADLINE), serving(agents) as (caller, task):
        os.close(caller._fds[0])
        caller.send(request("a"))
        with pytest.raises(OutputLost):
            await task
    os.close(caller._fds[1])
    assert agents.started[0].stopped


async def test_a_defect_of_ours_ends_its_run_alone() -> None:
    def script(start: Start, number: int) -> list[Step]:
        if start.model == "bad":
            raise LookupError("oh")
        return GOOD

    caller = await served(Agents(script), request("a", model="bad"), request("b"))
    ends = caller.ends()
    assert (ends["a"]["status"], ends["b"]["status"]) == ("error", "ok")
    assert ends["a"]["error"] == "internal error: LookupError; the runner's log says where"
    assert len(caller.log.failures) == 1


async def test_a_cli_that_stays_after_its_result_is_stopped() -> None:
    agents = always(INIT, RESULT, Hang())
    caller = await served(agents.runs(lingers=0.01), request("a"))
    assert caller.ends()["a"]["status"] == "ok"
    assert agents.started[0].stopped
    assert "silent" in caller.diags()[0]["message"]


@pytest.mark.parametrize(
    ("last", "status", "error"),
    [
        ('say({"type": "result", "subtype": "success", "is_error": False})', "ok", None),
        (
            'say({"type": "result", "subtype": "success", "is_error": False}); os.close(1)',
            "ok",
            None,
        ),
        ("os.close(1)", "error", "the CLI ended its output without a result, and was stopped"),
    ],
)
async def test_a_cli_that_hangs_at_its_end_is_stopped_whether_its_output_has_ended_or_not(
    tmp_path: Path, last: str, status: str, error: str | None
) -> None:
    async with real(tmp_path, f"{last}\ntime.sleep(600)\n", lingers=0.5) as runs:
        caller = await served(runs, request("a"))
    end = caller.ends()["a"]
    assert (end["status"], end.get("error")) == (status, error)
    assert [note["message"].endswith("and is stopped") for note in caller.diags()] == [True]


async def test_a_server_that_the_cli_never_lists_fails_the_run() -> None:
    agents = always(INIT, Hang())
    agents.answers = {"mcp_status": [{"mcpServers": [{"name": "other", "status": "connected"}]}]}
    runs = agents.runs(servers=ServerDeadlines(unlisted=0.0))
    caller = await served(runs, request("a", mcp_servers={"s": {"command": "x"}}))
    assert caller.ends()["a"]["error"] == "MCP server s: the CLI rejects its configuration"


async def test_servers_that_never_connect_fail_the_run() -> None:
    agents = always(INIT, Hang())
    agents.answers = {"mcp_status": [{"mcpServers": [{"name": "s", "status": "pending"}]}]}
    runs = agents.runs(servers=ServerDeadlines(connect=0.01))
    caller = await served(runs, request("a", mcp_servers={"s": {"command": "x"}}))
    assert caller.ends()["a"]["error"].startswith("MCP server s did not connect")


async def test_a_caller_that_asks_and_never_reads_is_no_longer_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "UNWRITTEN", 100_000)
    bad = b'{"type":"jump","id":"' + b"x" * 1000 + b'"}\n'
    async with asyncio.timeout(DEADLINE), serving(always()) as (caller, task):
        for _ in range(500):
            caller.send(bad)
        taken = -1
        while taken != (taken := caller.waiting):
            for _ in range(1000):
                await asyncio.sleep(0)
        assert 0 < taken < 450  # neither all nor none
        caller.close()
        await caller.read()
        await task
    assert len(caller.lines) == 500
