"""The command line of `turnwire translate`, separate from the others for a fast start.

A filter is started often and for small inputs. With the standard library's argparse it starts in half the time
that the application of the other commands needs. That application calls it too.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

DEFAULT_FIELD_LIMIT = 262_144
SMALLEST_FIELD_LIMIT = 1024


def main(arguments: Sequence[str]) -> int:
    """Run the filter. Returns the exit code: 1 for input that cannot be translated, 2 for a wrong call, or if no line can be read."""
    chosen = _parser().parse_args(arguments)
    from turnwire.normalize.families import UnknownFamily
    from turnwire.protocol.visible import ordered
    from turnwire.recordings.filters.translate import InputError, run
    from turnwire.recordings.recorded import RecordingError

    try:
        run(
            None if chosen.file == Path("-") else chosen.file,
            sys.stdout.buffer,
            field_limit=chosen.field_limit,
            stats=chosen.stats,
            family=chosen.family,
        )
    except (InputError, RecordingError, UnknownFamily) as error:
        sys.stderr.write(f"turnwire: {ordered(str(error))}\n")
        return error.exit_code if isinstance(error, RecordingError) else 1
    except BrokenPipeError:
        # The reader of our stdout has gone, as `head` does; nothing is left to say, and nothing to flush to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        from turnwire.protocol.visible import ordered

        super().error(ordered(message))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="turnwire translate", description="Translate CLI stdout into events, one JSON object a line."
    )
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="CLI stdout, or a recording; standard input when absent or -",
    )
    parser.add_argument("--stats", action="store_true", help="report on stderr how many lines gave events")
    parser.add_argument(
        "--family",
        metavar="NAME",
        help="family of the agent, if its lines do not show it: claude, acp, gemini or another registered family",
    )
    parser.add_argument(
        "--field-limit",
        type=_field_limit,
        default=DEFAULT_FIELD_LIMIT,
        metavar="BYTES",
        help=f"maximum size of a field of a tool payload; longer ones are cut (default {DEFAULT_FIELD_LIMIT})",
    )
    return parser


def _field_limit(text: str) -> int:
    if not text.isdecimal() or int(text) < SMALLEST_FIELD_LIMIT:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of bytes of at least {SMALLEST_FIELD_LIMIT}"
        )
    return int(text)
