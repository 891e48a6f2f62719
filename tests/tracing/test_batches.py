"""Batches that a collector takes: bounded by bytes, with one span cut that is too large alone."""

import json
import logging
from collections.abc import Sequence

from exported_spans import MemoryExport
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from turnwire.tracing.export.batches import MOST_BYTES, batches
from turnwire.tracing.export.log_records import LogExport
from turnwire.tracing.export.otel import SpanExport


def spans(*sizes: int, text: str = "x") -> Sequence[ReadableSpan]:
    export = MemoryExport()
    trace = export.trace(b"seed")
    for size in sizes:
        trace.begin(
            "span", 0, None, {"text": text * size, "json": json.dumps(["y" * size, {"z": size}])}
        ).finish(1)
    return export.kept()


class Choosy(SpanExporter):
    """Refuses batches that are larger than gRPC takes."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.taken: list[ReadableSpan] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        size = sum(len(span.to_json()) for span in spans)
        self.sizes.append(size)
        if size > 4 << 20:
            return SpanExportResult.FAILURE
        self.taken += spans
        return SpanExportResult.SUCCESS


def test_a_batch_has_a_bound_in_bytes_and_keeps_the_order() -> None:
    made = spans(*[400_000] * 20)
    found = list(batches(made))
    assert [span for batch in found for span in batch] == list(made)
    assert all(sum(len(span.to_json()) for span in batch) < MOST_BYTES + 4096 for batch in found)
    assert len(found) < 20


def test_few_spans_are_one_batch_and_none_are_none() -> None:
    made = spans(10, 20)
    assert [list(batch) for batch in batches(made)] == [list(made)]
    assert list(batches([])) == []


def test_a_span_that_is_too_large_is_cut_alone_and_its_json_stays_json() -> None:
    made = spans(10, 5_000_000, 10)
    (batch,) = batches(made)
    before, cut, after = batch
    assert (before, after) == (made[0], made[2])
    assert cut.context == made[1].context
    assert cut.attributes is not None
    assert 1000 < len(str(cut.attributes["text"])) < MOST_BYTES
    text, rest = json.loads(str(cut.attributes["json"]))
    assert text.endswith("…")
    assert rest == {"z": 5_000_000}


def test_bytes_count_and_not_letters() -> None:
    (first, second) = batches(spans(700_000, 700_000, text="ä"), 2_500_000)
    assert len(first) == len(second) == 1


def test_no_span_is_lost_because_all_together_are_too_large() -> None:
    choosy = Choosy()
    export = SpanExport("1", exporters=[choosy])
    trace = export.trace(b"seed")
    for _ in range(300):
        trace.begin("read", 0, None, {"result": "x" * 16_384}).finish(1)
    assert export.close() == 0
    assert len(choosy.taken) == 300
    assert max(choosy.sizes) < 4 << 20


class Counting(LogRecordExporter):
    def __init__(self) -> None:
        self.ends = 0

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        del batch
        return LogRecordExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        del timeout_millis
        return True

    def shutdown(self) -> None:
        self.ends += 1


def test_the_export_of_logs_is_closed_once_though_the_end_of_the_process_closes_all_handlers() -> None:
    counting = Counting()
    export = LogExport("1", lambda _: None, [counting])
    export.close()
    logging.Handler.acquire(export)
    export.close()
    logging.Handler.release(export)
    assert counting.ends == 1
