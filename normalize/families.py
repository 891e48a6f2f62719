"""The families of agents: each a wire and a core. A new one is its folders and one entry here."""

from dataclasses import dataclass

from normalize.claude.core import ClaudeCore
from normalize.claude.session_file import ClaudeSessionFiles
from normalize.core import Core, CoreFactory
from normalize.session_files import SessionFiles
from protocol.dialects import CLAUDE, JSON_RPC, MIRIAD, Dialect


@dataclass(frozen=True, slots=True)
class Family:
    """Agents that share a wire."""

    dialect: Dialect
    """How they speak, in both directions."""
    core: CoreFactory
    """Makes the state machine of one session."""
    files: SessionFiles | None = None
    """How the files are read that the agent keeps of its conversations itself; None where it keeps none that we know."""

    @property
    def name(self) -> str:
        """Its name, as options and configuration spell it."""
        return self.dialect.name


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(CLAUDE, ClaudeCore, ClaudeSessionFiles()),
        Family(MIRIAD, ClaudeCore),
        Family(JSON_RPC, ClaudeCore),
    )
}
"""Every family by its name."""


def new_core(family: str = CLAUDE.name, *, resumed: bool = False, first_turn: int = 1) -> Core:
    """Make the core of a session of a family; KeyError for one that is not known."""
    return FAMILIES[family].core(resumed=resumed, first_turn=first_turn)
