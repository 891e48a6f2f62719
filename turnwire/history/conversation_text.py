"""A conversation as what people read: a pure fold of events into prompts, texts, tool calls and notes, in order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.payloads import NormalizedPayload
from turnwire.normalize.payloads.shown import TextBlock, searched_text, text_blocks
from turnwire.normalize.recordings.session_files import SearchableText

Kind = Literal["prompt", "text", "reasoning", "tool", "note", "end"]


@dataclass(slots=True)
class ConversationPart:
    """One thing that was said or done."""

    kind: Kind
    text: str = ""
    title: str = ""
    """Of a tool: what it does, in a line."""
    status: str = ""
    """Of a tool: running, complete, or why it failed."""
    payload: NormalizedPayload | None = None
    nested: bool = False
    """It belongs to a subagent."""
    message: str = ""
    """The message's uuid, if it is known."""
    seq: int | None = None
    """Its place in a log."""


class Conversation:
    """Folds events."""

    def __init__(self) -> None:
        self.parts: list[ConversationPart] = []
        self._texts: dict[tuple[object, ...], ConversationPart] = {}
        self._calls: dict[str, ConversationPart] = {}

    def handle(self, event: AgentEvent, seq: int | None = None) -> None:
        """Take an event in."""
        match event:
            case ev.UserMessage():
                self._add(
                    ConversationPart(
                        "note" if event.synthetic else "prompt", event.text, message=event.uuid or "", seq=seq,
                        nested=event.parent_tool_call_id is not None,
                    )
                )  # fmt: skip
            case ev.MessageChunk():
                key = ("text", event.parent_tool_call_id, event.message_id, event.block_index)
                part = self._text(key, "text", event.parent_tool_call_id is not None, seq)
                part.text = event.text if event.replace else part.text + event.text
                part.message = event.message_id or ""
            case ev.Reasoning():
                key = ("reasoning", event.parent_tool_call_id, event.message_id, event.block_index)
                part = self._text(key, "reasoning", event.parent_tool_call_id is not None, seq)
                part.text = event.reasoning_text if event.replace else part.text + event.reasoning_text
            case ev.ToolCall():
                part = ConversationPart(
                    "tool", title=event.tool_title or event.tool_name, status="running", payload=event.normalized,
                    nested=event.parent_tool_call_id is not None, message=event.message_id or "", seq=seq,
                )  # fmt: skip
                self._calls[event.tool_call_id] = part
                self._add(part)
            case ev.ToolUpdate():
                self._update(event)
            case ev.Complete():
                self._texts.clear()
                self._calls.clear()
                self._add(ConversationPart("end", _how(event.data), seq=seq))
            case ev.Cut():
                self._add(ConversationPart("note", event.text, seq=seq))
            case ev.CompactBoundary():
                self._add(
                    ConversationPart("note", "What was said before was replaced by a summary.", seq=seq)
                )
            case ev.Error():
                self._add(ConversationPart("note", event.error, seq=seq))
            case ev.Notice() if event.level != "info":
                self._add(ConversationPart("note", event.text, seq=seq))
            case _:
                pass

    def _add(self, part: ConversationPart) -> None:
        self.parts.append(part)

    def _text(self, key: tuple[object, ...], kind: Kind, nested: bool, seq: int | None) -> ConversationPart:
        part = self._texts.get(key)
        if part is None:
            part = self._texts[key] = ConversationPart(kind, nested=nested, seq=seq)
            self._add(part)
        return part

    def _update(self, event: ev.ToolUpdate) -> None:
        part = self._calls.get(event.tool_call_id)
        if part is None:
            part = self._calls[event.tool_call_id] = ConversationPart(
                "tool",
                title=event.tool_title or event.tool_name or "",
                nested=event.parent_tool_call_id is not None,
            )
            self._add(part)
        part.title = event.tool_title or part.title
        part.payload = event.normalized or part.payload
        part.status = event.reason or event.tool_status
        if event.error:
            part.text = event.error


def folded(events: Iterable[AgentEvent]) -> list[ConversationPart]:
    """Return what a stream of events says."""
    conversation = Conversation()
    for event in events:
        conversation.handle(event)
    return conversation.parts


def searched(parts: Sequence[ConversationPart]) -> list[tuple[SearchableText, int | None]]:
    """Return what can be searched for in it."""
    found: list[tuple[SearchableText, int | None]] = []
    for part in parts:
        match part.kind:
            case "prompt" | "text" if part.text:
                found.append((SearchableText(part.message, part.kind, part.text), part.seq))
            case "tool" if part.payload is not None:
                for kind, text in searched_text(part.payload):
                    found.append((SearchableText(part.message, kind, text), part.seq))
            case _:
                pass
    return found


def body_of(part: ConversationPart) -> list[TextBlock]:
    """Return a tool's arguments and results for people."""
    blocks = [] if part.payload is None else text_blocks(part.payload)
    return [*blocks, ("text", part.text)] if part.text else blocks


def _how(data: ev.CompleteData) -> str:
    parts = [] if data.outcome in (None, "completed") else [str(data.outcome).replace("_", " ")]
    if data.duration_ms is not None:
        parts.append(f"{data.duration_ms / 1000:.1f} s")
    took = data.all_tokens or data
    if took.input_tokens is not None or took.output_tokens is not None:
        parts.append(f"{took.input_tokens or 0} tokens in, {took.output_tokens or 0} out")
    if data.cost_usd is not None:
        parts.append(f"${data.cost_usd:.4f}")
    return ", ".join(parts)
