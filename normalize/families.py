"""The families of agents by name: turnwire's own, and those that other distributions register.

A distribution registers a `Family` as an entry point of the group `turnwire.families`. The entry point's name is the
family's. turnwire's own families are listed here in the same form, as `package.module:NAME`. Reading the entry points of
an environment takes longer than the start of a command. So they are read only for a name that is not here, and for a
line that none of these families claims.

Most processes meet one family, so each is imported on first use. Claude's core is imported with this module, since
nearly all lines are of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.core import Core
from turnwire.normalize.family import Family
from turnwire.normalize.recordings.auto_detecting import AutoDetectingCore
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from turnwire.normalize.model_calls import Exchange, ExchangeReaders, ModelCall, ModelCallReaders
    from turnwire.normalize.recordings.session_files import SessionFiles

GROUP = "turnwire.families"
"""The group of entry points."""

CLAUDE = "claude"
"""The family of Claude Code and of agents that speak its protocol unchanged."""
ACP = "acp"
"""The family of the Agent Client Protocol."""
AUTO = "auto"
"""The family of whatever a recording holds."""

_OWN: dict[str, str] = {
    "claude": "turnwire.normalize.claude.family:CLAUDE",
    "miriad": "turnwire.normalize.claude.family:MIRIAD",
    "json_rpc": "turnwire.normalize.claude.family:JSON_RPC",
    "acp": "turnwire.normalize.acp.family:ACP",
    "gemini": "turnwire.normalize.gemini.family:GEMINI",
    "codex-exec": "turnwire.normalize.codex.family:CODEX_EXEC",
    "codex-app-server": "turnwire.normalize.codex.family:CODEX_APP_SERVER",
    "droid": "turnwire.normalize.droid.family:DROID",
    "kimi": "turnwire.normalize.kimi.family:KIMI",
    "opencode-run": "turnwire.normalize.opencode.family:OPENCODE_RUN",
    "opencode-serve": "turnwire.normalize.opencode.family:OPENCODE_SERVE",
    "cursor-agent": "turnwire.normalize.cursor.family:CURSOR",
    "copilot": "turnwire.normalize.copilot.family:COPILOT",
}
"""turnwire's own families. Of two that claim a line, the first has it."""

_calls: "dict[type, Callable[[Any], Sequence[ModelCall]]]" = {}
_exchanges: "dict[type, Callable[[Any], Exchange]]" = {}
_unread: list[Family] = []
"""Loaded families whose readers are not in these two yet."""

_WITH_FILES = ("claude", "acp")
"""turnwire's own families with readable session files. Only these are imported to look at a file."""


class UnknownFamily(TurnwireError, KeyError):
    """No family has this name; the message lists the names there are."""

    __str__ = Exception.__str__


@cache
def named(name: str) -> Family:
    """Return the family of a name. Raises UnknownFamily. Errors while loading a family are passed on."""
    found = _OWN.get(name) or _registered().get(name)
    if found is None:
        raise UnknownFamily(f"there is no family {name!r}; choose one of {', '.join(FAMILIES)}")
    family = _load(found)
    _unread.append(family)
    return family


def claiming(value: JsonObject) -> Family | None:
    """Return the family that claims a line; None for a line that could be of several, or of none."""
    return claiming_of_ours(value) or next(
        (family for name in _registered() if (family := named(name)).claims(value)), None
    )


def claiming_of_ours(value: JsonObject) -> Family | None:
    """Return the family among turnwire's own that claims a line."""
    return next((family for name in _OWN if (family := named(name)).claims(value)), None)


def with_session_files() -> "Iterator[tuple[str, SessionFiles]]":
    """Yield how session files are read, each with the family that its lines become."""
    for name in _WITH_FILES:
        for files in named(name).files:
            yield name, files


def agents_of(name: str) -> "Collection[str]":
    """Return the agents of a family whose conversations are kept: those whose files it reads, else the one that it is called after.

    Raises UnknownFamily.
    """
    return {files.agent for files in named(name).files} or {name.partition("-")[0]}


def session_files_of_others() -> "Iterator[tuple[str, SessionFiles]]":
    """Yield the same of families that other distributions register. It reads the entry points of the environment."""
    for name in _registered():
        for files in named(name).files:
            yield name, files


@cache
def _registered() -> dict[str, str]:
    """Return the families that other distributions register."""
    from importlib.metadata import entry_points

    return {entry.name: entry.value for entry in entry_points(group=GROUP) if entry.name not in _OWN}


def _load(reference: str) -> Family:
    module, _, attribute = reference.partition(":")
    found = getattr(import_module(module), attribute)
    if not isinstance(found, Family):
        raise UnknownFamily(f"{reference} of {GROUP} is not a Family")
    return found


class _Families(Mapping[str, Family]):
    def __getitem__(self, name: str) -> Family:
        return named(name)

    def __iter__(self) -> Iterator[str]:
        return iter((*_OWN, *_registered()))

    def __len__(self) -> int:
        return len(_OWN) + len(_registered())


FAMILIES: Mapping[str, Family] = _Families()
"""Every family by name. A family is loaded on first use."""


def model_calls() -> "ModelCallReaders":
    """Return the readers of calls of the model, for the messages of all loaded families.

    A family is included once it is loaded. Before that no message of it exists.
    """
    _read()
    return _calls


def exchanges() -> "ExchangeReaders":
    """Return the same of requests and answers."""
    _read()
    return _exchanges


def _read() -> None:
    named(CLAUDE)  # its core is made without loading the family
    for family in tuple(_unread):
        _calls.update(family.model_calls())
        _exchanges.update(family.exchanges())
        with suppress(ValueError):  # another thread has done the same
            _unread.remove(family)


def new_core(family: str = CLAUDE, *, resumed: bool = False, first_turn: int = 1) -> Core:
    """Make the core of a session of a family; raises UnknownFamily."""
    if family == CLAUDE:
        return ClaudeCore(resumed=resumed, first_turn=first_turn)
    if family == AUTO:
        return AutoDetectingCore(new_core, resumed=resumed, first_turn=first_turn)
    return named(family).core(resumed=resumed, first_turn=first_turn)


def recorded_core(family: str | None = None) -> AutoDetectingCore:
    """Return a core for a recording. Its lines decide the family, unless `family` names it. Raises UnknownFamily."""
    if family in (None, AUTO) or named(family).core is ClaudeCore:
        return AutoDetectingCore(new_core)
    return AutoDetectingCore(new_core, family=family)
