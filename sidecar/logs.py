"""Logging: a fixed sentence plus fields, on standard error; for humans on a terminal, as JSON otherwise.

Modules log with the standard library, fields in `extra`. structlog writes these lines and is loaded with the first of
them: it brings rich, a sixth of what a start would cost, and most processes never say a thing.
"""

import logging
import sys
from functools import cached_property
from typing import TextIO

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

OURS = "turnwire"
"""The logger above all of ours."""


class Lines(logging.StreamHandler[TextIO]):
    """Writes our lines; what a full disk or a closed pipe does not take is lost, and nothing else is."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a line, as plain text where no structlog can be loaded: a process may be out of descriptors."""
        try:
            return self._shaped.format(record)
        except (ImportError, OSError):
            return super().format(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        """Go on without that line."""

    @cached_property
    def _shaped(self) -> logging.Formatter:
        import structlog  # noqa: PLC0415 - with the first line

        shape: list[structlog.typing.Processor] = (
            [structlog.dev.ConsoleRenderer()]
            if self.stream.isatty()
            else [
                structlog.processors.dict_tracebacks,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ]
        )
        return structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.stdlib.ExtraAdder(),
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *shape],
        )


def configure(level: str, stream: TextIO | None = None) -> None:
    """Set up logging for the process; `stream` is for a command whose stderr is not for logs."""
    stream = stream or sys.stderr
    ours = logging.getLogger(OURS)
    ours.setLevel(LEVELS[level])
    ours.propagate = False
    ours.handlers = [Lines(stream)]
    # Libraries that use the standard library's logging speak up only when something is wrong.
    logging.basicConfig(stream=stream, level=logging.WARNING, format="%(name)s: %(message)s")
