"""Logging: a fixed sentence plus fields, on standard error; for humans on a terminal, as JSON otherwise."""

import logging
import sys
from typing import TextIO

import structlog

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


class SurvivingLogger(structlog.PrintLogger):
    """Prints; what a full disk or a closed pipe does not take is lost, and nothing else is."""

    def msg(self, message: str) -> None:
        """Print a message if that can be done."""
        try:
            super().msg(message)
        except OSError:
            pass

    log = debug = info = warn = warning = fatal = failure = err = error = critical = exception = msg


def configure(level: str, stream: TextIO | None = None) -> None:
    """Set up structlog for the process; `stream` is for a command whose stderr is not for logs."""
    stream = stream or sys.stderr
    human = stream.isatty()
    shape: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer()]
        if human
        else [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *shape,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=lambda *_: SurvivingLogger(stream),
    )
    # Libraries that use the standard library's logging speak up only when something is wrong.
    logging.basicConfig(stream=stream, level=logging.WARNING, format="%(name)s: %(message)s")
