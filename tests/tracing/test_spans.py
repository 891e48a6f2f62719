"""The session's own trace, which the CLI joins."""

import re

import pytest
from exported_spans import MemoryExport

from normalize import events as ev
from normalize.events import AgentEvent
from normalize.inputs import Ended, Received
from protocol.claude.decode import decode
from tracing.export.spans import traceparent
from tracing.spans.maker import SpanMaker

LINE = b'{"type":"keep_alive"}'


def test_the_cli_gets_the_trace_context_of_the_sessions_own_span() -> None:
    context = re.fullmatch(r"00-([0-9a-f]{32})-([0-9a-f]{16})-01", traceparent("s-1"))
    assert context is not None
    export = MemoryExport()
    maker = SpanMaker("s-1", export=export)
    maker.handle(Received(LINE, decode(LINE)), [], 5)
    assert export.spans() == []
    maker.handle(Ended("exited", exit_code=0), [], 9)
    (life,) = export.spans()
    assert (f"{life.trace_id:032x}", f"{life.span_id:016x}") == context.groups()
    assert (life.name, life.start, life.end, life.parent_id) == ("turnwire.session", 5, 9, None)


def test_sessions_have_traces_of_their_own() -> None:
    assert traceparent("s-1") != traceparent("s-2")
    assert traceparent("s-1") == traceparent("s-1")


def test_the_cli_is_told_what_the_sampler_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    assert traceparent("s-1").endswith("-00")


@pytest.mark.parametrize(
    ("agent", "model", "provider"),
    [
        (None, "some-model", "anthropic"),
        ("gemini-cli", "auto", "gcp.gemini"),
        ("@agentclientprotocol/claude-agent-acp", None, "anthropic"),
        ("OpenCode", "anthropic/claude-sonnet-5", "anthropic"),
        ("copilot-agent", "gpt-5.2", "openai"),
        ("copilot-agent", None, "github.copilot"),
        ("somebody's own", "somebody's", "unknown"),
    ],
)
def test_spans_name_who_is_asked_for_the_model(agent: str | None, model: str | None, provider: str) -> None:
    export = MemoryExport()
    maker = SpanMaker("s-1", export=export, agent="tester")
    events: list[list[AgentEvent]] = [
        [ev.SessionInfo(agent_name=agent, model=model, session_id="a-1")],
        # what comes later need not say it again
        [ev.SessionInfo(permission_mode="plan", session_id="a-1")],
        [ev.TurnStarted(operation_id="turn-1", origin="user")],
        [ev.Complete(operation_id="turn-1", data=ev.CompleteData(outcome="completed", is_error=False))],
    ]
    for at, happened in enumerate(events):
        maker.handle(Received(LINE, decode(LINE)), happened, at)
    (span,) = [span for span in export.spans() if span.name == "invoke_agent tester"]
    assert span.attributes["gen_ai.provider.name"] == provider
    assert span.attributes.get("gen_ai.request.model") == model
    assert span.attributes["gen_ai.conversation.id"] == "a-1"
