"""The families of agents: each a wire and a core. A new one is its folders and one entry here."""

from dataclasses import dataclass, field

from normalize.acp.core import AcpCore
from normalize.acp.model_calls import MODEL_CALLS as ACP_MODEL_CALLS
from normalize.claude.core import ClaudeCore
from normalize.claude.model_calls import EXCHANGES as CLAUDE_EXCHANGES
from normalize.claude.model_calls import MODEL_CALLS as CLAUDE_MODEL_CALLS
from normalize.claude.session_file import ClaudeSessionFiles
from normalize.core import Core, CoreFactory
from normalize.model_calls import ExchangeReaders, ModelCallReaders
from normalize.recognised import RecognisedCore
from normalize.session_files import SessionFiles
from protocol.dialects import AUTOMATIC, CLAUDE, JSON_RPC, MIRIAD

ACP = "acp"
"""The family of the Agent Client Protocol."""


@dataclass(frozen=True, slots=True)
class Family:
    """Agents that share a wire."""

    name: str
    """Its name, as options and configuration spell it."""
    core: CoreFactory
    """Makes the state machine of one session."""
    model_calls: ModelCallReaders = field(default_factory=dict)
    """What its messages tell of calls of the model, by their types."""
    exchanges: ExchangeReaders = field(default_factory=dict)
    """What its messages tell of requests and answers, by their types."""
    files: SessionFiles | None = None
    """How the files are read that the agent keeps of its conversations itself; None where it keeps none that we know."""


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(CLAUDE.name, ClaudeCore, CLAUDE_MODEL_CALLS, CLAUDE_EXCHANGES, ClaudeSessionFiles()),
        Family(MIRIAD.name, ClaudeCore),
        Family(JSON_RPC.name, ClaudeCore),
        Family(ACP, AcpCore, ACP_MODEL_CALLS),
        Family(AUTOMATIC.name, RecognisedCore),
    )
}
"""Every family by its name; `auto` is that of whatever a recording holds."""


MODEL_CALLS: ModelCallReaders = {
    kind: read for family in FAMILIES.values() for kind, read in family.model_calls.items()
}
"""Of the messages of all families: each has types of its own."""

EXCHANGES: ExchangeReaders = {
    kind: read for family in FAMILIES.values() for kind, read in family.exchanges.items()
}
"""The same of requests and answers."""


def new_core(family: str = CLAUDE.name, *, resumed: bool = False, first_turn: int = 1) -> Core:
    """Make the core of a session of a family; KeyError for one that is not known."""
    return FAMILIES[family].core(resumed=resumed, first_turn=first_turn)


def recorded_core() -> Core:
    """Make the core for a recording, whose lines tell the family."""
    return RecognisedCore()
