"""Protected places: turnwire's own state, which no agent may touch, and secrets, which need a human; pure.

Paths of arguments are looked at, and the words of a line of shell as far as they stand there. Each counts by its
spelling and by where it leads (real_paths.py). A path that a program makes up by itself is not seen. Use another user
or a container against that.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import accumulate, islice
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.patterns import finds, read
from turnwire.adapter.permissions.rules import PATHS, both_spellings
from turnwire.adapter.permissions.secret_places import is_secret_name, place_of

WORDS = 256
"""Words of a line of shell that are looked at though nothing in them says that they are paths."""

PATHS_OF_LINE = 2048
"""Those that are looked at since something does: a slash, a wildcard, a dot at the beginning."""

DEEPEST = 64
"""Folders from the root that are compared with places."""

FOLDERS_OF_LINE = 32
"""Folders that a line of shell goes to, of which relative paths are looked at."""

Reach: TypeAlias = Literal["this", "names", "contents"]
"""What a call gets at: the path itself, the names below it, or what is in the files below it."""

DECIDING = (
    "turnwire attach*", "turnwire mcp *--decide*", "turnwire agui*", "turnwire usechat*", "turnwire acp*", "turnwire token*", "turnwire trust*",
)  # fmt: skip
"""Commands that answer permission requests, or make the tokens for it; an agent's own shell would decide about the agent."""

_MODULES = tuple(f"python{version} *-m {one}" for version in ("", "3*") for one in DECIDING)

_PROC = re.compile(r"^/+proc/+[^/]+(?:/+task/+[^/]+)?/+(?P<link>cwd|root)(?=/|$)")
_HOME = re.compile(r"(?:file://)?(?:\$HOME\b|\$\{HOME(?:[^\w{}][^{}]*)?\})|^~[\w.-]*(?=/|$)")
_BRACES = re.compile(r"(?<!\$)\{[^{}\s]*\}")
_WORD = re.compile(r"[^\s'\"`;|&<>(){}=,:]+")
_QUOTE = re.compile(r"['\"\\]")
_SHELL_WORD = re.compile(r"""(?:[^\s'"\\;|&<>()]++|'[^'\n]*+'|"[^"\n]*+"|\\.)++""")
"""A word of shell, which may have blanks in it."""
_WILDCARD = re.compile(r"[*?\[{]")
_LIKE_A_PATH = re.compile(r"\A[~.]|[/*?\[]")
_FOLDER = re.compile(
    r"(?<!\S)(?:(?:cd|pushd)(?: -[-\w@]*)*|-C|--directory|--chdir|--cwd)[ =](?P<folder>[^\s\0]+)"
)
"""What says where the paths of a command begin, in the words of a command without quotes."""


class ProtectedPlaces(Struct, frozen=True):
    """Absolute paths, without links, as they were when the session began."""

    own: tuple[str, ...] = ()
    """Files and folders of turnwire's own."""
    secret: tuple[str, ...] = ()
    """Those of others' keys."""


class Touched(NamedTuple):
    """A path that a call names."""

    path: str
    """Absolute, with whatever ".." stands in it."""
    reach: Reach
    rest: str = ""
    """What follows, with wildcards."""


def touched(call: ToolCall, workspace: str, home: str) -> Sequence[Touched]:
    """Return the paths that a call names, in any spelling."""
    command = call.arguments.get("command")
    starts = _starts(command, workspace, home)
    said = [
        Touched(_rooted(word, start, home), "this", rest)
        for word, rest in _words(command)
        for start in starts
    ]
    return [
        *(
            Touched(_rooted(path, workspace, home), reach, rest)
            for path, reach, rest in _named(call, workspace)
        ),
        *dict.fromkeys(said),
    ]


def is_own(
    places: ProtectedPlaces, paths: Sequence[Touched], real: Mapping[str, str | None], workspace: str
) -> Literal["yes", "below", "no"]:
    """Tell whether a call gets at turnwire's own state, or searches a folder that has it below.

    A workspace that lies there is not part of it.
    """
    for one in paths:
        for path in _places_of(one, real):
            in_workspace = _is_in(path, real.get(workspace) or workspace)
            for place in places.own:
                if _is_in(path, place) and not (in_workspace and _is_in(workspace, place)):
                    return "yes"
    return "below" if any(_holds(one, place, real) for one in paths for place in places.own) else "no"


def decides(call: ToolCall) -> bool:
    """Tell whether a line of shell starts a frontend of turnwire that answers permission requests."""
    command = call.arguments.get("command")
    if not isinstance(command, str) or "turnwire" not in _QUOTE.sub("", command):
        return False
    return any(finds(pattern, command) == "yes" for pattern in (*DECIDING, *_MODULES))


def is_secret(
    places: ProtectedPlaces, paths: Sequence[Touched], real: Mapping[str, str | None], home: str = ""
) -> str | None:
    """Return the secret place that a call gets at; None for none."""
    secret, above = _secret_folders(places.secret)
    for one in paths:
        for path in _places_of(one, real):
            if (
                place := place_of(path, home) or next((up for up in _ups(path) if up in secret), None)
            ) is not None:
                return place
            if path in above:
                for place in places.secret:
                    if _holds(one, place, real):
                        return place
            if is_secret_name(f"{path}/{one.rest}" if one.rest else path):
                return posixpath.basename(one.rest or path)
    return None


@lru_cache(maxsize=16)
def _secret_folders(places: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return places as a set, and the folders that they are below."""
    above = (up or "/" for place in places for up in _ups(posixpath.dirname(place)))
    return frozenset(places), frozenset(above)


def _ups(path: str) -> Iterator[str]:
    """Yield the folders above a path from the outermost, and the path, where it is not too deep for a place."""
    return accumulate(path.split("/", DEEPEST)[:DEEPEST], "{}/{}".format)


def _named(call: ToolCall, workspace: str) -> Iterator[tuple[str, Reach, str]]:
    """Yield the paths among the arguments."""
    reach: Reach = "this"
    if call.kind == "search":
        reach = "names" if call.tool == "Glob" else "contents"
    given = [path for name in PATHS if isinstance(path := call.arguments.get(name), str)]
    given += call.paths
    if reach == "contents":
        glob = call.arguments.get("glob")
        for path in given or [workspace]:
            yield path, reach, glob if isinstance(glob, str) else ""
    elif reach == "names":
        pattern = call.arguments.get("pattern")
        for path in given or [workspace]:
            base, rest = _split(pattern if isinstance(pattern, str) else "")
            yield posixpath.join(path, base), reach, rest
    else:
        yield from ((path, reach, "") for path in given)


def _words(command: object) -> Iterator[tuple[str, str]]:
    """Yield the words of a line of shell that may be paths: as they stand there, and as the shell reads them."""
    if not isinstance(command, str):
        return
    texts = [
        *read(command).commands,
        command,
        _BRACES.sub("*", _QUOTE.sub("", command)),
        _QUOTE.sub("", command),
    ]
    words = dict.fromkeys(word.lstrip("@") for text in texts for word in _WORD.findall(_HOME.sub("~", text)))
    with_blanks = (found[0] for found in _SHELL_WORD.finditer(command) if " " in found[0])
    words |= dict.fromkeys(_HOME.sub("~", _QUOTE.sub("", one)) for one in islice(with_blanks, WORDS))
    # a long here-document comes before none of them
    paths = [word for word in words if _LIKE_A_PATH.search(word) or is_secret_name(word)]
    others = [word for word in words if not _LIKE_A_PATH.search(word)]
    for word in (*paths[:PATHS_OF_LINE], *others[:WORDS]):
        yield _split(word)


def _starts(command: object, workspace: str, home: str) -> Sequence[str]:
    """Return the folders that relative paths in a line of shell may begin at: those that it goes to, one after another."""
    begin = dict.fromkeys((workspace, home or workspace))
    if not isinstance(command, str):
        return list(begin)
    now, starts = list(begin), begin
    for text in read(command).commands:
        for found in _FOLDER.finditer(_HOME.sub("~", text)):
            now = list(dict.fromkeys(_rooted(found["folder"], start, home) for start in now))
            starts |= dict.fromkeys(now)
    return list(starts)[:FOLDERS_OF_LINE]


def _split(pattern: str) -> tuple[str, str]:
    """Return the folder before the first wildcard, and the rest; all of it where there is none."""
    found = _WILDCARD.search(pattern)
    if found is None:
        return pattern, ""
    folder, slash, _ = pattern[: found.start()].rpartition("/")
    return folder + slash, pattern[len(folder + slash) :]


def _rooted(path: str, start: str, home: str) -> str:
    """Return a path from the root; what /proc says of the agent itself is replaced by what that is."""
    path = _HOME.sub(lambda _: home or "~", path, count=1)
    path = posixpath.join(start, path)
    while (found := _PROC.match(path)) is not None:
        path = ("/" if found["link"] == "root" else start) + "/" + path[found.end() :].lstrip("/")
    return path


def _places_of(one: Touched, real: Mapping[str, str | None]) -> Iterator[str]:
    """Yield a path as it is spelled and as it leads, its ".." taken off before and after links are followed."""
    spelled, *others = both_spellings(one.path, "/", "")
    yield spelled
    for path in (spelled, *others):
        if (found := real.get(path)) is not None and found != spelled:
            yield found


def _fits(name: str, pattern: str) -> bool:
    """Tell whether a shell finds a name by a pattern: wildcards do not begin a hidden one."""
    return fnmatchcase(name, pattern) and name.startswith(".") <= pattern.startswith(".")


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def _holds(one: Touched, place: str, real: Mapping[str, str | None]) -> bool:
    """Tell whether a search, or a pattern with wildcards, finds a place below its folder."""
    for path in _places_of(one, real):
        if not _is_in(place, path):
            continue
        if one.reach == "contents":
            return True
        below, rest = place[len(path) :].strip("/").split("/"), one.rest.split("/")
        if any(part.strip("*?") and any(fnmatchcase(name, part) for name in below) for part in rest):
            return True
        # a wildcard for a folder on the way to something in the place; a search for names reads nothing there
        if one.reach != "names" and len(rest) > len(below) and all(map(_fits, below, rest)):
            return True
    return False
