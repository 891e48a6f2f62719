"""Attributes under the OpenTelemetry conventions for generative AI: agent, model, usage and content."""

import json
import re
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from turnwire.normalize.model import JsonObject, JsonValue
from turnwire.normalize.model_calls import AnswerPart, ToolPart
from turnwire.tracing.spans.span import CUT_MARK, Attribute, cut_text, fit

CONVENTIONS = "1.41.0"
"""Version of the semantic conventions. docs/tracing.md names it too."""

SCHEMA_URL = f"https://opentelemetry.io/schemas/{CONVENTIONS}"
"""Schema URL of exported spans, metrics and log records."""

PROVIDER = "anthropic"
"""Provider for agents without a name. Only Claude Code has none."""

AGENT = "claude"
"""Name of an agent that nobody names. Only Claude Code does not name itself."""

KIND = "openinference.span.kind"
"""The kind of a span for backends that follow OpenInference."""

KINDS = {"invoke_agent": "AGENT", "chat": "LLM", "execute_tool": "TOOL"}
"""Operation of the conventions -> that kind."""

TURN_KIND = "CHAIN"
"""That kind of a turn's first span."""

CONFIGURED = {"CLAUDE_CODE_USE_BEDROCK": "aws.bedrock", "CLAUDE_CODE_USE_VERTEX": "gcp.vertex_ai"}
"""Variables of Claude Code that choose the provider."""

HOSTED = (
    (re.compile(r"(^|[./])anthropic\.claude|^arn:aws[a-z-]*:bedrock"), "aws.bedrock"),
    (re.compile(r"^claude-.*@\d{8}$"), "gcp.vertex_ai"),
)
"""Prefixes of a cloud's model names, and their provider."""

PROVIDERS = (
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("codex", "openai"),
    ("gemini", "gcp.gemini"),
    ("copilot", "github.copilot"),
    ("mistral", "mistral_ai"),
    ("deepseek", "deepseek"),
    ("grok", "x_ai"),
    ("qwen", "alibaba_cloud.qwen"),
    ("kimi", "moonshot_ai"),
)
"""Part of a model's or agent's name -> provider, in the conventions' own names if there is one."""


def configured_provider(environment: Mapping[str, str]) -> str | None:
    """Return the provider of a Claude Code with these variables; None if they do not say."""
    for name, provider in CONFIGURED.items():
        if environment.get(name, "").strip().casefold() in {"1", "true", "yes", "on"}:
            return provider
    return None


def provider_of(agent: str | None, model: str | None) -> str:
    """Return the provider of a model, by its name or else by its agent's."""
    for pattern, provider in HOSTED:
        if pattern.search(model or ""):
            return provider
    if agent is None:
        return PROVIDER
    for name in (model or "", agent):
        found = next((provider for part, provider in PROVIDERS if part in name.casefold()), None)
        if found is not None:
            return found
    return "unknown"  # an agent's own word could be new each time, and metrics keep every value


class GenAiFacts(Struct):
    """What spans say of a session: agent and provider, and how much of its texts."""

    agent: str | None
    """The agent's name, if it was told."""
    content: bool
    """Whether prompts, answers, arguments and results go into spans."""
    limit: int
    """Maximum bytes of each exported text."""
    model: str | None = None
    conversation: str | None = None
    product: str | None = None
    """The agent's own name; None for agents that give none."""
    session: str = ""
    """turnwire's id of the session: the `session.id` of every span."""
    configured: str | None = None
    """Provider of the model, if variables of Claude Code name it."""

    @property
    def provider(self) -> str:
        """Provider of the model."""
        if self.configured is not None and "claude" in (self.product or "claude").casefold():
            return self.configured
        return provider_of(self.product, self.model)

    @property
    def agent_name(self) -> str:
        """The agent's name: as told, or as it calls itself."""
        return self.agent or self.product or AGENT

    def common(self, operation: str) -> dict[str, Attribute]:
        """Return the attributes of every span of the conventions."""
        found: dict[str, Attribute] = {
            "session.id": self.session,
            KIND: KINDS[operation],
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": self.provider,
        }
        if self.conversation is not None:
            found["gen_ai.conversation.id"] = self.conversation
        return found

    def error(self, text: str | None) -> str:
        """Return an error's text for spans. Empty unless `content`."""
        return (text or "") if self.limit else ""

    def told(self, value: JsonValue) -> str:
        """Return a value as an attribute, cut to the limit: text as it is, anything else as JSON that stays valid."""
        if isinstance(value, str):
            return cut_text(value.encode("utf-8", "replace"), self.limit)
        return msgspec.json.encode(fit(value, self.limit)).decode()

    def part(self, part: AnswerPart | ToolPart) -> JsonObject:
        """Return a part of a message in the conventions' shape."""
        match part:
            case AnswerPart(kind, text):
                return {"type": kind, "content": self.told(text)}
            case ToolPart(call_id, name, arguments):
                return {
                    "type": "tool_call",
                    "id": call_id,
                    "name": name,
                    "arguments": self.arguments(arguments),
                }

    def arguments(self, value: JsonValue) -> JsonValue:
        """Return the arguments of a call for a message, cut to the limit. They stay an object."""
        found = fit(value, self.limit)
        return found if isinstance(value, dict) == isinstance(found, dict) else {CUT_MARK: found}


TOKENS = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
)
"""The token attributes."""


def usage(
    sent: int | None, received: int | None, read: int | None, written: int | None
) -> Mapping[str, Attribute]:
    """Return the token attributes. The conventions count cached tokens as input tokens; the API does not."""
    found: dict[str, Attribute] = {}
    if sent is not None:
        found["gen_ai.usage.input_tokens"] = sent + (read or 0) + (written or 0)
    if received is not None:
        found["gen_ai.usage.output_tokens"] = received
    if read is not None:
        found["gen_ai.usage.cache_read.input_tokens"] = read
    if written is not None:
        found["gen_ai.usage.cache_creation.input_tokens"] = written
    return found


def values(put: str | None = None, out: str | None = None) -> dict[str, Attribute]:
    """Return what went in and came out as OpenInference has it. GenAI has no such attributes for whole turns."""
    found: dict[str, Attribute] = {}
    for name, text in (("input", put), ("output", out)):
        if text:
            found[f"{name}.value"] = text
            is_json = text[0] in "{[" and text[-1] in "]}"
            found[f"{name}.mime_type"] = "application/json" if is_json else "text/plain"
    return found


def prompts(texts: Sequence[str]) -> str:
    """Return prompts as `gen_ai.input.messages`."""
    messages = [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in texts]
    return json.dumps(messages, ensure_ascii=False)


def tool_answers(results: Sequence[tuple[str, str]]) -> str:
    """Return pairs of call and result as `gen_ai.input.messages`."""
    parts = [{"type": "tool_call_response", "id": call_id, "response": told} for call_id, told in results]
    return json.dumps([{"role": "tool", "parts": parts}], ensure_ascii=False)


UNKNOWN_REASON = "unknown"
"""Stop reason of a message without one. The conventions require a value."""


def answer(parts: Sequence[JsonObject], finish_reason: str | None) -> str:
    """Return a message's parts as `gen_ai.output.messages`."""
    message = {"role": "assistant", "parts": list(parts), "finish_reason": finish_reason or UNKNOWN_REASON}
    return json.dumps([message], ensure_ascii=False)
