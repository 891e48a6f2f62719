"""Permission rules of the configuration: allow, deny or ask, by tool name and by patterns on its input.

The first rule that matches decides. A rule that allows is read narrowly and one that denies or asks widely: an allowed
`git status*` does not cover `git status; rm -rf .`, a denied `rm *` does. Where only the shell will know whether a
command is meant, a rule that denies asks. A path counts by its spelling and by where it leads, links followed.

    [[rules]]
    action = "allow"
    tool = "Bash"                       # one name or a list; wildcards as in file names
    input = { command = "git status*" } # argument = wildcard pattern; all of them must match
    program = "git log"                 # first words of a command that may have the options that turnwire knows to be harmless
    regex = { description = "^Show" }   # argument = regular expression, found anywhere
    reason = "read-only"                # what the agent is told
"""

import logging
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from turnwire.adapter.permissions.addresses import (
    covers_address,
    covers_address_by,
    finds_address,
    finds_address_by,
)
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.patterns import Match, covers, finds, is_plain, read
from turnwire.adapter.permissions.shell import parts_of
from turnwire.adapter.permissions.shell_syntax import UNKNOWN
from turnwire.protocol.errors import TurnwireError

if TYPE_CHECKING:
    from turnwire.adapter.permissions.programs import Program

Action: TypeAlias = Literal["allow", "deny", "ask"]

PATHS = ("file_path", "notebook_path", "path")
"""Arguments that are paths."""

log = logging.getLogger(__name__)

_KEYS = frozenset({"action", "tool", "program", "options", "input", "regex", "reason"})


class RuleError(TurnwireError, ValueError):
    """A rule of the configuration that cannot be read; says which, and why."""


class Rule(Struct, frozen=True):
    """One rule."""

    action: Action
    """What happens to a call that matches."""
    tools: tuple[str, ...] = ("*",)
    """Names of tools, with wildcards."""
    input: tuple[tuple[str, str], ...] = ()
    """Arguments and the wildcard patterns they must match."""
    regex: tuple[tuple[str, re.Pattern[str]], ...] = ()
    """Arguments and the regular expressions that must be found in them."""
    reason: str = ""
    """Why; the agent is told."""
    programs: "tuple[Program, ...]" = ()
    """Programs, one of which the command must be, with the options that its definition names."""

    @property
    def path_patterns(self) -> Iterator[str]:
        """Its patterns of paths."""
        return (pattern for name, pattern in self.input if name in PATHS)

    @property
    def knows_paths(self) -> bool:
        """True where paths decide."""
        return any(name in PATHS for name, _ in (*self.input, *self.regex))

    def matches(self, call: ToolCall, places: "PathContext") -> Match:
        """Tell whether a call is meant; one that allows never says "maybe"."""
        allows = self.action == "allow"
        if not any(_names(pattern, call.tool, allows=allows) for pattern in self.tools):
            return "no"
        found: set[Match] = set()
        for name, pattern in self.input:
            meant = partial(_matches, name, pattern, places, allows=allows)
            found.add(_of_argument(name, call, meant, allows=allows))
        for name, regex in self.regex:
            meant = partial(_contains, name, regex, places, allows=allows)
            found.add(_of_argument(name, call, meant, allows=allows))
        if self.programs:
            command = None if "command" in call.untold else call.arguments.get("command")
            is_meant = isinstance(command, str) and any(one.covers(command) for one in self.programs)
            found.add("yes" if is_meant else "no")
        return "no" if "no" in found else "maybe" if "maybe" in found else "yes"


class PathContext(Struct, frozen=True):
    """Where paths begin, and where they lead."""

    workspace: str
    """What relative paths are relative to."""
    home: str = ""
    """What `~` stands for; "" for nothing."""
    real: Mapping[str, str | None] = field(default_factory=dict)
    """Absolute paths, and the same without links; None for one that leads nowhere, or was not looked at.

    A path with ".." stands there twice: as it is spelled, whose ".." is taken off behind links, and without it.
    """


class RuleMatch(NamedTuple):
    """The rule that decides about a call."""

    number: int
    """Its place among the rules, from 1."""
    rule: Rule
    action: Action
    """What it says; "ask" where it would deny what only the shell will know."""
    others: tuple[int, ...] = ()
    """The numbers of rules that allow other commands of the line."""
    failed: bool = False
    """True where judging the call by it failed: a fault of turnwire's, which asks."""


def first_match(rules: Sequence[Rule], call: ToolCall, places: PathContext) -> RuleMatch | None:
    """Return the first rule that matches; before one that allows, the first that may deny or ask counts.

    A line of which no rule means the whole is allowed where rules allow each of its commands. A rule that fails on a call asks, and the failure is logged.
    """
    doubtful: RuleMatch | None = None
    for number, rule in enumerate(rules, 1):
        try:
            matched = rule.matches(call, places)
        except Exception:
            log.exception(
                "a rule failed on a call, so a human is asked",
                extra={"rule": number, "tool": call.tool},
            )
            doubtful = doubtful or RuleMatch(number, rule, "ask", failed=True)
            continue
        match matched:
            case "yes" if doubtful is None or rule.action == "deny":
                return RuleMatch(number, rule, rule.action)
            case "yes":
                return doubtful
            case "maybe":
                doubtful = doubtful or RuleMatch(number, rule, "ask")
            case "no":
                pass
    return doubtful or _together_allowed(rules, call, places)


def _together_allowed(rules: Sequence[Rule], call: ToolCall, places: PathContext) -> RuleMatch | None:
    """Return the rules that allow each command of a line; None where one is not allowed, or the line says more."""
    line = call.arguments.get("command")
    allowing = [(number, rule) for number, rule in enumerate(rules, 1) if rule.action == "allow"]
    if not allowing or not isinstance(line, str) or "command" in call.untold:
        return None
    parts = parts_of(line)
    if not parts or read(line).unread or any(UNKNOWN in text for text in read(line).commands):
        return None
    used: dict[int, Rule] = {}
    for part in parts:
        one = replace(call, arguments={**call.arguments, "command": part})
        found = next((pair for pair in allowing if pair[1].matches(one, places) == "yes"), None)
        if found is None:
            return None
        used[found[0]] = found[1]
    first, *others = sorted(used)
    return RuleMatch(first, used[first], "allow", tuple(others))


def read_rules(entries: Sequence[Mapping[str, object]]) -> tuple[Rule, ...]:
    """Return the rules of a configuration's `rules` list; raises RuleError."""
    return tuple(_read(number, entry) for number, entry in enumerate(entries, 1))


def _read(number: int, entry: Mapping[str, object]) -> Rule:
    if unknown := sorted(set(entry) - _KEYS):
        raise RuleError(
            f"rule {number}: unknown key {', '.join(unknown)}; known are {', '.join(sorted(_KEYS))}"
        )
    action = entry.get("action")
    if action not in ("allow", "deny", "ask"):
        raise RuleError(f"rule {number}: action must be allow, deny or ask, not {action!r}")
    tools = entry.get("tool", "*")
    names = [tools] if isinstance(tools, str) else tools
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise RuleError(f"rule {number}: tool must be a name or a list of names")
    try:
        regex = tuple((name, re.compile(text)) for name, text in _patterns(number, entry, "regex"))
    except re.error as error:
        raise RuleError(f"rule {number}: regex: {error}") from None
    reason = entry.get("reason", "")
    if not isinstance(reason, str):
        raise RuleError(f"rule {number}: reason must be text")
    programs = tuple(_programs(number, entry))
    return Rule(action, tuple(names), _patterns(number, entry, "input"), regex, reason, programs)


def _programs(number: int, entry: Mapping[str, object]) -> "Iterator[Program]":
    named, options = entry.get("program", []), entry.get("options")
    names = [named] if isinstance(named, str) else named
    if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
        raise RuleError(f"rule {number}: program must be the first words of a command, or a list of them")
    if options is not None and (not isinstance(options, str) or not names):
        raise RuleError(
            f"rule {number}: options must be text that names the options of a program, such as '-q --level='"
        )
    if names and entry.get("action") != "allow":
        raise RuleError(
            f"rule {number}: program is for rules that allow; deny or ask by input = {{ command = … }}"
        )
    if names:
        from turnwire.adapter.permissions.programs import Program, programs  # noqa: PLC0415  only where a rule names one
    for name in names:
        if options is not None:
            yield Program(" ".join(name.split()), options)
        elif (known := programs().get(name)) is None:
            raise RuleError(
                f"rule {number}: turnwire knows no options of {name!r}; name them by options = '…', or use one of {', '.join(sorted(programs()))}"
            )
        else:
            yield replace(known, name=name, also=())


def _patterns(number: int, entry: Mapping[str, object], key: str) -> tuple[tuple[str, str], ...]:
    table = entry.get(key, {})
    if not isinstance(table, Mapping) or not all(isinstance(value, str) for value in table.values()):
        raise RuleError(f"rule {number}: {key} must be a table of argument = pattern, both text")
    return tuple((str(name), str(value)) for name, value in table.items())


def rooted(path: str, workspace: str, home: str) -> str:
    """Return a path from the root, with whatever ".." stands in it."""
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    return posixpath.join(workspace, path)


def absolute(path: str, workspace: str, home: str) -> str:
    """Return a path from the root, without its ".."."""
    # "//" at the beginning is the root as well, though normpath keeps it
    return "/" + posixpath.normpath(rooted(path, workspace, home)).lstrip("/")


def both_spellings(path: str, workspace: str, home: str) -> tuple[str, ...]:
    """Return a path without its "..", and with it: some programs take ".." off before they follow links, others behind them."""
    spelled = absolute(path, workspace, home)
    return (spelled, rooted(path, workspace, home)) if ".." in path else (spelled,)


def literal_base(pattern: str) -> str:
    """Return the folder that a pattern of paths begins with, up to its first wildcard."""
    literal = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    return pattern if literal == pattern else posixpath.dirname(literal)


def _names(pattern: str, tool: str, *, allows: bool) -> bool:
    """Tell whether a pattern means a tool. In one that allows, a wildcard stays in its part of mcp__SERVER__TOOL.

    The CLI puts these parts together, and a server may be called `docs__evil`: what may be another server's is not covered.
    """
    if not fnmatchcase(tool, pattern):
        return False
    meant, told = pattern.split("__"), tool.split("__")
    if not allows or meant[0] != "mcp" or len(meant) < 3:
        return True
    return (
        len(told) == len(meant)
        and not any(part.startswith("_") for part in told)
        and all(fnmatchcase(part, one) for part, one in zip(told, meant, strict=True))
    )


def _of_argument(name: str, call: ToolCall, meant: Callable[[str], Match], *, allows: bool) -> Match:
    """Tell whether an argument is meant, given how to tell it of one text."""
    texts = call.texts(name)
    if texts is None:
        return "no" if allows else "maybe"
    if allows and isinstance(call.arguments.get(name), list | dict):
        return "no"  # it does not say what is done with each
    if name in PATHS:  # also those that the call touches without an argument
        texts = (*texts, *call.paths)
    matched = [meant(text) for text in texts]
    if name == "command" and len(texts) > 1:  # words of one line, or each a line of its own
        matched = ["maybe" if "maybe" in matched or "yes" in matched[1:] else matched[0]]
        matched += [meant(call.line)] if call.line is not None else []
    return _together(matched, allows=allows) if matched else "no"


def _together(matched: Sequence[Match], *, allows: bool) -> Match:
    """One that allows has to match all of them, any other one of them."""
    if len(matched) == 1:
        return matched[0]
    if allows:
        return "no" if "no" in matched else "yes"
    return "yes" if "yes" in matched else "maybe" if "maybe" in matched else "no"


def _matches(name: str, pattern: str, places: PathContext, value: str, *, allows: bool) -> Match:
    if name in PATHS:
        return _matches_path(value, pattern, places, allows=allows)
    match name:
        case "command" if allows:
            return "yes" if covers(pattern, value) else "no"
        case "command":
            return finds(pattern, value)
        case "url" if allows:
            return "yes" if covers_address(pattern, value) else "no"
        case "url":
            return finds_address(pattern, value)
        case _:
            return "yes" if fnmatchcase(value, pattern) else "no"


def _contains(name: str, regex: re.Pattern[str], places: PathContext, value: str, *, allows: bool) -> Match:
    """The same for a regular expression."""
    if name == "url":
        if allows:
            return "yes" if covers_address_by(regex, value) else "no"
        return finds_address_by(regex, value)
    found = regex.search(value) is not None
    if name == "command":
        if allows:
            return "yes" if found and is_plain(value) else "no"
        commands = list(read(value).commands)
        if found or any(regex.search(text) for text in commands):
            return "yes"
        # what is not known of the arguments is not guessed at; what is not known of the name may be anything
        return "maybe" if any(UNKNOWN in text.partition(" ")[0] for text in commands) else "no"
    if name in PATHS:
        spelled = absolute(value, places.workspace, places.home)
        led = _places_of(value, places)
        if allows:
            found = found and (".." not in value or regex.search(posixpath.normpath(value)) is not None)
            covered = (_is_own(one, spelled, places) or (one and regex.search(one)) for one in led[1:])
            return "yes" if found and all(covered) else "no"
        if found or any(regex.search(one) for one in led if one is not None):
            return "yes"
        return "maybe" if None in led else "no"
    return "yes" if found else "no"


def _places_of(path: str, places: PathContext) -> Sequence[str | None]:
    """Return a path as it is spelled, and where it leads; None for what is not known of that."""
    spelled, *others = both_spellings(path, places.workspace, places.home)
    return (
        spelled,
        places.real.get(spelled, spelled),
        *(places.real.get(one, spelled) for one in others),
    )


def _matches_path(value: str, pattern: str, places: PathContext, *, allows: bool) -> Match:
    """One that allows wants both the spelling and the places it may lead to, any other one of them."""
    patterns = _real_patterns(pattern, places, allows=allows)
    led = _places_of(value, places)
    found = [one is not None and any(fnmatchcase(one, each) for each in patterns) for one in led]
    if allows:
        return "yes" if all(found) else "no"
    return "yes" if any(found) else "maybe" if None in led else "no"


def _real_patterns(pattern: str, places: PathContext, *, allows: bool) -> Sequence[str]:
    """Return a pattern as it is spelled and as it was without links, when the session began.

    Inside of the workspace an agent can put a link anywhere, so there only the workspace's own links are followed.
    A ".." in one that does not allow also means what it leads to behind links.
    """
    if pattern.startswith("*"):
        return (pattern,)
    workspace = places.workspace
    spelled = absolute(pattern, workspace, places.home)
    if spelled == workspace or spelled.startswith(workspace.rstrip("/") + "/"):
        base = workspace.rstrip("/")
    else:
        base = literal_base(spelled)
    found = [spelled]
    if (real := places.real.get(base or workspace)) is not None:
        found.append(real.rstrip("/") + spelled[len(base) :])
    if not allows and ".." in pattern:
        raw = rooted(pattern, workspace, places.home)
        base = literal_base(raw)
        if (real := places.real.get(base)) is not None:
            found.append(real.rstrip("/") + raw[len(base) :])
    return found


def _is_own(real: str | None, spelled: str, places: PathContext) -> bool:
    """Tell whether a path leads through no link but those to the workspace itself."""
    workspace = places.workspace
    if real == spelled:
        return True
    root = places.real.get(workspace) or workspace
    inside = spelled.startswith(workspace.rstrip("/") + "/")
    return inside and real == root.rstrip("/") + spelled[len(workspace.rstrip("/")) :]
