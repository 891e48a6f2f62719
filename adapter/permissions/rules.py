"""Permission rules of the configuration: allow, deny or ask, by tool name and by patterns on its input.

The first rule that matches decides. A rule that allows is read narrowly and one that denies or asks widely: an allowed
`git status*` does not cover `git status; rm -rf .`, a denied `rm *` does. Paths are compared without their "..".

    [[rules]]
    action = "allow"
    tool = "Bash"                       # one name or a list; wildcards as in file names
    input = { command = "git status*" } # argument = wildcard pattern; all of them must match
    regex = { description = "^Show" }   # argument = regular expression, found anywhere
    reason = "read-only"                # what the agent is told
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from protocol.errors import TurnwireError
from protocol.json_values import JsonObject

Action: TypeAlias = Literal["allow", "deny", "ask"]

_PATHS = frozenset({"file_path", "notebook_path", "path"})
_SHELL = frozenset(";&|`$<>\n(){}")
_SEPARATORS = re.compile(r"[;&|\n`()]+|\$\(")
_KEYS = frozenset({"action", "tool", "input", "regex", "reason"})


class RuleError(TurnwireError, ValueError):
    """A rule of the configuration that cannot be read; says which, and why."""


@dataclass(frozen=True, slots=True)
class Rule:
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

    def matches(self, tool: str, arguments: JsonObject, workspace: str) -> bool:
        """Tell whether a call is meant; relative paths are taken to be in the workspace."""
        if not any(fnmatchcase(tool, pattern) for pattern in self.tools):
            return False
        narrow = self.action == "allow"
        return all(
            _matches(name, arguments.get(name), pattern, narrow=narrow, workspace=workspace)
            for name, pattern in self.input
        ) and all(
            isinstance(value := arguments.get(name), str) and pattern.search(value) is not None
            for name, pattern in self.regex
        )


def first_match(
    rules: Sequence[Rule], tool: str, arguments: JsonObject, workspace: str
) -> tuple[int, Rule] | None:
    """Return the number (from 1) of the first rule that matches, and the rule."""
    for number, rule in enumerate(rules, 1):
        if rule.matches(tool, arguments, workspace):
            return number, rule
    return None


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
    return Rule(action, tuple(names), _patterns(number, entry, "input"), regex, reason)


def _patterns(number: int, entry: Mapping[str, object], key: str) -> tuple[tuple[str, str], ...]:
    table = entry.get(key, {})
    if not isinstance(table, Mapping) or not all(isinstance(value, str) for value in table.values()):
        raise RuleError(f"rule {number}: {key} must be a table of argument = pattern, both text")
    return tuple((str(name), str(value)) for name, value in table.items())


def _matches(name: str, value: object, pattern: str, *, narrow: bool, workspace: str) -> bool:
    if not isinstance(value, str):
        return False
    if name in _PATHS:
        return _matches_path(value, pattern, workspace)
    if name != "command":
        return fnmatchcase(value, pattern)
    if narrow:
        return fnmatchcase(value, pattern) and _SHELL.intersection(value) <= _SHELL.intersection(pattern)
    parts = [part.strip() for part in _SEPARATORS.split(value)]
    return any(fnmatchcase(part, pattern) for part in (value, *parts))


def _matches_path(value: str, pattern: str, workspace: str) -> bool:
    absolute = posixpath.normpath(posixpath.join(workspace, value))
    if not pattern.startswith(("/", "*")):
        pattern = posixpath.join(workspace, pattern)
    return fnmatchcase(absolute, pattern)
