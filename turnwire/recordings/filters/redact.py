"""`turnwire redact`: a shareable copy of a recording, and what was replaced in it."""

import secrets
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from turnwire.protocol.visible import ordered
from turnwire.recordings.recorded import RecordingError, check_file
from turnwire.recordings.redaction.redact import redact_file, redact_folder, redact_to
from turnwire.recordings.redaction.redaction import Redaction
from turnwire.recordings.standard_output import standard_output


def run(source: Path, target: Path | None, family: str | None = None) -> None:
    """Write the copy, to standard output where none is named; raises OSError, RecordingError and UnknownFamily.

    `family` names the family that must be able to read the recording.
    """
    if family is not None:
        _check(source, family)
    if target is None and source.is_dir():
        raise RecordingError(
            f"{source}: the copy of a folder is a folder; name a folder that does not exist yet"
        )
    files = [file for file in source.iterdir() if file.is_file()] if source.is_dir() else [source]
    for file in files:
        check_file(file)
    redaction = Redaction(secrets.token_bytes(32))
    size = sum(file.stat().st_size for file in files)
    console = Console(stderr=True, highlight=False)
    # the copy on the same terminal would tear the bar apart
    quiet = not sys.stderr.isatty() or (target is None and sys.stdout.isatty())
    with Progress(console=console, disable=quiet, transient=True) as progress:
        task = progress.add_task("redacting", total=size)
        count = _copy(source, target, redaction, lambda done: progress.advance(task, done))
    found = ", ".join(f"{number} x {name}" for name, number in sorted(redaction.counts.items())) or "nothing"
    # A name is no markup, and a sentence that goes into a file or a pipe is one line.
    console.print(
        f"{'standard output' if target is None else ordered(str(target))}: {count} lines; replaced {found}. Patterns find much, not all: read it before you share it.",
        markup=False,
        soft_wrap=True,
    )


def _check(source: Path, family: str) -> None:
    from turnwire.normalize.families import recorded_core  # noqa: PLC0415 - most copies are made without a look at the lines
    from turnwire.recordings.reading import read  # noqa: PLC0415 - as above
    from turnwire.recordings.recorded import timed_happenings  # noqa: PLC0415 - as above

    core = recorded_core(family)
    for _ in timed_happenings(core, read(source, family)):
        pass
    stats = core.stats
    if stats.unknown + stats.malformed and not stats.published + stats.counted + stats.control:
        raise RecordingError(
            f"{source}: no line of it is one of the family {family}; leave out --family, and the lines tell"
        )


def _copy(source: Path, target: Path | None, redaction: Redaction, progress: Callable[[int], None]) -> int:
    if target is None:
        output = standard_output()
        count = redact_to(source, output.write, redaction, progress)
        output.flush()
        return count
    if source.is_dir():
        return redact_folder(source, target, redaction, progress)
    return redact_file(source, target, redaction, progress)
