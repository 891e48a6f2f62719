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

Opcode = tuple[str, int, int, int, int]


def of_files(path: str, old: str, new: str, *, start: int = 1) -> str:
    """Return the diff between two whole files, or between their ends from the line `start` on."""
    return _between(path, _file_lines(old), _file_lines(new), start)


def of_new_file(path: str, content: str) -> str:
    """Return the diff of a file that was not there before."""
    if not content:
        return ""
    opening = f"--- /dev/null\n+++ {_name(path)}\n{header(0, 0, 1, line_count(content))}\n+"
    if content.endswith("\n"):
        return opening + content[:-1].replace("\n", "\n+") + "\n"
    return opening + content.replace("\n", "\n+") + f"\n{NO_NEWLINE}\n"


def of_passages(path: str, old: str, new: str, *, start: int = 1) -> str:
    """Return the diff between two passages of a file whose first lines have the number `start`."""
    return _between(path, old.split("\n"), new.split("\n"), start)


def document(path: str, body: list[str]) -> str:
    """Return the lines of hunks as a whole diff of one file."""
    if not body:
        return ""
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
    skipped, groups = _groups(old, new)
    first = start + skipped
    body: list[str] = []
    for group in groups:
        i1, i2, j1, j2 = group[0][1], group[-1][2], group[0][3], group[-1][4]
        # A side without lines is numbered by the line before it.
        body.append(header(i1 + first - (i1 == i2), i2 - i1, j1 + first - (j1 == j2), j2 - j1))
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                body += [" " + line for line in old[skipped + a1 : skipped + a2]]
            else:
                body += ["-" + line for line in old[skipped + a1 : skipped + a2]]
                body += ["+" + line for line in new[skipped + b1 : skipped + b2]]
    return document(path, body)


def _groups(old: list[str], new: list[str]) -> tuple[int, list[list[Opcode]]]:
    """Return how many equal lines were skipped at the beginning, and the hunks of what follows."""
    if old == new:
        return 0, []
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    before, after = min(head, CONTEXT), min(tail, CONTEXT)
    skipped = head - before
    a = old[skipped : len(old) - tail + after]
    b = new[skipped : len(new) - tail + after]
    if len(a) * len(b) <= WORK and not _is_one_change(a, b, before, after):
        return skipped, list(SequenceMatcher(None, a, b).get_grouped_opcodes(CONTEXT))
    hunk: list[Opcode] = [
        ("equal", 0, before, 0, before),
        ("replace", before, len(a) - after, before, len(b) - after),
        ("equal", len(a) - after, len(a), len(b) - after, len(b)),
    ]
    return skipped, [hunk]


def _is_one_change(a: list[str], b: list[str], before: int, after: int) -> bool:
    """Tell whether the matcher could only find what is known: context, one change, context.

    That is so when the changed lines are all new, and the context around a mere insertion or deletion says in one way
    alone where it belongs. Most edits are like that, and the matcher costs ten times as much as this question.
    """
    if not a or not b:
        return True
    if len(b) >= POPULAR:
        return False
    removed, added = a[before : len(a) - after], b[before : len(b) - after]
    if not (set(removed).isdisjoint(b) and set(added).isdisjoint(a)):
        return False
    context = a[:before] + a[len(a) - after :]
    return bool(removed and added) or len(set(context)) == len(context)
