"""The family of `kimi -p PROMPT --output-format stream-json`."""

from turnwire.normalize.streams.family import stream_family
from turnwire.protocol.json_values import JsonObject


def _claims(value: JsonObject) -> bool:
    """Tell the lines by their role: messages have no type, and what is about the run has the role `meta`."""
    match value.get("role"):
        case "assistant":
            return "type" not in value and not value.keys().isdisjoint(("content", "tool_calls"))
        case "tool":
            return "type" not in value and "tool_call_id" in value
        case "meta":
            return "type" in value
        case _:
            return False


KIMI = stream_family(
    name="kimi",
    title="Kimi Code (kimi -p --output-format stream-json)",
    reader="turnwire.normalize.kimi.reader:KimiReader",
    claims=_claims,
    agents="turnwire.adapter.one_shot.family:KIMI",
)
