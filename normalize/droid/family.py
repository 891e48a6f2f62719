"""The family of `droid exec --output-format stream-json`."""

from turnwire.normalize.streams.family import stream_family
from turnwire.protocol.json_wire import LineShape, any_of

DROID = stream_family(
    name="droid",
    title="Droid (droid exec --output-format stream-json)",
    reader="turnwire.normalize.droid.reader:DroidReader",
    claims=any_of(
        LineShape("system", ("reasoning_effort",), ("mcp_servers", "permissionMode"), "init"),
        LineShape("message", ("role", "id", "text", "session_id")),
        LineShape("reasoning", ("id", "text", "session_id")),
        LineShape("tool_call", ("toolId", "toolName")),
        LineShape("tool_result", ("toolId", "isError")),
        LineShape("error", ("source", "message", "session_id")),
        LineShape("completion", ("finalText",)),
    ),
    agents="turnwire.adapter.one_shot.family:DROID",
)
