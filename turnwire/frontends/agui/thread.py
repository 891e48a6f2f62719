"""What a session amounts to for AG-UI: a conversation, a shared state, requests that wait. Pure.

    events in -> Thread.take -> changes out, which an encoder tells to a client that is there
                 Thread.messages(), Thread.state, Thread.pending: the same for one that comes later

Both ways end at the same messages under the same ids, so a client that missed something is given a snapshot and goes on
with deltas. The conversation is bounded: the oldest messages are left out first, and the state says how many.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

import msgspec
from ag_ui import core as agui

from turnwire.client import events
from turnwire.client.payloads import (
    CreateTaskPayload,
    ManageTodosPayload,
    NormalizedPayload,
    SubagentTaskPayload,
)
from turnwire.client.values import JsonObject, JsonValue
from turnwire.frontends.web import payload_text
from turnwire.frontends.web.payload_text import LARGEST, fitting, json_size

HISTORY = 4 << 20
"""Bytes of the conversation that are kept, as JSON. The client refuses a server-sent event of more than 10 Mi characters."""

PROMPT_IDS = 1024
"""Prompts whose id at their client is remembered."""

ERROR = 4096
"""Characters of an error beside a result, which has all of it."""

MOST_PLANS = 16
"""Plans of an agent that has several, each by its id."""

CLOSED = 256
"""Requests that are remembered as answered or void."""

Request: TypeAlias = events.PermissionRequest | events.QuestionRequest
"""What waits for a human."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a text, or of thinking."""

    message: str
    owner: str | None
    """The subagent's tool call; None in the main thread."""
    thinking: bool
    text: str
    more: bool
    """More of the same may follow."""


@dataclass(frozen=True, slots=True)
class UserSaid:
    """A prompt to the agent."""

    message: str
    owner: str | None
    text: str
    prompt: str | None
    """The prompt's UUID."""


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A tool was called."""

    id: str
    name: str
    arguments: str
    owner: str | None
    metadata: JsonObject
    subagent: tuple[str, str] | None
    """Name and description of the subagent it starts."""


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A call has its result."""

    message: str
    call: str
    content: str
    owner: str | None
    metadata: JsonObject
    error: str | None


@dataclass(frozen=True, slots=True)
class MessagesReplaced:
    """Messages that were told before are others now, or gone."""


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A member of the state is another now."""

    name: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class RequestOpened:
    """Something waits for a human."""

    request: Request


@dataclass(frozen=True, slots=True)
class OtherEvent:
    """An event that AG-UI has nothing for."""

    event: events.AgentEvent


Change: TypeAlias = (
    TextPiece
    | UserSaid
    | ToolCalled
    | ToolReturned
    | MessagesReplaced
    | StateChanged
    | RequestOpened
    | OtherEvent
)


@dataclass(slots=True)
class _Entry:
    """A message of the conversation."""

    id: str
    kind: type[agui.UserMessage | agui.AssistantMessage | agui.ReasoningMessage | agui.ToolMessage]
    owner: str | None
    names: tuple[str, ...]
    """What a retraction may call it: the API message's id, a UUID."""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    call: ToolCalled | None = None
    returned: ToolReturned | None = None

    def messages(self) -> list[agui.Message]:
        """Return the message; of a call also its result, which clients put right behind it."""
        if self.call is None and self.returned is None:
            text = "".join(self.pieces)
            if self.kind is agui.UserMessage:
                return [agui.UserMessage(id=self.id, content=text, subagent_run_id=self.owner)]
            if self.kind is agui.ReasoningMessage:
                return [agui.ReasoningMessage(id=self.id, content=text, subagent_run_id=self.owner)]
            return [agui.AssistantMessage(id=self.id, content=text, subagent_run_id=self.owner)]
        told: list[agui.Message] = []
        if self.call is not None:
            given = self.call.arguments
            if (size := json_size(given)) > LARGEST:
                given = f'{{"too_large": {size}}}'
            function = agui.FunctionCall(name=self.call.name, arguments=given)
            call = agui.ToolCall(
                id=self.call.id, function=function, metadata={"turnwire": self.call.metadata}
            )
            told.append(agui.AssistantMessage(id=self.id, tool_calls=[call], subagent_run_id=self.owner))
        if self.returned is not None:
            told.append(
                agui.ToolMessage(
                    id=self.returned.message,
                    tool_call_id=self.returned.call,
                    content=self.returned.content,
                    error=self.returned.error,
                    metadata={"turnwire": self.returned.metadata},
                    subagent_run_id=self.owner,
                )
            )
        return told

    def ids(self) -> list[str]:
        """Return the ids of these messages."""
        own = [] if self.call is None and self.returned is not None else [self.id]
        return own if self.returned is None else [*own, self.returned.message]


class PromptIds:
    """Which messages of clients were sent as prompts, and the prompts' UUIDs; those of a session's runs are shared."""

    def __init__(self, most: int = PROMPT_IDS) -> None:
        self._most = most
        self._messages: dict[str, None] = {}
        self._by_prompt: dict[str, str] = {}

    def begin(self, message: str) -> bool:
        """Note that a message is sent now; False when it was sent before: a client that comes again repeats it."""
        if message in self._messages:
            return False
        self._messages[message] = None
        _drop_oldest(self._messages, self._most)
        return True

    def on_sent(self, message: str, prompt: str) -> None:
        """Note the UUID that it got."""
        self._by_prompt[prompt] = message
        _drop_oldest(self._by_prompt, self._most)

    def failed(self, message: str) -> None:
        """Note that it was not sent: it may come again."""
        self._messages.pop(message, None)

    def message(self, prompt: str | None) -> str | None:
        """Return the client's id of a prompt, if an AG-UI client sent it."""
        return self._by_prompt.get(prompt or "")


def _drop_oldest(remembered: dict[str, Any], most: int) -> None:
    for old in list(islice(remembered, max(0, len(remembered) - most))):
        del remembered[old]


class Thread:
    """A session as its events up to now make it."""

    def __init__(self, session: str, prompts: PromptIds | None = None, *, history: int = HISTORY) -> None:
        self._session = session
        self._prompts = prompts or PromptIds()
        self._history = history
        self.clear()

    def clear(self) -> None:
        """Forget everything: the log started over."""
        self._entries: dict[str, _Entry] = {}
        self._size = 0
        self._left_out = 0
        self._calls: dict[str, ToolCalled] = {}
        self._unnamed: dict[tuple[str | None, bool], str] = {}
        self._closed: deque[str] = deque(maxlen=CLOSED)
        self._taken_back: dict[str, str | None] = {}
        """Whose the messages and calls were that were taken back: clients refuse an id that changes its subagent."""
        self.pending: dict[str, Request] = {}
        self._plans: dict[str | None, JsonObject] = {}
        """The agent's plans, by their ids; the one that was told last is the last."""
        """What waits for a human, by pending_id."""
        self.turn: str | None = None
        """The running turn."""
        self.serves: set[str] = set()
        """UUIDs of the prompts that the running turn is known to serve."""
        self.state: JsonObject = {"session": self._session}
        """What the client's state has under `turnwire`."""

    @property
    def ids(self) -> list[str]:
        """The ids of the conversation's messages, as a client that missed nothing has them."""
        return [name for entry in self._entries.values() for name in entry.ids()]

    @property
    def left_out(self) -> int:
        """How many of the oldest messages are not kept."""
        return self._left_out

    def messages(self) -> list[agui.Message]:
        """Return the conversation."""
        return [message for entry in self._entries.values() for message in entry.messages()]

    def is_closed(self, pending_id: str) -> bool:
        """Return whether a request is known to have been answered, or to be void."""
        return pending_id in self._closed

    def on_answer(self, pending_id: str) -> None:
        """Note that a request has its answer, before the log says so."""
        self.pending.pop(pending_id, None)
        self._closed.append(pending_id)

    def lose(self, count: int) -> list[Change]:
        """Note that so many events before the next one are gone."""
        return self._put("events_gone", int(self.state.get("events_gone", 0)) + count)

    def handle(self, seq: int, event: events.AgentEvent) -> list[Change]:
        """Take the session's next event; `seq` is its number in the log."""
        match event:
            case events.TurnStarted():
                self.turn = event.operation_id
                self.serves = set(event.prompts or ())
                return self._put("turn", event.operation_id)
            case events.UserMessage():
                return self._said(seq, event)
            case events.MessageChunk():
                return self._piece(seq, event, event.text, thinking=False)
            case events.Reasoning(redacted=True):
                return [OtherEvent(event)]
            case events.Reasoning():
                return self._piece(seq, event, event.reasoning_text, thinking=True)
            case events.ToolCall():
                return self._called(event)
            case events.ToolUpdate(tool_status="running"):
                return [OtherEvent(event)]
            case events.ToolUpdate():
                return self._returned(event)
            case events.Retraction():
                return self._retracted(event)
            case events.PermissionRequest() | events.QuestionRequest():
                self.pending[event.pending_id] = event
                return [RequestOpened(event), *self._waiting()]
            case events.PermissionResolved() | events.PermissionCancelled():
                self.pending.pop(event.pending_id, None)
                self._closed.append(event.pending_id)
                return [OtherEvent(event), *self._waiting()]
            case events.Complete():
                return self._ended(event)
            case events.Injected():
                self.serves.update(event.prompts or ())
                return [OtherEvent(event)]
            case events.SessionMode():
                return self._put("permission_mode", event.current_mode_id)
            case events.AgentPlan():
                return self._planned(event)
            case events.SessionInfo():
                # an agent lists its models once
                models = self.state.get("info", {}).get("models")
                listed = {} if models is None else {"models": models}
                return self._put("info", {**listed, **_fields(event)})
            case events.ContextWindow():
                return self._put("context", _fields(event))
            case events.SessionOptions():
                return self._put("options", msgspec.to_builtins(event.options))
            case events.AvailableCommands():
                return self._put("commands", msgspec.to_builtins(event.available_commands))
            case _:
                return [OtherEvent(event)]

    def _said(self, seq: int, event: events.UserMessage) -> list[Change]:
        uuid = event.uuid
        message = self._prompts.message(uuid) or uuid or f"event-{seq}"
        message = self._id_in(message, event.parent_tool_call_id)
        if message in self._entries:
            return []
        text = "\n".join(
            [event.text] * bool(event.text)
            + [f"[{part.media_type or part.type}]" for part in event.parts or () if part.type != "text"]
        )
        self._add(
            _Entry(message, agui.UserMessage, event.parent_tool_call_id, _names(event, uuid), [text]),
            json_size(text),
        )
        return [UserSaid(message, event.parent_tool_call_id, text, uuid)]

    def _piece(
        self, seq: int, event: events.MessageChunk | events.Reasoning, text: str, *, thinking: bool
    ) -> list[Change]:
        more = bool(event.is_delta)
        owner = event.parent_tool_call_id
        name = self._id_in(self._block(seq, event, thinking=thinking), owner)
        entry = self._entries.get(name)
        if entry is None:
            kind = agui.ReasoningMessage if thinking else agui.AssistantMessage
            entry = _Entry(name, kind, owner, _names(event, None))
            self._add(entry, 0)
        elif event.replace:
            before = "".join(entry.pieces)
            if not text.startswith(before):
                entry.pieces = [text]
                self._grow(entry, json_size(text) - entry.size)
                return [MessagesReplaced()]
            text = text[len(before) :]
        entry.pieces.append(text)
        self._grow(entry, json_size(text))
        return [TextPiece(name, entry.owner, thinking, text, more)]

    def _id_in(self, message: str, owner: str | None) -> str:
        """Return the id that a message has in a thread: another one where it was that of another thread's."""
        if self._taken_back.get(message, owner) == owner:
            return message
        return f"{message}@{owner or 'main'}"

    def _block(self, seq: int, event: events.MessageChunk | events.Reasoning, *, thinking: bool) -> str:
        """Return the id of the message that an event's block is."""
        if event.message_id is None:
            key = event.parent_tool_call_id, thinking
            name = self._unnamed.pop(key, f"event-{seq}")
            if event.is_delta:
                self._unnamed[key] = name
            return name
        if event.block_index is None:
            return f"{event.message_id}.thinking" if thinking else event.message_id
        return f"{event.message_id}.{event.block_index}"

    def _called(self, event: events.ToolCall) -> list[Change]:
        subagent = None
        if isinstance(event.normalized, SubagentTaskPayload):
            task = event.normalized.subagent_task
            subagent = (task.subagent_type or event.tool_name, task.description)
        called = ToolCalled(
            id=event.tool_call_id,
            name=event.tool_name,
            arguments=payload_text.arguments(event.normalized),
            owner=self._taken_back.get(event.tool_call_id, event.parent_tool_call_id),
            metadata={
                "title": event.tool_title,
                "kind": event.normalized.kind,
                "renderer": event.normalized.renderer,
            },
            subagent=subagent,
        )
        if called.id in self._entries:
            return [OtherEvent(event)]
        self._calls[called.id] = called
        entry = _Entry(called.id, agui.AssistantMessage, called.owner, _names(event, None), call=called)
        self._add(entry, min(json_size(called.arguments), LARGEST))
        return [called]

    def _returned(self, event: events.ToolUpdate) -> list[Change]:
        called = self._calls.pop(event.tool_call_id, None)
        if called is None:
            return [OtherEvent(event)]
        payload = event.normalized
        metadata: JsonObject = {"status": event.tool_status}
        for name in ("reason", "background", "elapsed_ms"):
            if (value := getattr(event, name)) is not None:
                metadata[name] = value
        if payload is not None:
            metadata["normalized"] = fitting(msgspec.to_builtins(payload))
        failed = event.tool_status == "error"
        returned = ToolReturned(
            message=f"{called.id}:result",
            call=called.id,
            content=payload_text.result(payload, event.error),
            owner=called.owner,
            metadata=metadata,
            error=(event.error or event.reason or "failed")[:ERROR] if failed else None,
        )
        entry = self._entries.get(called.id)
        if entry is None:
            entry = _Entry(returned.message, agui.ToolMessage, called.owner, ())
            self._add(entry, 0)
        entry.returned = returned
        entry.names += _names(event, event.uuid)
        self._grow(entry, json_size([returned.content, metadata]))
        return [returned, *([] if failed else self._todos(payload))]

    def _todos(self, payload: NormalizedPayload | None) -> list[Change]:
        todos: list[JsonObject] = list(self.state.get("todos", ()))
        match payload:
            case ManageTodosPayload(manage_todos=managed) if managed.operation in {"write", "list"}:
                todos = msgspec.to_builtins(managed.items)
            case ManageTodosPayload(manage_todos=managed):
                changed = {item.id: msgspec.to_builtins(item) for item in managed.items}
                todos = [changed.get(todo.get("id"), todo) for todo in todos]
            case CreateTaskPayload(create_task=task):
                todo = {"id": task.task_id, "description": task.title, "status": "pending"}
                todos = [*todos, {name: value for name, value in todo.items() if value is not None}]
            case _:
                return []
        return self._put("todos", todos)

    def _ended(self, event: events.Complete) -> list[Change]:
        self.turn = None
        cost = {"turn_usd": event.data.cost_usd, "total_usd": event.data.total_cost_usd}
        changes = self._put("turn", None)
        if any(value is not None for value in cost.values()):
            changes += self._put("cost", {name: value for name, value in cost.items() if value is not None})
        return [*changes, OtherEvent(event)]

    def _retracted(self, event: events.Retraction) -> list[Change]:
        gone = {*(event.message_uuids or ()), *(event.message_ids or ())}
        for entry in [entry for entry in self._entries.values() if not gone.isdisjoint(entry.names)]:
            self._grow(entry, -entry.size)
            if entry.kind is agui.ReasoningMessage:
                # clients keep thinking that a snapshot leaves out, so it stays, without its text
                entry.pieces = []
            else:
                del self._entries[entry.id]
                self._taken_back[entry.id] = entry.owner
        return [MessagesReplaced(), OtherEvent(event)]

    def _waiting(self) -> list[Change]:
        return self._put("pending", list(self.pending))

    def _planned(self, event: events.AgentPlan) -> list[Change]:
        """Show the plan that was told last; one without entries and words is no more."""
        self._plans.pop(event.plan_id, None)
        if event.items or event.plan_content:
            self._plans[event.plan_id] = _fields(event)
        while len(self._plans) > MOST_PLANS:
            del self._plans[next(iter(self._plans))]
        return self._put("plan", next(reversed(self._plans.values()), None))

    def _put(self, name: str, value: JsonValue) -> list[Change]:
        if value is None:
            if name not in self.state:
                return []
            del self.state[name]
        elif self.state.get(name) == (value := fitting(value)):
            return []
        else:
            self.state[name] = value
        return [StateChanged(name, value)]

    def _add(self, entry: _Entry, size: int) -> None:
        self._entries[entry.id] = entry
        self._grow(entry, size)

    def _grow(self, entry: _Entry, size: int) -> None:
        entry.size += size
        self._size += size
        if self._size <= self._history:
            return
        for oldest in list(self._entries.values())[:-1]:
            if self._size <= self._history * 3 // 4:
                break
            del self._entries[oldest.id]
            self._size -= oldest.size
            self._left_out += 1
        if entry.size > self._history:
            self._shorten(entry)
        self.state["messages_left_out"] = self._left_out

    def _shorten(self, entry: _Entry) -> None:
        """Keep the end of a text that is larger than all that is kept."""
        while entry.pieces and entry.size > self._history * 3 // 4:
            gone = json_size(entry.pieces.pop(0))
            entry.size -= gone
            self._size -= gone


def _names(
    event: events.UserMessage | events.MessageChunk | events.Reasoning | events.ToolCall | events.ToolUpdate,
    uuid: str | None,
) -> tuple[str, ...]:
    return tuple(name for name in (event.message_id, uuid) if name is not None)


def _fields(event: events.AgentEvent) -> JsonObject:
    """Return what an event says, without its place."""
    said: JsonObject = msgspec.to_builtins(event)
    return {name: value for name, value in said.items() if name not in PLACE}


PLACE: Sequence[str] = ("type", "session_id", "operation_id")
"""Fields of every event that say where it belongs."""
