"""W3C trace context of sessions and prompts: from a caller, to the spans, and on to the agent.

Sources: W3C Trace Context and W3C Baggage; the Agent Client Protocol keeps `traceparent`, `tracestate` and `baggage` in
`_meta` for them.
"""

import os
from collections.abc import Mapping

from msgspec import Struct

from turnwire.hub.wire.frames import Traced
from turnwire.normalize import events as ev

NAMES = ("traceparent", "tracestate", "baggage")


class Caller(Struct, frozen=True):
    """The context that a caller gave; empty where there is none."""

    traceparent: str | None = None
    tracestate: str | None = None
    baggage: str | None = None

    @staticmethod
    def of(frame: Traced) -> "Caller":
        """Return what a frame says."""
        return Caller(frame.traceparent, frame.tracestate, frame.baggage)

    @staticmethod
    def of_environment(environment: Mapping[str, str] = os.environ) -> "Caller":
        """Return what the variables TRACEPARENT, TRACESTATE and BAGGAGE say."""
        return Caller(*(environment.get(name.upper()) or None for name in NAMES))

    @property
    def is_empty(self) -> bool:
        """Nothing was given."""
        return self == Caller()


def context_event(session: str, caller: Caller, prompt: str | None = None) -> ev.TraceContext:
    """Choose where the spans of an agent's process, or of a prompt's turn, belong; needs OpenTelemetry's SDK."""
    from turnwire.tracing.export.spans import origin_of  # noqa: PLC0415 - nothing of OpenTelemetry is imported while it is off

    origin = origin_of(
        session,
        prompt=prompt is not None,
        parent=caller.traceparent,
        tracestate=caller.tracestate,
        baggage=caller.baggage,
    )
    return ev.TraceContext(
        traceparent=origin.traceparent,
        prompt=prompt,
        parent=origin.parent,
        tracestate=origin.tracestate,
        baggage=origin.baggage,
    )


def headers(context: ev.TraceContext | Caller) -> dict[str, str]:
    """Return the trace context for an agent, by the standard names."""
    told = {name: getattr(context, name) for name in NAMES}
    return {name: value for name, value in told.items() if value}


def variables(context: ev.TraceContext | Caller) -> dict[str, str]:
    """Return the same as variables of an agent's environment."""
    return {name.upper(): value for name, value in headers(context).items()}
