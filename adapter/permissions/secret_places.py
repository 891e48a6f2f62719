"""Where secrets lie, from the table secret_places.toml: which paths and names of files mean keys, passwords or tokens; pure.

Whatever decides about reading uses this table: the policies, the sandbox, and what frontends may see of a workspace.
"""

import posixpath
import re
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from itertools import accumulate, islice
from pathlib import Path

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

PATHS: tuple[str, ...] = tuple(path for row in _TABLE["places"] for path in row.get("paths", ()))
"""Files and folders; `~` is a home directory, `*` and `?` do not match a slash."""

_NAMES: tuple[str, ...] = tuple(name for row in _TABLE["places"] for name in row.get("names", ()))
_WILDCARD = re.compile(r"[*?\[]")
_HOME = re.compile(r"(?:/var)?/home/[^/]+/|/Users/[^/]+/|/root/|[A-Za-z]:/Users/[^/]+/")
_PARTS = re.compile(r"\[[^]]+\]|.")
_BRACES = re.compile(r"\{([^{}]*)\}")

LONGEST_NAME = 255
"""Characters of a file's name; a longer pattern of names may mean any."""

MOST_SPELLINGS = 64
"""Names that braces in one pattern are read as."""

DEEPEST = max(path.count("/") for path in PATHS) + 3
"""Folders from the root that are looked at: a home directory is at most three deep."""


def _pattern(patterns: Iterable[str]) -> str:
    """Return one pattern for many with wildcards, of which none matches a slash; each ends with a path, or with a folder of it."""
    return rf"\A(?:{'|'.join(map(_regex, patterns))})(?=/|\Z)"


def _regex(pattern: str) -> str:
    """Return the same as a regular expression; what is between two `*` is looked for once, so that it stays linear."""
    first, *others = pattern.split("*")
    regex = _part(first)
    if others:
        regex += "".join(f"(?>[^/]*?{_part(one)})" for one in others[:-1]) + f"[^/]*{_part(others[-1])}"
    return regex


def _part(text: str) -> str:
    return "".join(
        one if one.startswith("[") else "[^/]" if one == "?" else re.escape(one)
        for one in _PARTS.findall(text)
    )


def _with_folder(name: str) -> str:
    return name if "/" in name else f"*/{name}"


_LITERAL = frozenset(path for path in PATHS if not _WILDCARD.search(path))


_BY_WILDCARD = _pattern(path for path in PATHS if _WILDCARD.search(path))
_HARMLESS = _pattern(map(_with_folder, _TABLE["harmless"]))
_BY_NAME = _pattern(map(_with_folder, _NAMES))
"""Of a name with the folder before it."""

_compiled = cache(re.compile)


def place_of(path: str, home: str = "") -> str | None:
    """Return the place of the table that an absolute path is in, in anybody's home directory; None for none."""
    spelled = [path]
    if home and path.startswith(home.rstrip("/") + "/"):
        spelled.append("~" + path[len(home.rstrip("/")) :])
    if (found := _HOME.match(path)) is not None:
        spelled.append("~/" + path[found.end() :])
    for one in spelled:
        folder = next((folder for folder in _folders(one) if folder in _LITERAL), None)
        if folder is not None:
            return folder
        if (wild := _compiled(_BY_WILDCARD).match(one)) is not None:
            return wild[0]
    return None


def is_secret_name(path: str) -> bool:
    """Tell whether a file's name, or one with wildcards and braces, means a secret in any folder."""
    for one in spellings(path):
        folder, _, name = one.rpartition("/")
        if _is_secret_name(name.casefold(), posixpath.basename(folder).casefold()):
            return True
    return False


@lru_cache(maxsize=4096)
def _is_secret_name(name: str, parent: str) -> bool:
    if len(name) > LONGEST_NAME:
        return _WILDCARD.search(name) is not None
    secret = _compiled(_BY_NAME)
    if _compiled(_HARMLESS).match(f"{parent}/{name}"):
        return False
    if not _WILDCARD.search(name):
        return secret.match(f"{parent}/{name}") is not None
    if (
        name[0] in "*?"
    ):  # a search for a word, or for all files of a kind, is asked about where all that it finds are secrets
        rest = re.sub(r"[*?]+", "", name)
        return bool(rest) and any(secret.match(f"{parent}/{before}{rest}") for before in ("", "x"))
    begin = _WILDCARD.split(name, maxsplit=1)[0]
    return (len(begin) != 1 or begin == ".") and any(fnmatchcase(one, name) for one in _NAMES)


def spellings(pattern: str) -> Iterator[str]:
    """Yield what braces in a pattern of files stand for."""
    waiting = [pattern]
    for _ in range(MOST_SPELLINGS):
        if not waiting:
            return
        one = waiting.pop()
        found = _BRACES.search(one)
        if found is None:
            yield one
        else:
            ways = islice(found[1].split(","), MOST_SPELLINGS)
            waiting += [one[: found.start()] + way + one[found.end() :] for way in ways]


def _folders(path: str) -> Iterator[str]:
    """Yield a path's folders from the outermost, and the path, as deep as a place of the table lies."""
    return accumulate(path.split("/", DEEPEST + 1)[: DEEPEST + 1], "{}/{}".format)
