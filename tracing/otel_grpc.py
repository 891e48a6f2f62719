"""The SDK's gRPC exporter, with what it sends written by tracing/otlp_wire.py instead of the SDK's encoder.

All that the OTEL_* variables say about endpoint, headers, TLS, compression, patience and retries stays the SDK's.
"""

from collections.abc import Callable, Sequence

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SpanExportResult

from tracing.span import FinishedSpan

Encode = Callable[[Sequence[FinishedSpan]], bytes]


class GrpcSender:
    """Sends spans by gRPC."""

    def __init__(self, encode: Encode, timeout_s: float | None) -> None:
        self._exporter = _Exporter(encode, timeout_s)

    def send(self, spans: Sequence[FinishedSpan]) -> bool:
        """Send spans, patiently; False when nobody took them."""
        # What the exporter does with spans, beside handing them to `_translate_data`, is counting them.
        return self._exporter.export(spans) is SpanExportResult.SUCCESS  # type: ignore[arg-type]  # as above

    def shutdown(self) -> None:
        """Give up what is being sent."""
        self._exporter.shutdown()


class _Exporter(OTLPSpanExporter):
    def __init__(self, encode: Encode, timeout_s: float | None) -> None:
        super().__init__(timeout=timeout_s)
        self._encode = encode

    def _translate_data(self, data: Sequence[FinishedSpan]) -> ExportTraceServiceRequest:  # type: ignore[override]  # our spans, not the SDK's
        request: ExportTraceServiceRequest = ExportTraceServiceRequest.FromString(self._encode(data))
        return request
