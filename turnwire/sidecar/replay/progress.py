"""How far recordings are, on a terminal; nothing where standard error is a file or a pipe."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from turnwire.protocol.visible import ordered

Bars = Callable[[Path], Callable[[float], None]]
"""Adds a bar for a recording. Returns a function that moves it to a share of the recording, from 0 to 1."""


@contextmanager
def progress() -> Iterator[Bars]:
    """Show a bar for each recording while the context is open."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    # Events on the same terminal would tear the bars apart.
    quiet = not sys.stderr.isatty() or sys.stdout.isatty()
    with Progress(*columns, console=console, disable=quiet) as bars:

        def add(recording: Path) -> Callable[[float], None]:
            task = bars.add_task(escape(ordered(recording.name)), total=1.0)
            return lambda share: bars.update(task, completed=share)

        yield add
