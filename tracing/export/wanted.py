"""Whether spans and metrics are wanted: asked before anything of OpenTelemetry is imported."""

import os
from typing import Literal

from turnwire.protocol.errors import TurnwireError

Signal = Literal["TRACES", "METRICS", "LOGS"]

DELIVERY = "turnwire.tracing.delivery"
"""Logger for losses at collectors."""

STILL_SENDING = "telemetry ends"
"""Name of threads that send the rest while the process ends."""


class TracingError(TurnwireError):
    """Nothing can be exported as configured. The message names the setting and its valid values."""


def tracing_wanted() -> bool:
    """Tell whether the environment asks for spans (the standard OTEL_* variables)."""
    return bool(exporters_of("TRACES"))


def metrics_wanted() -> bool:
    """Tell whether the environment asks for metrics to be sent; /metrics is there without it."""
    return bool(exporters_of("METRICS"))


def logs_wanted() -> bool:
    """Tell whether the environment asks for log records to be sent; standard error has them without it."""
    return bool(exporters_of("LOGS"))


def exporters_of(signal: Signal) -> list[str]:
    """Return the exporters' names: those of OTEL_…_EXPORTER, else otlp if an endpoint is set, else none."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return []
    named = [name.strip() for name in os.environ.get(f"OTEL_{signal}_EXPORTER", "").split(",")]
    if any(named):
        return [name for name in named if name and name != "none"]
    endpoints = (f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return ["otlp"] if any(os.environ.get(name) for name in endpoints) else []


def protocol_of(signal: Signal) -> Literal["grpc", "http/protobuf"]:
    """Return the protocol of a signal. Raises TracingError."""
    name = f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL"
    if not os.environ.get(name):
        name = "OTEL_EXPORTER_OTLP_PROTOCOL"
    match protocol := os.environ.get(name) or "grpc":
        case "grpc" | "http/protobuf":
            return protocol
        case _:
            raise TracingError(f"{name} is {protocol!r}; it must be grpc or http/protobuf")
