"""Recognise the wires of agents that turnwire does not read.

Several of them have lines of type `system` or `result`, too, with another meaning. So turnwire names such a stream
and translates nothing of it. An agent whose wire is read by a family (normalize/families.py) has no entry here.
"""

from msgspec import Struct

from turnwire.protocol.json_values import Json
from turnwire.protocol.json_wire import LineShape


class Wire(Struct, frozen=True):
    """What an agent writes that is not read."""

    name: str
    """The agent, and how it is called to write that."""
    lines: tuple[LineShape, ...]
    """Lines of its own: one of them is enough."""


WIRES: tuple[Wire, ...] = (
    Wire(
        "AG-UI events",
        (
            LineShape("RUN_*", ("runId",)),
            LineShape("RUN_ERROR", ("message",)),
            LineShape("TEXT_MESSAGE_*", ("messageId",)),
            LineShape("TOOL_CALL_*", ("toolCallId",)),
            LineShape("STATE_*"),
        ),
    ),
    Wire(
        "the events that turnwire made of a recording",
        (
            LineShape("turn_started", ("operation_id",)),
            LineShape("session_status", ("data",)),
            LineShape("message_chunk", ("text",)),
            LineShape("process_status", ("state",)),
        ),
    ),
    Wire("an agent that turnwire does not know", (LineShape("result", (), ("subtype", "is_error")),)),
)
"""All of them; the first that fits is told."""


def foreign_wire(value: Json) -> str | None:
    """Return the name of the wire whose line an object is; None for what is read, and for what tells nothing."""
    if not isinstance(value, dict):
        return None
    return next((wire.name for wire in WIRES if any(line.fits(value) for line in wire.lines)), None)
