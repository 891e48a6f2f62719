r"""Unified diffs: computed from texts, where the CLI gives no hunks or wrong ones.

Lines are split at "\n" alone, as git does. A diff is the empty string when nothing changes. The matcher is quadratic,
so it sees only what lies between the first and the last difference; when that is very large, between lines that are in
both texts once, and what is still too large there counts as replaced: the diff is true, and longer than it need be. Its
matches are then given their context from the whole text: git and patch take a hunk that ends without context for one
that ends with its file.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

CONTEXT = 3
"""Unchanged lines shown around a change."""

WORK = 4_000_000
"""Products of line counts that the matcher sees of one diff, together."""

NO_NEWLINE = "\\ No newline at end of file"

_UNPLAIN = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPES = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


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
    """Return the diff between two versions of a part of a file, from the line `start` on; the file goes on behind it.

    The last four lines must be equal. They are not taken for a change, even where that could be: what follows them is
    not known, and a hunk needs its context.
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


class _Change(NamedTuple):
    """The lines from `old` up to `old_end` are replaced by those from `new` up to `new_end`, counted from 0."""

    old: int
    old_end: int
    new: int
    new_end: int


def _between(path: str, old: list[str], new: list[str], start: int, *, kept: int = 0) -> str:
    if old == new:
        return ""
    head, tail = _equal_ends(old, new, kept)
    body: list[str] = []
    for group in _groups(_changes(old, new, head, tail)):
        body += _hunk(old, new, group, start)
    return document(path, body)


def _equal_ends(old: list[str], new: list[str], kept: int) -> tuple[int, int]:
    """Return how many lines are equal at the beginning, and at the end of the rest; `kept` ones count as end."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest - kept and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _changes(old: list[str], new: list[str], head: int, tail: int) -> list[_Change]:
    """Return the changes between the equal ends."""
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    # Most edits share no line between their two sides, and the matcher costs ten times as much as this question.
    if set(removed).isdisjoint(added):
        return [_Change(head, len(old) - tail, head, len(new) - tail)]
    if len(removed) * len(added) <= WORK:
        return _matched(removed, added, head, head)
    changes: list[_Change] = []
    work, old_at, new_at = WORK, 0, 0
    for old_end, new_end in [*_anchors(removed, added), (len(removed), len(added))]:
        before, after = removed[old_at:old_end], added[new_at:new_end]
        if before and after and (cost := len(before) * len(after)) <= work:
            work -= cost
            changes += _matched(before, after, head + old_at, head + new_at)
        elif before or after:
            changes.append(_Change(head + old_at, head + old_end, head + new_at, head + new_end))
        old_at, new_at = old_end + 1, new_end + 1
    return changes


def _matched(removed: list[str], added: list[str], old_at: int, new_at: int) -> list[_Change]:
    """Return the changes between two texts that are short enough for the matcher, by where each begins."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - few turns need one: the CLI gives hunks, mostly

    codes = SequenceMatcher(None, removed, added).get_opcodes()
    return [
        _Change(old_at + a, old_at + b, new_at + c, new_at + d) for tag, a, b, c, d in codes if tag != "equal"
    ]


def _anchors(removed: list[str], added: list[str]) -> list[tuple[int, int]]:
    """Return where lines stand that are in each text once, as many as are in the same order in both.

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


def _groups(changes: list[_Change]) -> Iterator[list[_Change]]:
    """Put changes together whose context would meet."""
    group: list[_Change] = []
    for change in changes:
        if group and change.old - group[-1].old_end > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    yield group


def _hunk(old: list[str], new: list[str], group: list[_Change], start: int) -> list[str]:
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
