"""A sidecar for coding-agent CLIs: their output as typed events, over WebSocket and OpenTelemetry."""
