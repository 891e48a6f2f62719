"""Spec 3's span hierarchy, by name: streamjson.prompt over the turn, a span for every event and control message.

Each carries a `raw` and a `normalized` span event, so that a viewer shows them side by side. They are moments
rather than durations; the durations are in tracing/genai_spans.py.
"""

import re

from normalize import events as ev
from normalize.events import AgentEvent, to_json
from normalize.inputs import Received, Sent, SessionInput
from protocol.control import ControlCancelRequest, ControlRequest, ControlResponse, HookCallback
from tracing.span import Attribute, FinishedSpan, OpenSpan, SpanEvent, Trace, cut_text

SYSTEM = (ev.SessionStatus, ev.SessionInfo, ev.AvailableCommands)
"""Events of the session's beginning; spec 3 traces them as `streamjson.system`."""

_WORD = re.compile(r"(?<!^)(?=[A-Z])")
_PENDING = 1024
"""Control requests whose answers are waited for, at most; the oldest is forgotten."""


class StreamJsonSpans:
    """Makes the spans of spec 3."""

    def __init__(self, *, limit: int, fold_deltas: bool) -> None:
        self._limit = limit
        self._fold = fold_deltas
        self._asked: dict[str, str] = {}
        """Control requests by id: how their responses are called."""
        self._folded: dict[tuple[str | None, int | None, str], tuple[OpenSpan, list[str], bytes]] = {}

    def of_event(
        self, event: AgentEvent, raw: bytes, at: int, trace: Trace, root: OpenSpan | None
    ) -> list[FinishedSpan]:
        """Return the span of one event, and those that it ends."""
        if self._fold and isinstance(event, ev.MessageChunk | ev.Reasoning) and event.is_delta:
            self._fold_in(event, raw, at, trace, root)
            return []
        finished = self.end_folded(at)
        name = "streamjson.system" if isinstance(event, SYSTEM) else f"streamjson.{event.type}"
        span = trace.begin(name, at, root, _attributes(event))
        return [*finished, span.finish(at, _error(event), self._both(raw, to_json(event), at))]

    def of_control(
        self, item: SessionInput, at: int, trace: Trace, root: OpenSpan | None
    ) -> list[FinishedSpan]:
        """Return the span of a control message, if the input is one."""
        if not isinstance(item, Received | Sent):
            return []
        name = self._control_name(item)
        if name is None:
            return []
        direction = "received" if isinstance(item, Received) else "sent"
        span = trace.begin(f"streamjson.control.{name}", at, root, {"turnwire.direction": direction})
        return [span.finish(at, None, (SpanEvent("raw", at, {"raw": cut_text(item.line, self._limit)}),))]

    def end_folded(self, at: int) -> list[FinishedSpan]:
        """End the spans of blocks whose deltas were folded."""
        finished = []
        for span, texts, raw in self._folded.values():
            span.attributes["turnwire.chunks"] = len(texts)
            normalized = "".join(texts).encode("utf-8", "replace")
            finished.append(span.finish(at, None, self._both(raw, normalized, at)))
        self._folded.clear()
        return finished

    def _fold_in(
        self, event: ev.MessageChunk | ev.Reasoning, raw: bytes, at: int, trace: Trace, root: OpenSpan | None
    ) -> None:
        key = (event.message_id, event.block_index, event.type)
        if key not in self._folded:
            span = trace.begin(f"streamjson.{event.type}", at, root, _attributes(event))
            self._folded[key] = (span, [], raw)
        self._folded[key][1].append(
            event.text if isinstance(event, ev.MessageChunk) else event.reasoning_text
        )

    def _control_name(self, item: Received | Sent) -> str | None:
        match item.message:
            case ControlRequest(request_id=request_id, request=request):
                answer = f"control_response.{request.subtype}"
                if request.subtype == "can_use_tool":
                    answer = "permission_response"
                elif isinstance(request, HookCallback):
                    answer = f"hook_response.{_hook(request)}"
                self._asked[request_id] = answer
                if len(self._asked) > _PENDING:
                    del self._asked[next(iter(self._asked))]
                return f"control_request.{request.subtype}"
            case ControlResponse() as response:
                return self._asked.pop(response.request_id or "", "control_response")
            case ControlCancelRequest():
                return "control_cancel_request"
            case _:
                return None

    def _both(self, raw: bytes, normalized: bytes, at: int) -> tuple[SpanEvent, ...]:
        right = SpanEvent("normalized", at, {"normalized": cut_text(normalized, self._limit)})
        return (SpanEvent("raw", at, {"raw": cut_text(raw, self._limit)}), right) if raw else (right,)


def _attributes(event: AgentEvent) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    if event.session_id is not None:
        found["session.id"] = event.session_id
    if event.operation_id is not None:
        found["turnwire.operation_id"] = event.operation_id
    match event:
        case ev.ToolCall() | ev.ToolUpdate():
            found["turnwire.tool_call_id"] = event.tool_call_id
            found["turnwire.tool_name"] = event.tool_name or ""
            found["turnwire.tool_status"] = event.tool_status
        case (
            ev.PermissionRequest() | ev.PermissionResolved() | ev.PermissionCancelled() | ev.QuestionRequest()
        ):
            found["turnwire.pending_id"] = event.pending_id
        case _:
            pass
    return found


def _error(event: AgentEvent) -> str | None:
    match event:
        case ev.Error():
            return event.error
        case ev.ToolUpdate(tool_status="error"):
            return event.error or event.reason or "error"
        case ev.Complete():
            return event.error if event.data.is_error else None
        case ev.Malformed():
            return event.reason
        case _:
            return None


def _hook(request: HookCallback) -> str:
    """`pre_tool_use` for PreToolUse."""
    name = request.input.get("hook_event_name")
    return _WORD.sub("_", name).lower() if isinstance(name, str) and name else "unknown"
