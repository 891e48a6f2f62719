"""The SDK's standard variables hold, and so do span processors of the user's own."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from exported_spans import MemoryExport
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from otlp_collector import otlp_collector

from recordings import Recording, recording
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.recordings.reading import read
from turnwire.tracing.export.otel import SpanExport, resource, try_exporters
from turnwire.tracing.export.wanted import TracingError, metrics_wanted, tracing_wanted
from turnwire.tracing.spans.maker import SpanMaker
from turnwire_process import DEADLINE, TURNWIRE, environment

MADE = recording("2.1.330", "perm-allow")


class Remembering(SpanProcessor):
    """A processor as a user might have one."""

    made: ClassVar["list[Remembering]"] = []

    def __init__(self) -> None:
        self.started: list[str] = []
        self.ended: list[str] = []
        self.made.append(self)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        del parent_context
        self.started.append(span.name)
        span.set_attribute("team", "blue")

    def on_end(self, span: ReadableSpan) -> None:
        assert span.attributes is not None
        assert span.attributes["team"] == "blue"
        self.ended.append(span.name)


def follow(made: Recording, export: SpanExport) -> None:
    translator, maker = ClaudeCore(), SpanMaker("s", export=export)
    for timed in read(made.folder):
        maker.handle(timed.input, translator.handle(timed.input), round((timed.at or 0) * 1e9))


def test_what_the_sampler_leaves_out_is_not_exported_but_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    export = MemoryExport()
    translator, maker = ClaudeCore(), SpanMaker("s", export=export)
    measured = [
        span.name
        for timed in read(MADE.folder)
        for span in maker.handle(timed.input, translator.handle(timed.input), round((timed.at or 0) * 1e9))
    ]
    assert export.spans() == []
    assert "execute_tool Bash" in measured
    assert "await_human" in measured


def test_a_ratio_keeps_or_leaves_out_whole_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = MemoryExport()
    follow(MADE, everything)
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    some = MemoryExport()
    follow(MADE, some)
    kept = {span.trace_id for span in some.spans()}
    assert some.spans() == [span for span in everything.spans() if span.trace_id in kept]


def test_limits_of_attributes_and_events_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "12")
    monkeypatch.setenv("OTEL_SPAN_EVENT_COUNT_LIMIT", "1")
    export = MemoryExport()
    follow(MADE, export)
    assert export.spans()
    assert max(len(span.events) for span in export.spans()) == 1
    for span in export.spans():
        for value in span.attributes.values():
            assert not isinstance(value, str) or len(value) <= 12


def test_a_processor_of_the_users_own_sees_every_span_begin_and_end() -> None:
    export = SpanExport("1", exporters=(), processors=[f"{__name__}:Remembering"])
    # importlib mode gives test modules names of their own: the processor is looked up by this one
    follow(MADE, export)
    export.close()
    (one,) = Remembering.made
    Remembering.made.clear()
    assert {"streamjson.prompt", "execute_tool Bash", "await_human"} <= set(one.ended)
    assert sorted(one.started) == sorted(one.ended)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_such_module:Thing", "ModuleNotFoundError"),
        ("json:Nothing", "AttributeError"),
        ("json:JSONDecoder", "gives a JSONDecoder"),
        ("json", "module:attribute"),
    ],
)
def test_what_is_no_processor_is_refused_with_its_name(name: str, why: str) -> None:
    with pytest.raises(TracingError, match="trace_processors names") as caught:
        SpanExport("1", exporters=(), processors=[name])
    assert repr(name) in str(caught.value)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("variables", "traces", "metrics"),
    [
        ({}, False, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, True, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"}, True, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_METRICS_EXPORTER": "none"}, True, False),
        ({"OTEL_TRACES_EXPORTER": "console"}, True, False),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, False, False),
    ],
)
def test_exporters_are_chosen_as_everywhere_else(
    variables: dict[str, str], traces: bool, metrics: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (tracing_wanted(), metrics_wanted()) == (traces, metrics)


def test_the_name_that_a_user_gives_the_service_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resource("1").attributes["service.name"] == "turnwire"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "ours")
    assert resource("1").attributes["service.name"] == "ours"


@pytest.mark.parametrize("value", ["none", "0", "-1"])
def test_a_size_that_is_no_number_above_0_is_refused_by_its_variable(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", value)
    with pytest.raises(TracingError, match=f"OTEL_BSP_MAX_QUEUE_SIZE is '{value}'"):
        SpanExport("1", exporters=())


def test_whether_a_collector_takes_spans_is_tried_by_otlp_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    assert try_exporters(0.1) is None
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console,otlp")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    assert try_exporters(0.1)  # nobody listens there: it says so in the SDK's words


class Failing(SpanExporter):
    """An exporter that fails in its own way."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise ZeroDivisionError(f"{len(spans)} spans")

    def shutdown(self) -> None: ...


def test_an_exporter_that_raises_loses_its_spans_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    export = SpanExport("1", exporters=[Failing()])
    follow(MADE, export)
    assert export.close() == export.started > 0
    (lost,) = [record for record in caplog.records if "spans cannot be sent" in record.getMessage()]
    assert lost.__dict__["why"].startswith("ZeroDivisionError")


def test_an_exporter_that_nobody_provides_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "carrier-pigeon")
    with pytest.raises(TracingError, match=r"OTEL_TRACES_EXPORTER names 'carrier-pigeon'.*console"):
        SpanExport("1")


def test_a_replay_shows_its_spans_on_standard_error_where_the_console_is_the_exporter(tmp_path: Path) -> None:
    result = subprocess.run(
        [*TURNWIRE, "replay", "--otlp", str(MADE.folder)],
        env=environment(tmp_path / "home", OTEL_TRACES_EXPORTER="console"),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    assert result.stdout == ""
    assert '"name": "streamjson.prompt"' in result.stderr


@pytest.mark.long
def test_a_replay_loses_nothing_however_small_the_queue_is(tmp_path: Path) -> None:
    made = recording("2.1.330", "big-output").folder
    with otlp_collector(tmp_path) as collector:
        small = {"OTEL_BSP_MAX_QUEUE_SIZE": "64", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "8"}
        result = subprocess.run(
            [*TURNWIRE, "replay", "--otlp", str(made), str(MADE.folder)],
            env=environment(tmp_path / "home", **collector.environment("grpc"), **small),
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        told = sum(int(line.split()[-2]) for line in result.stderr.splitlines() if line.endswith(" spans"))
        assert len(collector.spans()) == told > 64
