"""Explain what rules decide about a call, and why; pure."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.patterns import finds, read
from turnwire.adapter.permissions.rules import PathContext, Rule, RuleMatch, first_match
from turnwire.adapter.permissions.shell_syntax import UNKNOWN


class Explanation(Struct, frozen=True):
    """The decision of the rules about a call."""

    decision: Literal["allow", "deny", "ask", "none"]
    """What the rules say; "none" where no rule matches and the policy decides."""
    rule: int | None
    """The number of the rule that decides, from 1."""
    why: str
    """One sentence."""


def explain(rules: Sequence[Rule], call: ToolCall, places: PathContext) -> Explanation:
    """Say what rules decide about a call. `places` says where its paths lead."""
    found = first_match(rules, call, places)
    if found is None:
        return Explanation("none", None, _of_none(rules, call))
    return Explanation(found.action, found.number, _of(found, call))


def _of_none(rules: Sequence[Rule], call: ToolCall) -> str:
    said = "no rule matches, so the policy decides"
    command = call.arguments.get("command")
    allowed = any(rule.action == "allow" and "command" in dict(rule.input) for rule in rules)
    if isinstance(command, str) and allowed and (why := read(command).unread):
        return f"{said}; no rule allows what cannot be understood: {_plain(why)}"
    return said


def _of(found: RuleMatch, call: ToolCall) -> str:
    number, rule = found.number, found.rule
    if found.failed:
        return f"rule {number} failed on this call, which is a fault of turnwire; so it asks"
    patterns = ", ".join(f"{name} = {_plain(pattern)!r}" for name, pattern in _patterns(rule).items())
    says = f"rule {number} ({rule.action}{f' {patterns}' if patterns else ''})"
    command = call.arguments.get("command")
    pattern = dict(rule.input).get("command")
    if not isinstance(command, str) or "command" not in _patterns(rule):
        return f"{says} matches" if found.action == rule.action else f"{says} may match; so it asks"
    if found.others:
        numbers = ", ".join(map(str, (number, *found.others)))
        return f"rules {numbers} together cover all that the line runs"
    if rule.action == "allow":
        return f"{says} covers all that the line runs"
    if found.action == rule.action:
        runs = _meant(pattern, command) if pattern is not None and finds(pattern, command) == "yes" else ""
        return f"{says} matches{f', since the line runs {_plain(runs)!r}' if runs else ''}"
    if why := read(command).unread:
        return f"{says} may match, since the line cannot be understood: {_plain(why)}; so it asks"
    return f"{says} may match: a program may run such a command by its arguments; so it asks"


def _meant(pattern: str, line: str) -> str:
    """Return the first command of a line that a pattern means."""
    for text in read(line).commands:
        for one in (pattern, pattern.rpartition("/")[2]):
            if fnmatchcase(text, one) or fnmatchcase(f"{text} ", one):
                return text
    return ""


def _patterns(rule: Rule) -> Mapping[str, str]:
    return {**dict(rule.input), **{name: regex.pattern for name, regex in rule.regex}}


def _plain(text: str) -> str:
    """Return a text with "…" for what is unknown, and no longer than one reads."""
    text = text.replace(UNKNOWN, "…")
    return text if len(text) <= 200 else f"{text[:200]}…"
