"""Finished spans to wherever the standard OTEL_* variables say."""
