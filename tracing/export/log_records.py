"""Our log lines -> wherever the standard OTEL_* variables say, each with the ids of the trace that it belongs to.

This module is imported only where log records are wanted. The SDK's logs are in modules with an underscore, as they
are in development there; they are documented, and are the only way.
"""

import logging
from collections.abc import Callable, Sequence

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import (
    BatchLogRecordProcessor,
    LogRecordExporter,
    SimpleLogRecordProcessor,
)

from turnwire.tracing.export.otel import load_exporters, resource
from turnwire.tracing.export.sdk_log import listen
from turnwire.tracing.export.spans import context_of
from turnwire.tracing.spans.genai_facts import SCHEMA_URL
from turnwire.tracing.spans.span import Span

OURS = logging.getLogger("turnwire")

CLOSE_MS = 500
"""Milliseconds that the end of the process may wait for a collector."""

SEVERITIES = {
    logging.DEBUG: SeverityNumber.DEBUG,
    logging.INFO: SeverityNumber.INFO,
    logging.WARNING: SeverityNumber.WARN,
    logging.ERROR: SeverityNumber.ERROR,
    logging.CRITICAL: SeverityNumber.FATAL,
}

_STANDARD = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"})


class LogExport(logging.Handler):
    """Exports turnwire's log lines: the sentence and its fields, and of an exception only its type."""

    def __init__(
        self,
        version: str,
        current: Callable[[str | None], Span | None],
        exporters: Sequence[LogRecordExporter] | None = None,
    ) -> None:
        """Start to export.

        Args:
            version: turnwire's version.
            current: returns a session's current span, whose trace its log records belong to; of a line without a session for None.
            exporters: replace those of OTEL_LOGS_EXPORTER, and export without delay.

        Raises:
            TracingError: the configured exporter is unavailable.
        """
        super().__init__()
        listen()
        self._current = current
        self._is_closed = False
        self._provider = LoggerProvider(resource(version), shutdown_on_exit=False)
        for exporter in exporters or ():
            self._provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
        for make in () if exporters is not None else load_exporters("LOGS"):
            self._provider.add_log_record_processor(BatchLogRecordProcessor(make()))
        self._logger = self._provider.get_logger("turnwire", version, schema_url=SCHEMA_URL)
        OURS.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Put a record into the queue; never waits, and never raises."""
        try:
            self._logger.emit(self._record(record))
        except Exception:  # noqa: BLE001 - what cannot be sent must not keep anybody from going on
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        """Go on without that record: to log it would lead here again."""

    def close(self) -> None:
        """Send what waits, within a short time. Only once: the end of the process closes all handlers of logs again."""
        if self._is_closed:
            return
        self._is_closed = True
        OURS.removeHandler(self)
        self._provider.force_flush(CLOSE_MS)
        self._provider.shutdown()
        super().close()

    def _record(self, record: logging.LogRecord) -> LogRecord:
        attributes = {
            name: value if isinstance(value, str | bool | int | float) else str(value)
            for name, value in vars(record).items()
            if name not in _STANDARD and value is not None
        }
        attributes["logger"] = record.name
        if record.exc_info and record.exc_info[0] is not None:
            attributes["exception.type"] = record.exc_info[0].__qualname__
        session = attributes.get("session")
        span = self._current(session if isinstance(session, str) else None)
        return LogRecord(
            timestamp=round(record.created * 1e9),
            context=context_of(span) or Context(),
            severity_text=record.levelname,
            severity_number=SEVERITIES.get(record.levelno, SeverityNumber.UNSPECIFIED),
            body=record.getMessage(),
            attributes=attributes,
        )
