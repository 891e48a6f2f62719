"""`turnwire redact`: a shareable copy of a recording, and what was replaced in it."""

import secrets
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from tracing.redaction.redact import redact_file, redact_folder
from tracing.redaction.redaction import Redaction


def run(source: Path, target: Path) -> None:
    """Write the copy; raises OSError."""
    redaction = Redaction(secrets.token_bytes(32))
    copy = redact_folder if source.is_dir() else redact_file
    size = sum(file.stat().st_size for file in source.iterdir()) if source.is_dir() else source.stat().st_size
    console = Console(stderr=True, highlight=False)
    with Progress(console=console, disable=not sys.stderr.isatty(), transient=True) as progress:
        task = progress.add_task("redacting", total=size)
        count = copy(source, target, redaction, lambda done: progress.advance(task, done))
    found = ", ".join(f"{number} x {name}" for name, number in sorted(redaction.counts.items())) or "nothing"
    # A name is no markup, and a sentence that goes into a file or a pipe is one line.
    console.print(
        f"{target}: {count} lines; replaced {found}. Patterns find much, not all: read it before you share it.",
        markup=False,
        soft_wrap=True,
    )
