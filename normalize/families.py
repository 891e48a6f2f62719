"""The families of agents: each a wire and a core. A new one is its folders and one entry here.

Most processes meet one family, so each is imported when something of it is there: Claude's core with this module, since
nearly all are of it, and everything else by the functions below.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from turnwire.normalize.acp.files import KEPT_BY_OTHERS
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.claude.files import ClaudeSessionFiles
from turnwire.normalize.core import Core, CoreFactory
from turnwire.normalize.recordings.recognised import RecognisedCore

if TYPE_CHECKING:
    from turnwire.normalize.model_calls import ExchangeReaders, ModelCallReaders
    from turnwire.normalize.recordings.session_files import SessionFiles

CLAUDE = "claude"
"""The family of Claude Code, and of those that speak its protocol in its own words."""
ACP = "acp"
"""The family of the Agent Client Protocol."""


def _acp_core(*, resumed: bool = False, first_turn: int = 1) -> Core:
    from turnwire.normalize.acp.core import AcpCore

    return AcpCore(resumed=resumed, first_turn=first_turn)


def _claude_model_calls() -> "ModelCallReaders":
    from turnwire.normalize.claude.model_calls import MODEL_CALLS

    return MODEL_CALLS


def _claude_exchanges() -> "ExchangeReaders":
    from turnwire.normalize.claude.model_calls import EXCHANGES

    return EXCHANGES


def _acp_model_calls() -> "ModelCallReaders":
    from turnwire.normalize.acp.model_calls import MODEL_CALLS

    return MODEL_CALLS


class Family(Struct, frozen=True):
    """Agents that share a wire."""

    name: str
    """Its name, as options and configuration spell it."""
    core: CoreFactory
    """Makes the state machine of one session."""
    model_calls: "Callable[[], ModelCallReaders]" = dict
    """What its messages tell of calls of the model, by their types."""
    exchanges: "Callable[[], ExchangeReaders]" = dict
    """What its messages tell of requests and answers, by their types."""
    files: "Sequence[SessionFiles]" = ()
    """How the files are read that its agents keep of their conversations themselves, as far as we know them."""


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(CLAUDE, ClaudeCore, _claude_model_calls, _claude_exchanges, (ClaudeSessionFiles(),)),
        Family("miriad", ClaudeCore),
        Family("json_rpc", ClaudeCore),
        Family(ACP, _acp_core, _acp_model_calls, files=KEPT_BY_OTHERS),
        Family("auto", RecognisedCore),
    )
}
"""Every family by its name, that of a dialect (turnwire/protocol/dialects) or its own; `auto` is that of whatever a recording holds."""


@cache
def model_calls() -> "ModelCallReaders":
    """Return what messages of all families tell of calls of the model: each has types of its own."""
    return {kind: read for family in FAMILIES.values() for kind, read in family.model_calls().items()}


@cache
def exchanges() -> "ExchangeReaders":
    """Return the same of requests and answers."""
    return {kind: read for family in FAMILIES.values() for kind, read in family.exchanges().items()}


def new_core(family: str = CLAUDE, *, resumed: bool = False, first_turn: int = 1) -> Core:
    """Make the core of a session of a family; KeyError for one that is not known."""
    return FAMILIES[family].core(resumed=resumed, first_turn=first_turn)


def recorded_core() -> RecognisedCore:
    """Make the core for a recording, whose lines tell the family."""
    return RecognisedCore()
