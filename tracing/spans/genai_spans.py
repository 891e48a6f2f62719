"""Spans with real durations, under the OpenTelemetry conventions for generative AI.

invoke_agent covers the turn. chat is one API message, or a run of output if the agent reports no messages. execute_tool
is one tool call. await_human lasts while a request waits. A subagent's invoke_agent is below the call that started it,
even if it continues in the background after its turn. Names and attributes follow the semantic conventions 1.41
(in development), pinned in docs/tracing.md. Texts are exported only on request.
"""

from collections.abc import Mapping

from turnwire.normalize import events as ev
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import model_calls
from turnwire.normalize.inputs import Received, SessionInput
from turnwire.normalize.model import JsonValue
from turnwire.normalize.model_calls import (
    CallBegan,
    CallMeasured,
    CallsUntold,
    ModelCall,
    PartSaid,
    PieceStreamed,
    ToolAsked,
    ToolPart,
    ToolReturned,
)
from turnwire.normalize.payloads import SubagentTaskPayload
from turnwire.tracing.spans.genai_chat import ChatThread, OpenTool, Piece, text_of
from turnwire.tracing.spans.genai_facts import KIND, TURN_KIND, GenAiFacts, answer, prompts, usage, values
from turnwire.tracing.spans.span import Attribute, Span, Trace, tool_name
from turnwire.tracing.spans.tool_content import arguments_of, result_of

REMEMBERED = 256
"""Maximum number of remembered subagents, and of remembered arguments and results."""

SUBAGENT = "subagent"
"""Name of a subagent without one."""

TASK_ENDS = frozenset({"completed", "failed", "stopped", "killed", "cancelled"})
"""States of a background task after which its subagent says nothing."""


OF_CONCERN = frozenset(
    {
        *(
            ev.TurnStarted,
            ev.ProcessStatus,
            ev.Complete,
            ev.SessionInfo,
            ev.UserMessage,
            ev.ToolCall,
            ev.ToolUpdate,
            ev.TaskUpdate,
        ),
        *(ev.PermissionRequest, ev.QuestionRequest, ev.PermissionResolved, ev.PermissionCancelled),
        ev.SandboxDenied,
    }
)
"""Events that these spans need. Most events, such as pieces of text, are not among them."""

RUNS = OF_CONCERN | {ev.MessageChunk, ev.Reasoning}
"""Events for agents that do not report model calls. Their pieces of text are needed too."""

LOST = frozenset({"error", "process_exited", "hung"})
"""Outcomes of turns in which the model did not finish."""


class GenAiSpans:
    """Makes the GenAI spans of one session."""

    def __init__(
        self,
        *,
        agent: str | None,
        content: bool,
        limit: int,
        session: str = "",
        provider: str | None = None,
    ) -> None:
        self._facts = GenAiFacts(agent, content, limit, session=session, configured=provider)
        self._threads: dict[str | None, ChatThread] = {}
        self._callers: dict[str, tuple[Trace, Span]] = {}
        """Calls below which a subagent may still speak: those without a result, and those of subagents."""
        self._origins: dict[str, str] = {}
        """Task id -> the call that started it. Other tools may continue the task."""
        self._subagents: BoundedDict[tuple[str, str]] = BoundedDict(REMEMBERED)
        """Call id -> name of the subagent that it starts, and its task. The task only with `content`."""
        self._humans: dict[str, tuple[Span, OpenTool | None]] = {}
        """Request -> its span, and the call that waits."""
        self._arguments: BoundedDict[JsonValue] = BoundedDict(REMEMBERED)
        """The agent's own id of a call -> its arguments, until the call begins. Only with `content`."""
        self._results: BoundedDict[str] = BoundedDict(REMEMBERED)
        """The agent's own id of a call -> its result, until the call ends. Only with `content`."""
        self._own_ids: BoundedDict[str] = BoundedDict(REMEMBERED)
        """Call id -> the agent's own, where they differ."""
        self._counted: dict[str, int] = {}
        """Tokens of the turn's messages, by attribute."""
        self._counted_below: dict[str, int] = {}
        """The same of subagents' messages that no turn's tokens included yet."""
        self._prompts: list[str] = []
        self._root: Span | None = None
        """The first span of the turn."""
        self._in_runs = False
        """True if the agent does not report model calls."""
        self.concern: frozenset[type] = OF_CONCERN
        """Types of events to pass to of_event()."""

    def begin_turn(self, trace: Trace, root: Span, at: int) -> None:
        """Open the agent's span. Background subagents of earlier turns continue."""
        facts = self._facts
        name = facts.agent_name
        attributes = facts.common("invoke_agent") | {"gen_ai.agent.name": name}
        agent = trace.begin(f"invoke_agent {name}", at, root, attributes, client=True)
        self._root = root
        root.update({KIND: TURN_KIND})
        self._counted.clear()
        self._threads[None] = ChatThread(trace, agent, at, facts, self._counted)

    def end_turn(self, event: ev.Complete, at: int) -> list[Span]:
        """Close all spans of the turn, and return them."""
        main = self._threads.pop(None, None)
        if main is None:
            return []
        data = event.data
        took = data.all_tokens or data
        spent = usage(
            took.input_tokens,
            took.output_tokens,
            took.cache_read_input_tokens,
            took.cache_creation_input_tokens,
        )
        main.agent.update(spent)
        error = self._facts.error(event.error) if data.is_error else None
        if error is not None:
            failed: dict[str, Attribute] = {"error.type": data.outcome or "error"}
            if data.api_error_status is not None:
                failed["http.response.status_code"] = data.api_error_status
            if error:
                failed["error.message"] = error
            main.agent.update(failed)
            main.failed_with(data.api_error_status, error)
        finished = [span.finish(at, None) for span, _ in self._humans.values()]
        self._humans.clear()
        if self._in_runs:
            status = data.api_error_status
            lost = None
            if data.outcome in LOST:
                lost = str(data.outcome) if status is None else str(status)
            finished += main.end_run(
                at,
                stop_reason=data.stop_reason,
                error=lost,
                asked=lost is not None and status is not None,
            )
            main.failed_with(status, error or "")
        main.settle(spent, self._counted_below, at)
        finished += main.end_chat(data.stop_reason)
        self._carry(spent)
        self._tell_content(main, data.stop_reason, error)
        stopped = data.outcome == "interrupted"
        return finished + main.end(at, error, stop_reason=data.stop_reason, stopped=stopped)

    def _carry(self, spent: Mapping[str, Attribute]) -> None:
        """Keep the tokens of background subagents that this turn's tokens do not include. A later turn's do."""
        for name, below in self._counted_below.items():
            total = spent.get(name)
            more = self._counted.get(name, 0) + below - total if isinstance(total, int) else 0
            self._counted_below[name] = min(max(more, 0), below)

    def _tell_content(self, main: ChatThread, stop_reason: str | None, error: str | None) -> None:
        """Put prompts and answer on the turn's first span, and the prompts on the agent's."""
        root, self._root = self._root, None
        if not self._facts.content or root is None:
            return
        asked: dict[str, Attribute] = {}
        if self._prompts:
            asked = {
                "gen_ai.input.messages": prompts(self._prompts),
                **values("\n".join(self._prompts)),
            }
            self._prompts.clear()
            main.agent.update(asked)
            root.update(asked)
        if main.answer:
            said = answer(main.answer, stop_reason)
            root.update({"gen_ai.output.messages": said, **values(out=text_of(main.answer))})
        elif error:
            root.update(values(out=error))
            main.agent.update(values(out=error))

    def end(self, at: int) -> list[Span]:
        """Close the spans of background work, because the CLI has ended."""
        finished = [span for thread in self._threads.values() for span in thread.end(at)]
        self._threads.clear()
        self._callers.clear()
        self._origins.clear()
        return finished

    def of_message(self, item: SessionInput, at: int) -> list[Span]:
        """Update the spans of API messages. at: nanoseconds since 1970."""
        if type(item) is not Received:
            return []
        read = model_calls().get(type(item.message))
        if read is None:
            return []
        finished: list[Span] = []
        for told in read(item.message):
            finished += self._told(told, at)
        return finished

    def _told(self, told: ModelCall, at: int) -> list[Span]:
        match told:
            case PieceStreamed(parent):
                if (thread := self._threads.get(parent)) is not None:
                    thread.chunk(at)
            case CallBegan(parent):
                return [] if (thread := self._threads.get(parent)) is None else thread.started(told, at)
            case CallMeasured(parent):
                if (thread := self._threads.get(parent)) is not None:
                    thread.measured(told, at)
            case PartSaid(parent, parts=parts):
                if self._facts.content:
                    for part in parts:
                        if isinstance(part, ToolPart):
                            self._arguments.put(part.call_id, part.arguments)
                return [] if (thread := self._thread(parent, at)) is None else thread.said(told, at)
            case ToolAsked(call_id, arguments):
                if self._facts.content:
                    self._arguments.put(call_id, arguments)
            case ToolReturned(call_id, content):
                if self._facts.content:
                    self._results.put(call_id, self._facts.told(content))
            case CallsUntold(parent, tokens):
                self._in_runs, self.concern = True, RUNS
                if tokens is not None and (thread := self._threads.get(parent)) is not None:
                    return thread.took(tokens, at)
        return []

    def of_event(self, event: AgentEvent, at: int) -> list[Span]:
        """Update the spans of tool calls and waiting requests. at: nanoseconds since 1970."""
        match event:
            case ev.SessionInfo():
                self._facts.model = event.model or self._facts.model
                self._facts.conversation = event.session_id or self._facts.conversation
                self._facts.product = event.agent_name or self._facts.product
            case ev.ProcessStatus(state="started"):
                self._facts.agent = event.agent or self._facts.agent
                self._facts.configured = event.provider or self._facts.configured
            case ev.UserMessage() if self._facts.content and event.parent_tool_call_id is None:
                if not event.synthetic:
                    self._prompts = [*self._prompts[-REMEMBERED:], self._facts.told(event.text)]
                    if (main := self._threads.get(None)) is not None:
                        main.prompted(prompts(self._prompts))
            case ev.ToolCall():
                return self._call(event, at)
            case ev.MessageChunk() | ev.Reasoning() if self._in_runs and not event.history:
                return self._piece(event, at)
            case ev.ToolUpdate():
                return self._progress(event) if event.tool_status == "running" else self._result(event, at)
            case ev.PermissionRequest() | ev.QuestionRequest():
                self._ask(event, at)
            case ev.PermissionResolved() | ev.PermissionCancelled():
                return self._answered(event, at)
            case ev.SandboxDenied():
                return self._refused(event, at)
            case ev.TaskUpdate(tool_call_id=str(call_id)):
                return self._task(event, call_id, at)
            case _:
                pass
        return []

    def _piece(self, event: ev.MessageChunk | ev.Reasoning, at: int) -> list[Span]:
        thread = self._thread(event.parent_tool_call_id, at)
        if thread is None:
            return []
        block = (event.message_id, event.block_index)
        if isinstance(event, ev.MessageChunk):
            return thread.piece(Piece("text", event.text, block, bool(event.replace)), at)
        return thread.piece(Piece("reasoning", event.reasoning_text, block, bool(event.replace)), at)

    def _call(self, event: ev.ToolCall, at: int) -> list[Span]:
        thread = self._thread(event.parent_tool_call_id, at)
        if thread is None:
            return []
        name = tool_name(event.tool_name, with_texts=self._facts.limit > 0)
        attributes = self._facts.common("execute_tool") | {
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": event.tool_call_id,
            "gen_ai.tool.type": "extension" if event.tool_name.startswith("mcp__") else "function",
        }
        own = event.agent_call_id or event.tool_call_id
        if event.agent_call_id is not None:
            self._own_ids.put(event.tool_call_id, event.agent_call_id)
        told: JsonValue = None
        arguments: JsonValue = None
        if self._facts.content:
            told = self._arguments.pop(own, None)
            arguments = arguments_of(event.normalized) if told is None else told
            attributes["gen_ai.tool.call.arguments"] = self._facts.told(arguments)
        span = thread.trace.begin(f"execute_tool {name}", at, thread.agent, attributes)
        tool = OpenTool(span, event.tool_call_id, event.tool_name, arguments, told=told is not None)
        finished = thread.called(tool if self._facts.content else None, at) if self._in_runs else []
        thread.tools[event.tool_call_id] = tool
        if isinstance(event.normalized, SubagentTaskPayload):
            task = event.normalized.subagent_task
            prompt = self._facts.told(task.prompt) if self._facts.content else ""
            self._subagents.put(event.tool_call_id, (task.subagent_type or SUBAGENT, prompt))
        self._callers[event.tool_call_id] = (thread.trace, span)
        return finished

    def _progress(self, event: ev.ToolUpdate) -> list[Span]:
        """Note arguments that come after the call began."""
        if self._facts.content:
            for thread in self._threads.values():
                if (tool := thread.tools.get(event.tool_call_id)) is not None:
                    self._learn(tool, event)
        return []

    def _learn(self, tool: OpenTool, event: ev.ToolUpdate) -> None:
        """Replace the arguments by the newest: the agent's own, or else those in the payload."""
        own = self._own_ids.get(tool.call_id) or tool.call_id
        if (told := self._arguments.pop(own, None)) is not None:
            tool.arguments, tool.told = told, True
        elif event.normalized is not None and not tool.told:
            tool.arguments = arguments_of(event.normalized)

    def _result(self, event: ev.ToolUpdate, at: int) -> list[Span]:
        call_id = event.tool_call_id
        thread = next((one for one in self._threads.values() if call_id in one.tools), None)
        if thread is None:
            return []
        tool = thread.tools.pop(call_id)
        thread.free(at)
        failed = event.tool_status == "error" and event.reason != "interrupted"
        if event.tool_status == "error":
            tool.span.update({"error.type" if failed else "turnwire.stopped": event.reason or "failed"})
        if self._facts.content:
            self._learn(tool, event)
            result = self._results.pop(self._own_ids.get(call_id) or call_id, "")
            if not result:
                found = None if event.normalized is None else result_of(event.normalized)
                result = self._facts.told(found if found is not None else event.error or "")
            tool.span.update({"gen_ai.tool.call.result": result, **values(out=result)})
            thread.resulted(call_id, result)
        error = self._facts.error(event.error or event.reason) if failed else None
        finished = [tool.finish(self._facts, at, error)]
        if event.background or call_id in self._threads:
            # A finished subagent may be continued. Its work then belongs to the same call.
            _forget_oldest(self._callers)
        else:
            self._callers.pop(call_id, None)
        return finished if event.background else finished + self._end_subagent(call_id, at)

    def _thread(self, parent: str | None, at: int) -> ChatThread | None:
        """Return the thread of a subagent or the main thread. A subagent's thread begins with its first output."""
        known = self._threads.get(parent)
        call = self._callers.get(parent) if parent is not None else None
        if known is not None or call is None:
            return known
        name, prompt = self._subagents.get(parent or "") or (SUBAGENT, "")
        attributes = self._facts.common("invoke_agent") | {"gen_ai.agent.name": name}
        if prompt:
            attributes |= {"gen_ai.input.messages": prompts([prompt]), **values(prompt)}
        trace, span = call
        agent = trace.begin(f"invoke_agent {name}", at, span, attributes, client=True)
        found = self._threads[parent] = ChatThread(
            trace, agent, at, self._facts, self._counted_below, subagent=True
        )
        return found

    def _task(self, event: ev.TaskUpdate, call_id: str, at: int) -> list[Span]:
        """Follow a subagent's task. Some versions report nothing else about background work."""
        call_id = self._origins.setdefault(event.task_id, call_id)
        _forget_oldest(self._origins)
        if event.task_status in TASK_ENDS:
            return self._end_subagent(call_id, at)
        if event.task_type == "local_agent":
            self._thread(call_id, at)
        return []

    def _end_subagent(self, call_id: str, at: int) -> list[Span]:
        thread = self._threads.pop(call_id, None)
        return [] if thread is None else thread.end(at)

    def _ask(self, event: ev.PermissionRequest | ev.QuestionRequest, at: int) -> None:
        main = self._threads.get(None)
        found = self._callers.get(event.tool_call_id or "", (main.trace, main.agent) if main else None)
        if found is None:
            return
        trace, parent = found
        attributes: dict[str, Attribute] = {
            "session.id": self._facts.session,
            "turnwire.pending_id": event.pending_id,
        }
        call_id = event.tool_call_id or ""
        tool = next((one.tools[call_id] for one in self._threads.values() if call_id in one.tools), None)
        self._humans[event.pending_id] = trace.begin("await_human", at, parent, attributes), tool

    def _answered(self, event: ev.PermissionResolved | ev.PermissionCancelled, at: int) -> list[Span]:
        span, tool = self._humans.pop(event.pending_id, (None, None))
        if span is None:
            return []
        if tool is not None:
            tool.waited_ns += max(at - span.start, 0)
        if isinstance(event, ev.PermissionResolved):
            span.update({"turnwire.behavior": event.behavior, "turnwire.by": event.by or ""})
        else:
            span.update({"turnwire.cancelled": event.reason or "cancelled"})
        return [span.finish(at)]

    def _refused(self, event: ev.SandboxDenied, at: int) -> list[Span]:
        """Return the span of a sandbox refusal. A call that has ended is only named, because its span is closed."""
        main = self._threads.get(None)
        found = self._callers.get(event.tool_call_id or "", (main.trace, main.agent) if main else None)
        if found is None:
            return []
        trace, parent = found
        attributes: dict[str, Attribute] = {
            "session.id": self._facts.session,
            "turnwire.sandbox.kind": event.kind,
        }
        if event.tool_call_id is not None:
            attributes["gen_ai.tool.call.id"] = event.tool_call_id
        if self._facts.limit > 0:
            attributes["turnwire.sandbox.target"] = event.target
        return [trace.begin("sandbox_denied", at, parent, attributes).finish(at)]


def _forget_oldest(kept: dict[str, str] | dict[str, tuple[Trace, Span]]) -> None:
    if len(kept) > REMEMBERED:
        del kept[next(iter(kept))]
