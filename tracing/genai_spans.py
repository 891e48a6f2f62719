"""Spans with real durations, under the OpenTelemetry conventions for generative AI.

invoke_agent over the turn, chat for each API message, execute_tool for each tool call, await_human while a request
waits for somebody; a subagent's invoke_agent stands under the call that started it. Names and attributes are those
of the semantic conventions 1.41 (in development there), pinned in docs/operating.md. Content only on request.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from normalize import events as ev
from normalize.events import AgentEvent, to_json
from normalize.inputs import Received, SessionInput
from protocol.messages import Assistant, StreamEvent
from protocol.stream import ContentBlockDelta, MessageDelta, MessageStart
from tracing.span import Attribute, FinishedSpan, OpenSpan, Trace, cut_text

PROVIDER = "anthropic"
SUBAGENTS = 256
"""Subagents that are remembered, at most, for what they still write after their call has ended."""


@dataclass(slots=True)
class _Chat:
    span: OpenSpan
    message_id: str
    last: int
    first_chunk: int | None = None


@dataclass(slots=True)
class _Thread:
    """The main thread or a subagent's: who acts, and what they are waiting for."""

    agent: OpenSpan
    free_since: int
    """When the model could begin: the turn's start, or the last tool result."""
    chat: _Chat | None = None
    tools: dict[str, OpenSpan] = field(default_factory=dict)


class GenAiSpans:
    """Makes the spans of one session."""

    def __init__(self, *, agent: str, content: bool, limit: int) -> None:
        self._agent = agent
        self._content = content
        self._limit = limit
        self._trace: Trace | None = None
        self._threads: dict[str | None, _Thread] = {}
        self._tools: dict[str, OpenSpan] = {}
        self._humans: dict[str, OpenSpan] = {}
        self._model: str | None = None
        self._conversation: str | None = None

    def begin_turn(self, trace: Trace, root: OpenSpan, at: int) -> None:
        """Open the agent's span; background subagents of earlier turns go on."""
        self._trace = trace
        attributes = self._common("invoke_agent") | {"gen_ai.agent.name": self._agent}
        agent = trace.begin(f"invoke_agent {self._agent}", at, root, attributes, client=True)
        self._threads[None] = _Thread(agent, at)

    def end_turn(self, event: ev.Complete, at: int) -> list[FinishedSpan]:
        """Close all that the turn opened."""
        main = self._threads.pop(None, None)
        if main is None:
            return []
        finished = self._end_chat(main)
        finished += [tool.finish(at, "no_result") for tool in main.tools.values()]
        finished += [span.finish(at, None) for span in self._humans.values()]
        self._humans.clear()
        data = event.data
        main.agent.attributes |= _usage(
            data.input_tokens,
            data.output_tokens,
            data.cache_read_input_tokens,
            data.cache_creation_input_tokens,
        )
        if data.is_error:
            main.agent.attributes["error.type"] = data.outcome or "error"
        self._name(main.agent)
        return [*finished, main.agent.finish(at, event.error if data.is_error else None)]

    def of_message(self, item: SessionInput, at: int) -> list[FinishedSpan]:
        """Follow the API messages: when each began, its first chunk, its end, its usage."""
        if not isinstance(item, Received):
            return []
        match item.message:
            case StreamEvent(event=MessageStart(message=message)):
                return self._chat(None, message.id, message.model, at)
            case StreamEvent(event=ContentBlockDelta()):
                self._chunk(None, at)
            case StreamEvent(event=MessageDelta() as delta):
                self._measured(delta, at)
            case Assistant(message=body, parent_tool_use_id=parent) as message if body.model != "<synthetic>":
                finished = self._chat(parent, body.id, body.model, at)
                self._failed(parent, message.error)
                return finished
            case _:
                pass
        return []

    def of_event(self, event: AgentEvent, at: int) -> list[FinishedSpan]:
        """Follow tool calls, and what waits for a human."""
        match event:
            case ev.SessionInfo():
                self._model = event.model or self._model
                self._conversation = event.session_id or self._conversation
            case ev.ToolCall():
                self._call(event, at)
            case ev.ToolUpdate() if event.tool_status != "running":
                return self._result(event, at)
            case ev.PermissionRequest() | ev.QuestionRequest():
                self._ask(event, at)
            case ev.PermissionResolved() | ev.PermissionCancelled():
                return self._answered(event, at)
            case _:
                pass
        return []

    def _chat(
        self, parent: str | None, message_id: str | None, model: str | None, at: int
    ) -> list[FinishedSpan]:
        thread = self._thread(parent, at)
        if thread is None or message_id is None or self._trace is None:
            return []
        if thread.chat is not None and thread.chat.message_id == message_id:
            thread.chat.last = at
            return []
        finished = self._end_chat(thread)
        attributes = self._common("chat") | {"gen_ai.response.id": message_id}
        if model is not None:
            attributes |= {"gen_ai.request.model": self._model or model, "gen_ai.response.model": model}
        span = self._trace.begin(
            f"chat {model or 'model'}", thread.free_since, thread.agent, attributes, client=True
        )
        thread.chat = _Chat(span, message_id, at)
        return finished

    def _end_chat(self, thread: _Thread) -> list[FinishedSpan]:
        chat, thread.chat = thread.chat, None
        return [] if chat is None else [chat.span.finish(chat.last)]

    def _chunk(self, parent: str | None, at: int) -> None:
        thread = self._threads.get(parent)
        if thread is None or thread.chat is None:
            return
        thread.chat.last = at
        if thread.chat.first_chunk is None:
            thread.chat.first_chunk = at
            seconds = max(at - thread.chat.span.start, 0) / 1e9
            thread.chat.span.attributes["gen_ai.response.time_to_first_chunk"] = seconds

    def _measured(self, delta: MessageDelta, at: int) -> None:
        thread = self._threads.get(None)
        if thread is None or thread.chat is None:
            return
        thread.chat.last = at
        if delta.stop_reason is not None:
            thread.chat.span.attributes["gen_ai.response.finish_reasons"] = [delta.stop_reason]
        usage = delta.usage
        if usage is not None:
            thread.chat.span.attributes |= _usage(
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_input_tokens,
                usage.cache_creation_input_tokens,
            )

    def _failed(self, parent: str | None, error: str | None) -> None:
        thread = self._threads.get(parent)
        if error is not None and thread is not None and thread.chat is not None:
            thread.chat.span.attributes["error.type"] = error

    def _call(self, event: ev.ToolCall, at: int) -> None:
        thread = self._thread(event.parent_tool_call_id, at)
        if thread is None or self._trace is None:
            return
        attributes = self._common("execute_tool") | {
            "gen_ai.tool.name": event.tool_name,
            "gen_ai.tool.call.id": event.tool_call_id,
            "gen_ai.tool.type": "extension" if event.tool_name.startswith("mcp__") else "function",
        }
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = cut_text(to_json(event), self._limit)
        span = self._trace.begin(f"execute_tool {event.tool_name}", at, thread.agent, attributes)
        thread.tools[event.tool_call_id] = self._tools[event.tool_call_id] = span

    def _result(self, event: ev.ToolUpdate, at: int) -> list[FinishedSpan]:
        span = self._tools.pop(event.tool_call_id, None)
        if span is None:
            return []
        for thread in self._threads.values():
            if thread.tools.pop(event.tool_call_id, None) is not None:
                thread.free_since = at
        failed = event.tool_status == "error"
        if failed:
            span.attributes["error.type"] = event.reason or "failed"
        if self._content:
            span.attributes["gen_ai.tool.call.result"] = cut_text(to_json(event), self._limit)
        finished = [span.finish(at, (event.error or event.reason) if failed else None)]
        subagent = None if event.background else self._threads.pop(event.tool_call_id, None)
        if subagent is not None:
            self._name(subagent.agent)
            finished += [*self._end_chat(subagent), subagent.agent.finish(at)]
        return finished

    def _thread(self, parent: str | None, at: int) -> _Thread | None:
        """Return the thread; a subagent's begins with the first thing it says."""
        known = self._threads.get(parent)
        call = self._tools.get(parent) if parent is not None else None
        if known is not None or call is None or self._trace is None:
            return known
        attributes = self._common("invoke_agent") | {"gen_ai.agent.name": "subagent"}
        agent = self._trace.begin("invoke_agent subagent", at, call, attributes, client=True)
        self._threads[parent] = _Thread(agent, at)
        if len(self._threads) > SUBAGENTS:
            del self._threads[next(key for key in self._threads if key is not None)]
        return self._threads[parent]

    def _ask(self, event: ev.PermissionRequest | ev.QuestionRequest, at: int) -> None:
        main = self._threads.get(None)
        if main is None or self._trace is None:
            return
        parent = self._tools.get(event.tool_call_id or "", main.agent)
        attributes: dict[str, Attribute] = {"turnwire.pending_id": event.pending_id}
        self._humans[event.pending_id] = self._trace.begin("await_human", at, parent, attributes)

    def _answered(self, event: ev.PermissionResolved | ev.PermissionCancelled, at: int) -> list[FinishedSpan]:
        span = self._humans.pop(event.pending_id, None)
        if span is None:
            return []
        if isinstance(event, ev.PermissionResolved):
            span.attributes |= {"turnwire.behavior": event.behavior, "turnwire.by": event.by or ""}
        else:
            span.attributes["turnwire.cancelled"] = event.reason or "cancelled"
        return [span.finish(at)]

    def _common(self, operation: str) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {"gen_ai.operation.name": operation, "gen_ai.provider.name": PROVIDER}
        if self._conversation is not None:
            found["gen_ai.conversation.id"] = self._conversation
        return found

    def _name(self, agent: OpenSpan) -> None:
        """Add what is known only later: init may come after the turn has begun."""
        if self._model is not None:
            agent.attributes["gen_ai.request.model"] = self._model
        if self._conversation is not None:
            agent.attributes["gen_ai.conversation.id"] = self._conversation


def _usage(
    sent: int | None, received: int | None, read: int | None, written: int | None
) -> Mapping[str, Attribute]:
    """The convention counts cached tokens as input tokens too; the API does not."""
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
