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
        old = [line[1:] for line in lines if line[:1] in {" ", "-"}]
        new_lines = sum(line[:1] in {" ", "+"} for line in lines)
        first = max(start - bool(old), 0)
        if before is not None and before[first : first + len(old)] != old:
            return None
        new_start = whole(hunk, "newStart")
        body.append(diff.header(start, len(old), start if new_start is None else new_start, new_lines))
        body += lines
    return diff.document(path, body) if body else None
