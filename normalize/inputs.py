"""What the translator is told beside the messages themselves: decisions, and the end of the stream.

Both are recorded with the lines, so that a replay feeds the translator exactly what the live session did.
"""

from dataclasses import dataclass
from typing import Literal

from normalize.model import JsonObject


@dataclass(frozen=True, slots=True)
class Decision:
    """How a pending control request was answered."""

    pending_id: str
    """The control request's id."""
    behavior: Literal["allow", "deny", "ask", "answer"]
    """What was decided."""
    by: str
    """Who decided: a frontend's name, `policy:NAME`, `rule:NUMBER`, `timeout`."""
    waited_ms: int
    """How long the request had waited."""
    option_id: str | None = None
    """The option that was chosen."""
    message: str | None = None
    """What was said to the agent."""
    updated_input: JsonObject | None = None
    """The arguments as edited, when they were."""
    destination: str | None = None
    """Where an always-answer is remembered."""
    interrupt: bool = False
    """True when a denial also stops the turn."""


@dataclass(frozen=True, slots=True)
class Ended:
    """No more messages will come."""

    reason: Literal["exited", "stopped", "end_of_input", "hung"]
    """The process ended by itself, because we stopped it, the recording is over, or it was given up."""
    exit_code: int | None = None
    """Exit code, when there was a process and it exited."""
    signal: str | None = None
    """Signal that ended it, such as SIGKILL."""
    stderr_tail: str = ""
    """The last it said on standard error."""
