"""The core of every family keeps the contract, and one that does not is told what it breaks."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import ClassVar

from native_recordings import native_recordings

from tests.fuzz.rows import acp_sessions, claude_sessions, rows_of, spoken_in
from tests.fuzz.targets import decoder
from turnwire.normalize.core import Core
from turnwire.normalize.families import ACP, CLAUDE, new_core
from turnwire.protocol.dialects import JSON_RPC, MIRIAD
from turnwire.testing.core_contract import CoreContract, Decode, Recording

SOURCES = {
    CLAUDE: claude_sessions,
    ACP: acp_sessions,
    MIRIAD.name: spoken_in(MIRIAD),
    JSON_RPC.name: spoken_in(JSON_RPC),
}
FEW = 12


@cache
def sample(family: str) -> Sequence[Recording]:
    """Some recordings of every length."""
    seeds = SOURCES[family]()
    return [[(mark == b">", line) for mark, line in rows_of(seed)] for seed in seeds[:: len(seeds) // FEW]]


class OfAFamily(CoreContract):
    family: ClassVar[str]

    def new_core(self, *, resumed: bool = False, first_turn: int = 1) -> Core:
        return new_core(self.family, resumed=resumed, first_turn=first_turn)

    def decoder(self) -> Decode:
        return decoder(self.family)

    def recordings(self) -> Iterable[Recording]:
        return sample(self.family)


class TestClaude(OfAFamily):
    family = CLAUDE


class TestAcp(OfAFamily):
    family = ACP
    side_by_side = True


class TestMiriad(OfAFamily):
    family = MIRIAD.name


class TestJsonRpc(OfAFamily):
    family = JSON_RPC.name


class TestWiresOfTheirOwn(OfAFamily):
    """Agents that write JSON of their own: a recording of each scenario's kind."""

    family = "auto"

    def recordings(self) -> Iterable[Recording]:
        chosen = {
            (one.agent, one.folder.name): one for one in native_recordings(with_corpus=False) if one.family
        }
        return [[(False, line) for line in one.lines()] for one in chosen.values()][::3]


class TestAnyRecording(OfAFamily):
    """The family is told from the lines."""

    family = "auto"
    side_by_side = True

    def recordings(self) -> Iterable[Recording]:
        return [*sample(CLAUDE)[:FEW:3], *sample(ACP)[:FEW:3]]
