"""The shortest edit from one list of lines to another, by Myers' algorithm. Fast for few changes in long lists.

It follows the diagonals of the grid of both lists and remembers how far each number of changes leads. The work is
the number of lines plus the square of the number of changes.
"""

from collections.abc import Sequence
from typing import NamedTuple

MOST_CHANGES = 1000
"""Lines added and removed beyond which nothing is found: the way back needs the square of them in memory."""


class Step(NamedTuple):
    """Replace the lines from `old` up to `old_end` by those from `new` up to `new_end`, counted from 0."""

    old: int
    old_end: int
    new: int
    new_end: int


class Found(NamedTuple):
    """The changes, and the rest of the work budget."""

    steps: list[Step] | None
    """The changes; None if they need more work or memory than allowed."""
    work: int


def shortest(old: Sequence[str], new: Sequence[str], work: int) -> Found:
    """Find the changes that lead from one list to the other; `work` is counted in lines and diagonals looked at."""
    size, other = len(old), len(new)
    middle = MOST_CHANGES + 1
    ends = [0] * (2 * middle + 1)
    """How far each diagonal has led in the old list."""
    trace: list[list[int]] = []
    for changes in range(MOST_CHANGES + 1):
        trace.append(ends[middle - changes - 1 : middle + changes + 2])
        for diagonal in range(-changes, changes + 1, 2):
            at = middle + diagonal
            is_added = diagonal == -changes or (diagonal != changes and ends[at - 1] < ends[at + 1])
            x = ends[at + 1] if is_added else ends[at - 1] + 1
            y = x - diagonal
            work += x - 1
            while x < size and y < other and old[x] == new[y]:
                x += 1
                y += 1
            work -= x
            ends[at] = x
            if x >= size and y >= other:
                return Found(_back(trace, x, y), max(work, 0))
        if work < 0:
            break
    return Found(None, max(work, 0))


def _back(trace: Sequence[Sequence[int]], x: int, y: int) -> list[Step]:
    """Return the changes on the way that led to the end of both lists."""
    found: list[Step] = []
    for changes in range(len(trace) - 1, 0, -1):
        ends, diagonal = trace[changes], x - y
        at = changes + 1 + diagonal
        is_added = diagonal == -changes or (diagonal != changes and ends[at - 1] < ends[at + 1])
        x = ends[at + 1] if is_added else ends[at - 1]
        y = x - diagonal - (1 if is_added else -1)
        step = Step(x, x + (not is_added), y, y + is_added)
        if found and (step.old_end, step.new_end) == (found[-1].old, found[-1].new):
            step = Step(x, found[-1].old_end, y, found[-1].new_end)
            found.pop()
        found.append(step)
    return found[::-1]
