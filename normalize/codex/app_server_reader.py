"""Lines of `codex app-server` (0.169.0): JSON-RPC without the member `jsonrpc`, in both directions.

Both sides count their requests from 0, so a line is a reply only if it has no method. A subagent is a thread of its own on the
same stream; its items belong to the call that started it. New versions add methods. A method that is not in the tables
(methods.py) is unknown. A turn begins when a prompt named by the client is sent, or else when the server reports it.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from turnwire.normalize.codex import approvals, items
from turnwire.normalize.codex.account import Limits, hook
from turnwire.normalize.codex.models import Models
from turnwire.normalize.codex.words import failure
from turnwire.normalize.events import CompactBoundary
from turnwire.normalize.payloads.fields import fields, flag, objects, text, texts, whole
from turnwire.normalize.payloads.work import TodoItem
from turnwire.normalize.streams.observations import (
    Answered,
    ContextUsed,
    Event,
    Failure,
    Noticed,
    Observation,
    PlanShown,
    Prompt,
    Retracted,
    Retry,
    SessionStarted,
    TextPiece,
    ToolOutput,
    TurnEnded,
    TurnStarted,
    Usage,
)
from turnwire.normalize.streams.reader import OneWay
from turnwire.normalize.streams.told import IDLE
from turnwire.protocol.codex import methods
from turnwire.protocol.json_values import Json, JsonObject

_RECONNECTING = re.compile(r"\AReconnecting\.\.\. (\d{1,4})/(\d{1,4})")
_STEPS = {"inProgress": "in_progress", "completed": "completed"}
_CODES = {
    "badRequest": "invalid_request",
    "internalServerError": "server_error",
    "serverOverloaded": "overloaded",
    "unauthorized": "authentication_failed",
    "usageLimitExceeded": "rate_limit",
}


class AppServerReader(OneWay):
    """Reads both sides of one process."""

    def __init__(self) -> None:
        self._thread: str | None = None
        self._children: dict[str, str] = {}
        """Threads of subagents, by the call that started each."""
        self._diff = ""
        """What the open turn has changed so far, as git tells it."""
        self._asked: dict[Json, str] = {}
        """Methods of the client's requests that have no reply yet."""
        self._runs = False
        """Whether a turn of the conversation is open."""
        self._has_failed = False
        """Whether an error was reported in the open turn."""
        self._is_opened = False
        """True if a sent prompt opened the turn and the server has not reported its beginning yet."""
        self._told: set[str] = set()
        """Client names of prompts that were published when they were sent. The server repeats each."""
        self._waiting: dict[Json, str] = {}
        """Methods of the server's requests that have no answer yet."""
        self._open: dict[str, str] = {}
        """Items that have begun and not ended: their types, by their ids."""
        self._left: set[str] = set()
        """Items that were open when their turn ended. Their ends come later, outside any turn."""
        self._patches: dict[str, list[JsonObject]] = {}
        """Changes of patches that have begun and not ended: a permission request does not repeat them."""
        self._mcp: dict[tuple[str, str], str] = {}
        """Open calls of MCP servers, by server and tool: a permission request does not name its call."""
        self._spoken: str | None = None
        """Id of the message that is being written."""
        self._totals: dict[str, int] = {}
        """Tokens of each thread so far."""
        self._models = Models()
        self._limits = Limits()
        self._notifications: Mapping[str, Callable[[JsonObject], Sequence[Observation] | None]] = {
            "account/rateLimits/updated": self._limits.updated,
            "configWarning": self._warned,
            "deprecationNotice": self._warned,
            "error": self._failed,
            "guardianWarning": self._warned,
            "hook/completed": lambda told: [hook(told, "finished", parent=self._parent(told))],
            "hook/started": lambda told: [hook(told, "started", parent=self._parent(told))],
            "item/agentMessage/delta": self._message_delta,
            "item/commandExecution/outputDelta": self._output_delta,
            "item/completed": self._item_completed,
            "item/fileChange/patchUpdated": self._patch_updated,
            "item/reasoning/summaryTextDelta": self._summary_delta,
            "item/reasoning/textDelta": self._reasoning_delta,
            "item/started": self._item_started,
            "mcpServer/startupStatus/updated": self._server_started,
            "model/rerouted": self._rerouted,
            "serverRequest/resolved": self._resolved,
            "thread/settings/updated": self._settings_updated,
            "thread/started": self._thread_started,
            "thread/tokenUsage/updated": self._tokens,
            "turn/completed": self._turn_completed,
            "turn/diff/updated": self._diff_updated,
            "turn/plan/updated": self._plan_updated,
            "turn/started": self._turn_started,
            "warning": self._warned,
        }
        """Method of a notification -> its observations."""

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return the observations in a line of the server."""
        method = text(value, "method")
        if method is None:
            return self._replied(value)
        told = fields(value.get("params"))
        if "id" in value:
            return self._requested(method, value["id"], told)
        if method in methods.QUIET:
            return []
        tell = self._notifications.get(method)
        return None if tell is None else tell(told)

    def sent(self, value: JsonObject) -> Sequence[Observation]:
        """Return the observations in a line of the client: answers, and a named prompt. Other requests become visible by what
        follows.
        """
        method, name = text(value, "method"), value.get("id")
        if method is not None:
            if isinstance(name, int | str):
                self._asked[name] = method
            if method == IDLE:
                return self._ended_by_idle(fields(value.get("params")))
            return self._said(fields(value.get("params"))) if method == methods.TURN_START else []
        if not isinstance(name, int | str) or name not in self._waiting:
            return []
        return [approvals.answer(name, self._waiting.pop(name), value)]

    def _said(self, told: JsonObject) -> Sequence[Observation]:
        """A prompt is sent. It begins a turn if none is open. Otherwise the server reports when it joins the open turn."""
        name = text(told, "clientUserMessageId")
        if name is None or self._runs or not self._is_main(told):
            return []
        self._runs = self._is_opened = True
        self._told.add(name)
        return [_prompt({"content": told.get("input"), "clientId": name})]

    # Replies and requests

    def _replied(self, value: JsonObject) -> Sequence[Observation] | None:
        if "id" not in value or not ("result" in value or "error" in value):
            return None
        name = value["id"]
        method = self._asked.pop(name, None) if isinstance(name, int | str) else None
        if "error" in value:
            error = fields(value["error"])
            words = text(error, "message") or "The server refused a request without a word."
            if method == methods.TURN_START and self._is_opened:
                return self._not_begun(words)
            return [Noticed(kind="request_failed", level="error", text=f"{method or 'request'}: {words}")]
        result = fields(value["result"])
        if "data" in result:
            return self._models.listed(objects(result, "data"))
        thread = fields(result.get("thread"))
        if text(thread, "id") is None or "cwd" not in result:
            return []
        resumed = method in (methods.THREAD_RESUME, methods.THREAD_FORK) or bool(objects(thread, "turns"))
        entered = self._entered(thread, model=text(result, "model"), resumed=resumed)
        return [*entered, *self._models.uses(text(result, "model"), text(result, "reasoningEffort"))]

    def _entered(self, thread: JsonObject, *, model: str | None, resumed: bool) -> Sequence[Observation]:
        self._thread = text(thread, "id")
        return [
            SessionStarted(
                id=self._thread,
                model=model or text(thread, "model"),
                cwd=text(thread, "cwd"),
                version=text(thread, "cliVersion"),
                agent="codex",
                resumed=resumed,
            )
        ]

    def _not_begun(self, words: str) -> Sequence[Observation]:
        """The server refuses the prompt that began the open turn."""
        self._runs = self._is_opened = False
        self._told.clear()
        failed = failure(words)
        return [TurnEnded(outcome="error", message=words, status=failed.status, code=failed.code)]

    def _requested(self, method: str, name: Json, told: JsonObject) -> Sequence[Observation] | None:
        if method in methods.QUIET_REQUESTS:
            return []
        server = text(told, "serverName") or ""
        call = self._mcp.get((server, text(fields(told.get("_meta")), "tool_name") or ""))
        changes = self._patches.get(text(told, "itemId") or "", [])
        asked = approvals.request(
            name, method, told, mcp_call=call, changes=changes, parent=self._parent(told)
        )
        if asked is None or not isinstance(name, int | str):
            return None
        self._waiting[name] = method
        return [asked]

    # Threads

    def _is_main(self, told: JsonObject) -> bool:
        """Return whether parameters concern the main thread: the first thread that is named."""
        thread = text(told, "threadId")
        if self._thread is None:
            self._thread = thread
        return thread is None or thread == self._thread

    def _parent(self, told: JsonObject) -> str | None:
        """Return the call whose subagent the parameters concern."""
        return None if self._is_main(told) else self._children.get(text(told, "threadId") or "")

    # Notifications

    def _thread_started(self, told: JsonObject) -> Sequence[Observation]:
        thread = fields(told.get("thread"))
        name = text(thread, "id")
        if name is None or name == self._thread or text(thread, "parentThreadId") is not None:
            return []
        return self._entered(thread, model=None, resumed=bool(objects(thread, "turns")))

    def _turn_started(self, told: JsonObject) -> Sequence[Observation]:
        if not self._is_main(told):
            return []
        is_known, self._is_opened, self._runs = self._is_opened, False, True
        self._has_failed = False
        return [] if is_known else [TurnStarted()]

    def _turn_completed(self, told: JsonObject) -> Sequence[Observation]:
        self._spoken = None
        if not self._is_main(told):
            return []
        self._runs = self._is_opened = self._has_failed = False
        self._left.update(self._open)
        for forgotten in (self._open, self._patches, self._mcp, self._told):
            forgotten.clear()
        turn = fields(told.get("turn"))
        outcome = turn.get("status")
        error = fields(turn.get("error"))
        failed = _failure(error) if error else None
        diff, self._diff = self._diff, ""
        return [
            *([_changes(diff)] if diff else []),
            TurnEnded(
                outcome="interrupted"
                if outcome == "interrupted"
                else "error"
                if outcome == "failed"
                else "completed",
                message=None if failed is None else failed.message,
                status=None if failed is None else failed.status,
                code=None if failed is None else failed.code,
                duration_ms=whole(turn, "durationMs"),
            ),
        ]

    def _ended_by_idle(self, told: JsonObject) -> Sequence[Observation]:
        """End the open turn: turnwire notes that the thread is idle, and that the server did not report the end."""
        status = text(told, "status") or "idle"
        if not self._is_main(told) or not self._runs:
            return []
        failed = self._has_failed or status == "systemError"
        words = (
            f"Codex reports the status {status} and no end of the turn; turnwire has ended it after "
            f"{whole(told, 'silent_ms') or 0} ms."
        )
        error: JsonObject = {"message": words} if status == "systemError" and not self._has_failed else {}
        turn: JsonObject = {"status": "failed" if failed else "completed", "error": error}
        return [
            Noticed(kind="turn_end_missing", level="warning", text=words),
            *self._turn_completed({**told, "turn": turn}),
        ]

    def _diff_updated(self, told: JsonObject) -> Sequence[Observation]:
        """Keep the diff of the whole turn, which the server tells anew after each change."""
        if self._is_main(told):
            self._diff = text(told, "diff") or ""
        return []

    def _item_started(self, told: JsonObject) -> Sequence[Observation] | None:
        item = fields(told.get("item"))
        kind, name = text(item, "type") or "", text(item, "id") or ""
        self._open[name] = kind
        if kind == "userMessage":
            return self._prompted(told, item)
        if kind == "agentMessage":
            self._spoken = name if self._is_main(told) else self._spoken
            return []
        if kind == "fileChange":
            self._patches[name] = objects(item, "changes")
        if kind == "mcpToolCall":
            self._mcp[text(item, "server") or "", text(item, "tool") or ""] = name
        return items.started(kind, item, parent=self._parent(told))

    def _item_completed(self, told: JsonObject) -> Sequence[Observation] | None:
        item = fields(told.get("item"))
        kind, name = text(item, "type") or "", text(item, "id") or ""
        was_open = self._open.pop(name, None) is not None
        self._patches.pop(name, None)
        if name in self._left:
            self._left.discard(name)
            return []
        if kind == "userMessage":
            return [] if was_open else self._prompted(told, item)
        if kind == "hookPrompt":
            return [_hook_prompt(name, item)] if self._is_main(told) else []
        if kind == "contextCompaction":
            return [Event(lambda here: CompactBoundary(**here))] if self._is_main(told) else []
        if name == self._spoken:
            self._spoken = None
        if kind == "collabAgentToolCall" and item.get("tool") == "spawnAgent":
            self._children.update((one, name) for one in texts(item, "receiverThreadIds") or ())
        return items.completed(kind, item, parent=self._parent(told))

    def _prompted(self, told: JsonObject, item: JsonObject) -> Sequence[Observation]:
        name = text(item, "clientId")
        if name in self._told:
            self._told.discard(name)
            return []
        return [_prompt(item)] if self._is_main(told) else []

    def _message_delta(self, told: JsonObject) -> Sequence[Observation]:
        name = text(told, "itemId")
        if self._is_main(told):
            self._spoken = name
        return [TextPiece(text(told, "delta") or "", name, parent=self._parent(told))]

    def _summary_delta(self, told: JsonObject) -> Sequence[Observation]:
        return self._thought(told, items.summary_id(text(told, "itemId"), whole(told, "summaryIndex") or 0))

    def _reasoning_delta(self, told: JsonObject) -> Sequence[Observation]:
        return self._thought(told, items.content_id(text(told, "itemId"), whole(told, "contentIndex") or 0))

    def _thought(self, told: JsonObject, name: str) -> Sequence[Observation]:
        return [TextPiece(text(told, "delta") or "", name, is_thought=True, parent=self._parent(told))]

    def _output_delta(self, told: JsonObject) -> Sequence[Observation]:
        return [ToolOutput(text(told, "itemId") or "", text(told, "delta") or "")]

    def _patch_updated(self, told: JsonObject) -> Sequence[Observation]:
        name = text(told, "itemId") or ""
        self._patches[name] = objects(told, "changes")
        item: JsonObject = {"id": name, "changes": [*self._patches[name]]}
        return items.started("fileChange", item, parent=self._parent(told)) or []

    def _plan_updated(self, told: JsonObject) -> Sequence[Observation]:
        steps = [
            TodoItem(
                id=str(place),
                description=text(one, "step") or "",
                status=_STEPS.get(text(one, "status") or "", "pending"),
            )
            for place, one in enumerate(objects(told, "plan"), 1)
        ]
        return [PlanShown(items=steps, text=text(told, "explanation"), id=text(told, "turnId"))]

    def _tokens(self, told: JsonObject) -> Sequence[Observation]:
        """Report the usage of the model's last call once. A resumed thread repeats the earlier one."""
        usage = fields(told.get("tokenUsage"))
        total, last = fields(usage.get("total")), fields(usage.get("last"))
        is_main, thread = self._is_main(told), text(told, "threadId") or ""
        count, size = whole(total, "totalTokens") or 0, whole(last, "totalTokens") or 0
        before, self._totals[thread] = self._totals.get(thread), count
        known = count - size if before is None else before
        found: list[Observation] = []
        if count > known and (before is not None or count == size or self._open):
            found.append(_usage("call", last))
        if is_main:
            found.append(_usage("thread", total))
            window = whole(usage, "modelContextWindow")
            if window is not None and size:
                found.append(ContextUsed(used=size, size=window))
        return found

    def _failed(self, told: JsonObject) -> Sequence[Observation]:
        error = fields(told.get("error"))
        failed = _failure(error)
        if not self._is_main(told):
            return [Noticed(kind="subagent_error", level="warning", text=failed.message)]
        if not flag(told, "willRetry"):
            self._has_failed = True
            return [failed]
        again = _RECONNECTING.match(text(error, "message") or "")
        retry = Retry(
            message=text(error, "additionalDetails") or failed.message,
            status=failed.status,
            attempt=1 if again is None else int(again[1]),
            most=None if again is None else int(again[2]),
        )
        half, self._spoken = self._spoken, None
        return [retry] if half is None else [Retracted((half,)), retry]

    def _resolved(self, told: JsonObject) -> Sequence[Observation]:
        """A request is over. If its answer was not seen, the call's outcome reveals it; a question has no outcome."""
        name = told.get("requestId")
        method = self._waiting.pop(name, None) if isinstance(name, int | str) else None
        if method is None or method.endswith("/requestApproval"):
            return []
        return [Answered(id=str(name), behavior="answer")]

    def _warned(self, told: JsonObject) -> Sequence[Observation]:
        words = text(told, "message") or text(told, "summary") or "warning"
        return [Noticed(kind="warning", level="warning", text=words)]

    def _server_started(self, told: JsonObject) -> Sequence[Observation]:
        if told.get("status") != "failed":
            return []
        reason = text(told, "error") or "it does not say why"
        return [
            Noticed(
                kind="mcp_server_failed",
                level="warning",
                text=f"The MCP server {text(told, 'name') or '?'} does not start: {reason}",
            )
        ]

    def _rerouted(self, told: JsonObject) -> Sequence[Observation]:
        return [SessionStarted(model=text(told, "toModel"))]

    def _settings_updated(self, told: JsonObject) -> Sequence[Observation]:
        if not self._is_main(told):
            return []
        settings = fields(told.get("threadSettings"))
        mode = text(fields(settings.get("collaborationMode")), "mode")
        model = text(settings, "model")
        return [SessionStarted(model=model, mode=mode), *self._models.uses(model, text(settings, "effort"))]


def _hook_prompt(name: str, item: JsonObject) -> Prompt:
    """Return what a hook tells the model, for example to go on when the turn was about to end."""
    told = (text(fragment, "text") for fragment in objects(item, "fragments"))
    return Prompt("\n".join(filter(None, told)), id=name, synthetic=True)


def _changes(diff: str) -> Noticed:
    """Return the notice of what a turn has changed; its details have the diff."""
    lines = diff.splitlines()
    files = sum(line.startswith("diff --git ") for line in lines)
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    words = (
        f"The turn changed {files} file{'' if files == 1 else 's'}: {added} lines added, {removed} removed"
    )
    return Noticed(kind="turn_diff", text=words, details={"diff": diff})


def _prompt(item: JsonObject) -> Prompt:
    parts = objects(item, "content")
    words = [text(one, "text") or "" for one in parts if one.get("type") == "text"]
    return Prompt("\n".join(words), text(item, "clientId") or text(item, "id"))


def _usage(of: str, told: JsonObject) -> Usage:
    cached, written = whole(told, "cachedInputTokens") or 0, whole(told, "cacheWriteInputTokens") or 0
    return Usage(
        of="call" if of == "call" else "thread",
        sent=max((whole(told, "inputTokens") or 0) - cached - written, 0),
        received=whole(told, "outputTokens") or 0,
        cache_read=cached,
        cache_written=written,
    )


def _failure(error: JsonObject) -> Failure:
    told = failure(text(error, "message") or "")
    info = error.get("codexErrorInfo")
    if isinstance(info, str):
        return Failure(message=told.message, status=told.status, code=_CODES.get(info, told.code))
    status = next((whole(fields(one), "httpStatusCode") for one in fields(info).values()), None)
    return Failure(message=told.message, status=status or told.status, code=told.code)
