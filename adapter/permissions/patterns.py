"""Wildcard patterns on lines of shell: what a rule that denies may mean, and what one that allows surely covers; pure."""

import re
from collections import defaultdict
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal, TypeAlias

from turnwire.adapter.permissions.shell import Reading, read_line
from turnwire.adapter.permissions.shell_syntax import UNKNOWN

Match: TypeAlias = Literal["yes", "maybe", "no"]
"""Whether a call is meant; "maybe" where only the shell will know."""

_SEPARATORS = re.compile(r"[;&|\n`()]+|\$\(")
_CHARACTERS = frozenset(";&|`$<>\n(){}")
_TOKEN = re.compile(r"\[(!?)(\]?[^\]]*)\]|(.)", re.DOTALL)


@lru_cache(maxsize=64)
def read(line: str) -> Reading:
    """Read a line of shell; several rules ask for the same."""
    return read_line(line)


def finds(pattern: str, line: str) -> Match:
    """Tell whether a line runs what a pattern means, anywhere in it and however it is spelled."""
    patterns = _spellings(pattern)
    reading = read(line)
    texts = [line]
    if UNKNOWN in (*reading.outer, *reading.inner):  # what cannot be read is at least cut where commands end
        texts += [part.strip() for part in _SEPARATORS.split(line)]
    if any(fnmatchcase(text, one) for text in texts for one in patterns):
        return "yes"
    maybe = False
    for command in reading.commands:
        for one in patterns:
            # a command without arguments here may get them from elsewhere, as from xargs
            if fnmatchcase(command, one) or fnmatchcase(f"{command} ", one):
                return "yes"
            maybe = maybe or (UNKNOWN in command and may_match(one, f"{command} "))
    maybe = maybe or any(
        fnmatchcase(f"{command} ", one)
        or fnmatchcase(command, one)
        or (UNKNOWN in command and command[0] != UNKNOWN and may_match(one, f"{command} "))
        for command in reading.possible
        for one in patterns
    )
    if maybe or any(fnmatchcase(f" {text} ", f"* {one}*") for text in reading.code for one in patterns):
        return "maybe"
    return "no"


def covers(pattern: str, line: str) -> bool:
    """Tell whether a pattern allows all that a line runs, and nothing else is in it than the pattern says.

    Each command of the line matches the pattern's own in its place; what these run in turn matches one that the
    pattern's run. Operators and redirections are those of the pattern.
    """
    if line == pattern and "*" not in line and "?" not in line and "[" not in line:
        return True
    if not fnmatchcase(line, pattern) or not _CHARACTERS.intersection(line) <= _CHARACTERS.intersection(
        pattern
    ):
        return False
    meant, reading = read(pattern), read(line)
    wanted, told = list(meant.outer), reading.outer
    while UNKNOWN in wanted and len(wanted) > len(told):
        wanted.remove(
            UNKNOWN
        )  # the name of a command in a pattern may be a wildcard, of which the reader says it
    wanted = [text.replace(UNKNOWN, "*") for text in wanted]
    return (
        reading.shape == meant.shape
        and len(told) == len(wanted)
        and not any(UNKNOWN in text for text in (*told, *reading.inner))
        and not reading.unread
        and all(fnmatchcase(text, one) for text, one in zip(told, wanted, strict=True))
        and all(
            any(fnmatchcase(text, one.replace(UNKNOWN, "*")) for one in meant.inner) for text in reading.inner
        )
    )


def is_plain(line: str) -> bool:
    """Tell whether a line is a single command that runs no other, with nothing unknown in it."""
    reading = read(line)
    return (
        reading.shape == UNKNOWN
        and len(reading.outer) == 1
        and not reading.inner
        and not reading.doubtful
        and UNKNOWN not in reading.outer[0]
        and not _CHARACTERS.intersection(line)
    )


def may_match(pattern: str, text: str) -> bool:
    """Tell whether a pattern can match a text in which UNKNOWN stands for anything; takes time linear in the text."""
    accepts, stars, size = _compiled(pattern)
    # the places of the pattern that can be reached, one bit each; all places follow from one by unknown characters
    reached = _opened(1, stars)
    for character in text:
        if character == UNKNOWN:
            lowest = reached & -reached
            reached = ((1 << (size + 1)) - 1) & ~(lowest - 1)
        else:
            reached = _opened(((reached & accepts[character]) << 1) | (reached & stars), stars)
        if not reached:
            return False
    return bool(reached >> size & 1)


def _opened(reached: int, stars: int) -> int:
    return reached | (reached & stars) << 1


class _Accepts(defaultdict[str, int]):
    """By character: the places of a pattern that take it."""

    def __init__(self, tokens: list[re.Match[str]]) -> None:
        super().__init__()
        self._tokens = tokens

    def __missing__(self, character: str) -> int:
        places = sum(
            1 << place for place, token in enumerate(self._tokens) if fnmatchcase(character, token[0])
        )
        self[character] = places
        return places


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> tuple[_Accepts, int, int]:
    tokens = list(_TOKEN.finditer(re.sub(r"\*+", "*", pattern)))
    stars = sum(1 << place for place, token in enumerate(tokens) if token[0] == "*")
    return _Accepts(tokens), stars, len(tokens)


def _spellings(pattern: str) -> tuple[str, ...]:
    """Return a pattern as it is, and by its command's name where it has a path."""
    name, space, rest = pattern.partition(" ")
    if "/" not in name or name.endswith("/"):
        return (pattern,)
    return (pattern, name.rpartition("/")[2] + space + rest)
