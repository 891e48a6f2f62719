"""Wildcard patterns on lines of shell: what a rule that denies may mean, and what one that allows surely covers; pure."""

import re
from collections import defaultdict
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal, TypeAlias

from turnwire.adapter.permissions.shell import MAX_LENGTH, Reading, read_line
from turnwire.adapter.permissions.shell_syntax import UNKNOWN

Match: TypeAlias = Literal["yes", "maybe", "no"]
"""Whether a call is meant; "maybe" where only the shell will know."""

_SEPARATORS = re.compile(r"[;&|\n`()]+|\$\(")
_CHARACTERS = frozenset(";&|`$<>\n(){}")
_IN_QUOTES = re.compile(r"'[^']*'")
_LITERAL = re.compile(r"[^*?\[]*")
_FOLLOWED = 2000
"""Characters of a text with UNKNOWN in it that are followed; what is longer may match."""
_TOKEN = re.compile(r"\[(!?)(\]?[^\]]*)\]|(.)", re.DOTALL)


def read(line: str) -> Reading:
    """Read a line of shell; several rules ask for the same."""
    return _read(line) if len(line) <= MAX_LENGTH else read_line(line)


@lru_cache(maxsize=64)
def _read(line: str) -> Reading:
    return read_line(line)


def finds(pattern: str, line: str) -> Match:
    """Tell whether a line runs what a pattern means, anywhere in it and however it is spelled."""
    reading = read(line)
    texts = [line]
    if UNKNOWN in reading.commands:  # what cannot be read is at least cut where commands end
        texts += [part.strip() for part in _SEPARATORS.split(line[:MAX_LENGTH])]
    found: set[Match] = set()
    for one in _spellings(pattern):
        begins = _LITERAL.match(one)[0]  # type: ignore[index]  # it matches any text
        if any(text.startswith(begins) and fnmatchcase(text, one) for text in texts):
            return "yes"
        found |= {_of_command(one, begins, command) for command in reading.commands}
        if "yes" in found:
            return "yes"
        if "maybe" in found:
            continue
        may = any(
            (means := _of_command(one, begins, command)) == "yes"
            or (means == "maybe" and not command.startswith(UNKNOWN))
            for command in reading.possible
        )
        if may or any(
            f" {begins}" in f" {text} " and fnmatchcase(f" {text} ", f"* {one}*") for text in reading.code
        ):
            found.add("maybe")
    return "maybe" if "maybe" in found else "no"


def _of_command(pattern: str, begins: str, command: str) -> Match:
    """Tell whether a pattern, and the text that it begins with, mean a command."""
    known, unknown, _ = command.partition(UNKNOWN)
    if not (
        known.startswith(begins) or f"{known} ".startswith(begins) or (unknown and begins.startswith(known))
    ):
        return "no"
    # a command without arguments here may get them from elsewhere, as from xargs
    if fnmatchcase(command, pattern) or fnmatchcase(f"{command} ", pattern):
        return "yes"
    return "maybe" if unknown and may_match(pattern, f"{command} ") else "no"


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


def is_one_command(line: str) -> str | None:
    """Return the words of a line that is a single command with nothing unknown in it, whatever it runs in turn; None for another."""
    reading = read(line)
    is_one = reading.shape == UNKNOWN and len(reading.outer) == 1 and not reading.unread
    bare = _IN_QUOTES.sub("", line)
    outside = line if re.search(r"[\"\\]", bare) else bare
    is_known = is_one and UNKNOWN not in reading.outer[0] and not _CHARACTERS.intersection(outside)
    return reading.outer[0] if is_known else None


def may_match(pattern: str, text: str) -> bool:
    """Tell whether a pattern can match a text in which UNKNOWN stands for anything; takes time linear in the text."""
    if len(text) > _FOLLOWED:
        return True
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
