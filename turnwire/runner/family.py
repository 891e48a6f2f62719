"""What a family of agents gives the server: the params of its runs, and the function that performs one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from turnwire.protocol.errors import TurnwireError
from turnwire.runner.output import Output
from turnwire.runner.runner_lines import Run, RunParams


class RunFailed(TurnwireError):
    """The run ends with an error. The message says why."""


@dataclass(frozen=True, slots=True)
class Streams:
    """Where a run writes."""

    output: Output
    """Stdout: event lines."""
    notes: Output
    """Stderr: diag lines."""
    now: Callable[[], float]
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class RunFamily:
    """How runs of agents that share a wire are performed."""

    params: type[RunParams]
    """Type of the params of a run request."""
    perform: Callable[[Run, Streams, bool], Awaitable[None]]
    """Performs a run to its end. The bool chooses events (True) or the agent's own lines.

    Raises RunFailed and turnwire.runner.output.OutputLost. On cancellation it stops the agent first.
    """
