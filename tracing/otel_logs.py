"""What OpenTelemetry's SDK has to say goes to one ear: exporters log each attempt, and a dead collector is news once."""

import logging

import structlog

log = structlog.get_logger()


class LastWords(logging.Handler):
    """Remembers the newest complaint. What concerns metrics, which the SDK sends by itself, it tells once."""

    last: str = "the collector did not take them"

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._told = False

    def emit(self, record: logging.LogRecord) -> None:
        """Remember it."""
        self.last = " ".join(record.getMessage().split())[:500]
        if not self._told and record.levelno >= logging.ERROR and "metrics" in self.last:
            self._told = True
            log.warning("metrics cannot be sent; the sessions are not affected", why=self.last)


_ear = LastWords()


def listen() -> LastWords:
    """Take the SDK's log over, and return where its newest complaint is."""
    sdk = logging.getLogger("opentelemetry")
    sdk.propagate = False
    if _ear not in sdk.handlers:
        sdk.addHandler(_ear)
    return _ear
