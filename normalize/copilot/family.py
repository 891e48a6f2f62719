"""The family of `copilot -p PROMPT --output-format json`."""

from turnwire.normalize.streams.family import stream_family
from turnwire.protocol.json_wire import LineShape, any_of

_EVENT = ("data", "timestamp")

COPILOT = stream_family(
    name="copilot",
    title="Copilot CLI (copilot --output-format json)",
    reader="turnwire.normalize.copilot.reader:CopilotReader",
    claims=any_of(
        LineShape("session.*", _EVENT),
        LineShape("assistant.*", _EVENT),
        LineShape("user.message", _EVENT),
        LineShape("model.*", _EVENT),
        LineShape("tool.*", _EVENT),
        LineShape("agent.*", _EVENT),
        LineShape("abort", _EVENT),
        LineShape("result", ("sessionId", "exitCode"), ("subtype",)),
    ),
    agents="turnwire.adapter.one_shot.family:COPILOT",
)
