"""The words of permission options: what an answer allows from now on, where, and until when. Pure.

This is the only place that makes these sentences. A family says what an answer of its agents grants; `described` completes
the options of a request, so that every frontend shows the same words and no two answers read alike. What an agent wrote is
quoted: nothing hides in it, it cannot end its quotation, and a long text is cut with its size.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from msgspec.structs import replace

from turnwire.normalize.events.control_events import PermissionOption
from turnwire.protocol.visible import visible_line

LONGEST = 160
"""Characters of a quoted text; a longer one is cut in its middle."""

_TAIL = 40

MOST_NAMED = 5
"""Most grants that a sentence names; the others are counted. `remembers` lists all."""

REACH: Mapping[str, str] = {
    "session": "until this session ends",
    "process": "until the agent's process ends",
    "localSettings": "in this project, for you alone",
    "projectSettings": "in this project, for everybody who works in it",
    "userSettings": "in all your projects",
}
"""Destination -> how far a grant reaches."""

THIS_CALL = "Allows this call alone. The next one is asked again."

_REFUSES = "Refuses this call alone. The next one is asked again."

REFUSES_AND_STOPS = "Refuses this call and ends the turn."

_WIDER = ("reject_once", "reject_always", "allow_once", "allow_always")
"""From the narrowest to the widest."""


class Granted(NamedTuple):
    """Something that an answer allows for later calls."""

    what: str
    """Such as `commands that match “git log *”`."""
    destination: str
    """How far it reaches; a key of REACH, or an agent's own word."""
    file: str | None = None
    """File that it is kept in, if it outlives the session and the file is known."""


def always(granted: Iterable[Granted]) -> str:
    """Return what an answer grants, as a sentence."""
    places: dict[str, dict[str, None]] = {}
    for one in granted:
        places.setdefault(_reach(one), {})[one.what] = None
    told = ". And ".join(f"{reach}: {_listed([*whats])}" for reach, whats in places.items())
    return f"Allows without asking again {told}."


def quoted(text: str) -> str:
    """Return an agent's text in quotation marks."""
    shown = visible_line(text) if len(text) <= LONGEST else _cut(text)
    return f"“{_unquoted(shown)}”"


def described(options: Sequence[PermissionOption]) -> list[PermissionOption]:
    """Return options that people can tell apart: each answer once, in the agent's order, and no two with the same words."""
    told: dict[str, PermissionOption] = {}
    for option in _merged(options):
        name = option.name.strip() or option.option_id
        named = replace(
            option,
            name=visible_line(name) if len(name) <= LONGEST else _cut(name),
            effect=option.effect or _effect(option, name),
        )
        told[option.option_id] = named
    names = _distinct({key: one.name for key, one in told.items()}, lambda key: f" ({quoted(key)})")
    effects = _distinct(
        {key: one.effect or "" for key, one in told.items()},
        lambda key: (
            f" The agent calls it {quoted(told[key].name)}."
            if names[key] == told[key].name
            else f" Its id is {quoted(key)}."
        ),
    )
    return [
        one
        if (one.name, one.effect) == (names[key], effects[key])
        else replace(one, name=names[key], effect=effects[key])
        for key, one in told.items()
    ]


def _effect(option: PermissionOption, name: str) -> str:
    match option.kind:
        case "allow_once":
            return THIS_CALL
        case "reject_once":
            return _REFUSES
        case "allow_always":
            known = REACH.get(option.destination or "")
            reach = f" It holds {known}." if known else ""
            unsaid = "Which calls" if known else "Which calls, where and until when"
            return f"Allows this call, and later ones without asking.{reach} {unsaid}: the agent says only {quoted(name)}."
        case "reject_always":
            return f"Refuses this call, and later ones without asking. Which calls, where and until when: the agent says only {quoted(name)}."


def _merged(options: Sequence[PermissionOption]) -> list[PermissionOption]:
    """Return each answer once. Of answers with one id the widest stays: the agent alone knows what it does with the id."""
    ids: dict[str, PermissionOption] = {}
    for option in options:
        before = ids.get(option.option_id)
        if before is None or _WIDER.index(option.kind) > _WIDER.index(before.kind):
            ids[option.option_id] = option
    grants: dict[object, PermissionOption] = {}
    for option in ids.values():
        # only answers that say all that they add can be known to be the same
        added = option.remembers and frozenset(
            (one.rule, one.destination, one.file) for one in option.remembers
        )
        grants.setdefault((option.kind, added) if added else option.option_id, option)
    return [*grants.values()]


def _distinct(words: Mapping[str, str], addition: Callable[[str], str]) -> Mapping[str, str]:
    """Return words by option id, no two of which read alike: those that would have their addition, and a number if need be."""
    times = Counter(words.values())
    if len(times) == len(words):
        return words
    found: dict[str, str] = {}
    taken: set[str] = set()
    for key, text in words.items():
        told = text if times[text] == 1 else text + addition(key)
        numbered = count(2)
        while told in taken:
            told = f"{text} (answer {next(numbered)})"
        taken.add(told)
        found[key] = told
    return found


def _reach(granted: Granted) -> str:
    if granted.destination in ("session", "process"):
        return REACH[granted.destination]
    reach = REACH.get(granted.destination) or f"in {quoted(granted.destination)}"
    return f"{reach}, until it is removed from {granted.file}" if granted.file else f"{reach}, for ever"


def _listed(whats: Sequence[str]) -> str:
    if len(whats) > MOST_NAMED:
        whats = [*whats[: MOST_NAMED - 1], f"{len(whats) - MOST_NAMED + 1} more"]
    return "; ".join(whats)


def _cut(text: str) -> str:
    head, tail = visible_line(text[: LONGEST - _TAIL]), visible_line(text[-_TAIL:])
    return f"{head}…{tail} ({len(text):,} characters)"


def _unquoted(text: str) -> str:
    return text.replace("“", "⟨U+201C⟩").replace("”", "⟨U+201D⟩")
