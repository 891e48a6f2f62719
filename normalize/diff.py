r"""Unified diffs: computed from texts, where the CLI gives no hunks or wrong ones.

Lines are split at "\n" alone, as git does. A diff is the empty string when nothing changes. The matcher is quadratic,
so it sees only what lies between the first and the last difference, and nothing at all when that is very large.
"""

from difflib import SequenceMatcher

CONTEXT = 3
"""Unchanged lines shown around a change."""

WORK = 4_000_000
"""Above this product of line counts everything between the first and the last difference counts as replaced."""

POPULAR = 200
"""From so many lines on the matcher does not look at those that are frequent."""

NO_NEWLINE = "\\ No newline at end of file"


def of_files(path: str, old: str, new: str, *, start: int = 1) -> str:
    """Return the diff between two whole files, or between their ends from the line `start` on."""
    return _between(path, _file_lines(old), _file_lines(new), start)


def of_new_file(path: str, content: str) -> str:
    """Return the diff of a file that was not there before."""
    if not content:
        return ""
    newlines, ended = content.count("\n"), content.endswith("\n")
    opening = f"--- /dev/null\n+++ {_name(path)}\n{header(0, 0, 1, newlines + (not ended))}\n+"
    # Files of megabytes are written, too: they are searched and copied as seldom as can be.
    lines = content.replace("\n", "\n+", newlines - ended) if newlines > ended else content
    return f"{opening}{lines}" if ended else f"{opening}{lines}\n{NO_NEWLINE}\n"


def of_passages(path: str, old: str, new: str, *, start: int = 1) -> str:
    """Return the diff between two passages of a file whose first lines have the number `start`."""
    return _between(path, old.split("\n"), new.split("\n"), start)


def document(path: str, body: list[str]) -> str:
    """Return the lines of hunks as a whole diff of one file."""
    name = _name(path)
    return "\n".join([f"--- {name}", f"+++ {name}", *body, ""])


def header(old_start: int, old_lines: int, new_start: int, new_lines: int) -> str:
    """Return the line that opens a hunk."""
    return f"@@ -{old_start},{old_lines} +{new_start},{new_lines} @@"


def counts(diff: str) -> tuple[int, int]:
    """Return how many lines a diff adds and removes."""
    # The second line begins with a plus, too; the first follows no newline.
    return (diff.count("\n+") - 1, diff.count("\n-")) if diff else (0, 0)


def line_count(content: str) -> int:
    """Return how many lines a file has; the last one may lack its newline."""
    return content.count("\n") + (not content.endswith("\n")) if content else 0


def _name(path: str) -> str:
    return path.replace("\n", " ")


def _file_lines(text: str) -> list[str]:
    """Return the lines; the last one carries git's mark if no newline ends it."""
    lines = text.split("\n")
    last = lines.pop()
    if last:
        lines.append(f"{last}\n{NO_NEWLINE}")
    return lines


def _between(path: str, old: list[str], new: list[str], start: int) -> str:
    if old == new:
        return ""
    head, tail = _equal_ends(old, new)
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    above, below = old[max(head - CONTEXT, 0) : head], old[len(old) - tail :][:CONTEXT]
    first = start + head - len(above)
    if len(removed) * len(added) > WORK or _is_one_change(removed, added, above + below):
        return document(path, _hunk(first, above, removed, added, below))
    return document(path, _matched(first, above + removed + below, above + added + below))


def _equal_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return how many lines are equal at the beginning, and at the end of the rest."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _is_one_change(removed: list[str], added: list[str], context: list[str]) -> bool:
    """Tell whether the matcher could only find what is known: context, one change, context.

    That is so when the changed lines are all new, and the context around a mere insertion or deletion says in one way
    alone where it belongs. Most edits are like that, and the matcher costs ten times as much as this question.
    """
    if not context and not (removed and added):
        return True
    if len(context) + len(added) >= POPULAR:
        return False
    around = set(context)
    if not (around.isdisjoint(removed) and around.isdisjoint(added) and set(removed).isdisjoint(added)):
        return False
    return bool(removed and added) or len(around) == len(context)


def _hunk(first: int, above: list[str], removed: list[str], added: list[str], below: list[str]) -> list[str]:
    """Return the lines of a hunk with one change; `first` is the number of its first line."""
    around = len(above) + len(below)
    old_lines, new_lines = around + len(removed), around + len(added)
    # A side without lines is numbered by the line before it.
    body = [header(first - (not old_lines), old_lines, first - (not new_lines), new_lines)]
    body += [" " + line for line in above]
    body += ["-" + line for line in removed]
    body += ["+" + line for line in added]
    body += [" " + line for line in below]
    return body


def _matched(first: int, a: list[str], b: list[str]) -> list[str]:
    """Return the lines of the hunks that the matcher finds."""
    body: list[str] = []
    for group in SequenceMatcher(None, a, b).get_grouped_opcodes(CONTEXT):
        i1, i2, j1, j2 = group[0][1], group[-1][2], group[0][3], group[-1][4]
        body.append(header(i1 + first - (i1 == i2), i2 - i1, j1 + first - (j1 == j2), j2 - j1))
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                body += [" " + line for line in a[a1:a2]]
            else:
                body += ["-" + line for line in a[a1:a2]]
                body += ["+" + line for line in b[b1:b2]]
    return body
