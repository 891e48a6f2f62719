"""Unified diffs as ACP shows changes: the two sides of each hunk."""

import re
from typing import NamedTuple

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@.*\n", re.MULTILINE)


class Change(NamedTuple):
    """A passage of a file, before and after."""

    line: int
    """Where it begins in the new file, from 1."""
    old: str
    new: str


def changes(diff: str) -> list[Change]:
    """Return the hunks of a diff of one file; one that was cut for its size gives what is left of it."""
    _, *parts = _HUNK.split(diff)
    return [
        Change(max(int(line), 1), _side(body, "-"), _side(body, "+"))
        for line, body in zip(parts[::2], parts[1::2], strict=True)
    ]


def _side(body: str, sign: str) -> str:
    """Return the lines of a hunk that one side has; the mark of a missing newline belongs to the line above it."""
    lines: list[str] = []
    is_ours = False
    for line in body.removesuffix("\n").split("\n"):
        if line.startswith("\\"):
            if is_ours and lines:
                lines[-1] = lines[-1].removesuffix("\n")
            continue
        is_ours = line[:1] in {sign, " "}
        if is_ours:
            lines.append(f"{line[1:]}\n")
    return "".join(lines)
