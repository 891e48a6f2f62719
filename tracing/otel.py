"""Finished spans -> OTLP, by gRPC or HTTP as the standard OTEL_* variables say; in batches, from a thread.

The stream never waits: a full queue or a dead collector loses spans, with a count and one log line, and nothing
else. This module is imported only when tracing is on.
"""

import os
from collections.abc import Sequence
from typing import Protocol

import structlog
from opentelemetry.sdk.resources import SERVICE_NAME, Resource

from tracing.otel_logs import listen
from tracing.otlp_wire import request
from tracing.outbox import Outbox
from tracing.span import Attributes, FinishedSpan
from tracing.wanted import TracingError, protocol_of

log = structlog.get_logger()

CLOSE_S = 3.0
"""How long the end of a session may wait for a collector."""
REPLAY_CLOSE_S = 30.0
"""How long a replay waits, which has nothing else to do."""


class Sender(Protocol):
    """Sends spans to a collector."""

    def send(self, spans: Sequence[FinishedSpan]) -> bool:
        """Send spans, patiently; False when nobody took them."""
        ...

    def shutdown(self) -> None:
        """Give up what is being sent."""
        ...


def sender(version: str, timeout_s: float | None = None) -> Sender:
    """Return the sender that the environment describes, its patience too unless it is given; raises TracingError."""
    about: Attributes = resource(version).attributes  # type: ignore[assignment]  # detectors give texts and numbers alone

    def encode(spans: Sequence[FinishedSpan]) -> bytes:
        return request(about, version, spans)

    if protocol_of("TRACES") == "grpc":
        from tracing.otel_grpc import GrpcSender  # noqa: PLC0415 - only one of the two is paid for

        return GrpcSender(encode, timeout_s)
    from tracing.otel_http import HttpSender  # noqa: PLC0415 - as above

    return HttpSender(encode, timeout_s)


def resource(version: str) -> Resource:
    """Return who sends: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, or else the name turnwire."""
    found = Resource.create({"service.version": version})
    if str(found.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return found.merge(Resource({SERVICE_NAME: "turnwire"}))
    return found


class SpanExport:
    """Where finished spans go."""

    def __init__(self, version: str, to: Sender | None = None) -> None:
        """Raises TracingError."""
        self._said = listen()
        self._sender = to or sender(version)
        self._outbox = Outbox(
            "spans",
            self._send,
            room=_number("OTEL_BSP_MAX_QUEUE_SIZE", 4096),
            batch=_number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512),
            delay_s=_number("OTEL_BSP_SCHEDULE_DELAY", 5000) / 1000,
        )

    @property
    def lost(self) -> int:
        """Spans that no collector took."""
        return self._outbox.lost

    def export(self, spans: Sequence[FinishedSpan]) -> None:
        """Queue spans; returns at once."""
        self._outbox.put(spans)

    def export_all(self, spans: Sequence[FinishedSpan]) -> None:
        """Queue spans, and wait for room when there is none: for a replay, which can wait and must lose nothing."""
        self._outbox.put_all(spans)

    def close(self, within_s: float = CLOSE_S) -> int:
        """Send what is queued, and stop; return how many spans were lost."""
        self._outbox.close(within_s)
        # This interrupts an attempt that is still being made.
        self._sender.shutdown()
        if self.lost:
            log.warning("spans were lost", lost=self.lost)
        return self.lost

    def _send(self, spans: Sequence[FinishedSpan]) -> str | None:
        return None if self._sender.send(spans) else self._said.taken()


def _number(name: str, default: int) -> int:
    value = os.environ.get(name) or str(default)
    if not value.isdecimal() or int(value) == 0:
        raise TracingError(f"{name} is {value!r}; it takes a number above 0")
    return int(value)
