"""A session as UI messages, as a page loads them: the chunks of each turn folded as the AI SDK folds them. Pure."""

from turnwire.client import events
from turnwire.client.values import JsonObject

from .encoder import Turn


class History:
    """Messages of the turns that are over; the one that runs is told by its stream."""

    def __init__(self) -> None:
        self.messages: list[JsonObject] = []
        self._turn: Turn | None = None
        self._parts: list[JsonObject] = []
        self._metadata: JsonObject = {}
        self._prompts: list[JsonObject] = []

    def add(self, event: events.AgentEvent) -> None:
        """Take the next event of the log."""
        match event:
            case events.UserMessage(parent_tool_call_id=None) if not event.synthetic:
                said: JsonObject = {
                    "id": event.uuid or f"prompt-{len(self.messages)}-{len(self._prompts)}",
                    "role": "user",
                    "parts": [{"type": "text", "text": event.text}],
                }
                # A prompt within a turn is said behind what the turn has told so far: the turn is one message.
                (self._prompts if self._turn is not None and self._parts_said() else self.messages).append(
                    said
                )
            case events.TurnStarted():
                self._turn = Turn(event.operation_id or f"turn-{len(self.messages)}")
                self._parts, self._metadata = [], {}
                self._fold(self._turn.start())
            case _ if self._turn is not None:
                self._fold(self._turn.handle(event))
                if self._turn.finished:
                    self._end(self._turn)
            case _:
                pass

    def _parts_said(self) -> bool:
        return any(part["type"] != "step-start" for part in self._parts)

    def _end(self, turn: Turn) -> None:
        message: JsonObject = {"id": turn.message_id, "role": "assistant", "parts": self._parts}
        if self._metadata:
            message["metadata"] = self._metadata
        self.messages += [message, *self._prompts]
        self._turn, self._prompts = None, []

    def _fold(self, chunks: list[JsonObject]) -> None:
        for chunk in chunks:
            fold(self._parts, self._metadata, chunk)


def fold(parts: list[JsonObject], metadata: JsonObject, chunk: JsonObject) -> None:
    """Fold one chunk into a message's parts."""
    kind = chunk["type"]
    match kind:
        case "start-step":
            parts.append({"type": "step-start"})
        case "reset-step":
            last = max((at for at, part in enumerate(parts) if part["type"] == "step-start"), default=-1)
            del parts[last + 1 :]
        case "text-start" | "reasoning-start":
            parts.append(
                {"type": kind.removesuffix("-start"), "text": "", "state": "streaming", "id": chunk["id"]}
            )
        case "text-delta" | "reasoning-delta":
            _of(parts, chunk["id"])["text"] += chunk["delta"]
        case "text-end" | "reasoning-end":
            part = _of(parts, chunk["id"])
            part["state"] = "done"
            del part["id"]
        case "tool-input-available":
            part = {
                "type": "dynamic-tool",
                "toolName": chunk["toolName"],
                "toolCallId": chunk["toolCallId"],
                "state": "input-available",
                "input": chunk["input"],
                "providerExecuted": True,
                "toolMetadata": chunk["toolMetadata"],
            }
            if "title" in chunk:
                part["title"] = chunk["title"]
            parts.append(part)
        case "tool-approval-request":
            call = _call(parts, chunk["toolCallId"])
            call["state"] = "approval-requested"
            call["approval"] = {"id": chunk["approvalId"]}
        case "tool-approval-response":
            for part in parts:
                if part.get("approval", {}).get("id") == chunk["approvalId"]:
                    part["state"] = "approval-responded"
                    part["approval"] = {"id": chunk["approvalId"], "approved": chunk["approved"]}
                    if "reason" in chunk:
                        part["approval"]["reason"] = chunk["reason"]
        case "tool-output-available" | "tool-output-error" | "tool-output-denied":
            call = _call(parts, chunk["toolCallId"])
            call["state"] = kind.removeprefix("tool-")
            for field in ("output", "errorText", "toolMetadata"):
                if field in chunk:
                    call[field] = chunk[field]
        case "file":
            parts.append({"type": "file", "mediaType": chunk["mediaType"], "url": chunk["url"]})
        case "source-url":
            parts.append(dict(chunk))
        case _ if kind.startswith("data-"):
            same = [
                part
                for part in parts
                if part["type"] == kind and part.get("id") == chunk.get("id") is not None
            ]
            if same:
                same[0]["data"] = chunk["data"]
            else:
                parts.append(dict(chunk))
        case _:
            if isinstance(given := chunk.get("messageMetadata"), dict):
                metadata.update(given)


def _of(parts: list[JsonObject], block: str) -> JsonObject:
    return next(
        part for part in reversed(parts) if part.get("id") == block and part["type"] in {"text", "reasoning"}
    )


def _call(parts: list[JsonObject], call: str) -> JsonObject:
    return next(part for part in parts if part.get("toolCallId") == call)
