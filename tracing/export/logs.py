"""What OpenTelemetry's SDK has to say goes to one ear: exporters log each attempt, and a dead collector is news once."""

import logging

log = logging.getLogger(__name__)


class ExporterErrors(logging.Handler):
    """Remembers the first complaint of an attempt, which has the reason. What concerns metrics is told once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._words: str | None = None
        self._told = False

    def emit(self, record: logging.LogRecord) -> None:
        """Remember it."""
        words = " ".join(record.getMessage().split())[:500]
        self._words = self._words or words
        if not self._told and record.levelno >= logging.ERROR and "metrics" in words:
            # The SDK sends metrics by itself.
            self._told = True
            log.warning("metrics cannot be sent; the sessions are not affected", extra={"why": words})

    def taken(self) -> str:
        """Return what was said first since this was asked."""
        words, self._words = self._words, None
        return words or "the collector did not take them"


_ear = ExporterErrors()


def listen() -> ExporterErrors:
    """Take the SDK's log over, and return where its complaints are."""
    sdk = logging.getLogger("opentelemetry")
    sdk.propagate = False
    if _ear not in sdk.handlers:
        sdk.addHandler(_ear)
    return _ear
