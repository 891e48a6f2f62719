"""A turn as chunks of a UI message stream. Pure: a session's events in, chunks out.

    turn = Turn("turn-1")
    turn.start()            start, start-step
    turn.handle(event)      what an event is; a text is one part, a call one dynamic tool
    turn.finished           after finish, abort or error nothing more is said

Tools are dynamic: each agent has its own. The typed payload goes beside them, in `toolMetadata.turnwire`. A text that the agent corrects
or takes back is told anew by `reset-step`, as long as its step is the last one; a correction of an older step is a `data-retraction`.
"""

from dataclasses import dataclass

import msgspec

from turnwire.client import events
from turnwire.client.payloads import (
    ContentPart,
    HttpRequestPayload,
    ManageTodosPayload,
    NormalizedPayload,
)
from turnwire.client.values import JsonObject
from turnwire.frontends.web.payload_text import arguments, fitting, result

REASONS = {
    "completed": "stop",
    "max_tokens": "length",
    "refusal": "content-filter",
    "interrupted": "interrupted",
    "error": "error",
    "process_exited": "error",
    "hung": "error",
}
"""Outcomes of a turn, and the AI SDK's words for them; `other` for the rest."""


@dataclass(slots=True)
class Block:
    """A text of the current step."""

    id: str
    kind: str
    """`text` or `reasoning`."""
    text: str
    message: str
    open: bool = True


class Turn:
    """One turn, as one assistant message."""

    def __init__(
        self,
        message_id: str,
        known_calls: frozenset[str] = frozenset(),
        asked_calls: frozenset[str] = frozenset(),
    ) -> None:
        """`known_calls` are those that the client's message has already, `asked_calls` those with an approval there."""
        self.message_id = message_id
        self.finished = False
        self._known = set(known_calls)
        self._asked_about = set(asked_calls)
        self._ended: set[str] = set()
        self._step: list[Block | JsonObject] = []
        self._blocks: dict[str, Block] = {}
        self._asked: dict[str, str] = {}
        self._denied: set[str] = set()
        self._subagents: dict[str, str] = {}
        self._count = 0

    @property
    def waits(self) -> bool:
        """Whether a permission is asked for: the response ends, and the next request brings the answer."""
        return bool(self._asked)

    def start(self) -> list[JsonObject]:
        """Begin the message."""
        return [{"type": "start", "messageId": self.message_id}, {"type": "start-step"}]

    def handle(self, event: events.AgentEvent) -> list[JsonObject]:
        """Return what an event is."""
        if self.finished:
            return []
        match event:
            case events.MessageChunk() | events.Reasoning() if event.parent_tool_call_id is not None:
                return self._subagent(event)
            case events.MessageChunk() | events.Reasoning():
                return self._said(event)
            case events.Retraction():
                return self._retracted({*(event.message_ids or ()), *(event.message_uuids or ())})
            case events.ToolCall():
                return self._called(
                    event.tool_call_id, event.tool_name, event.tool_title, event.normalized, event
                )
            case events.ToolUpdate():
                return self._updated(event)
            case events.PermissionRequest():
                return self._permission(event)
            case events.PermissionResolved() | events.PermissionCancelled():
                return self._resolved(event)
            case events.QuestionRequest():
                return self._put([_data("question", event, event.pending_id)])
            case events.AgentPlan():
                return self._put([_data("plan", event, event.plan_id or "plan")])
            case (
                events.Notice()
                | events.SandboxDenied()
                | events.ApiRetry()
                | events.RateLimit()
                | events.CompactBoundary()
                | events.Error()
            ):
                return self._put([_data("notice", event, None)])
            case events.Complete():
                return self._complete(event)
            case _:
                return []

    def end(self, metadata: JsonObject) -> list[JsonObject]:
        """End the response, for the moment or for good."""
        told = self._close_all()
        return [
            *told,
            {"type": "finish-step"},
            {"type": "finish", "finishReason": "tool-calls", "messageMetadata": {"turnwire": metadata}},
        ]

    def fail(self, text: str) -> list[JsonObject]:
        """End with an error of ours."""
        self.finished = True
        return [*self._close_all(), {"type": "error", "errorText": text}]

    # Texts

    def _said(self, event: events.MessageChunk | events.Reasoning) -> list[JsonObject]:
        thinks = isinstance(event, events.Reasoning)
        text = event.reasoning_text if isinstance(event, events.Reasoning) else event.text
        kind = "reasoning" if thinks else "text"
        key = f"{kind}:{event.message_id or ''}:{event.block_index or 0}"
        block = self._blocks.get(key)
        told: list[JsonObject] = []
        if block is not None and not block.open and not event.replace:
            block = None
        if block is None:
            if not text and not (isinstance(event, events.MessageChunk) and event.parts):
                return []
            self._count += 1
            block = Block(f"{self.message_id}:{self._count}", kind, "", event.message_id or "")
            told += self._close_all()
            self._blocks[key] = block
            self._step.append(block)
            told.append({"type": f"{kind}-start", "id": block.id})
        if event.replace:
            told += self._replaced(block, text)
        elif text:
            block.text += text
            told.append({"type": f"{kind}-delta", "id": block.id, "delta": text})
        if not event.is_delta:
            told += self._close(block)
        if isinstance(event, events.MessageChunk):
            told += self._put([one for part in event.parts or () if (one := _file(part)) is not None])
        return told

    def _replaced(self, block: Block, text: str) -> list[JsonObject]:
        if text == block.text:
            return []
        if text.startswith(block.text) and block.open:
            added, block.text = text[len(block.text) :], text
            return [{"type": f"{block.kind}-delta", "id": block.id, "delta": added}]
        block.text = text
        if block not in self._step:
            return [_data_of("retraction", {"message_ids": [block.message], "text": text}, None)]
        return self._again()

    def _retracted(self, messages: set[str]) -> list[JsonObject]:
        ours = [one for one in self._step if isinstance(one, Block) and one.message in messages]
        older = {block.message for block in self._blocks.values() if block.message in messages} - {
            block.message for block in ours
        }
        self._step = [one for one in self._step if not (isinstance(one, Block) and one in ours)]
        self._blocks = {key: block for key, block in self._blocks.items() if block.message not in messages}
        told = self._again() if ours else []
        return [*told, _data_of("retraction", {"message_ids": sorted(older)}, None)] if older else told

    def _again(self) -> list[JsonObject]:
        """Tell the current step anew."""
        told: list[JsonObject] = [{"type": "reset-step"}]
        for one in self._step:
            if isinstance(one, Block):
                told.append({"type": f"{one.kind}-start", "id": one.id})
                told.append({"type": f"{one.kind}-delta", "id": one.id, "delta": one.text})
                if not one.open:
                    told.append({"type": f"{one.kind}-end", "id": one.id})
            else:
                told.append(one)
        return told

    def _close(self, block: Block) -> list[JsonObject]:
        if not block.open:
            return []
        block.open = False
        return [{"type": f"{block.kind}-end", "id": block.id}]

    def _close_all(self) -> list[JsonObject]:
        return [one for block in self._blocks.values() for one in self._close(block)]

    def _put(self, chunks: list[JsonObject]) -> list[JsonObject]:
        told = self._close_all() if chunks else []
        self._step += chunks
        return [*told, *chunks]

    def _next_step(self) -> list[JsonObject]:
        """Begin a step behind results: what the model says next is another answer of its own."""
        if not any(not isinstance(one, Block) and one["type"] in _RESULTS for one in self._step):
            return []
        told = self._close_all()
        self._step = []
        return [*told, {"type": "finish-step"}, {"type": "start-step"}]

    def _subagent(self, event: events.MessageChunk | events.Reasoning) -> list[JsonObject]:
        """Tell what a subagent says as one part of its call, which grows."""
        if isinstance(event, events.Reasoning):
            return []
        call = event.parent_tool_call_id or ""
        text = event.text if event.replace else self._subagents.get(call, "") + event.text
        self._subagents[call] = text
        return [_data_of("subagent", {"toolCallId": call, "text": text}, f"subagent:{call}")]

    # Calls

    def _called(
        self,
        call: str,
        name: str,
        title: str | None,
        payload: NormalizedPayload | None,
        event: events.ToolCall | events.PermissionRequest | events.ToolUpdate,
    ) -> list[JsonObject]:
        if call in self._known:
            return []
        self._known.add(call)
        given = msgspec.json.decode(arguments(payload)) if payload is not None else {}
        parent = getattr(event, "parent_tool_call_id", None)
        chunk: JsonObject = {
            "type": "tool-input-available",
            "toolCallId": call,
            "toolName": name or "tool",
            "input": given,
            "dynamic": True,
            "providerExecuted": True,
            "toolMetadata": _metadata(payload, parent, "running"),
        }
        if title:
            chunk["title"] = title
        todo = isinstance(payload, ManageTodosPayload)
        todos = [_data_of("todo", msgspec.to_builtins(payload)["manage_todos"], "todo")] if todo else []
        return [*self._next_step(), *self._put([chunk, *todos])]

    def _updated(self, event: events.ToolUpdate) -> list[JsonObject]:
        call, payload = event.tool_call_id, event.normalized
        told = self._called(call, event.tool_name or "", event.tool_title, payload, event)
        if event.tool_status == "running" or call in self._ended:
            return told
        self._ended.add(call)
        text = result(payload, event.error)
        for pending in [one for one, asked in self._asked.items() if asked == call]:
            del self._asked[pending]
            told += self._put(self._answered(pending, call, event.error, allowed=False))
        if call in self._denied:
            ending: list[JsonObject] = [{"type": "tool-output-denied", "toolCallId": call}]
        elif event.tool_status == "error":
            ending = [_ended("error", call, {"errorText": text or event.error or "It failed."}, event)]
        else:
            ending = [_ended("available", call, {"output": text}, event)]
        if isinstance(payload, HttpRequestPayload):
            ending += [
                {
                    "type": "source-url",
                    "sourceId": f"{call}:{number}",
                    "url": str(hit["url"]),
                    "title": str(hit.get("title") or hit["url"]),
                }
                for number, hit in enumerate(payload.http_request.results or ())
                if isinstance(hit.get("url"), str)
            ]
        return [*told, *self._put(ending)]

    # Requests

    def _permission(self, event: events.PermissionRequest) -> list[JsonObject]:
        call = event.tool_call_id or f"call-of-{event.pending_id}"
        told = self._called(call, event.tool_name or "", event.permission_title, event.normalized, event)
        self._asked[event.pending_id] = call
        self._asked_about.add(call)
        request: JsonObject = {
            "type": "tool-approval-request",
            "approvalId": event.pending_id,
            "toolCallId": call,
        }
        if event.reason:
            request["reason"] = event.reason
        return [*told, *self._put([request, _data("permission", event, event.pending_id)])]

    def _resolved(self, event: events.PermissionResolved | events.PermissionCancelled) -> list[JsonObject]:
        call = self._asked.pop(event.pending_id, None) or event.tool_call_id
        allowed = isinstance(event, events.PermissionResolved) and event.behavior == "allow"
        reason = event.message if isinstance(event, events.PermissionResolved) else event.reason
        told = (
            self._answered(event.pending_id, call, reason, allowed=allowed)
            if call in self._asked_about
            else []
        )
        return self._put([*told, _data("resolved", event, f"resolved:{event.pending_id}")])

    def _answered(
        self, pending: str, call: str | None, reason: str | None, *, allowed: bool
    ) -> list[JsonObject]:
        if not allowed and call is not None:
            self._denied.add(call)
        answer: JsonObject = {
            "type": "tool-approval-response",
            "approvalId": pending,
            "approved": allowed,
            "providerExecuted": True,
        }
        return [answer | ({"reason": reason} if reason else {})]

    # The end

    def _complete(self, event: events.Complete) -> list[JsonObject]:
        self.finished = True
        data = event.data
        told = [*self._close_all(), {"type": "finish-step"}]
        metadata = {"turnwire": {"turn": event.operation_id, **fitting_end(data)}}
        if data.outcome == "interrupted":
            return [
                *told,
                {"type": "message-metadata", "messageMetadata": metadata},
                {"type": "abort", "reason": "interrupted"},
            ]
        if data.is_error:
            why = event.error or "; ".join(data.errors or ()) or f"The turn ended: {data.outcome}"
            return [
                *told,
                {"type": "message-metadata", "messageMetadata": metadata},
                {"type": "error", "errorText": why},
            ]
        reason = REASONS.get(data.outcome or "completed", "other")
        return [*told, {"type": "finish", "finishReason": reason, "messageMetadata": metadata}]


_RESULTS = frozenset({"tool-output-available", "tool-output-error", "tool-output-denied"})


def fitting_end(data: events.CompleteData) -> JsonObject:
    """Return what a turn came to, as message metadata: outcome, cost in US dollars, times in milliseconds, tokens."""
    said: JsonObject = msgspec.to_builtins(data)
    kept = ("outcome", "cost_usd", "duration_ms", "num_turns", "input_tokens", "output_tokens", "all_tokens")
    return {name: said[name] for name in kept if name in said}


def _metadata(payload: NormalizedPayload | None, parent: str | None, status: str) -> JsonObject:
    told: JsonObject = {"status": status}
    if payload is not None:
        told["normalized"] = fitting(msgspec.to_builtins(payload))
    if parent is not None:
        told["parentToolCallId"] = parent
    return {"turnwire": told}


def _ended(how: str, call: str, fields: JsonObject, event: events.ToolUpdate) -> JsonObject:
    metadata = _metadata(event.normalized, event.parent_tool_call_id, event.tool_status)
    return {
        "type": f"tool-output-{how}",
        "toolCallId": call,
        **fields,
        "dynamic": True,
        "providerExecuted": True,
        "toolMetadata": metadata,
    }


def _data(kind: str, event: events.AgentEvent, place: str | None) -> JsonObject:
    said = msgspec.to_builtins(event)
    return _data_of(kind, fitting(said), place)


def _data_of(kind: str, data: object, place: str | None) -> JsonObject:
    told: JsonObject = {"type": f"data-{kind}", "data": data}
    if place is not None:
        told["id"] = place
    return told


def _file(part: ContentPart) -> JsonObject | None:
    if part.media_type is None:
        return None
    if part.url is not None and part.base64 is None:
        return {"type": "file", "mediaType": part.media_type, "url": part.url}
    if part.base64 is None:
        return None
    return {
        "type": "file",
        "mediaType": part.media_type,
        "url": f"data:{part.media_type};base64,{part.base64}",
    }
