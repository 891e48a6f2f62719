"""Protected places: turnwire's own state, which no agent may touch, and secrets, which need a human; pure.

Paths of arguments are looked at, and the words of a line of shell as far as they stand there. Each counts by its
spelling and by where it leads (real_paths.py). A path that a program makes up by itself is not seen. Use another user
or a container against that.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import filter as matching
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import accumulate, chain, islice
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.patterns import Match, finds, may_match, read
from turnwire.adapter.permissions.rules import PATHS, both_spellings
from turnwire.adapter.permissions.secret_places import (
    LONGEST_NAME,
    MOST_SPELLINGS,
    is_secret_name,
    place_of,
    spellings,
)
from turnwire.adapter.permissions.shell import Reading
from turnwire.adapter.permissions.shell_syntax import UNKNOWN

WORDS = 256
"""Words of a line of shell that are looked at though nothing in them says that they are paths."""

PATHS_OF_LINE = 1024
"""Those that are looked at since something does: a slash, a wildcard, a dot at the beginning. With more nothing is known."""

MAX_LINE = 64_000
"""Characters of a line of shell that are looked at for paths."""

MAX_TOUCHED = 2048
"""Paths of a call that are looked at."""

LONGEST_PATH = 4096
"""Characters of a path that a system takes."""

_IN_NO_PATH = re.compile("[\\0\ud800-\udc7f\udd00-\udfff]")

MAX_CHAINS = 16
"""Patterns that are compared with all secret places below a folder; with more, one of them may mean one."""

MAX_PARTS = 64
"""Names with wildcards behind one another that are compared."""

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

_BY_PYTHON = re.compile(
    r"(?:python|pypy)[\d.]* (?:.{0,4096} )?(?:-\w{0,64}m ?|\S{0,4096}/)turnwire(?:/__main__\.py)? ", re.DOTALL
)
"""What begins a command that has an interpreter run turnwire."""
_SUBCOMMANDS = frozenset(one.removeprefix("turnwire ").partition(" ")[0].rstrip("*") for one in DECIDING)
_A_SUBCOMMAND = re.compile(rf"\b(?:{'|'.join(sorted(_SUBCOMMANDS))})\b")
_RENAMES = frozenset({"ln", "link", "cp", "mv", "install", "alias", "hash"})
"""Commands that give a program another name."""
_MOVES = frozenset({"ln", "mv", "mount", "cp", "rsync", "bindfs"})
"""Commands by which a folder can be had under another name; of those that also copy single files, where they take folders."""
_TAKES_FOLDERS = re.compile(r" -\w*[rRa]| --(?:recursive|archive)")

_PROC = re.compile(r"^/+proc/+[^/]+(?:/+task/+[^/]+)?/+(?P<link>cwd|root)(?=/|$)")
_HOME = re.compile(r"(?:file://)?(?:\$HOME\b|\$\{HOME(?:[^\w{}][^{}]*)?\})|^~[\w.-]*(?=/|$)")
_HERE = re.compile(r"\$PWD\b|\$\{PWD\}|(?<!\S)~\+(?=[/\s]|$)")
_BEFORE = re.compile(r"\$OLDPWD\b|\$\{OLDPWD\}|(?<!\S)~-(?=[/\s]|$)")
_BRACES = re.compile(r"(?<!\$)\{[^{}\s]*\}")
_BRACED = re.compile(r"[^\s;|&<>()`]++")
"""A word that may have braces."""
_RANGE = re.compile(r"\{[^{},]*\.\.")
_EXCLUDED = re.compile(r"(?<!\S)--exclude(?:-dir)?(?:=|\s+)(?:'[^']*'|[^\s;|&<>()]+)")
_CLEANED = re.compile(r"git clean [^;|&<>()\n]*")
_WORD = re.compile(r"[^\s'\"`;|&<>(){}=,:]+")
_QUOTE = re.compile(r"['\"\\]")
_SHELL_WORD = re.compile(r"""(?:[^\s'"\\;|&<>()]++|'[^'\n]*+'|"[^"\n]*+"|\\.)++""")
"""A word of shell, which may have blanks in it."""
_WILDCARD = re.compile(r"[*?\[{]")
_WILDCARDS = re.compile(r"[*?]+")
_LIKE_A_PATH = re.compile(r"\A[~.]|[/*?\[]")
_FOLDER = re.compile(r"(?<!\S)(?:(?:cd|pushd)(?: -[-\w@]+)*|-C|--directory|--chdir|--cwd)[ =](?P<folder>\S+)")
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
    """Absolute, with whatever ".." stands in it; UNKNOWN and what follows where only the shell knows the beginning."""
    reach: Reach
    rest: str = ""
    """What follows, with wildcards."""


def touched(call: ToolCall, workspace: str, home: str) -> Sequence[Touched]:
    """Return the paths that a call names, in any spelling; no more than MAX_TOUCHED."""
    named = (
        Touched(_rooted(path, workspace, home), reach, rest) for path, reach, rest in _named(call, workspace)
    )
    said = () if call.line is None else _said(call.line, workspace, home)
    return list(dict.fromkeys(islice(chain(named, said), MAX_TOUCHED)))


@lru_cache(maxsize=8)
def _said(line: str, workspace: str, home: str) -> Sequence[Touched]:
    """Return the paths in a line of shell, which is asked for twice: before and after it is looked where they lead."""
    starts = _starts(line, workspace, home)
    moved = (Touched(_rooted(word, start, home), "contents") for word in _moved(line) for start in starts)
    words = (
        Touched(_rooted(word, start, home), "this", rest) for word, rest in _words(line) for start in starts
    )
    return tuple(islice(chain(moved, words), MAX_TOUCHED))


def is_untold(call: ToolCall) -> bool:
    """Tell whether a call names more than is looked at."""
    line = call.line or ""
    many = len(line) > MAX_LINE or any(call.texts(name) is None for name in PATHS if name not in call.untold)
    if many or len(line) < PATHS_OF_LINE:
        return many
    paths = sum(1 for word, rest in _words(line) if rest or _LIKE_A_PATH.search(word))
    folders = len(_starts(line, "/", ""))
    return paths >= PATHS_OF_LINE or folders > FOLDERS_OF_LINE or paths * folders > MAX_TOUCHED


def is_own(
    places: ProtectedPlaces, paths: Sequence[Touched], real: Mapping[str, str | None], workspace: str
) -> Literal["yes", "below", "maybe", "no"]:
    """Tell whether a call gets at turnwire's own state, searches a folder that has it below, or may do so where only the shell knows.

    A workspace that lies there is not part of it.
    """
    is_doubtful = False
    for one in paths:
        if one.path.startswith(UNKNOWN):
            is_doubtful = is_doubtful or any(_may_be(one, place) for place in places.own)
            continue
        for path in _places_of(one, real):
            in_workspace = _is_in(path, real.get(workspace) or workspace)
            for place in places.own:
                if _is_in(path, place) and not (in_workspace and _is_in(workspace, place)):
                    return "yes"
        is_doubtful = is_doubtful or _is_lost(one, real)
    for one in paths:
        for path in _places_of(one, real):
            if any(_holds(one, path, place) for place in places.own):
                return "below"
    return "maybe" if is_doubtful else "no"


def decides(call: ToolCall) -> Match:
    """Tell whether a line of shell starts a frontend of turnwire that answers permission requests.

    "maybe": only the shell knows, and something in the line names turnwire or what it would be told.
    """
    line = call.line
    if line is None:
        return "no"
    text, reading = _QUOTE.sub("", line[:MAX_LINE]), read(line)
    is_named = "turnwire" in text
    if not is_named and not any(UNKNOWN in command for command in reading.commands):
        return "no"
    found = {finds(one, line) for one in DECIDING} if is_named else set()
    by_python = (
        f"turnwire {command[begin.end() :]} "
        for command in (reading.commands if is_named else ())
        if (begin := _BY_PYTHON.match(command)) is not None
    )
    if "yes" in found or any(fnmatchcase(command, one) for command in by_python for one in DECIDING):
        return "yes"
    commands = [command.split(" ", 4) for command in (*reading.commands, *reading.possible)]
    if ("maybe" in found and _A_SUBCOMMAND.search(text)) or any(map(_may_decide, commands)):
        return "maybe"
    renames = is_named and any(
        words[0] in _RENAMES and any("turnwire" in word or UNKNOWN in word for word in words[1:])
        for words in commands
    )
    return "maybe" if renames and any(not _SUBCOMMANDS.isdisjoint(words[1:2]) for words in commands) else "no"


def _may_decide(words: Sequence[str]) -> bool:
    """Tell whether a command may be such a one, of whose words something is not known and something says so."""
    name = words[0].rpartition("/")[2]
    says = not _SUBCOMMANDS.isdisjoint(words[1:2])
    known = max(name.split(UNKNOWN), key=len)
    if UNKNOWN in name:
        is_meant = says if not known else len(known) > 2 and may_match("turnwire", name)
    else:
        is_meant = name == "turnwire" and UNKNOWN in "".join(words[1:3])
    return is_meant and any(may_match(one, f"{' '.join(words)} ") for one in DECIDING)


def is_secret(
    places: ProtectedPlaces, paths: Sequence[Touched], real: Mapping[str, str | None], home: str = ""
) -> str | None:
    """Return the secret place that a call gets at; None for none."""
    secret, above = _secret_folders(places.secret)
    chains = MAX_CHAINS
    for one in paths:
        for path in _places_of(one, real):
            if (
                place := place_of(path, home) or next((up for up in _ups(path) if up in secret), None)
            ) is not None:
                return place
            if (below := above.get(path)) is not None:
                is_open = (
                    one.reach == "this" and "/" in one.rest and not one.rest.split("/", 1)[0].strip("*?")
                )
                if is_open or below.may_have(one):
                    chains -= 1
                    found = (place for place in below.places if chains < 0 or _holds(one, path, place))
                    if (place := next(found, None)) is not None:
                        return place
            if is_secret_name(f"{path}/{one.rest}" if one.rest else path):
                return posixpath.basename(one.rest or path)
    return None


class _Below(NamedTuple):
    """The secret places below a folder, and the names on the way to them."""

    places: Sequence[str]
    names: Sequence[str]
    text: str
    """The names, each on a line of its own."""

    def may_have(self, one: Touched) -> bool:
        """Tell whether a search, or a part of a pattern, finds one of the names.

        An agent can write a thousand patterns into a line, so a pattern is compiled only where its letters are there.
        """
        if one.reach == "contents" or one.rest.count("/") >= MAX_PARTS:
            return True
        return any(self._has(part, is_hidden_found=one.reach != "this") for part in one.rest.split("/"))

    def _has(self, part: str, *, is_hidden_found: bool) -> bool:
        begin, *others = _literals(part)
        if (
            not part.strip("*?")
            or f"\n{begin}" not in self.text
            or any(one not in self.text for one in others)
        ):
            return False
        if len(part) > LONGEST_NAME:
            return True
        found = matching(self.names, part)
        return any(is_hidden_found or name.startswith(".") <= part.startswith(".") for name in found)


@lru_cache(maxsize=16)
def _secret_folders(places: tuple[str, ...]) -> tuple[frozenset[str], Mapping[str, _Below]]:
    """Return places as a set, and by folder what is below it."""
    above: dict[str, list[str]] = {}
    for place in places:
        for up in _ups(posixpath.dirname(place)):
            above.setdefault(up or "/", []).append(place)
    found: dict[str, _Below] = {}
    for folder, below in above.items():
        names = dict.fromkeys(name for place in below for name in place[len(folder) :].strip("/").split("/"))
        found[folder] = _Below(below, tuple(names), "\n".join(("", *names, "")))
    return frozenset(places), found


def _ups(path: str) -> Iterator[str]:
    """Yield the folders above a path from the outermost, and the path, where it is not too deep for a place."""
    return accumulate(path.split("/", DEEPEST)[:DEEPEST], "{}/{}".format)


def _named(call: ToolCall, workspace: str) -> Iterator[tuple[str, Reach, str]]:
    """Yield the paths among the arguments."""
    reach: Reach = "this"
    if call.kind == "search":
        reach = "names" if call.tool == "Glob" else "contents"
    given = [path for name in PATHS for path in call.texts(name) or ()]
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


def _read(line: str) -> Reading:
    """Read a line of shell in which the home directory and the folder that it is in stand as paths."""
    return read(_expanded(line))


def _expanded(text: str) -> str:
    """Return a text with `~` for the home directory, `.` for the folder that the shell is in, and UNKNOWN for the one before."""
    if "$" not in text and "~" not in text:
        return text
    return _BEFORE.sub(UNKNOWN, _HERE.sub(".", _HOME.sub("~", text)))


@lru_cache(maxsize=8)
def _words(command: str) -> Sequence[tuple[str, str]]:
    """Return the words of a line of shell that may be paths: as they stand there, and as the shell reads them."""
    command = _without_excluded(command[:MAX_LINE])
    plain, ways = _expanded_braces(_QUOTE.sub("", command))
    commands = _read(command).commands
    texts = [*commands, command if not ways else "", _BRACES.sub("*", plain), plain, *ways]
    found = dict.fromkeys(chain.from_iterable(_WORD.findall(_expanded(text)) for text in texts))
    words = dict.fromkeys(word.lstrip("@") for word in found)
    with_blanks = (found[0] for found in _SHELL_WORD.finditer(command) if " " in found[0])
    words |= dict.fromkeys(_expanded(_QUOTE.sub("", one)) for one in islice(with_blanks, WORDS))
    # a long here-document comes before none of them
    paths = [word for word in words if _LIKE_A_PATH.search(word)]
    paths += [word for word in islice(words, WORDS) if not _LIKE_A_PATH.search(word) and is_secret_name(word)]
    others = [word for word in words if not _LIKE_A_PATH.search(word)]
    split: list[tuple[str, str]] = []
    for word in (*paths[:PATHS_OF_LINE], *others[:WORDS]):
        begin = UNKNOWN if word.startswith(UNKNOWN) else ""
        folder, rest = _split(word.rpartition(UNKNOWN)[2] if begin else word.replace(UNKNOWN, "*"))
        split.append((begin + folder, rest))
    return split


def _expanded_braces(text: str) -> tuple[str, Sequence[str]]:
    """Return a text without the words of shell that have braces, and what these stand for; words with many stay in it."""
    ways: list[str] = []

    def expand(found: re.Match[str]) -> str:
        word = found[0]
        if (
            "," not in word
            or "{" not in word
            or _RANGE.search(word)
            or word.count("{") > 4
            or word.count(",") > MOST_SPELLINGS
        ):
            return word
        some = list(spellings(word))
        if len(some) + len(ways) >= MOST_SPELLINGS:
            return word
        ways.extend(some)
        return " "

    return (_BRACED.sub(expand, text) if "{" in text else text), ways


def _without_excluded(command: str) -> str:
    """Return a line without the names that its programs leave alone, where nothing in it can make words of them again."""
    if "--exclude" not in command and "git clean" not in command:
        return command
    if re.search(r"[$`{]|xargs|<<", command):
        return command
    command = _EXCLUDED.sub(" ", command)
    return _CLEANED.sub(lambda found: re.sub(r"(?<!\S)-e\s*\S+", " ", found[0]), command)


def _moved(command: str) -> Iterator[str]:
    """Yield the paths that a line of shell gives another name, with all that is below them."""
    for text in _read(command).commands:
        name, *words = text.split(" ")
        name = name.rpartition("/")[2]
        if name not in _MOVES or (name in ("cp", "rsync") and not _TAKES_FOLDERS.search(text)):
            continue
        operands = [word for word in words if not word.startswith("-")]
        *sources, to = operands if operands[1:] and " -t" not in text else [*operands, ""]
        if any(UNKNOWN in source for source in sources):
            yield from (folder for folder, rest in _words(command) if not rest)
        yield from sources
        if name == "ln":  # what it says is looked up from where the link is
            yield from (posixpath.join(posixpath.dirname(to), source) for source in sources)


def _starts(command: str, workspace: str, home: str) -> Sequence[str]:
    """Return the folders that relative paths in a line of shell may begin at: those that it goes to, one after another."""
    begin = dict.fromkeys((workspace, home or workspace))
    now, starts = list(begin), begin
    for text in _read(command).commands:
        for found in _FOLDER.finditer(text):
            folder = UNKNOWN if found["folder"] == "-" else found["folder"]
            now = list(dict.fromkeys(_rooted(folder, start, home) for start in now))
            starts |= dict.fromkeys(now)
        if len(starts) > FOLDERS_OF_LINE:
            break
    return list(starts)[: FOLDERS_OF_LINE + 1]


def _split(pattern: str) -> tuple[str, str]:
    """Return the folder before the first wildcard, and the rest; all of it where there is none."""
    found = _WILDCARD.search(pattern)
    if found is None:
        return pattern, ""
    folder, slash, _ = pattern[: found.start()].rpartition("/")
    return folder + slash, pattern[len(folder + slash) :]


def _rooted(path: str, start: str, home: str) -> str:
    """Return a path from the root; what /proc says of the agent itself is replaced by what that is."""
    if UNKNOWN in path:
        return UNKNOWN + path.rpartition(UNKNOWN)[2]
    path = _HOME.sub(lambda _: home or "~", path, count=1)
    path = posixpath.join(start, path)
    while (found := _PROC.match(path)) is not None:
        path = ("/" if found["link"] == "root" else start) + "/" + path[found.end() :].lstrip("/")
    return path


def _places_of(one: Touched, real: Mapping[str, str | None]) -> Iterator[str]:
    """Yield a path as it is spelled and as it leads, its ".." taken off before and after links are followed."""
    if one.path.startswith(UNKNOWN):
        return
    spelled, *others = _spelled(one.path)
    yield spelled
    for path in (spelled, *others):
        if (found := real.get(path)) is not None and found != spelled:
            yield found


@lru_cache(maxsize=256)
def _spelled(path: str) -> tuple[str, ...]:
    """Return a path's spellings; the patterns of a line often begin in one folder."""
    return both_spellings(path, "/", "")


def _is_lost(one: Touched, real: Mapping[str, str | None]) -> bool:
    """Tell whether nobody looked where a path leads that a system would open."""
    return any(
        path in real and real[path] is None and len(path) <= LONGEST_PATH and not _IN_NO_PATH.search(path)
        for path in _spelled(one.path)
    )


def _may_be(one: Touched, place: str) -> bool:
    """Tell whether a path of which only the shell knows the beginning ends like a place, or goes on below its end."""
    said = one.path.rpartition(UNKNOWN)[2] + one.rest
    said = said if said.startswith("/") else f"*{said}"
    parts = [part for part in said.rpartition("..")[2].split("/") if part not in ("", ".")]
    names = place.strip("/").split("/")
    return any(
        len(parts) >= count
        and all(map(_means, parts, names[-count:]))
        and any(part.strip("*?") for part in parts[:count])
        for count in range(1, len(names) + 1)
    )


def _means(pattern: str, name: str) -> bool:
    """Tell whether a pattern in a call means a name."""
    if _WILDCARD.search(pattern) is None:
        return name == pattern
    if len(pattern) > LONGEST_NAME:
        return True
    begin, *others = _literals(pattern)
    return name.startswith(begin) and all(one in name for one in others) and fnmatchcase(name, pattern)


def _literals(pattern: str) -> Sequence[str]:
    """Return the texts between wildcards that a name must have, the first at its beginning; spares compiling most patterns."""
    return _WILDCARDS.split(pattern.partition("[")[0])


def _fits(pattern: str, name: str) -> bool:
    """Tell whether a shell finds a name by a pattern: wildcards do not begin a hidden one."""
    return _means(pattern, name) and name.startswith(".") <= pattern.startswith(".")


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def _holds(one: Touched, path: str, place: str) -> bool:
    """Tell whether a search, or a pattern with wildcards, finds a place below one of its folders."""
    if not _is_in(place, path):
        return False
    if one.reach == "contents":
        return True
    below, rest = place[len(path) :].strip("/").split("/"), one.rest.split("/")
    if len(rest) > MAX_PARTS:
        return True
    if one.reach == "this" and not any(part in ("", ".", "..") for part in rest):
        # a shell compares folder by folder: `*.json` in the home directory is no file of a folder in it
        ways = [rest]
        if "**" in rest:  # which may be no folder
            ways.append([part for part in rest if part != "**"])
        return any(
            (len(way) > len(below) or any(part.strip("*?") for part in way)) and all(map(_fits, way, below))
            for way in ways
        )
    means = _fits if one.reach == "this" else _means
    if any(part.strip("*?") and any(means(part, name) for name in below) for part in rest):
        return True
    # a wildcard for a folder on the way to something in the place; a search for names reads nothing there
    return one.reach != "names" and len(rest) > len(below) and all(map(_fits, rest, below))
