"""Spans as a real collector receives them, by gRPC and by HTTP, from replays and from a live turn."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import acp_agent
import pytest
from acp_recordings import acp_recordings
from otlp_collector import Collector, Span, otlp_collector

from recordings import recording, recordings
from turnwire.client import connect
from turnwire.client import events as ev
from turnwire.client.frames import EventFrame
from turnwire_process import DEADLINE, TURNWIRE, environment, turnwire

SPEC_3 = {
    "streamjson.prompt",
    "streamjson.system",
    "streamjson.message_chunk",
    "streamjson.tool_call",
    "streamjson.tool_update",
    "streamjson.context_window",
    "streamjson.complete",
    "streamjson.control.control_request.can_use_tool",
    "streamjson.control.permission_response",
}
"""The hierarchy of spans, for a turn with a permission."""


def export(folder: Path, collector: Collector, protocol: str, *recordings_: Path) -> None:
    result = subprocess.run(
        [*TURNWIRE, "replay", "--otlp", *map(str, recordings_)],
        env=environment(folder / "home", **collector.environment(protocol)),
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()


def by_id(spans: list[Span]) -> dict[str, Span]:
    return {span.span_id: span for span in spans}


@pytest.mark.parametrize("protocol", ["grpc", pytest.param("http/protobuf", marks=pytest.mark.long)])
def test_a_replay_gives_the_hierarchy_with_raw_beside_normalized(protocol: str, tmp_path: Path) -> None:
    folder = recording("2.1.330", "perm-allow").folder
    with otlp_collector(tmp_path) as collector:
        export(tmp_path, collector, protocol, folder)
        spans = collector.spans()
    names = Counter(span.name for span in spans)
    assert set(names) >= SPEC_3
    assert {"invoke_agent claude", "execute_tool Bash", "await_human"} <= set(names)
    known = by_id(spans)
    roots = [span for span in spans if span.name == "streamjson.prompt"]
    assert len(roots) == 2
    assert len({root.trace_id for root in roots}) == 2
    for span in spans:
        if span.name == "streamjson.tool_call":
            assert known[span.parent_id].name == "streamjson.prompt"
            raw, normalized = (
                json.loads(span.events["raw"]["raw"]),
                json.loads(span.events["normalized"]["normalized"]),
            )
            assert raw["type"] == "assistant"
            assert normalized["type"] == "tool_call"
        if span.name.startswith("execute_tool"):
            assert known[span.parent_id].name.startswith("invoke_agent")
            assert span.attributes["gen_ai.tool.name"] == "Bash"
        if span.name == "await_human":
            assert known[span.parent_id].name == "execute_tool Bash"
            assert span.attributes["turnwire.behavior"] == "allow"
        assert span.service == "turnwire"
        assert span.end >= span.start


@pytest.mark.long
def test_durations_are_those_of_the_recording(tmp_path: Path) -> None:
    folder = recording("2.1.330", "queue-during-tool")
    with otlp_collector(tmp_path) as collector:
        export(tmp_path, collector, "grpc", folder.folder)
        (tool,) = [span for span in collector.spans() if span.name == "execute_tool Bash"]
    assert 1.4e9 < tool.end - tool.start < 4e9  # it slept for 1.5 s


@pytest.mark.long
@pytest.mark.parametrize("version", ["1.0.120", "2.0.14", "2.1.101", "2.1.330"])
def test_replaying_every_fixture_twice_gives_the_same_ids(version: str, tmp_path: Path) -> None:
    folders = [made.folder for made in recordings(version=version)]
    with otlp_collector(tmp_path) as collector:
        export(tmp_path, collector, "grpc", *folders)
        first = collector.spans()
        export(tmp_path, collector, "grpc", *folders)
        second = collector.spans()[len(first) :]
    assert second == first
    ids = [(span.trace_id, span.span_id) for span in first]
    assert len(set(ids)) == len(ids)  # and none of them is another recording's
    assert sum(span.name == "turnwire.session" for span in first) == len(folders)


@pytest.mark.long
async def test_a_live_turn_is_traced_and_its_recording_replays_to_the_same_ids(tmp_path: Path) -> None:
    with otlp_collector(tmp_path) as collector:
        env = environment(tmp_path / "home", **collector.environment("grpc"))
        options = ("--agent", "demo", "--record", "--record-dir", str(tmp_path))
        async with turnwire(tmp_path, "run", *options, env=env) as served, connect(served.url) as client:
            (session,) = [summary.session for summary in await client.sessions()]
            await client.prompt(session, "/help")
            async with asyncio.timeout(DEADLINE):
                async for frame in client.follow(session):
                    if isinstance(frame, EventFrame) and isinstance(frame.event, ev.Complete):
                        break
        live = collector.spans()
        (raw,) = tmp_path.glob("raw-streamjson-*.jsonl")
        export(tmp_path, collector, "http/protobuf", raw)
        replayed = collector.spans()[len(live) :]
    assert {"streamjson.prompt", "streamjson.message_chunk", "streamjson.complete"} <= {
        span.name for span in live
    }
    assert [(span.trace_id, span.span_id) for span in live] == [
        (span.trace_id, span.span_id) for span in replayed
    ]
    assert [(span.start, span.end) for span in live] == [(span.start, span.end) for span in replayed]


@pytest.mark.long
def test_a_replay_of_an_acp_agent_gives_its_runs(tmp_path: Path) -> None:
    made = next(one for one in acp_recordings(with_corpus=False) if one.name == "codex-acp-2.6.0/shell-ok")
    with otlp_collector(tmp_path) as collector:
        export(tmp_path, collector, "http/protobuf", made.folder)
        spans = collector.spans()
    known = by_id(spans)
    runs = [span for span in spans if span.name.startswith("chat ")]
    assert len(runs) == 2  # before the command, and after it
    for span in runs:
        assert known[span.parent_id].name.startswith("invoke_agent")
        assert span.attributes["gen_ai.operation.name"] == "chat"
        assert span.attributes["gen_ai.provider.name"] == "openai"
    (tool,) = [span for span in spans if span.name.startswith("execute_tool")]
    assert runs[0].end <= tool.start < tool.end <= runs[1].start


@pytest.mark.long
def test_replaying_every_recording_of_acp_agents_twice_gives_the_same_ids(tmp_path: Path) -> None:
    folders = [made.folder for made in acp_recordings(with_corpus=False)]
    with otlp_collector(tmp_path) as collector:
        export(tmp_path, collector, "grpc", *folders)
        first = collector.spans()
        export(tmp_path, collector, "grpc", *folders)
        second = collector.spans()[len(first) :]
    assert second == first
    ids = [(span.trace_id, span.span_id) for span in first]
    assert len(set(ids)) == len(ids)
    assert sum(span.name.startswith("chat") for span in first) > len(folders)


@pytest.mark.long
async def test_runs_of_a_live_acp_agent_are_those_of_its_recording(tmp_path: Path) -> None:
    command = json.dumps([sys.executable, "-I", str(Path(acp_agent.__file__))])
    configuration = f'[agents.tester]\nfamily = "acp"\ncommand = {command}\n'
    (tmp_path / "turnwire.toml").write_text(configuration, encoding="utf-8")
    with otlp_collector(tmp_path) as collector:
        env = environment(tmp_path / "home", **collector.environment("grpc"))
        options = ("--agent", "tester", "--policy", "autonomous", "--record", "--record-dir", str(tmp_path))
        async with turnwire(tmp_path, "run", *options, env=env) as served, connect(served.url) as client:
            (session,) = [summary.session for summary in await client.sessions()]
            await client.prompt(session, "text tool text")
            async with asyncio.timeout(DEADLINE):
                async for frame in client.follow(session):
                    if isinstance(frame, EventFrame) and isinstance(frame.event, ev.Complete):
                        break
        live = collector.spans()
        (raw,) = tmp_path.glob("raw-*.jsonl")
        export(tmp_path, collector, "http/protobuf", raw)
        replayed = collector.spans()[len(live) :]
    assert [span.name for span in live if span.name.startswith("chat")] == ["chat small", "chat small"]
    assert [(span.trace_id, span.span_id) for span in live] == [
        (span.trace_id, span.span_id) for span in replayed
    ]
    assert [(span.start, span.end) for span in live] == [(span.start, span.end) for span in replayed]
