"""Logging: a fixed sentence plus fields, on standard error; coloured text on a terminal, otherwise JSON.

Modules log with the standard library, fields in `extra`. On a terminal structlog formats the lines. It is imported with the
first of them: it imports rich, a sixth of a start's cost. turnwire/sidecar/process/log_exceptions.py formats exceptions:
no line contains a local variable.
"""

import json
import logging
import sys
from collections.abc import MutableMapping
from datetime import UTC, datetime
from functools import cached_property
from types import TracebackType
from typing import TextIO, TypeAlias

from turnwire.protocol.visible import escaped, ordered
from turnwire.sidecar.process.log_exceptions import as_text, told

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

OURS = "turnwire"
"""The root of turnwire's loggers."""


class PlainFormatter(logging.Formatter):
    """Writes plain text: lines of libraries, and ours if structlog cannot be imported."""

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - the standard library's name
        """Return the fields of an exception for the log."""
        return ordered(as_text(ei[1]))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the standard library's name
        """Return the message; asyncio's without the arguments, tasks and exceptions that it spells out."""
        if record.name == "asyncio":
            record.message = record.message.partition("\n")[0].partition("(")[0]
        return ordered(super().formatMessage(record))


_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}
"""Attributes of every record. All others are the fields of its line."""


class JsonFormatter(logging.Formatter):
    """Writes an object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        line = {"event": record.getMessage(), **fields, "level": record.levelname.lower()}
        line["timestamp"] = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        if record.exc_info:
            line["exception"] = told(record.exc_info[1])
        return escaped(json.dumps(line, ensure_ascii=False, default=repr))


class TerminalFormatter(PlainFormatter):
    """Writes for a terminal; plain text if structlog cannot be imported, for example because the process has no descriptors left."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines."""
        try:
            return self._structlog.format(record)
        except (ImportError, OSError):
            return super().format(record)

    @cached_property
    def _structlog(self) -> logging.Formatter:
        import structlog  # noqa: PLC0415 - with the first line

        return structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.stdlib.ExtraAdder(),
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _spell_out,
                structlog.dev.ConsoleRenderer(exception_formatter=_write_exception),
            ],
        )


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes log lines. A line that a full disk or a closed pipe refuses is lost, and nothing else."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        """Go on without that line."""


def configure(level: str, stream: TextIO | None = None) -> None:
    """Set up logging for the process. `stream` is for a command whose stderr is not for logs."""
    stream = stream or sys.stderr
    ours = logging.getLogger(OURS)
    ours.setLevel(LEVELS[level])
    ours.propagate = False
    ours.handlers = [LogHandler(stream)]
    ours.handlers[0].setFormatter(TerminalFormatter() if stream.isatty() else JsonFormatter())
    # Libraries that use the standard library's logging speak up only when something is wrong.
    others = logging.StreamHandler(stream)
    others.setFormatter(PlainFormatter("%(name)s: %(message)s"))
    logging.basicConfig(handlers=[others], level=logging.WARNING)


class _First(logging.Filter):
    """Passes the first warning, and records below a warning."""

    def __init__(self) -> None:
        super().__init__()
        self._was_told = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record is written."""
        if record.levelno < logging.WARNING:
            return True
        first, self._was_told = not self._was_told, True
        return first


def tell_first(name: str) -> None:
    """Have the first warning of a logger written, and no other: they are one piece of news."""
    logging.getLogger(name).addFilter(_First())


def _spell_out(_: object, __: str, fields: MutableMapping[str, object]) -> MutableMapping[str, object]:
    """Spell out control characters in fields, so that text of an agent or a file cannot control the terminal."""
    for name, value in fields.items():
        if name != "exc_info" and not isinstance(value, int | float):
            fields[name] = ordered(value if isinstance(value, str) else repr(value))
    return fields


def _write_exception(out: TextIO, exc_info: ExcInfo) -> None:
    out.write("\n" + ordered(as_text(exc_info[1])))
