"""Whether spans are wanted: asked before anything of OpenTelemetry is imported."""

import os

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def tracing_wanted() -> bool:
    """Tell whether the environment names a place for spans (the standard OTEL_* variables)."""
    return (
        any(os.environ.get(name) for name in ENDPOINTS)
        and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
    )
