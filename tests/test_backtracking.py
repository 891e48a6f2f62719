"""Regular expressions on what others write take time linear in it; see tests/support/backtracking.py."""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from backtracking import grows_too_fast, hostile_units, literals

import turnwire
from turnwire.adapter.permissions.patterns import finds
from turnwire.adapter.process.version import parse_version
from turnwire.protocol.parsing.depth import outermost
from turnwire.recordings.redaction.keywords import Keywords
from turnwire.recordings.redaction.redaction import Redaction, _lower, _matches
from turnwire.recordings.redaction.secret_kinds import ASSIGNMENT, LINE, LIST, NAMES, RULES, SENTENCE, Rule

NONE = "\x00"
"""A keyword of no rule: some have none."""
ANCHORED = {
    "turnwire.protocol.wrapped._PART": "match",
    "turnwire.adapter.permissions.written_files._OPTION": "match",
    "turnwire.normalize.claude.session_files.records._SHELL": "match",
    "turnwire.adapter.permissions.shell._ASSIGNED": "match",
    "turnwire.adapter.sandbox.proxy._FIELD": "fullmatch",
    "turnwire.normalize.claude.results.answer._DENIED_BY_HOOK": "match",
    "turnwire.normalize.claude.results.search._COUNT": "match",
    "turnwire.normalize.claude.results.search._CUT": "match",
    "turnwire.recordings.pieces._RECORDED": "fullmatch",
    "turnwire.recordings.pieces._SET_ASIDE": "fullmatch",
}
"""Patterns that are only ever tried at the beginning of a text, where they are linear."""

BOUNDED = {
    "turnwire.adapter.session.sandbox_guard._REFUSED": "the beginning of a line, of LONGEST_LINE characters at most",
    "turnwire.normalize.claude.context._SUFFIX": "the name of a model, of 300 characters at most",
    "turnwire.recordings.redaction.redaction._STRING": "valid JSON alone, in which every string has its end",
}
"""Patterns that never see such a text, and why."""


COMPILED_LATER = {
    "turnwire.protocol.visible": (
        *("_NAMES", "_PROSE", "RIGHT_TO_LEFT", "_RIGHT_TO_LEFT", "_CODE_IN_PROSE", "_IN_JSON"),
    ),
    "turnwire.adapter.permissions.secret_places": ("_BY_WILDCARD", "_HARMLESS", "_BY_NAME"),
}
"""Patterns that a module compiles on their first use."""


def patterns() -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes]]]:
    """All patterns at the top of our modules."""
    for module_name, names in COMPILED_LATER.items():
        for name in names:
            yield f"{module_name}.{name}", re.compile(getattr(importlib.import_module(module_name), name))
    for found in pkgutil.walk_packages(turnwire.__path__, "turnwire."):
        if not found.name.endswith("__main__"):
            module: ModuleType = importlib.import_module(found.name)
            for name, value in vars(module).items():
                if (
                    isinstance(value, re.Pattern)
                    and module.__name__ != "turnwire.recordings.redaction.secret_kinds"
                ):
                    yield f"{module.__name__}.{name}", value


@pytest.mark.long
def test_no_pattern_backtracks_over_what_others_write() -> None:
    complaints = []
    for name, pattern in patterns():
        if name in BOUNDED:
            continue
        is_text = isinstance(pattern.pattern, str)
        source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        how = ANCHORED.get(name, "findall")  # which tries a match at the beginning first
        method = getattr(pattern, how)

        def work(text: str, method: Callable[..., object] = method, is_text: bool = is_text) -> object:
            return method(text if is_text else text.encode())

        wrong = (grows_too_fast(work, unit, 6000) for unit in hostile_units(literals(source)[:5]))
        if complaint := next((one for one in wrong if one), None):
            complaints.append(f"{name}.{how}: {complaint}")
    assert complaints == [], "\n".join(complaints)


def kinds() -> list[Rule]:
    return [*RULES, LINE, ASSIGNMENT, LIST, SENTENCE, *NAMES]


@pytest.mark.long
def test_no_kind_of_secret_backtracks() -> None:
    complaints = []
    for rule in kinds():
        keywords = Keywords([*rule.hints, NONE])

        def work(text: str, rule: Rule = rule, keywords: Keywords = keywords) -> object:
            return [None for _ in _matches(rule, text, keywords.places(_lower(text)))]

        units = hostile_units([*literals(rule.pattern.pattern)[:4], *rule.hints[:1]])
        wrong = (grows_too_fast(work, unit, 6000) for unit in units)
        if complaint := next((one for one in wrong if one), None):
            complaints.append(f"{rule.kind}: {complaint}")
    assert complaints == [], "\n".join(complaints)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a.",
            "key=",
            "=",
            "-eyJ",
            ".eyJ",
            "-eyJaaaaaaaa",
            "a@a.",
            "token:",
            "password: ",
            "A=bbbb\n",
            "://a:",
        ),
        *(
            "x=yyyy ",
            "-home-a",
            ":/users/",
            "bearer ",
            "curl -u ",
            "private ",
            "\\u0041",
            "%41",
            "AAAA ",
            "sk-a-",
        ),
        *("-----BEGIN PRIVATE KEY-----", '"key":"', "'", "cookie: a=", "key='", "1234567890:", "mysql "),
    ],
)
@pytest.mark.long
def test_redaction_takes_time_linear_in_the_text(unit: str) -> None:
    # fresh each time: what was clean once is not looked at again
    assert grows_too_fast(lambda text: Redaction(b"key").apply(text), unit, 4000) is None


@pytest.mark.parametrize(
    ("work", "unit"),
    [
        (lambda text: outermost(text.encode(), ("a",)), '"\\'),
        (lambda text: outermost(b'{"a":"' + text.encode(), ("a",)), '\\"'),
        (parse_version, "1"),
        (parse_version, "1."),
        (lambda text: finds("rm *", text[:40_000]), "{"),
        (lambda text: finds("rm *", text[:40_000]), "a{"),
    ],
)
def test_what_was_quadratic_is_no_more(work: Callable[[str], object], unit: str) -> None:
    assert grows_too_fast(work, unit, 10_000) is None


@pytest.mark.long
def test_the_harness_sees_a_quadratic_pattern() -> None:
    assert grows_too_fast(re.compile("a+b").search, "a", 6000) is not None
    assert grows_too_fast(re.compile("a++b|c").match, "a", 6000) is None
