"""Wires of agents that turnwire does not read: how their lines are told from those that it does read.

Several of them have lines of type `system` or `result`, too, and mean something else by them. So a stream of theirs is
told by name, and nothing of it is taken for Claude's. An agent whose wire is read one day loses its entry here.
"""

from collections.abc import Iterable

from msgspec import Struct

from turnwire.protocol.json_values import Json


class Line(Struct, frozen=True):
    """A line that only one agent writes, by the members of its object."""

    type: str | None
    """Its `type`: the whole word, or how it begins where it ends in `*`; None for a line without one."""
    has: tuple[str, ...] = ()
    """Members that it always has."""
    lacks: tuple[str, ...] = ()
    """Members that it never has."""
    subtype: str | None = None
    """Its `subtype`; None for whatever it is."""

    def fits(self, value: dict[str, Json]) -> bool:
        """Tell whether an object is such a line."""
        return (
            _is(value.get("type"), self.type)
            and (self.subtype is None or value.get("subtype") == self.subtype)
            and value.keys() >= set(self.has)
            and value.keys().isdisjoint(self.lacks)
        )


class Wire(Struct, frozen=True):
    """What an agent writes that is not read."""

    name: str
    """The agent, and how it is called to write that."""
    lines: tuple[Line, ...]
    """Lines of its own: one of them is enough."""


WIRES: tuple[Wire, ...] = (
    Wire(
        "Codex (codex exec --json)",
        (
            Line("thread.started", ("thread_id",)),
            Line("turn.started", lacks=("data", "properties")),
            Line("item.*", ("item",)),
            Line("turn.completed", ("usage",)),
            Line("turn.failed", ("error",)),
        ),
    ),
    Wire(
        "Codex (codex app-server)",
        (
            Line(None, ("method", "params"), ("jsonrpc",)),
            Line(None, ("id", "result"), ("jsonrpc",)),
            Line(None, ("id", "error"), ("jsonrpc",)),
        ),
    ),
    Wire(
        "Copilot CLI (copilot --output-format json)",
        (
            Line("session.*", ("data", "timestamp")),
            Line("assistant.*", ("data", "timestamp")),
            Line("user.message", ("data", "timestamp")),
            Line("model.*", ("data", "timestamp")),
            Line("tool.*", ("data", "timestamp")),
            Line("result", ("sessionId", "exitCode"), ("subtype",)),
        ),
    ),
    Wire(
        "Cursor (cursor-agent --output-format stream-json)",
        (
            Line("system", ("apiKeySource",), ("tools",), "init"),
            Line("thinking", ("session_id",), subtype="delta"),
            Line("thinking", ("session_id",), subtype="completed"),
            Line("tool_call", ("call_id", "tool_call")),
        ),
    ),
    Wire(
        "Droid (droid exec --output-format stream-json)",
        (
            Line("system", ("reasoning_effort",), ("mcp_servers", "permissionMode"), "init"),
            Line("message", ("role", "id", "text", "session_id")),
            Line("reasoning", ("id", "text", "session_id")),
            Line("tool_call", ("toolId", "toolName")),
            Line("tool_result", ("toolId", "isError")),
            Line("error", ("source", "message", "session_id")),
            Line("completion", ("finalText",)),
        ),
    ),
    Wire(
        "Gemini CLI (gemini --output-format stream-json)",
        (
            Line("init", ("session_id", "model", "timestamp")),
            Line("message", ("role", "content", "timestamp")),
            Line("tool_use", ("tool_id", "tool_name")),
            Line("tool_result", ("tool_id", "status")),
            Line("result", ("status", "timestamp"), ("subtype", "is_error")),
        ),
    ),
    Wire(
        "OpenCode (opencode run --format json)",
        (
            Line("step_*", ("sessionID", "part")),
            Line("text", ("sessionID", "part")),
            Line("reasoning", ("sessionID", "part")),
            Line("tool_use", ("sessionID", "part")),
            Line("error", ("sessionID", "error")),
        ),
    ),
    Wire(
        "OpenCode (the events of opencode serve)",
        (
            Line("server.*", ("properties",)),
            Line("session.*", ("properties",)),
            Line("message.*", ("properties",)),
            Line("permission.*", ("properties",)),
        ),
    ),
    Wire(
        "AG-UI events",
        (
            Line("RUN_*", ("runId",)),
            Line("RUN_ERROR", ("message",)),
            Line("TEXT_MESSAGE_*", ("messageId",)),
            Line("TOOL_CALL_*", ("toolCallId",)),
            Line("STATE_*"),
        ),
    ),
    Wire(
        "the events that turnwire made of a recording",
        (
            Line("turn_started", ("operation_id",)),
            Line("session_status", ("data",)),
            Line("message_chunk", ("text",)),
            Line("process_status", ("state",)),
        ),
    ),
    Wire("an agent that turnwire does not know", (Line("result", (), ("subtype", "is_error")),)),
)
"""All of them; the first that fits is told."""


def foreign_wire(value: Json) -> str | None:
    """Return the name of the wire whose line an object is; None for what is read, and for what tells nothing."""
    if not isinstance(value, dict):
        return None
    return next((wire.name for wire in WIRES if _any_fits(wire.lines, value)), None)


def _any_fits(lines: Iterable[Line], value: dict[str, Json]) -> bool:
    return any(line.fits(value) for line in lines)


def _is(said: Json, wanted: str | None) -> bool:
    if wanted is None:
        return said is None
    if not isinstance(said, str):
        return False
    return said.startswith(wanted[:-1]) if wanted.endswith("*") else said == wanted
