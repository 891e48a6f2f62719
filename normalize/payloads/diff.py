r"""Unified diffs computed from texts, for results without hunks or with wrong ones.

Lines are split at "\n" only, as git does. A diff is the empty string if nothing changes. The matcher is quadratic,
so it sees only the lines between the first and the last difference. If these are very many, it sees the lines between unique
lines of
both texts. Parts that are still too large go to Myers' algorithm (shortest.py), and beyond that count as replaced: such
a diff is `Approximate`, correct but longer than necessary. Each change gets its context from the whole text: git
and patch take a hunk without context at its end for one at the end of the file.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from turnwire.normalize.payloads.shortest import Step, shortest

CONTEXT = 3
"""Unchanged lines shown around a change."""

WORK = 4_000_000
"""Products of line counts that the matcher sees of one diff, together."""

STEPS = 2_000_000
"""Lines and diagonals that Myers looks at for one diff, together."""

NO_NEWLINE = "\\ No newline at end of file"

_UNPLAIN = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPES = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


class Approximate(str):
    """A correct diff that is longer than necessary: the shortest one would have taken too long."""

    __slots__ = ()


def of_files(path: str, old: str, new: str, *, start: int = 1) -> str:
    """Return the diff between two whole files, or between their ends from the line `start` on."""
    return _between(path, file_lines(old), file_lines(new), start)


def of_new_file(path: str, content: str) -> str:
    """Return the diff of a file that was not there before."""
    if not content:
        return ""
    newlines, ended = content.count("\n"), content.endswith("\n")
    opening = f"--- /dev/null\n+++ {_name(path)}\n{header(0, 0, 1, newlines + (not ended))}\n+"
    # Files of megabytes are written, too: they are searched and copied as seldom as can be.
    lines = content.replace("\n", "\n+", newlines - ended) if newlines > ended else content
    return f"{opening}{lines}" if ended else f"{opening}{lines}\n{NO_NEWLINE}\n"


def of_passages(path: str, old: str, new: str) -> str:
    """Return the diff between two passages, counted from their own first lines.

    Passages that both end within a line are shown as if that were whole: it is not the end of a file.
    """
    if not (old.endswith("\n") or new.endswith("\n")):
        old, new = old and f"{old}\n", new and f"{new}\n"
    return _between(path, file_lines(old), file_lines(new), 1)


def of_part(path: str, old: str, new: str, *, start: int) -> str:
    """Return the diff of two versions of a part of a file that starts at line `start`. More of the file follows the part.

    The last four lines must be equal. They never count as changed, even if they could: the lines after them are
    unknown, and a hunk needs its context.
    """
    return _between(path, old.split("\n"), new.split("\n"), start, kept=CONTEXT + 1)


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
    """Return the path as git writes it into a header: quoted if it must be, and ended by a tab if it has blanks."""
    if _UNPLAIN.search(path):
        return '"' + _UNPLAIN.sub(_escaped, path) + '"'
    return f"{path}\t" if " " in path else path


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    return _ESCAPES.get(char) or f"\\{ord(char):03o}"


def file_lines(text: str) -> list[str]:
    """Return the lines of a file; the last one carries git's mark if no newline ends it."""
    lines = text.split("\n")
    last = lines.pop()
    if last:
        lines.append(f"{last}\n{NO_NEWLINE}")
    return lines


def _between(path: str, old: list[str], new: list[str], start: int, *, kept: int = 0) -> str:
    if old == new:
        return ""
    head, tail = _equal_ends(old, new, kept)
    body: list[str] = []
    changes, is_exact = _changes(old, new, head, tail)
    for group in _groups(changes):
        body += _hunk(old, new, group, start)
    whole = document(path, body)
    return whole if is_exact else Approximate(whole)


def _equal_ends(old: list[str], new: list[str], kept: int) -> tuple[int, int]:
    """Return how many lines are equal at the beginning, and at the end of the rest. The last `kept` lines count as end."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest - kept and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _changes(old: list[str], new: list[str], head: int, tail: int) -> tuple[list[Step], bool]:
    """Return the changes between the equal ends, and whether all of them were looked for to the end."""
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    # Most edits share no line between their two sides, and the matcher costs ten times as much as this question.
    if set(removed).isdisjoint(added):
        return [Step(head, len(old) - tail, head, len(new) - tail)], True
    if len(removed) * len(added) <= WORK:
        return [Step(head + a, head + b, head + c, head + d) for a, b, c, d in _matched(removed, added)], True
    changes: list[Step] = []
    work, steps, is_exact = WORK, STEPS, True
    old_at, new_at = 0, 0
    for old_end, new_end in [*_anchors(removed, added), (len(removed), len(added))]:
        before, after = removed[old_at:old_end], added[new_at:new_end]
        old_first, new_first = head + old_at, head + new_at
        changed: list[Step] = []
        if not before or not after:
            changed = [Step(0, len(before), 0, len(after))] if before or after else []
        elif (cost := len(before) * len(after)) <= work:
            work -= cost
            changed = _matched(before, after)
        elif before != after:
            found, steps = shortest(before, after, steps)
            changed = [Step(0, len(before), 0, len(after))] if found is None else found
            is_exact = is_exact and found is not None
        changes += [
            Step(old_first + a, old_first + b, new_first + c, new_first + d) for a, b, c, d in changed
        ]
        old_at, new_at = old_end + 1, new_end + 1
    return changes, is_exact


def _matched(removed: list[str], added: list[str]) -> list[Step]:
    """Return the changes between two texts that are short enough for the matcher."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - few turns need one: the CLI gives hunks, mostly

    codes = SequenceMatcher(None, removed, added).get_opcodes()
    return [Step(*places) for tag, *places in codes if tag != "equal"]


def _anchors(removed: list[str], added: list[str]) -> list[tuple[int, int]]:
    """Return the positions of lines that are unique in both texts: the longest sequence in the same order.

    This is patience diff: the longest increasing run, in no more than n log n steps.
    """
    once = {line for line, times in Counter(removed).items() if times == 1}
    once &= {line for line, times in Counter(added).items() if times == 1}
    places = {line: at for at, line in enumerate(added) if line in once}
    pairs = [(at, places[line]) for at, line in enumerate(removed) if line in once]
    ends: list[int] = []
    """The smallest end of a run, by the run's length."""
    tops: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(tops[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        tops[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    at = tops[-1] if tops else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _groups(changes: list[Step]) -> Iterator[list[Step]]:
    """Group changes whose contexts would overlap."""
    group: list[Step] = []
    for change in changes:
        if group and change.old - group[-1].old_end > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    yield group


def _hunk(old: list[str], new: list[str], group: list[Step], start: int) -> list[str]:
    """Return the lines of a hunk."""
    first, last = group[0], group[-1]
    above, below = min(first.old, CONTEXT), min(len(old) - last.old_end, CONTEXT)
    begin = first.old - above
    old_lines = last.old_end - first.old + above + below
    new_lines = last.new_end - first.new + above + below
    # A side without lines is numbered by the line before it.
    old_start, new_start = start + begin - (not old_lines), start + first.new - above - (not new_lines)
    body = [header(old_start, old_lines, new_start, new_lines)]
    for change in group:
        body += [" " + line for line in old[begin : change.old]]
        body += ["-" + line for line in old[change.old : change.old_end]]
        body += ["+" + line for line in new[change.new : change.new_end]]
        begin = change.old_end
    body += [" " + line for line in old[begin : begin + below]]
    return body
