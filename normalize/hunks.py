"""The CLI's `structuredPatch` as a unified diff, checked against the file it is for.

Hunks that do not fit the original (early versions show leading tabs as blanks) are not published.
"""

from normalize import diff
from normalize.fields import objects, texts, whole
from normalize.model import JsonObject


def of_result(path: str, result: JsonObject, original: str | None) -> str | None:
    """Return the diff in a result; None if there are no hunks, or they do not fit the original."""
    before = None if original is None else original.split("\n")
    body: list[str] = []
    for hunk in objects(result, "structuredPatch"):
        start, lines = whole(hunk, "oldStart"), texts(hunk, "lines")
        if start is None or not lines:
            return None
        old = [line[1:] for line in lines if line.startswith((" ", "-"))]
        new_lines = len([line for line in lines if line.startswith((" ", "+"))])
        first = max(start - 1, 0)
        if before is not None and before[first : first + len(old)] != old:
            return None
        # A side without lines is numbered by the line before it; the CLI gives the line after it.
        new_start = whole(hunk, "newStart") or start
        body.append(diff.header(start - (not old), len(old), new_start - (not new_lines), new_lines))
        body += lines
    return diff.document(path, body) if body else None
