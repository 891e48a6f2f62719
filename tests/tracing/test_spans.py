"""The session's own trace, which the CLI joins."""

import re

import pytest
from exported_spans import Exported, MemoryExport

from recordings import recording
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Ended, Received
from turnwire.protocol.claude.decode import decode
from turnwire.tracing.export.spans import traceparent
from turnwire.tracing.recordings.reading import read
from turnwire.tracing.spans.maker import SpanMaker

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


def test_a_call_of_the_model_whose_beginning_was_not_heard_is_told_by_what_it_said() -> None:
    def chats(*, whole: bool) -> list[Exported]:
        core, export = ClaudeCore(), MemoryExport()
        maker = SpanMaker("s", export=export)
        for timed in read(recording("2.1.330", "partial-messages").folder):
            item = timed.input
            if whole or not (isinstance(item, Received) and b'"message_start"' in item.line):
                maker.handle(item, core.handle(item), round((timed.at or 0) * 1e9))
        return [span for span in export.spans() if span.name.startswith("chat ")]

    heard, unheard = chats(whole=True), chats(whole=False)
    assert len(heard) == len(unheard) > 0
    assert all("gen_ai.request.stream" in span.attributes for span in heard)
    assert not any("gen_ai.request.stream" in span.attributes for span in unheard)
    ends = "gen_ai.response.finish_reasons"
    assert [span.attributes.get(ends) for span in unheard] == [span.attributes.get(ends) for span in heard]
