"""What the server needs of a family of agents: which params its runs take, and what performs one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from turnwire.protocol.errors import TurnwireError
from turnwire.runner.output import Output
from turnwire.runner.wire import Run, RunParams


class RunFailed(TurnwireError):
    """The run ends with an error; says why."""


@dataclass(frozen=True, slots=True)
class Streams:
    """Where a run says something."""

    output: Output
    """Events."""
    notes: Output
    """Diags."""
    now: Callable[[], float]
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class RunFamily:
    """How runs of agents that share a wire are performed."""

    params: type[RunParams]
    """What a run may be asked for with."""
    perform: Callable[[Run, Streams, bool], Awaitable[None]]
    """Performs a run to its end, told whether events are AgentEvents; raises RunFailed and turnwire.runner.output.OutputLost.

    When it is cancelled it stops the agent first.
    """
