"""The family of `gemini --output-format stream-json`."""

from turnwire.normalize.streams.family import stream_family
from turnwire.protocol.json_wire import LineShape, any_of

GEMINI = stream_family(
    name="gemini",
    title="Gemini CLI (gemini --output-format stream-json)",
    reader="turnwire.normalize.gemini.reader:GeminiReader",
    claims=any_of(
        LineShape("init", ("session_id", "model", "timestamp")),
        LineShape("message", ("role", "content", "timestamp"), ("id",)),
        LineShape("tool_use", ("tool_id", "tool_name")),
        LineShape("tool_result", ("tool_id", "status")),
        LineShape("error", ("severity", "message", "timestamp")),
        LineShape("result", ("status", "timestamp"), ("subtype", "is_error")),
    ),
    agents="turnwire.adapter.one_shot.family:GEMINI",
)
