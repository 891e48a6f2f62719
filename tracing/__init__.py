"""Spans, metrics and log records of sessions, exported with OpenTelemetry."""
