"""The CLI's `structuredPatch` as a unified diff, checked against its file.

The CLI shows its hunks to humans. Some versions write leading tabs as blanks there: on both sides (1.0), or in
inserted lines only. Hunks that do not lead from the old file to the new one are not published.
"""

from typing import NamedTuple

from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads import diff
from turnwire.normalize.payloads.fields import objects, texts, whole


class _Hunk(NamedTuple):
    """One hunk: its first line on each side, counted from 0, and its lines."""

    old_start: int
    new_start: int
    old: list[str]
    new: list[str]
    lines: list[str]


def of_result(path: str, result: JsonObject, before: str | None, after: str | None = None) -> str | None:
    """Return the diff in a result. None if there are no hunks, or if they do not fit the file `before` and `after`.

    A side that is None is unknown and not checked.
    """
    hunks = _read(result)
    if not hunks:
        return None
    old = None if before is None else diff.file_lines(before)
    new = None if after is None else diff.file_lines(after)
    if old is not None and any(old[h.old_start : h.old_start + len(h.old)] != h.old for h in hunks):
        return None
    if old is not None and new is not None and not _lead_to(hunks, old, new):
        return None
    body: list[str] = []
    for hunk in hunks:
        old_lines, new_lines = len(hunk.old), len(hunk.new)
        # A side without lines is numbered by the line before it; the CLI gives the line after it.
        old_start, new_start = hunk.old_start + bool(old_lines), hunk.new_start + bool(new_lines)
        body.append(diff.header(old_start, old_lines, new_start, new_lines))
        body += hunk.lines
    return diff.document(path, body)


def _read(result: JsonObject) -> list[_Hunk]:
    """Return the hunks; none if one of them cannot be read."""
    hunks: list[_Hunk] = []
    for hunk in objects(result, "structuredPatch"):
        start, lines = whole(hunk, "oldStart"), texts(hunk, "lines")
        if start is None or not lines:
            return []
        old: list[str] = []
        new: list[str] = []
        sides: list[list[str]] = []
        for line in lines:
            match line[:1]:
                case " ":
                    sides = [old, new]
                case "-":
                    sides = [old]
                case "+":
                    sides = [new]
                case _ if not sides:
                    return []
                case _:
                    # "\ No newline at end of file" belongs to the line before it.
                    for side in sides:
                        side[-1] += f"\n{line}"
                    continue
            for side in sides:
                side.append(line[1:])
        new_start = whole(hunk, "newStart") or start
        hunks.append(_Hunk(max(start - 1, 0), max(new_start - 1, 0), old, new, lines))
    return hunks


def _lead_to(hunks: list[_Hunk], old: list[str], new: list[str]) -> bool:
    """Tell whether the hunks, which fit the old lines, give the new ones."""
    at = new_at = 0
    for hunk in hunks:
        end, new_end = hunk.old_start + len(hunk.old), hunk.new_start + len(hunk.new)
        if (
            old[at : hunk.old_start] != new[new_at : hunk.new_start]
            or new[hunk.new_start : new_end] != hunk.new
        ):
            return False
        at, new_at = end, new_end
    return old[at:] == new[new_at:]
