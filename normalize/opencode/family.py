"""The family of `opencode run --format json`."""

from turnwire.normalize.streams.family import stream_family
from turnwire.protocol.json_wire import LineShape, any_of

OPENCODE_RUN = stream_family(
    name="opencode-run",
    title="OpenCode (opencode run --format json)",
    reader="turnwire.normalize.opencode.run_reader:OpenCodeRunReader",
    claims=any_of(
        LineShape("step_start", ("sessionID", "part")),
        LineShape("step_finish", ("sessionID", "part")),
        LineShape("text", ("sessionID", "part")),
        LineShape("reasoning", ("sessionID", "part")),
        LineShape("tool_use", ("sessionID", "part")),
        LineShape("error", ("sessionID", "error")),
    ),
    agents="turnwire.adapter.one_shot.family:OPENCODE_RUN",
)

OPENCODE_SERVE = stream_family(
    name="opencode-serve",
    title="OpenCode (the events of opencode serve)",
    reader="turnwire.normalize.opencode.serve_reader:OpenCodeServeReader",
    claims=any_of(
        LineShape("server.*", ("properties",)),
        LineShape("session.*", ("properties",)),
        LineShape("message.*", ("properties",)),
        LineShape("permission.*", ("properties",)),
        LineShape("question.*", ("properties",)),
        LineShape("todo.updated", ("properties",)),
        LineShape(None, ("request", "status", "response")),
    ),
)
