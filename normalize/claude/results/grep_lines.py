"""Lines of a content search as ripgrep prints them: path, number and text, separated by ":" (a match) or "-" (context).

A path may contain ":" or "-" with digits, so a single line is often ambiguous. Without context all
lines are matches. With context, lines come in groups separated by "--". The lines of a group are consecutive lines of one
file, and one of them is a match; that resolves most cases. Otherwise the shortest name that looks like a file name counts.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from turnwire.normalize.payloads.files import SearchMatch

_PLACE = re.compile(r"(?=([:-])(\d{1,9})\1)")
_MATCH_PLACE = re.compile(r"(?=(:)(\d{1,9}):)")
_NUMBER = re.compile(r"(\d{1,9})([:-])")
_LONGEST_PATH = 4096
_READINGS = 8
"""More ways than this to read one line are not tried."""


class _Reading(NamedTuple):
    """One way to read a line."""

    file: str
    line: int | None
    text: str
    context: bool

    def match(self, file: str | None = None) -> SearchMatch:
        return SearchMatch(
            file=self.file if file is None else file,
            line=self.line,
            text=self.text,
            context=self.context or None,
        )


def parse(content: str, *, path: str | None, numbers: bool | None, context: bool) -> list[SearchMatch]:
    """Parse the lines of a search of `path`. `numbers`: whether line numbers were requested (None: unknown)."""
    lines = content.split("\n") if content else []
    groups = list(_groups(lines)) if context else [lines]
    shown = [line for group in groups for line in group]
    numbered = False
    if numbers is not False and shown:
        # Only a search of one named file leaves out the name.
        if path is not None and all(_NUMBER.match(line) for line in shown):
            return [_of_named_file(line, path) for line in shown]
        numbered = all(_numbered(line, context=context) for line in shown)
    if not numbered and _is_one_file(path, shown):
        return [SearchMatch(file=path, text=line) for line in shown]
    if not context:
        return _matches(shown, numbered=numbered)
    read = _numbered_group if numbered else _plain_group
    return [match for group in groups if group for match in read(group)]


def _groups(lines: list[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for line in lines:
        if line == "--":
            yield group
            group = []
        else:
            group.append(line)
    yield group


def _is_one_file(path: str | None, lines: list[str]) -> bool:
    """Return whether the lines contain text only, without a path: they are of one file, or nobody can tell."""
    if any(":" not in line and "-" not in line for line in lines):
        return True
    name = (path or "").rstrip("/")
    if name.rpartition("/")[2] in {"", ".", ".."}:
        return False
    # Names begin with the path as it was given, or with its end from the agent's own folder on.
    whole = f"{name}/"
    starts = [whole, *(whole[at + 1 :] for at in range(len(name)) if whole[at] == "/")]
    if any(line.startswith(start) for line in lines for start in starts):
        return False
    # A search of the agent's own folder gives names that begin with none of it.
    return _looks_like_file(name) or not all(
        any(_looks_like_file(r.file) for r in _plain(line)) for line in lines
    )


def _looks_like_file(name: str) -> bool:
    """Tell names with an extension, and such as Makefile: text after a colon is likelier than more of a name."""
    if ":" in name and any(map(str.isspace, name)):
        return False
    base = name.rpartition("/")[2]
    return "." in base or base[:1].isupper()


def _of_named_file(line: str, path: str) -> SearchMatch:
    number, rest = line[: len(line) - len(line.lstrip("0123456789"))], line.lstrip("0123456789")
    return SearchMatch(file=path, line=int(number), text=rest[1:], context=rest[0] == "-" or None)


def _numbered(line: str, *, context: bool) -> list[_Reading]:
    """Return the ways to read a line with a number, the shortest name first."""
    places = (_PLACE if context else _MATCH_PLACE).finditer(line[:_LONGEST_PATH])
    return [
        _Reading(line[:at], int(place[2]), line[at + len(place[2]) + 2 :], place[1] == "-")
        for place, _ in zip(places, range(_READINGS), strict=False)
        for at in (place.start(),)
    ]


def _plain(line: str) -> list[_Reading]:
    """Return the ways to read a match without a number, the shortest name first."""
    readings: list[_Reading] = []
    at = line.find(":", 0, _LONGEST_PATH)
    while at >= 0 and len(readings) < _READINGS:
        readings.append(_Reading(line[:at], None, line[at + 1 :], context=False))
        at = line.find(":", at + 1, _LONGEST_PATH)
    return readings


def _matches(lines: list[str], *, numbered: bool) -> list[SearchMatch]:
    """Read matches without context, one by one."""
    all_readings = [_numbered(line, context=False) if numbered else _plain(line) for line in lines]
    likely = [next((r for r in readings if _looks_like_file(r.file)), None) for readings in all_readings]
    # A line that can be read in one likely way alone names a file, however odd.
    odd = {
        readings[0].file
        for readings, found in zip(all_readings, likely, strict=True)
        if readings and not found
    }
    matches: list[SearchMatch] = []
    for line, readings, found in zip(lines, all_readings, likely, strict=True):
        reading = next((r for r in readings if r.file in odd), found)
        matches.append(SearchMatch(text=line) if reading is None else reading.match())
    return matches


def _numbered_group(group: list[str]) -> Iterator[SearchMatch]:
    """Read lines that follow one another, each with its number."""
    file = _file_of(group)
    for line in group:
        readings = _numbered(line, context=True)
        reading = next((r for r in readings if _same(r.file, file)), readings[0])
        yield reading.match(file)


def _file_of(group: list[str]) -> str | None:
    """Return the name with which every line can be read, one after the other, and one of them as a match."""
    for first in _numbered(group[0], context=True):
        found = [_reading(line, first.file) for line in group]
        readings = [reading for reading in found if reading is not None]
        matching = [reading for reading in readings if not reading.context]
        numbers = [reading.line for reading in readings]
        start = first.line or 0
        if matching and numbers == list(range(start, start + len(group))):
            return matching[0].file
    return None


def _reading(line: str, name: str) -> _Reading | None:
    return next((reading for reading in _numbered(line, context=True) if _same(reading.file, name)), None)


def _same(name: str, file: str | None) -> bool:
    """Compare names. 2.1 makes the paths of matches relative but leaves those of some context lines absolute."""
    return file is not None and (name == file or name.endswith(f"/{file}") or file.endswith(f"/{name}"))


def _plain_group(group: list[str]) -> Iterator[SearchMatch]:
    """Parse consecutive lines without numbers. All of them begin with the file name of the match."""
    names = {reading.file: None for line in group for reading in _plain(line)}
    common = sorted((name for name in names if all(_end_of(name, line) for line in group)), key=len)
    likely = next((name for name in common if _looks_like_file(name)), None)
    if likely is not None or common:
        known = [likely or common[0]]
    else:
        known = sorted({line.partition(":")[0] for line in group if ":" in line}, key=len, reverse=True)
    for line in group:
        found = next(((name, end) for name in known[:_READINGS] if (end := _end_of(name, line))), None)
        if found is None:
            yield SearchMatch(text=line)
        else:
            name, end = found
            yield SearchMatch(file=name, text=line[end + 1 :], context=line[end] == "-" or None)


def _end_of(name: str, line: str) -> int:
    """Return where a name at the beginning of a line ends; 0 if the line does not begin with it. It may be absolute there."""
    if line.startswith((f"{name}:", f"{name}-")):
        return len(name)
    if line.startswith("/"):
        ends = [line.find(f"/{name}{mark}") for mark in ":-"]
        if at := min((end for end in ends if end > 0), default=0):
            return at + 1 + len(name)
    return 0
