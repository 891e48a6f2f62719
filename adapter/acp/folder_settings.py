"""Settings that a folder brings for an agent: a repository may allow what the agent then does without asking.

An agent merges them with its own, so its asking mode does not help. Files are looked at for words of permissions, not read as the
agent reads them: a file that only may allow something counts.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

_SPEAKS_OF_LEAVE = re.compile(
    rb"(?i)permission|allow(?:ed)?(?:_?tools)?\b|auto_?(?:accept|approve)|approval_?mode|yolo|trusted?_?(?:folders?|tools?)|\"trust\""
)
_LARGEST = 1 << 20
"""Bytes of a file that are looked at."""
_MOST = 200
"""Files of a folder that are looked at; one with more counts."""


def allowing(places: Sequence[str], workspace: Path) -> list[str]:
    """Return the settings at these places, in the workspace and above it in its repository, that may allow something.

    places: names of files and folders. What cannot be read counts.
    """
    found: list[str] = []
    for folder in (workspace, *workspace.parents):
        found += [place for place in places if place not in found and _allows(folder / place)]
        if (folder / ".git").exists():
            break
    return found


def _allows(place: Path) -> bool:
    try:
        files = list(islice(_files(place), _MOST + 1))
        return len(files) > _MOST or any(_speaks(file) for file in files)
    except OSError:
        return True


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    for folder, folders, files in os.walk(place):
        folders[:] = [name for name in folders if name != "node_modules"]  # where OpenCode keeps its plugins
        yield from (Path(folder, name) for name in files)


def _speaks(file: Path) -> bool:
    with file.open("rb") as read:
        return _SPEAKS_OF_LEAVE.search(read.read(_LARGEST)) is not None
