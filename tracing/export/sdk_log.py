"""Collect the log of OpenTelemetry's SDK: exporters log each attempt, but a dead collector should be logged once."""

import logging

from turnwire.tracing.export.wanted import DELIVERY

log = logging.getLogger(__name__)
delivery = logging.getLogger(DELIVERY)

EXPORTERS = ("opentelemetry.exporter", "opentelemetry.sdk.trace.export", "opentelemetry.sdk._shared_internal")
"""Loggers of exporters. Lines of all others concern the configuration."""

SIGNALS = ("metrics", "logs")
"""Signals that the SDK itself sends. For spans turnwire counts the losses."""

MOST = 100
"""Different warnings that are passed on."""


class SdkLog(logging.Handler):
    """Remembers the first error of an attempt, which has the reason. Passes everything else on, each line once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._words: str | None = None
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Remember it, or pass it on."""
        words = " ".join(record.getMessage().split())[:500]
        if not record.name.startswith(EXPORTERS):
            if words not in self._told and len(self._told) < MOST:
                self._told.add(words)
                log.warning("OpenTelemetry's SDK warns", extra={"why": words})
            return
        self._words = self._words or words
        signal = next((name for name in SIGNALS if name in words), None)
        if signal is not None and record.levelno >= logging.ERROR and signal not in self._told:
            self._told.add(signal)
            delivery.warning(
                f"{signal} cannot be sent; the sessions are not affected",
                extra={"why": words},
            )

    def taken(self) -> str:
        """Return the first error since the last call."""
        words, self._words = self._words, None
        return words or "the collector did not take them"


_ear = SdkLog()


def listen() -> SdkLog:
    """Handle the SDK's log from now on. Returns the handler with its errors."""
    sdk = logging.getLogger("opentelemetry")
    sdk.propagate = False
    if _ear not in sdk.handlers:
        sdk.addHandler(_ear)
    return _ear
