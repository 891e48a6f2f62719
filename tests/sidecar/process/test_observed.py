"""What a running sidecar tells of itself, by which way, and what it costs when nobody asks."""

import asyncio
import json
import os
import pty
import sys
from pathlib import Path

import pytest
from otlp_collector import otlp_collector

from live import preloaded_running as running
from live import scripted_setup
from recordings import recording
from turnwire.client import connect
from turnwire.client import events as ev
from turnwire.client.frames import EventFrame
from turnwire_process import DEADLINE, TURNWIRE, Served, environment
from turnwire_process import preloaded_turnwire as turnwire

WATCHED = """
import atexit, json, sys
atexit.register(lambda: open({out!r}, "w").write(json.dumps(sorted(sys.modules))))
sys.argv = ["turnwire", *sys.argv[1:]]
from turnwire.sidecar.cli import main
main()
"""


async def turn(served: Served) -> None:
    async with connect(served.url) as client:
        (session,) = [summary.session for summary in await client.sessions()]
        await client.prompt(session, "/help")
        async with asyncio.timeout(DEADLINE):
            async for frame in client.follow(session):
                if isinstance(frame, EventFrame) and isinstance(frame.event, ev.Complete):
                    return


async def scrape(served: Served) -> str:
    address = served.base.removeprefix("http://")
    reader, writer = await asyncio.open_connection(*address.split(":"))
    writer.write(
        f"GET /metrics HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {served.token}\r\n\r\n".encode()
    )
    text = (await reader.read()).decode()
    writer.close()
    head, _, body = text.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200"), head
    return body


@pytest.mark.long
async def test_metrics_are_there_for_prometheus(tmp_path: Path) -> None:
    async with turnwire(tmp_path, "run", "--agent", "demo", "--journal", "memory") as served:
        await turn(served)
        async with connect(served.url):
            body = await scrape(served)
    lines = dict(line.rsplit(" ", 1) for line in body.splitlines() if not line.startswith("#"))
    assert float(lines["turnwire_lines_total"]) > 10
    assert float(lines["turnwire_frontends"]) == 1
    assert float(lines["turnwire_permissions_pending"]) == 0
    assert lines['turnwire_sessions{turnwire_state="idle"}'] == "1.0"
    first = "gen_ai_client_operation_time_to_first_chunk_seconds_count"
    assert any(name.startswith(first) and float(value) > 0 for name, value in lines.items())


@pytest.mark.long
async def test_who_is_waited_for_is_measured(tmp_path: Path) -> None:
    async with running(tmp_path, scripted_setup(tmp_path, "2.1.330")) as (frontend, served):
        await frontend.prompt("ls")
        request = await frontend.until(ev.PermissionRequest)
        assert "\nturnwire_permissions_pending 1.0\n" in await scrape(served)
        await frontend.respond(request)
        await frontend.until(ev.Complete)
        body = await scrape(served)
    assert "\nturnwire_permissions_pending 0.0\n" in body
    assert '\nturnwire_human_wait_duration_seconds_count{turnwire_behavior="allow"} 1.0\n' in body
    assert 'gen_ai_tool_name="Bash"' in body


@pytest.mark.long
async def test_metrics_reach_a_collector_by_either_protocol(tmp_path: Path) -> None:
    for protocol in ("grpc", "http/protobuf"):
        folder = tmp_path / protocol.replace("/", "-")
        folder.mkdir()
        with otlp_collector(folder) as collector:
            env = environment(folder / "home", **collector.environment(protocol))
            async with turnwire(folder, "run", "--agent", "demo", env=env) as served:
                await turn(served)
            metrics = collector.metrics()  # the last ones are sent at the end
        (tokens,) = [
            point
            for point in metrics["gen_ai.client.token.usage"]
            if point.attributes["gen_ai.token.type"] == "output"
        ]
        assert tokens.count == 1
        assert tokens.attributes["gen_ai.operation.name"] == "invoke_agent"
        assert metrics["turnwire.lines"][0].value > 10
        assert set(metrics) >= {
            "turnwire.permissions.pending",
            "turnwire.journal.size",
            "turnwire.frontends.lag",
        }


async def test_nothing_of_opentelemetry_is_imported_while_it_is_off(tmp_path: Path) -> None:
    out = tmp_path / "modules.json"
    script = tmp_path / "watched.py"
    script.write_text(WATCHED.format(out=str(out)))
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(script), "run", "--agent", "demo", "--journal", "memory", "--port", "0",
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    async with asyncio.timeout(DEADLINE):
        url = (await process.stdout.readline()).decode().split()[-1]
        await turn(Served(url, url, process))
        process.terminate()
        await process.wait()
    modules = json.loads(out.read_text())
    assert "turnwire.sessions.observers" in modules  # it is the process that served
    assert [name for name in modules if name.partition(".")[0] in {"opentelemetry", "grpc", "google"}] == []


@pytest.mark.long
async def test_a_protocol_that_nobody_speaks_is_one_sentence(tmp_path: Path) -> None:
    env = environment(
        tmp_path / "home",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
        OTEL_EXPORTER_OTLP_PROTOCOL="carrier-pigeon",
    )
    for command in (("run", "--agent", "demo", "--port", "0"), ("replay", "--otlp", str(tmp_path))):
        process = await asyncio.create_subprocess_exec(
            *TURNWIRE, *command, cwd=tmp_path, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )  # fmt: skip
        async with asyncio.timeout(DEADLINE):
            _, stderr = await process.communicate()
        assert process.returncode == 1
        assert stderr.decode().strip() == (
            "turnwire: OTEL_EXPORTER_OTLP_PROTOCOL is 'carrier-pigeon'; it must be grpc or http/protobuf"
        )


@pytest.mark.long
async def test_a_terminal_sees_how_far_a_replay_is(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    made = recording("2.1.330", "perm-allow")
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE, "replay", "--speed", "0", str(made.folder),
        env=environment(tmp_path / "home", TERM="xterm", COLUMNS="100"),
        stdout=asyncio.subprocess.PIPE,
        stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    async with asyncio.timeout(DEADLINE):
        stdout, _ = await process.communicate()
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert process.returncode == 0
    assert len(stdout.splitlines()) > 10
    assert "perm-allow" in shown
    assert "100%" in shown
