"""Recordings from a pipe: `-` for standard input, or a name that the shell makes for `<(…)`.

Recordings are read more than once, which a pipe does not allow. So its content is saved to a file first.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from turnwire.recordings.recorded import RecordingError, in_database

DASH = Path("-")


@contextmanager
def on_disk(files: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the files, with saved copies in place of `-`, pipes and conversations in a database. Raises RecordingError."""
    for file in files:
        if file.is_file() and file.stat().st_size == 0:
            raise RecordingError(
                f"{file}: the file is empty; give a recording, a folder with a timeline, or the CLI's stdout"
            )
    pipes = [file for file in dict.fromkeys(files) if file == DASH or file.is_fifo() or in_database(file)]
    if not pipes:
        yield list(files)
        return
    if DASH in pipes and sys.stdin.isatty():
        raise RecordingError("standard input is a terminal; name a recording, or pipe one into this command")
    with tempfile.TemporaryDirectory(prefix="turnwire-") as folder:
        kept = {pipe: _kept(pipe, Path(folder) / str(number)) for number, pipe in enumerate(pipes)}
        yield [kept.get(file, file) for file in files]


def _kept(pipe: Path, folder: Path) -> Path:
    """Save a pipe's content to a file in a folder of its own: files beside a recording may belong to it."""
    folder.mkdir()
    if in_database(pipe):
        from turnwire.recordings.database import save_lines

        try:
            return save_lines(pipe, folder)
        except OSError as error:
            raise RecordingError(
                f"{pipe}: {error.strerror}; `turnwire sessions` lists the conversations"
            ) from error
    file = folder / f"{'stdin' if pipe == DASH else pipe.name}.jsonl"
    with file.open("wb") as out:
        if pipe == DASH:
            shutil.copyfileobj(sys.stdin.buffer, out)
        else:
            try:
                with pipe.open("rb") as said:
                    shutil.copyfileobj(said, out)
            except OSError as error:
                raise RecordingError(f"{pipe}: {error.strerror}; name a recording") from error
    return file
