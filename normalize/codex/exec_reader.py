"""Lines of `codex exec --json` (0.169.0).

Texts arrive whole, commands with their output at the end, file changes without a diff. Each process numbers its items from the
start.
The wire never asks for permission, and an interrupted process leaves no last line.
"""

import re
from collections.abc import Sequence
from typing import Literal

from turnwire.normalize.codex.words import failure, unwrapped
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads.fields import fields, flag, objects, text, whole
from turnwire.normalize.payloads.work import TodoItem
from turnwire.normalize.streams.observations import (
    Change,
    Noticed,
    Observation,
    PlanShown,
    Retry,
    SessionStarted,
    TextWhole,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    TurnStarted,
    Usage,
)
from turnwire.normalize.streams.reader import OneWay
from turnwire.protocol.json_values import JsonObject

_RECONNECTING = re.compile(r"\AReconnecting\.\.\. (\d{1,4})/(\d{1,4})(?: \((.*)\))?\Z", re.DOTALL)


class CodexExecReader(OneWay):
    """Reads the processes of one thread."""

    def __init__(self) -> None:
        self._process = 0
        self._plans: dict[str, list[TodoItem]] = {}

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return the observations in a line."""
        match value.get("type"):
            case "thread.started":
                self._process += 1
                self._plans.clear()
                thread = text(value, "thread_id")
                return [SessionStarted(id=thread, agent="codex", resumed=self._process > 1)]
            case "turn.started":
                return [TurnStarted()]
            case "item.started" | "item.updated" | "item.completed" as kind:
                return self._item(fields(value.get("item")), is_over=kind == "item.completed")
            case "turn.completed":
                return [_usage(fields(value.get("usage"))), TurnEnded()]
            case "turn.failed":
                failed = failure(text(fields(value.get("error")), "message") or "")
                return [
                    TurnEnded(outcome="error", message=failed.message, status=failed.status, code=failed.code)
                ]
            case "error":
                return [_error(text(value, "message") or "")]
            case _:
                return None

    def ended(self, end: Ended) -> Sequence[Observation]:
        """Return an interrupted turn after SIGINT: Codex then exits with 1, and it would have reported a failure."""
        return [TurnEnded(outcome="interrupted")] if end.exit_code == 1 else []

    def _item(self, item: JsonObject, *, is_over: bool) -> Sequence[Observation] | None:
        own = text(item, "id") or ""
        item_id = own if self._process < 2 else f"{own}:{self._process}"
        match item.get("type"):
            case "agent_message":
                return [TextWhole(text(item, "text") or "", item_id)]
            case "reasoning":
                return [TextWhole(text(item, "text") or "", item_id, is_thought=True)]
            case "command_execution":
                return _command(item_id, item, is_over=is_over)
            case "file_change":
                return _file_change(item_id, item, is_over=is_over)
            case "mcp_tool_call":
                return _mcp(item_id, item, is_over=is_over)
            case "web_search":
                return _web_search(item_id, item, is_over=is_over)
            case "collab_tool_call":
                return _collaboration(item_id, item, is_over=is_over)
            case "todo_list":
                return self._plan(item_id, item)
            case "error":
                return [Noticed(kind="warning", text=text(item, "message") or "", level="warning")]
            case _:
                return None

    def _plan(self, item_id: str, item: JsonObject) -> Sequence[Observation]:
        """Return the plan if it has changed. Codex repeats it at the end of the turn."""
        items = [
            TodoItem(
                id=str(place),
                description=text(one, "text") or "",
                status="completed" if flag(one, "completed") else "pending",
            )
            for place, one in enumerate(objects(item, "items"), 1)
        ]
        if self._plans.get(item_id) == items:
            return []
        self._plans[item_id] = items
        return [PlanShown(items=items, id=item_id)]


def _error(words: str) -> Observation:
    again = _RECONNECTING.match(words)
    if again is None:
        return failure(words)
    failed = failure(again[3] or "The connection was lost.")
    return Retry(message=failed.message, status=failed.status, attempt=int(again[1]), most=int(again[2]))


def _usage(told: JsonObject) -> Usage:
    cached = whole(told, "cached_input_tokens") or 0
    written = whole(told, "cache_write_input_tokens") or 0
    return Usage(
        of="thread",
        sent=max((whole(told, "input_tokens") or 0) - cached - written, 0),
        received=whole(told, "output_tokens") or 0,
        cache_read=cached,
        cache_written=written,
    )


def _command(call: str, item: JsonObject, *, is_over: bool) -> Sequence[Observation]:
    command = unwrapped(text(item, "command"))
    called = ToolCalled(id=call, name="shell", arguments={"command": command}, kind="execute", title=command)
    if not is_over:
        return [called]
    code = whole(item, "exit_code")
    status = item.get("status")
    return [
        called,
        ToolEnded(
            id=call,
            status="denied" if status == "declined" else "failed" if status == "failed" else "complete",
            output=text(item, "aggregated_output"),
            exit_code=code,
        ),
    ]


def _file_change(call: str, item: JsonObject, *, is_over: bool) -> Sequence[Observation]:
    told = objects(item, "changes")
    changes = [Change(path=text(one, "path") or "", kind=_kind(one)) for one in told]
    title = ", ".join(change.path for change in changes)
    called = ToolCalled(id=call, name="apply_patch", kind="edit", title=title, changes=changes)
    if not is_over:
        return [called]
    failed = item.get("status") == "failed"
    return [called, ToolEnded(id=call, status="failed" if failed else "complete")]


def _kind(change: JsonObject) -> Literal["create", "edit", "delete"]:
    match change.get("kind"):
        case "add":
            return "create"
        case "delete":
            return "delete"
        case _:
            return "edit"


def _mcp(call: str, item: JsonObject, *, is_over: bool) -> Sequence[Observation]:
    server, tool = text(item, "server") or "", text(item, "tool") or ""
    called = ToolCalled(id=call, name=tool, arguments=item.get("arguments"), mcp=(server, tool))
    if not is_over:
        return [called]
    error = text(fields(item.get("error")), "message")
    failed = item.get("status") == "failed"
    return [
        called,
        ToolEnded(
            id=call,
            status="failed" if failed else "complete",
            output=fields(item.get("result")).get("content"),
            error=error,
        ),
    ]


def _web_search(call: str, item: JsonObject, *, is_over: bool) -> Sequence[Observation]:
    query = text(item, "query") or ""
    called = ToolCalled(id=call, name="web_search", arguments={"query": query}, kind="fetch", title=query)
    return [called, ToolEnded(id=call)] if is_over else [called]


def _collaboration(call: str, item: JsonObject, *, is_over: bool) -> Sequence[Observation]:
    arguments = {name: item[name] for name in ("prompt", "receiver_thread_ids") if name in item}
    called = ToolCalled(id=call, name=text(item, "tool") or "collaboration", arguments=arguments)
    if not is_over:
        return [called]
    failed = item.get("status") == "failed"
    return [
        called,
        ToolEnded(id=call, status="failed" if failed else "complete", output=item.get("agents_states")),
    ]
