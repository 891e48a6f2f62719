"""Lines of a content search, as ripgrep prints them: path, number and text with ":" (a match) or "-" (context) between.

A path may itself hold ":" or "-" with digits, so a line alone can often be read in several ways. With context, lines come
in groups parted by "--"; the lines of a group follow one another in one file and one is a match: that decides.
"""

import re
from collections.abc import Iterator

from normalize.payload_files import SearchMatch

_PLACE = re.compile(r"(?=([:-])(\d{1,9})\1)")
_NUMBER = re.compile(r"(\d{1,9})([:-])")
_LONGEST_PATH = 4096
_READINGS = 8
"""More ways than this to read one line are not tried."""


def parse(content: str, *, path: str | None, numbers: bool | None, context: bool) -> list[SearchMatch]:
    """Read the lines of a search of `path`; `numbers`: were line numbers asked for (None: unknown)?"""
    lines = content.split("\n") if content else []
    shown = [line for line in lines if line != "--"] if context else lines
    groups = _groups(lines) if context else iter([lines])
    if numbers is not False and shown:
        # Only a search of one named file leaves out the name.
        if path is not None and all(_NUMBER.match(line) for line in shown):
            return [match for group in groups for match in _numbered(group, path)]
        if all(_places(line) for line in shown):
            read = _of_one_file if context else _located
            return [match for group in groups for match in read(group)]
    if any(":" not in line and "-" not in line for line in shown) or (
        path is not None and not any(_is_under(path, line) for line in shown)
    ):
        return [SearchMatch(file=path, text=line) for line in shown]
    return [match for group in groups for match in _named(group)]


def _groups(lines: list[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for line in lines:
        if line == "--":
            yield group
            group = []
        else:
            group.append(line)
    yield group


def _is_under(path: str, line: str) -> bool:
    name = path.rstrip("/").rpartition("/")[2]
    return name in {"", ".", ".."} or line.startswith((path.rstrip("/") + "/", f"{name}/"))


def _places(line: str) -> list[re.Match[str]]:
    return list(_PLACE.finditer(line[:_LONGEST_PATH]))


def _numbered(group: list[str], path: str) -> Iterator[SearchMatch]:
    for line in group:
        number, rest = line[: len(line) - len(line.lstrip("0123456789"))], line.lstrip("0123456789")
        yield SearchMatch(file=path, line=int(number), text=rest[1:], context=rest[0] == "-" or None)


def _located(group: list[str]) -> Iterator[SearchMatch]:
    """Read matches without context: the first number between colons is the line's, if a file name precedes it."""
    for line in group:
        places = _places(line)
        matches = [place for place in places if place[1] == ":"][:_READINGS] or places
        named = (place for place in matches if _looks_like_file(line[: place.start()]))
        yield _match(line, next(named, matches[0]), None)


def _looks_like_file(name: str) -> bool:
    """Tell names with an extension, or with blanks and no colon: text after a colon is likelier than more of a name."""
    if any(map(str.isspace, name)):
        return ":" not in name
    return "." in name.rpartition("/")[2]


def _of_one_file(group: list[str]) -> Iterator[SearchMatch]:
    file = _file_of(group)
    for line in group:
        places = _places(line)
        place = next((place for place in places if _same(line[: place.start()], file)), places[0])
        yield _match(line, place, file)


def _match(line: str, place: re.Match[str], file: str | None) -> SearchMatch:
    return SearchMatch(
        file=line[: place.start()] if file is None else file,
        line=int(place[2]),
        text=line[place.start() + len(place[2]) + 2 :],
        context=place[1] == "-" or None,
    )


def _file_of(group: list[str]) -> str | None:
    """Return the name with which every line can be read, one after the other, and one of them as a match."""
    if not group:
        return None
    for first in _places(group[0])[:_READINGS]:
        name = group[0][: first.start()]
        named = [_reading(line, name) for line in group]
        readings = [found for found in named if found is not None]
        matching = [found for found in readings if found[1] == ":"]
        numbers = [int(found[2]) for found in readings]
        if matching and numbers == list(range(numbers[0], numbers[0] + len(group))):
            return matching[0].string[: matching[0].start()]
    return None


def _reading(line: str, name: str) -> re.Match[str] | None:
    return next((place for place in _places(line)[:_READINGS] if _same(line[: place.start()], name)), None)


def _same(name: str, file: str | None) -> bool:
    """Compare names; 2.1.101 makes the paths of matches relative and leaves those of some context lines absolute."""
    return file is not None and (name == file or name.endswith(f"/{file}") or file.endswith(f"/{name}"))


def _named(group: list[str]) -> Iterator[SearchMatch]:
    """Read lines without numbers: what precedes the first colon of a match also begins its context."""
    names = sorted({line.partition(":")[0] for line in group if ":" in line}, key=len, reverse=True)[
        :_READINGS
    ]
    for line in group:
        name, colon, text = line.partition(":")
        around = next((other for other in names if line.startswith(f"{other}-")), None)
        if around is not None and name != around:
            yield SearchMatch(file=around, text=line[len(around) + 1 :], context=True)
        else:
            yield SearchMatch(file=name if colon else None, text=text if colon else line)
