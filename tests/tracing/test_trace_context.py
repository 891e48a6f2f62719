"""Trace context in and out (W3C): a caller's span is the parent, the agent is told, and a restart keeps ids apart."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from otlp_collector import Span, otlp_collector

from live import Frontend, real_setup, running
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client import CommandFailed, commands, connect
from turnwire.client import events as ev
from turnwire.config.agents import demo_script
from turnwire_process import DEADLINE, TURNWIRE, environment, lines_of, turnwire

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE, SPAN = CALLER.split("-")[1:3]


def roots(spans: list[Span], name: str = "streamjson.prompt") -> list[Span]:
    return [span for span in spans if span.name == name]


async def prompted(frontend: Frontend, words: str, traceparent: str | None = None) -> ev.Complete:
    await frontend.client.prompt(frontend.session, words, traceparent=traceparent)
    return await frontend.turn()


@pytest.mark.long
async def test_after_a_kill_ids_are_others_and_a_replay_gives_the_same(tmp_path: Path) -> None:
    with otlp_collector(tmp_path) as collector:
        env = environment(tmp_path / "home", **collector.environment("grpc"))
        options = ("--agent", "demo", "--record", "--record-dir", str(tmp_path))
        async with turnwire(tmp_path, "run", *options, env=env) as served, connect(served.url) as client:
            frontend = Frontend(client, served.session)
            await prompted(frontend, "/help")
            session = served.session
            await served.kill()
        async with turnwire(tmp_path, "serve", *options, env=env) as served, connect(served.url) as client:
            again = await Frontend(client, session).caught_up()
            await prompted(again, "/help")
            await client.command(commands.SessionRename(session=session, title="another name"))
        live = collector.spans()
        (raw,) = tmp_path.glob("raw-streamjson-*.jsonl")
        await lines_of(tmp_path, env, "replay", "--otlp", str(raw))
        replayed = collector.spans()[len(live) :]
    found = [span.ids for span in live]
    assert len(set(found)) == len(found)
    assert set(found) <= {span.ids for span in replayed}
    assert len({span.ids for span in replayed}) == len(replayed)
    lives = [span.ids for span in roots(replayed, "turnwire.session")]
    assert len(lives) == 2
    assert len({trace for trace, _ in lives}) == 1
    assert [root.links for root in roots(replayed)] == [(life,) for life in lives]


@pytest.mark.long
async def test_a_callers_span_is_the_parent_of_sessions_and_turns(tmp_path: Path) -> None:
    with otlp_collector(tmp_path) as collector:
        given = {"TRACEPARENT": CALLER, "TRACESTATE": "vendor=1", "BAGGAGE": "team=blue"}
        env = environment(tmp_path / "home", **collector.environment("grpc"), **given)
        async with (
            turnwire(tmp_path, "run", "--agent", "demo", env=env) as served,
            connect(served.url) as client,
        ):
            frontend = Frontend(client, served.session)
            await prompted(frontend, "/help", traceparent=CALLER)
            await prompted(frontend, "/help")
            with pytest.raises(CommandFailed, match="traceparent"):
                await prompted(frontend, "/help", traceparent="00-1-2-3")
            (pid,) = [status.pid for status in frontend.seen(ev.ProcessStatus)]
            told = dict(
                each.partition("=")[::2]
                for each in Path(f"/proc/{pid}/environ").read_text(encoding="utf-8").split("\0")
            )
            contexts = frontend.seen(ev.TraceContext)
        spans = collector.spans()
    (life,) = roots(spans, "turnwire.session")
    first, second = roots(spans)
    assert (life.ids[0], life.parent) == (TRACE, SPAN)
    assert (first.ids[0], first.parent) == (TRACE, SPAN)
    # without a context of its own, a prompt belongs to the caller of the session
    assert (second.ids[0], second.parent) == (TRACE, SPAN)
    assert first.links == second.links == (life.ids,)
    assert told["TRACEPARENT"] == f"00-{TRACE}-{life.ids[1]}-01"
    assert (told["TRACESTATE"], told["BAGGAGE"]) == ("vendor=1", "team=blue")
    assert [context.traceparent for context in contexts] == [
        f"00-{span.ids[0]}-{span.ids[1]}-01" for span in (life, first, second)
    ]


@pytest.mark.long
async def test_spans_of_the_real_cli_are_below_the_sessions_span_that_turns_are_linked_to(
    tmp_path: Path,
) -> None:
    prompt = plan([tool_use("Bash", command="echo one")], [text("Done.")])
    with otlp_collector(tmp_path) as collector, scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        telemetry = {
            "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
            "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_SERVICE_NAME": "the-cli",
            **collector.environment("http/protobuf"),
        }
        names = f"{setup.env['TURNWIRE_PASS_ENV']},CLAUDE_CODE_*,OTEL_*"
        setup.env.update(telemetry, TURNWIRE_PASS_ENV=names)
        async with running(tmp_path, setup) as (frontend, _):
            await frontend.turn(prompt)
            await frontend.turn(plan([text("Again.")]))
        spans = collector.spans()
    (life,) = roots(spans, "turnwire.session")
    theirs = [span for span in spans if span.name == "claude_code.interaction"]
    assert [(span.ids[0], span.parent) for span in theirs] == [life.ids] * 2
    assert {span.ids[0] for span in spans if span.name == "claude_code.tool"} == {life.ids[0]}
    assert [root.links for root in roots(spans)] == [(life.ids,)] * 2


async def test_without_tracing_a_context_is_handed_on_and_nothing_told(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", TRACEPARENT=CALLER)
    async with turnwire(tmp_path, "run", "--agent", "demo", env=env) as served, connect(served.url) as client:
        frontend = Frontend(client, served.session)
        await prompted(frontend, "/help", traceparent=CALLER)
        (pid,) = [status.pid for status in frontend.seen(ev.ProcessStatus)]
        assert f"\0TRACEPARENT={CALLER}\0".encode() in Path(f"/proc/{pid}/environ").read_bytes()
        assert not frontend.seen(ev.TraceContext)


def of_stdio(folder: Path, env: dict[str, str]) -> str:
    """Have a caller of `turnwire stdio` ask something; returns the context that the CLI was told."""
    program, told = folder / "cli", folder / "told"
    agent = shlex.join([sys.executable, "-m", "turnwire.scripted_agent", demo_script()])
    program.write_text(f'#!/bin/sh\necho "$TRACEPARENT $TRACESTATE $BAGGAGE" > {told}\nexec {agent} "$@"\n')
    program.chmod(0o755)
    config = folder / "turnwire.toml"
    config.write_text(f"[agents]\nunder = {json.dumps([str(program)])}\n")
    prompt = {"type": "user", "message": {"role": "user", "content": "/help"}}
    subprocess.run(
        [*TURNWIRE, "stdio", "--agent=under", f"--config={config}"],
        cwd=folder,
        env=env,
        input=json.dumps(prompt).encode() + b"\n",
        stdout=subprocess.DEVNULL,
        timeout=DEADLINE,
        check=True,
    )
    return told.read_text().strip()


@pytest.mark.long
async def test_a_callers_span_is_the_parent_of_a_session_over_stdio(tmp_path: Path) -> None:
    records = tmp_path / "records"
    records.mkdir()
    given = {"TRACEPARENT": CALLER, "TRACESTATE": "vendor=1", "BAGGAGE": "team=blue"}
    with otlp_collector(tmp_path) as collector:
        env = environment(tmp_path / "home", **collector.environment("grpc"), **given)
        env |= {"TURNWIRE_RECORD": "1", "TURNWIRE_RECORD_DIR": str(records)}
        told = [of_stdio(tmp_path, env) for _ in range(2)]
        live = collector.spans()
        raw = [str(file) for file in records.glob("raw-streamjson-*.jsonl")]
        await lines_of(tmp_path, env, "replay", "--otlp", *raw)
        replayed = collector.spans()[len(live) :]
    lives = roots(live, "turnwire.session")
    assert [(life.ids[0], life.parent) for life in lives] == [(TRACE, SPAN)] * 2
    assert told == [f"00-{TRACE}-{life.ids[1]}-01 vendor=1 team=blue" for life in lives]
    assert [root.links for root in roots(live)] == [(life.ids,) for life in lives]
    assert [(root.ids[0], root.parent) for root in roots(live)] == [(TRACE, SPAN)] * 2
    found = [span.ids for span in live]
    assert len(set(found)) == len(found)
    assert sorted(span.ids for span in replayed) == sorted(found)


def test_without_tracing_a_context_reaches_the_cli_over_stdio_as_it_is(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", TRACEPARENT=CALLER, BAGGAGE="team=blue")
    assert of_stdio(tmp_path, env) == f"{CALLER}  team=blue"
