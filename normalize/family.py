"""What a family of agents is: everything that turnwire needs to know of agents that share a wire.

A distribution of its own registers one as an entry point of the group `turnwire.families`. The value is light: what it names is
imported when it is used, so a process loads the cores of the families that it meets.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from turnwire.normalize.core import CoreFactory
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.wire import Wire

if TYPE_CHECKING:
    from turnwire.normalize.model_calls import ExchangeReaders, ModelCallReaders
    from turnwire.normalize.recordings.session_files import SessionFiles


def _claims_nothing(_: JsonObject) -> bool:
    return False


class Family(Struct, frozen=True, kw_only=True):
    """Agents that share a wire."""

    name: str
    """Its name, as options, configuration and the entry point spell it."""
    title: str
    """The agent, and how it is called to write this wire, in words for people."""
    core: CoreFactory
    """Makes the state machine of one session."""
    wire: Callable[[], Wire]
    """Makes what reads the lines of one conversation. Its messages have an attribute `family` with the family's name."""
    claims: Callable[[JsonObject], bool] = _claims_nothing
    """Tells whether an object, of either side, is a line that only this family writes. It must not claim what Claude Code writes."""
    model_calls: "Callable[[], ModelCallReaders]" = dict
    """What its messages tell of calls of the model, by their types."""
    exchanges: "Callable[[], ExchangeReaders]" = dict
    """What its messages tell of requests and answers, by their types."""
    files: "Sequence[SessionFiles]" = ()
    """How the files are read that its agents keep of their conversations themselves, as far as they are known."""
    agents: str | None = None
    """Where the `AgentFamily` is that runs its agents, as `package.module:NAME`; None of a family that is only read."""
