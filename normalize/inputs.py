"""The inputs of a session, in order: lines received and sent, decisions, and the end of the stream.

A live session, a recording and a plain file of lines all become these inputs. So a replay gives the
core exactly the inputs of the live session.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from turnwire.normalize.model import JsonObject

if TYPE_CHECKING:  # a relay makes no events
    from turnwire.normalize.events import AgentEvent

Message: TypeAlias = Struct
"""A message of the session's family. Neutral code passes it on and never looks inside."""


class Decision(Struct, frozen=True):
    """How a pending control request was answered."""

    pending_id: str
    """The control request's id."""
    behavior: Literal["allow", "deny", "ask", "answer", "pass", "error"]
    """The decision. Only hooks give `pass` (no opinion) and `error` (the hook failed)."""
    by: str
    """The decider: a frontend's name, `policy:NAME`, `rule:NUMBER`, `timeout`, `turnwire` (it stops the CLI)."""
    waited_ms: int
    """How long the request had waited."""
    option_id: str | None = None
    """The option that was chosen."""
    message: str | None = None
    """The text for the agent."""
    updated_input: JsonObject | None = None
    """The arguments as edited, when they were."""
    destination: str | None = None
    """Where an always-answer is remembered."""
    interrupt: bool = False
    """True when a denial also stops the turn."""
    unasked: bool = False
    """True if a rule or policy decided as the request arrived: the request is published as decided, never as
    waiting. The decision then precedes the line of its request.
    """


class Ended(Struct, frozen=True):
    """No more messages will arrive."""

    reason: Literal["exited", "stopped", "end_of_input", "hung"]
    """Whether the process exited on its own, was stopped, its recording is over, or it was given up."""
    exit_code: int | None = None
    """Exit code, when there was a process and it exited."""
    signal: str | None = None
    """Signal that ended it, such as SIGKILL."""
    stderr_tail: str = ""
    """The last text on standard error."""


class Received(Struct, frozen=True):
    """A line the CLI wrote."""

    line: bytes
    """As it came, without its newline."""
    message: Message
    """The parsed line."""


class Sent(Struct, frozen=True):
    """A line we wrote to the CLI."""

    line: bytes
    """As it went, without its newline; in the family's own spelling if it went in another dialect."""
    message: Message
    """The parsed line."""


class Announced(Struct, frozen=True):
    """An event that the sidecar itself adds to the session. It is published unchanged."""

    event: "AgentEvent"
    """The event."""


__all__ = ["Announced", "Decision", "Ended", "Message", "Received", "Sent", "SessionInput"]

SessionInput = Received | Sent | Decision | Ended | Announced
"""Anything that happens in a session."""
