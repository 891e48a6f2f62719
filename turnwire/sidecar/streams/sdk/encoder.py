"""Events of a session as lines of Claude Code's stream-json, for programs that read that CLI. Pure.

Each block of an answer is an `assistant` line. Blocks between two tool results share a message id. With partial messages,
`stream_event` lines with the pieces precede it, for the main thread only, as in the CLI. Ids and times are arguments.
"""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from turnwire.normalize import events as ev
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.sidecar.streams.sdk.calls import Call, call_of, result_of, structured_of

SUBTYPES = {
    "max_turns": "error_max_turns",
    "budget": "error_max_budget_usd",
    "interrupted": "error_during_execution",
    "error": "error_during_execution",
    "process_exited": "error_during_execution",
    "hung": "error_during_execution",
}
"""Outcome of an unsuccessful turn -> subtype of its result."""

SPEAKS_AS = "2.0.0"
"""Version of Claude Code to report. The SDKs require one."""

UNKNOWN_MODEL = "<unknown>"

SEVERAL = "several_calls"
"""Tool name of a request about several calls. No permission rule for a real tool applies to it."""

INTERRUPTED = "[Request interrupted by user]"
"""Claude Code's text for an interrupted turn."""


class _Thread(Struct):
    """The main thread or a subagent's thread, with its current message."""

    parent: str | None
    message: str = ""
    """The message's id; "" between two messages."""
    blocks: int = 0
    """Number of finished blocks."""
    key: tuple[str, str | None, int | None] | None = None
    """The growing block: its kind and identity."""
    pieces: list[str] = []


class SessionFacts(Struct):
    """The session's facts about itself."""

    session_id: str = ""
    model: str | None = None
    cwd: str | None = None
    version: str | None = None
    mode: str = "default"
    """The permission mode as the caller knows it."""
    agent_mode: str | None = None
    """The agent's own mode, by its own name."""
    agent_modes: list[str] = []
    agent: str | None = None
    tools: list[str] = []
    mcp_servers: list[JsonObject] = []
    agents: list[str] = []
    skills: list[str] = []
    commands: list[JsonObject] = []
    models: list[JsonObject] = []


class ClaudeLines:
    """Writes the lines of one session."""

    def __init__(
        self,
        *,
        new_id: Callable[[], str],
        now: Callable[[], float],
        facts: SessionFacts,
        partial: bool = False,
        replays: bool = False,
        named: str | None = None,
    ) -> None:
        """Start a session.

        Args:
            new_id: makes ids of lines and messages.
            now: the time, in seconds.
            facts: stores the session's facts about itself.
            partial: write the pieces of messages.
            replays: write the caller's own prompts, too.
            named: the session id that the caller has given.
        """
        self.facts = facts
        self._new_id = new_id
        self._now = now
        self._partial = partial
        self._replays = replays
        self._named = named
        self._threads: dict[str | None, _Thread] = {}
        self._untold: dict[str, ev.ToolCall] = {}
        """Calls whose arguments are not known yet, by id."""
        self._calls: dict[str, Call] = {}
        """Written calls without a result, by id."""
        self._denials: list[JsonObject] = []
        self._messages = 0
        self._began = 0.0
        self._text = ""
        self._cost: float | None = None
        self._is_in_turn = False

    def lines(self, event: ev.AgentEvent) -> list[JsonObject]:
        """Return the lines of an event."""
        if event.session_id is not None:
            self.facts.session_id = self._named or event.session_id
        if getattr(event, "history", None):
            return []
        match event:
            case ev.SessionInfo():
                return self._info(event)
            case ev.SessionMode():
                return self._mode(event)
            case ev.AvailableCommands():
                self.facts.commands = [
                    {
                        "name": one.name,
                        "description": one.description or "",
                        "argumentHint": one.argument_hint or "",
                    }
                    for one in event.available_commands
                ]
                return []
            case ev.TurnStarted():
                self._is_in_turn, self._messages, self._text, self._denials = True, 0, "", []
                self._began = self._now()
                return [self.init()]
            case ev.MessageChunk():
                return self._chunk("text", event, event.text, is_whole=bool(event.replace))
            case ev.Reasoning():
                return self._chunk("thinking", event, event.reasoning_text, is_whole=bool(event.replace))
            case ev.ToolCall():
                return self._call(event)
            case ev.ToolUpdate():
                return self._update(event)
            case ev.PermissionResolved():
                self._resolved(event)
                return []
            case ev.UserMessage():
                return self._said(event)
            case ev.Complete():
                return self._complete(event)
            case _:
                return self._system(event)

    def asked(self, request: ev.PermissionRequest) -> tuple[Call, list[JsonObject]]:
        """Return the call that needs permission, and the lines to write before its request."""
        call = call_of(request.tool_name, request.normalized, request.tool_input)
        name = request.tool_call_id
        lines: list[JsonObject] = []
        if name is not None and name not in self._calls:
            self._untold.pop(name, None)
            lines = self._tool_use(self._thread(request.parent_tool_call_id), name, call)
        several = (request.action_details or {}).get("calls")
        return (call if several is None else Call(SEVERAL, {"calls": several})), lines

    def init(self) -> JsonObject:
        """Return `system/init` as of now."""
        facts = self.facts
        return self._line(
            "system",
            subtype="init",
            cwd=facts.cwd or "",
            tools=facts.tools,
            mcp_servers=facts.mcp_servers,
            model=facts.model or UNKNOWN_MODEL,
            permissionMode=facts.mode,
            slash_commands=[one["name"] for one in facts.commands],
            apiKeySource="none",
            claude_code_version=SPEAKS_AS,
            output_style="default",
            agents=facts.agents,
            skills=facts.skills,
            plugins=[],
            turnwire={"agent": facts.agent, "version": facts.version, "mode": facts.agent_mode},
        )

    def status(self) -> JsonObject:
        """Return the line that reports the permission mode."""
        return self._line("system", subtype="status", status=None, permissionMode=self.facts.mode)

    def failure(self, error: str) -> list[JsonObject]:
        """Return the result of a prompt that never reached the agent."""
        return [
            self._result(ev.CompleteData(outcome="error", is_error=True, errors=[error]), "error", [error])
        ]

    def _info(self, event: ev.SessionInfo) -> list[JsonObject]:
        facts = self.facts
        facts.model = event.model or facts.model
        facts.cwd = event.cwd or facts.cwd
        facts.version = event.version or facts.version
        facts.agent = event.agent_title or event.agent_name or facts.agent
        facts.agent_mode = event.permission_mode or facts.agent_mode
        facts.tools = event.tools or facts.tools
        facts.agents = event.agents or facts.agents
        facts.skills = event.skills or facts.skills
        if event.mcp_servers is not None:
            facts.mcp_servers = [{"name": one.name, "status": one.status or ""} for one in event.mcp_servers]
        if event.models is not None:
            facts.models = [
                {"value": one.id, "displayName": one.name or one.id, "description": one.description or ""}
                for one in event.models
            ]
        return []

    def _mode(self, event: ev.SessionMode) -> list[JsonObject]:
        facts = self.facts
        if event.available_modes is not None:
            facts.agent_modes = [one.id for one in event.available_modes]
        is_news = event.current_mode_id != facts.agent_mode and self._is_in_turn
        facts.agent_mode = event.current_mode_id
        if not is_news:
            return []
        facts.mode = event.current_mode_id
        return [self.status()]

    def _said(self, event: ev.UserMessage) -> list[JsonObject]:
        is_own = event.parent_tool_call_id is None
        if event.synthetic or (is_own and not self._replays):
            return []
        replay: JsonObject = {"isReplay": True} if is_own else {}
        return [
            self._line(
                "user",
                message={"role": "user", "content": [{"type": "text", "text": event.text}]},
                parent_tool_use_id=event.parent_tool_call_id,
                **({"uuid": event.uuid} if event.uuid else {}),
                **replay,
            )
        ]

    def _chunk(
        self, kind: str, event: ev.MessageChunk | ev.Reasoning, piece: str, *, is_whole: bool
    ) -> list[JsonObject]:
        if not piece:
            return []
        thread = self._thread(event.parent_tool_call_id)
        key = (kind, event.message_id, event.block_index)
        lines: list[JsonObject] = []
        if thread.key != key:
            lines += self._end_block(thread)
            lines += self._begin(thread, {"type": kind, kind: "", **_signed(kind)})
            thread.key = key
        if is_whole:
            thread.pieces = [piece]  # streamed text stays; the line that follows counts
            return lines
        thread.pieces.append(piece)
        return lines + self._stream(
            thread,
            {
                "type": "content_block_delta",
                "index": thread.blocks,
                "delta": {"type": f"{kind}_delta", kind: piece},
            },
        )

    def _call(self, event: ev.ToolCall) -> list[JsonObject]:
        call = call_of(event.tool_name, event.normalized)
        if not call.arguments:
            self._untold[event.tool_call_id] = event
            return []
        return self._tool_use(self._thread(event.parent_tool_call_id), event.tool_call_id, call)

    def _update(self, event: ev.ToolUpdate) -> list[JsonObject]:
        name, is_final = event.tool_call_id, event.tool_status != "running"
        lines: list[JsonObject] = []
        if (begun := self._untold.get(name)) is not None:
            call = call_of(event.tool_name or begun.tool_name, event.normalized or begun.normalized)
            if call.arguments or is_final:
                del self._untold[name]
                lines += self._tool_use(self._thread(begun.parent_tool_call_id), name, call)
        if not is_final or self._calls.pop(name, None) is None:
            return lines  # a result needs a call
        thread = self._thread(event.parent_tool_call_id)
        lines += self._end_message(thread, "tool_use")
        failed = event.tool_status == "error"
        block: JsonObject = {
            "type": "tool_result",
            "tool_use_id": name,
            "content": result_of(event.normalized, event.error),
            **({"is_error": True} if failed else {}),
        }
        structured = structured_of(event.normalized)
        lines.append(
            self._line(
                "user",
                message={"role": "user", "content": [block]},
                parent_tool_use_id=thread.parent,
                **({} if structured is None else {"tool_use_result": structured}),
            )
        )
        return lines

    def _resolved(self, event: ev.PermissionResolved) -> None:
        if event.behavior != "deny":
            return
        call = self._calls.get(event.tool_call_id or "", Call(event.tool_name or "unknown", {}))
        self._denials.append(
            {"tool_name": call.name, "tool_use_id": event.tool_call_id or "", "tool_input": call.arguments}
        )

    def _complete(self, event: ev.Complete) -> list[JsonObject]:
        data = event.data
        lines = [
            line for thread in list(self._threads.values()) for line in self._end_message(thread, "end_turn")
        ]
        self._threads.clear()
        self._untold.clear()
        self._calls.clear()
        self._is_in_turn = False
        errors = data.errors or ([event.error] if event.error else [])
        if data.outcome == "interrupted":
            text = {"role": "user", "content": [{"type": "text", "text": INTERRUPTED}]}
            lines.append(self._line("user", message=text, parent_tool_use_id=None))
        return [*lines, self._result(data, data.outcome or "completed", errors)]

    def _result(self, data: ev.CompleteData, outcome: str, errors: Sequence[str]) -> JsonObject:
        subtype = SUBTYPES.get(outcome, "success")
        used = {
            "input_tokens": data.input_tokens or 0,
            "output_tokens": data.output_tokens or 0,
            "cache_read_input_tokens": data.cache_read_input_tokens or 0,
            "cache_creation_input_tokens": data.cache_creation_input_tokens or 0,
        }
        told: JsonObject = {} if subtype != "success" else {"result": self._text}
        if data.cost_usd is not None:
            self._cost = (self._cost or 0.0) + data.cost_usd
        cost = data.total_cost_usd if data.total_cost_usd is not None else self._cost
        if cost is not None:
            told["total_cost_usd"] = cost
        if self.facts.model is not None:
            told["modelUsage"] = {self.facts.model: _camel(used, cost)}
        for name in ("api_error_status", "structured_output"):
            if (value := getattr(data, name)) is not None:
                told[name] = value
        if data.prompts:
            told["user_message_uuids"] = data.prompts
        took = data.duration_ms
        return self._line(
            "result",
            subtype=subtype,
            is_error=data.is_error or subtype != "success",
            duration_ms=round((self._now() - self._began) * 1000) if took is None else took,
            duration_api_ms=data.duration_api_ms or 0,
            num_turns=data.num_turns or self._messages,
            stop_reason=data.stop_reason,
            usage=used,
            permission_denials=data.permission_denials or self._denials,
            **({"errors": list(errors)} if errors else {}),
            **told,
        )

    def _system(self, event: ev.AgentEvent) -> list[JsonObject]:
        match event:
            case ev.ApiRetry():
                return [
                    self._line(
                        "system",
                        subtype="api_retry",
                        attempt=event.attempt,
                        max_retries=event.max_retries or 0,
                        retry_delay_ms=event.delay_ms or 0,
                        error_status=event.status,
                        error=event.error or "unknown",
                    )
                ]
            case ev.RateLimit():
                limit: JsonObject = {"status": event.status or "allowed_warning"}
                for name, value in (
                    ("resetsAt", event.resets_at),
                    ("rateLimitType", event.rate_limit_type),
                    ("utilization", event.utilization),
                ):
                    if value is not None:
                        limit[name] = value
                return [self._line("rate_limit_event", rate_limit_info=limit)]
            case ev.CompactBoundary():
                did = {"trigger": event.trigger or "auto", "pre_tokens": event.pre_tokens or 0}
                return [self._line("system", subtype="compact_boundary", compact_metadata=did)]
            case ev.AgentPlan():
                return [self._line("system", subtype="plan", plan=event.plan_content)]
            case ev.Notice(level="warning" | "error"):
                return [self._line("system", subtype="informational", content=event.text, level=event.level)]
            case _:
                return []

    def _thread(self, parent: str | None) -> _Thread:
        if parent not in self._threads:
            self._threads[parent] = _Thread(parent)
        return self._threads[parent]

    def _begin(self, thread: _Thread, block: JsonObject) -> list[JsonObject]:
        """Start a block, and a message if none is open."""
        lines: list[JsonObject] = []
        if not thread.message:
            thread.message, thread.blocks = f"msg_{self._new_id()}", 0
            self._messages += thread.parent is None
            lines += self._stream(thread, {"type": "message_start", "message": self._message(thread, [])})
        started = {"type": "content_block_start", "index": thread.blocks, "content_block": block}
        return lines + self._stream(thread, started)

    def _tool_use(self, thread: _Thread, name: str, call: Call) -> list[JsonObject]:
        self._calls[name] = call
        block: JsonObject = {"type": "tool_use", "id": name, "name": call.name}
        lines = self._end_block(thread)
        lines += self._begin(thread, {**block, "input": {}})
        written = msgspec.json.encode(call.arguments).decode()
        delta = {"type": "input_json_delta", "partial_json": written}
        lines += self._stream(thread, {"type": "content_block_delta", "index": thread.blocks, "delta": delta})
        return lines + self._whole(thread, {**block, "input": call.arguments})

    def _end_block(self, thread: _Thread) -> list[JsonObject]:
        if thread.key is None:
            return []
        kind, text = thread.key[0], "".join(thread.pieces)
        thread.key, thread.pieces = None, []
        if kind == "text" and thread.parent is None:
            self._text = text
        return self._whole(thread, {"type": kind, kind: text, **_signed(kind)})

    def _whole(self, thread: _Thread, block: JsonObject) -> list[JsonObject]:
        line = self._line(
            "assistant", message=self._message(thread, [block]), parent_tool_use_id=thread.parent
        )
        stopped = self._stream(thread, {"type": "content_block_stop", "index": thread.blocks})
        thread.blocks += 1
        return [line, *stopped]

    def _end_message(self, thread: _Thread, stop_reason: str) -> list[JsonObject]:
        lines = self._end_block(thread)
        if not thread.message:
            return lines
        thread.message = ""
        delta = {"stop_reason": stop_reason, "stop_sequence": None}
        lines += self._stream(
            thread, {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 0}}
        )
        return lines + self._stream(thread, {"type": "message_stop"})

    def _message(self, thread: _Thread, content: list[Json]) -> JsonObject:
        return {
            "id": thread.message,
            "type": "message",
            "role": "assistant",
            "model": self.facts.model or UNKNOWN_MODEL,
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }

    def _stream(self, thread: _Thread, event: JsonObject) -> list[JsonObject]:
        if not self._partial or thread.parent is not None:
            return []
        return [self._line("stream_event", event=event, parent_tool_use_id=None)]

    def _line(self, kind: str, **fields: Json) -> JsonObject:
        return {"type": kind, "session_id": self.facts.session_id, "uuid": self._new_id(), **fields}


def _signed(kind: str) -> JsonObject:
    return {"signature": ""} if kind == "thinking" else {}


def _camel(used: dict[str, int], cost: float | None) -> JsonObject:
    return {
        "inputTokens": used["input_tokens"],
        "outputTokens": used["output_tokens"],
        "cacheReadInputTokens": used["cache_read_input_tokens"],
        "cacheCreationInputTokens": used["cache_creation_input_tokens"],
        "webSearchRequests": 0,
        "costUSD": cost or 0,
    }
