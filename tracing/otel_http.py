"""The SDK's HTTP exporter, with what it sends written by tracing/otlp_wire.py instead of the SDK's encoder.

All that the OTEL_* variables say about endpoint, headers, TLS, compression, patience and retries stays the SDK's.
"""

from collections.abc import Callable, Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from tracing.span import FinishedSpan

Encode = Callable[[Sequence[FinishedSpan]], bytes]


class HttpSender:
    """Sends spans by HTTP."""

    def __init__(self, encode: Encode, timeout_s: float | None) -> None:
        self._encode = encode
        self._exporter = OTLPSpanExporter(timeout=timeout_s)

    def send(self, spans: Sequence[FinishedSpan]) -> bool:
        """Send spans, patiently; False when nobody took them."""
        # The exporter's `export` is its encoder and this client.
        return bool(self._exporter._client.export(self._encode(spans)).success)  # noqa: SLF001 - see above

    def shutdown(self) -> None:
        """Give up what is being sent."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # the SDK does not annotate it
