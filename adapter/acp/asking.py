"""What agents ask permission for, and which mode makes them ask for as much as possible: one table, by agent name.

The facts are from trying the versions that docs/agents.md names. An agent that nobody has tried is put into a mode whose
description says that it asks, and is not believed. Whether an agent does ask is in the trials (adapter/permissions/trials.py). Pure.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from msgspec import Struct, field

from turnwire.adapter.permissions.trials import SCRIPTED

EVERYTHING = "anything at all"
UNTRIED = "anything, as far as turnwire knows: nobody has tried it"


class Habit(Struct, frozen=True, kw_only=True):
    """How an agent is made to ask, and what it does not ask about even then."""

    name: str
    """A part of the name that it gives itself, in small letters."""
    programs: tuple[str, ...] = ()
    """What its program is called."""
    mode: str | None = None
    """Mode in which it asks; the end of its id, where that is an address. None where no mode makes a difference."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of the session that make it ask."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables of its environment that make it ask."""
    never_asks: tuple[str, ...] = ()
    """What it does without asking, with all of the above; reading and searching is left out, which no policy asks about."""
    settings: tuple[str, ...] = ()
    """Its settings in the folder it works in, files or folders: by these it may be allowed to act without asking."""


HABITS = (
    Habit(
        name="claude-agent-acp",
        programs=("claude-agent-acp",),
        mode="default",
        settings=(".claude/settings.json", ".claude/settings.local.json"),
    ),
    Habit(
        name="codex",
        programs=("codex-acp",),
        mode="read-only",
        never_asks=("commands that its sandbox keeps from writing and from the network",),
    ),
    Habit(name="copilot", programs=("copilot",), mode="agent", options={"allow_all": "off"}),
    Habit(name="gemini", programs=("gemini",), mode="default", settings=(".gemini",)),
    Habit(name="qwen", programs=("qwen",), mode="default", settings=(".qwen",)),
    Habit(name="kimi", programs=("kimi",), mode="default"),
    Habit(name="@factory/", programs=("droid",), mode="normal"),
    Habit(name="vibe", programs=("vibe-acp",), mode="default"),
    Habit(name="nanocoder", programs=("nanocoder",), mode="normal"),
    Habit(
        name="opencode",
        programs=("opencode",),
        variables={"OPENCODE_PERMISSION": '{"*":"ask"}'},
        settings=("opencode.json", "opencode.jsonc", ".opencode"),
    ),
    Habit(
        name="kilo",
        programs=("kilocode", "kilo"),
        variables={"KILO_PERMISSION": '{"*":"ask"}'},
        settings=("kilo.json", "kilo.jsonc", ".kilo", "opencode.json", "opencode.jsonc", ".opencode"),
    ),
    Habit(name="pi-acp", programs=("pi-acp",), never_asks=(EVERYTHING,)),
    Habit(name="oh-my-pi", programs=("omp",), never_asks=("edits of files",)),
    Habit(
        name="hermes",
        programs=("hermes",),
        mode="default",
        never_asks=("commands that it does not call dangerous",),
    ),
    Habit(
        name="grok",
        programs=("grok",),
        never_asks=("commands that it takes for harmless, such as touch and echo",),
    ),
    Habit(
        name="fast-agent",
        programs=("fast-agent-acp",),
        never_asks=("commands of its shell",),
    ),
    Habit(name="scripted-agent", programs=(SCRIPTED,)),
)
"""The first whose name fits."""

_SAYS_IT_ASKS = re.compile(
    r"(?i)\b(?:asks?|prompts?|confirms?|confirmation|approvals?|approves?|permissions?)\b"
)
_SAYS_IT_DOES_NOT = re.compile(
    r"(?i)auto|bypass|without|never|yolo|unrestricted|full access|skip|don['’]?t|do not|no longer|accepts?\b|all tools|plan"
)


class OfferedMode(Struct, frozen=True):
    """A mode as an agent offers it."""

    id: str
    words: str
    """Its name and what it says of itself."""


class Asking(Struct, frozen=True):
    """What has to be set for an agent to ask as much as it can, and what it does not ask about then."""

    mode: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    never_asks: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    """The programs of this agent."""
    allowing: tuple[str, ...] = ()
    """Settings in its folder that may allow it to act without asking."""
    is_known: bool = True
    """Whether this is known, and not read off what the agent says."""


def asking_of(
    name: str,
    modes: Sequence[OfferedMode],
    options: Sequence[str],
    program: str | None = None,
    allowing: Sequence[str] = (),
) -> Asking:
    """Return how an agent of this name is made to ask, by what it offers.

    name: the agent's name for itself. options: the ids of its session's options.
    program: what was started, where `variables_for` it were set; None where none were.
    allowing: its settings in the folder that may allow something (adapter/acp/folder_settings.py).
    """
    habit = _habit_named(name)
    if habit is None:
        return _unknown(modes)
    mode = next((one.id for one in modes if habit.mode in (one.id, end_of(one.id))), None)
    is_without_variables = habit.variables and variables_for(program or "") != habit.variables
    if (habit.mode is not None and mode is None) or is_without_variables:
        return _unknown(modes)
    offered = {option: value for option, value in habit.options.items() if option in options}
    allowed = (f"what {' and '.join(allowing)} in this folder allows",) if allowing else ()
    return Asking(mode, offered, (*habit.never_asks, *allowed), habit.programs, tuple(allowing))


def settings_of(name: str) -> tuple[str, ...]:
    """Return where an agent of this name has its settings in the folder it works in."""
    habit = _habit_named(name)
    return () if habit is None else habit.settings


def never_asks(program: str) -> tuple[str, ...]:
    """Return what the agent of a program never asks about under `supervised`; nothing of a program that is not known."""
    habit = _habit_of(program)
    return () if habit is None else habit.never_asks


def variables_for(program: str) -> Mapping[str, str]:
    """Return the variables that make the agent of a program ask."""
    habit = _habit_of(program)
    return {} if habit is None else habit.variables


def _habit_named(name: str) -> Habit | None:
    return next((one for one in HABITS if one.name in name.lower()[:200]), None)


def _habit_of(program: str) -> Habit | None:
    name = PurePath(program).name
    return next((one for one in HABITS if name in one.programs), None)


def _unknown(modes: Sequence[OfferedMode]) -> Asking:
    for mode in modes:
        if _SAYS_IT_ASKS.search(mode.words) and not _SAYS_IT_DOES_NOT.search(mode.words):
            return Asking(mode.id, never_asks=(UNTRIED,), is_known=False)
    return Asking(never_asks=(UNTRIED,), is_known=False)


def end_of(mode: str) -> str:
    """Return the name in a mode's id, which may be an address."""
    return mode.rsplit("#", 1)[-1].rsplit("/", 1)[-1].lower()
