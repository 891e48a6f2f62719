"""A family of agents: everything that turnwire needs to know about agents that share a wire.

Another distribution registers one as an entry point of the group `turnwire.families`. The value is light: the code that it
names is
imported on first use, so a process loads only the cores of the families that it meets.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from turnwire.normalize.core import CoreFactory
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.json_wire import Wire

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
    """Makes the reader of one conversation's lines. Its messages have an attribute `family` with the family's name."""
    claims: Callable[[JsonObject], bool] = _claims_nothing
    """Returns whether an object, of either side, is a line that only this family writes. It must not claim lines of Claude Code."""
    model_calls: "Callable[[], ModelCallReaders]" = dict
    """Type of message -> reader of calls of the model."""
    exchanges: "Callable[[], ExchangeReaders]" = dict
    """Type of message -> reader of requests and answers between agent and host."""
    files: "Sequence[SessionFiles]" = ()
    """Readers of the session files that its agents write."""
    agents: str | None = None
    """Location of the `AgentFamily` that runs its agents, as `package.module:NAME`. None for a family that is only read."""
