"""Whether spans and metrics are wanted: asked before anything of OpenTelemetry is imported."""

import os
from typing import Literal

Signal = Literal["TRACES", "METRICS"]


class TracingError(Exception):
    """Nothing can be exported as configured; the message says which setting and what it takes."""


def tracing_wanted() -> bool:
    """Tell whether the environment names a place for spans (the standard OTEL_* variables)."""
    return _wanted("TRACES")


def metrics_wanted() -> bool:
    """Tell whether the environment names a place for metrics; /metrics is there without it."""
    return _wanted("METRICS")


def protocol_of(signal: Signal) -> Literal["grpc", "http/protobuf"]:
    """Return how a signal is to be sent; raises TracingError."""
    name = f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL"
    if not os.environ.get(name):
        name = "OTEL_EXPORTER_OTLP_PROTOCOL"
    match protocol := os.environ.get(name) or "grpc":
        case "grpc" | "http/protobuf":
            return protocol
        case _:
            raise TracingError(f"{name} is {protocol!r}; it can be grpc or http/protobuf")


def _wanted(signal: Signal) -> bool:
    endpoints = (f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return (
        any(os.environ.get(name) for name in endpoints)
        and os.environ.get(f"OTEL_{signal}_EXPORTER", "otlp") != "none"
        and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
    )
