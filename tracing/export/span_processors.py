"""Span processors of the user's own, named in the settings."""

from importlib import import_module

from opentelemetry.sdk.trace import SpanProcessor

from turnwire.tracing.export.wanted import TracingError


def load_processor(name: str) -> SpanProcessor:
    """Return the processor that `module:attribute` makes when it is called without arguments; raises TracingError."""
    module, _, attribute = name.partition(":")
    try:
        made = getattr(import_module(module), attribute)()
    except Exception as error:
        raise TracingError(
            f"trace_processors names {name!r}, which gives no span processor ({type(error).__name__}: {error}); "
            "it takes module:attribute of an installed package, called without arguments"
        ) from error
    if not isinstance(made, SpanProcessor):
        raise TracingError(
            f"trace_processors names {name!r}, which gives a {type(made).__name__}; "
            "it takes what makes an opentelemetry.sdk.trace.SpanProcessor"
        )
    return made
