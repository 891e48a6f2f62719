"""The conventions of today: schema, reasons of ends, inputs, names of subagents, providers, and no content where none is wanted."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from exported_spans import Exported, MemoryExport
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter
from opentelemetry.sdk.metrics.export import Histogram, HistogramDataPoint, InMemoryMetricReader, Sum
from otlp_collector import otlp_collector

from live import Frontend
from recordings import FIXTURES, Recording, recording
from turnwire.client import connect
from turnwire.config.settings import Settings
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Announced
from turnwire.recordings.reading import read
from turnwire.tracing.export.log_records import LogExport
from turnwire.tracing.export.sdk_log import SdkLog
from turnwire.tracing.metrics.measurements import COST, DURATION, Measurer
from turnwire.tracing.metrics.otel import OtelMeter
from turnwire.tracing.spans.genai_facts import CONVENTIONS, GenAiFacts, configured_provider, provider_of
from turnwire.tracing.spans.maker import SpanMaker
from turnwire.tracing.spans.span import Span
from turnwire_process import environment, turnwire

CALLED = recording("2.1.330", "perm-allow")
FAILED = recording("2.1.330", "api-401")


def traced(made: Recording, export: MemoryExport | None = None, **options: object) -> list[Exported]:
    export = export or MemoryExport()
    core, maker = ClaudeCore(), SpanMaker("s", export=export, **options)  # type: ignore[arg-type]  # the options are the maker's
    for timed in read(made.folder):
        maker.handle(timed.input, core.handle(timed.input), round((timed.at or 0) * 1e9))
    return export.spans()


def chats(spans: list[Exported]) -> list[Exported]:
    return [span for span in spans if span.attributes.get("gen_ai.operation.name") == "chat"]


def test_spans_and_metrics_name_their_schema() -> None:
    export = MemoryExport()
    traced(CALLED, export)
    schema = f"https://opentelemetry.io/schemas/{CONVENTIONS}"
    assert {span.instrumentation_scope.schema_url for span in export.kept()} == {schema}  # type: ignore[union-attr]  # each has one
    reader = InMemoryMetricReader()
    meter = OtelMeter("1", list, [reader])
    meter.record(Measurer().handle((), [Span("chat", 0, {"gen_ai.operation.name": "chat"})]))
    data = reader.get_metrics_data()
    assert data is not None
    assert {scope.schema_url for one in data.resource_metrics for scope in one.scope_metrics} == {schema}


def test_each_message_says_why_it_ended_and_what_it_answers() -> None:
    found = chats(traced(CALLED, content=True))
    assert len(found) >= 2
    reasons = [span.attributes["gen_ai.response.finish_reasons"] for span in found]
    assert reasons[0] == ("tool_use",)
    assert reasons[-1] == ("end_turn",)
    for span in found:
        (message,) = json.loads(str(span.attributes["gen_ai.output.messages"]))
        assert message["finish_reason"] == span.attributes["gen_ai.response.finish_reasons"][0]  # type: ignore[index]  # a tuple
    asked = [json.loads(str(span.attributes["gen_ai.input.messages"])) for span in found[:2]]
    assert asked[0][0]["role"] == "user"
    assert asked[1][0]["role"] == "tool"
    call = next(span for span in traced(CALLED) if span.name == "execute_tool Bash")
    assert asked[1][0]["parts"][0]["id"] == call.attributes["gen_ai.tool.call.id"]
    failed = [span for span in chats(traced(FAILED)) if "error.type" in span.attributes]
    assert failed


def test_a_subagent_has_its_own_name() -> None:
    spans = traced(recording("2.1.330", "subagent"))
    (subagent,) = [span for span in spans if span.attributes.get("gen_ai.agent.name") == "general-purpose"]
    assert subagent.name == "invoke_agent general-purpose"


@pytest.mark.parametrize(("limit", "target"), [(0, None), (1000, "files.example.org:443")])
def test_what_the_sandbox_refused_is_a_span_of_its_call(limit: int, target: str | None) -> None:
    export = MemoryExport()
    core, maker = ClaudeCore(), SpanMaker("s", export=export, limit=limit)
    for timed in read(CALLED.folder):
        events = core.handle(timed.input)
        maker.handle(timed.input, events, 1)
        for call in events:
            if isinstance(call, ev.ToolCall):
                denied = ev.SandboxDenied(
                    kind="host", target="files.example.org:443", reason="no", tool_call_id=call.tool_call_id
                )
                maker.handle(Announced(denied), [denied], 1)
    spans = export.spans()
    refused = next(span for span in spans if span.name == "sandbox_denied")
    called = next(span for span in spans if span.name == "execute_tool Bash")
    assert (refused.parent_id, refused.trace_id) == (called.span_id, called.trace_id)
    assert refused.attributes["gen_ai.tool.call.id"] == called.attributes["gen_ai.tool.call.id"]
    assert refused.attributes["turnwire.sandbox.kind"] == "host"
    assert refused.attributes.get("turnwire.sandbox.target") == target


@pytest.mark.parametrize(
    ("agent", "model", "provider"),
    [
        (None, "us.anthropic.claude-sonnet-4-20250514-v1:0", "aws.bedrock"),
        ("claude", "arn:aws:bedrock:us-east-1:1:inference-profile/x", "aws.bedrock"),
        ("OpenCode", "bedrock/anthropic.claude-3", "aws.bedrock"),
        (None, "claude-sonnet-4@20250514", "gcp.vertex_ai"),
        (None, "claude-sonnet-4-20250514", "anthropic"),
    ],
)
def test_a_model_of_a_cloud_is_asked_there(agent: str | None, model: str, provider: str) -> None:
    assert provider_of(agent, model) == provider


def test_the_configured_provider_counts_more_than_the_models_name() -> None:
    assert configured_provider({"CLAUDE_CODE_USE_BEDROCK": "1"}) == "aws.bedrock"
    assert configured_provider({"CLAUDE_CODE_USE_VERTEX": "true"}) == "gcp.vertex_ai"
    assert configured_provider({"CLAUDE_CODE_USE_VERTEX": "0"}) is None
    spans = traced(CALLED, provider="aws.bedrock")
    providers = {span.attributes.get("gen_ai.provider.name") for span in spans}
    assert providers == {None, "aws.bedrock"}


@pytest.mark.parametrize(
    ("product", "provider"),
    [(None, "aws.bedrock"), ("claude-agent-acp", "aws.bedrock"), ("opencode", "openai"), ("qwen", "openai")],
)
def test_variables_of_claude_code_say_nothing_of_other_agents(product: str | None, provider: str) -> None:
    facts = GenAiFacts(
        "any", content=False, limit=0, model="gpt-5", product=product, configured="aws.bedrock"
    )
    assert facts.provider == provider


@pytest.mark.parametrize("made", [CALLED, FAILED, recording("2.1.330", "perm-deny")], ids=str)
def test_no_content_is_no_text_in_any_attribute_or_event(
    made: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "NO_CONTENT")
    options = Settings().span_options
    assert options["limit"] == 0
    spans = traced(made, **options)
    assert spans
    assert not [span.name for span in spans if span.events]
    for span in spans:
        assert span.error in {None, "", span.attributes.get("error.type")}
        for name, value in span.attributes.items():
            assert len(str(value)) <= 100, (span.name, name)
            assert "messages" not in name
            assert name != "error.message"


def test_a_sentence_in_place_of_a_tools_name_is_content() -> None:
    named = {}
    for limit in (0, 1000):
        export = MemoryExport()
        core, maker = recorded_core(), SpanMaker("s", export=export, limit=limit)
        for timed in read(FIXTURES / "acp/copilot-acp-1.0.102/subagent"):
            maker.handle(timed.input, core.handle(timed.input), round((timed.at or 0) * 1e9))
        spans = export.spans()
        told = [
            span.attributes.get(name) for span in spans for name in ("gen_ai.tool.name", "turnwire.tool_name")
        ]
        named[limit] = {*told, *(span.name for span in spans)}
    assert {"Look around", "execute_tool Look around"} <= named[1000]
    assert named[0] == {str(name).replace("Look around", "tool") for name in named[1000] if name} | {None}


def test_genai_alone_leaves_out_single_events_and_control_messages() -> None:
    everything, alone = traced(CALLED), traced(CALLED, genai_alone=True)
    kept = {"turnwire.session", "streamjson.prompt", "await_human"}
    assert all(span.name in kept or "gen_ai.operation.name" in span.attributes for span in alone)

    def names(spans: list[Exported]) -> list[str]:
        return [one.name for one in spans if not one.name.startswith("streamjson.") or one.name in kept]

    assert names(alone) == names(everything)
    assert len(alone) < len(everything)


def test_costs_are_told_by_model_and_measurements_lead_to_their_spans() -> None:
    export, reader = MemoryExport(), InMemoryMetricReader()
    core, maker, measurer = ClaudeCore(), SpanMaker("s", export=export), Measurer()
    meter = OtelMeter("1", list, [reader])
    for timed in read(CALLED.folder):
        events = core.handle(timed.input)
        spans = maker.handle(timed.input, events, round((timed.at or 0) * 1e9))
        meter.record(measurer.handle(events, spans))
    known = {(span.trace_id, span.span_id) for span in export.spans()}
    data = reader.get_metrics_data()
    assert data is not None
    found = {
        metric.name: metric.data
        for one in data.resource_metrics
        for scope in one.scope_metrics
        for metric in scope.metrics
    }
    costs, durations = found[COST.name], found[DURATION.name]
    assert isinstance(costs, Sum)
    assert isinstance(durations, Histogram)
    assert all(
        str((one.attributes or {})["gen_ai.request.model"]).startswith("claude") for one in costs.data_points
    )
    points: list[HistogramDataPoint] = list(durations.data_points)
    assert points
    for point in points:
        assert point.exemplars
        assert {(each.trace_id, each.span_id) for each in point.exemplars} <= known


@pytest.fixture
def ours() -> Iterator[logging.Logger]:
    logger = logging.getLogger("turnwire")
    level, handlers = logger.level, list(logger.handlers)
    logger.setLevel(logging.INFO)
    yield logger
    logger.setLevel(level)
    logger.handlers = handlers


def test_log_records_carry_the_trace_of_their_session(ours: logging.Logger) -> None:
    export = MemoryExport()
    kept = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]  # the SDK does not annotate it
    maker = SpanMaker("s-1", export=export)
    item = next(iter(read(CALLED.folder))).input
    maker.handle(item, [], 5)
    logs = LogExport("1", lambda session: maker.current if session == "s-1" else None, [kept])
    try:
        ours.getChild("tests").warning("the agent is paused", extra={"session": "s-1", "count": 3})
        ours.getChild("tests").info("of nobody", extra={"session": "s-2"})
        try:
            raise ValueError("a secret text")
        except ValueError:
            ours.getChild("tests").exception("it failed")
    finally:
        logs.close()
    ours.getChild("tests").warning("after the end")
    first, second, third = (one.log_record for one in kept.get_finished_logs())
    assert first.body == "the agent is paused"
    assert first.severity_text == "WARNING"
    assert first.attributes == {"session": "s-1", "count": 3, "logger": "turnwire.tests"}
    maker.handle(item, [], 6)
    assert maker.current is not None
    maker.current.finish(9)
    (life,) = export.spans()
    assert (first.trace_id, first.span_id) == (life.trace_id, life.span_id)
    assert not second.trace_id
    assert (third.attributes or {})["exception.type"] == "ValueError"
    assert "secret" not in str(third.attributes)


def test_what_the_sdk_warns_of_is_passed_on_once(caplog: pytest.LogCaptureFixture) -> None:
    ear = SdkLog()
    for _ in range(3):
        ear.handle(logging.makeLogRecord(
            {"name": "opentelemetry.sdk.trace.sampling", "levelno": logging.WARNING, "msg": "no sampler 'x'"}
        ))  # fmt: skip
        ear.handle(logging.makeLogRecord(
            {"name": "opentelemetry.exporter.otlp", "levelno": logging.ERROR, "msg": "no collector for logs"}
        ))  # fmt: skip
    told = [(record.getMessage(), getattr(record, "why", "")) for record in caplog.records]
    assert told == [
        ("OpenTelemetry's SDK warns", "no sampler 'x'"),
        ("logs cannot be sent; the sessions are not affected", "no collector for logs"),
    ]
    assert ear.taken() == "no collector for logs"


@pytest.mark.long
async def test_a_collector_gets_logs_exemplars_and_a_word_about_a_wrong_sampler(tmp_path: Path) -> None:
    with otlp_collector(tmp_path) as collector:
        env = environment(
            tmp_path / "home",
            **collector.environment("grpc"),
            OTEL_TRACES_SAMPLER="sometimes",
            OTEL_METRIC_EXPORT_INTERVAL="200",
        )
        async with (
            turnwire(tmp_path, "run", "--agent", "demo", env=env) as served,
            connect(served.url) as client,
        ):
            frontend = Frontend(client, served.session)
            await frontend.turn("/help")
        rows = [json.loads(row) for row in collector.file.read_text(encoding="utf-8").splitlines()]
        traces = {span.trace_id for span in collector.spans()}
    logs = [
        record
        for row in rows
        for one in row.get("resourceLogs", [])
        for scope in one["scopeLogs"]
        for record in scope["logRecords"]
    ]
    assert any("sometimes" in json.dumps(record) for record in logs)
    exemplars = [
        each
        for row in rows
        for one in row.get("resourceMetrics", [])
        for scope in one["scopeMetrics"]
        for metric in scope["metrics"]
        for point in metric.get("histogram", {}).get("dataPoints", [])
        for each in point.get("exemplars", [])
    ]
    assert {each["traceId"] for each in exemplars} <= traces
    assert exemplars
