"""Recordings that come by standard input, for `-`: read whole into a file first, since recordings are read more than once."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tracing.recording import RecordingError

DASH = Path("-")


@contextmanager
def on_disk(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the files, with one that holds standard input in the place of `-`; raises RecordingError."""
    if DASH not in files:
        yield list(files)
        return
    if sys.stdin.isatty():
        raise RecordingError("standard input is a terminal; name a recording, or pipe one into this")
    with tempfile.TemporaryDirectory(prefix="turnwire-") as folder:
        kept = Path(folder) / "stdin.jsonl"
        with kept.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        yield [kept if file == DASH else file for file in files]
