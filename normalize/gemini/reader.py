"""What the lines of `gemini --output-format stream-json` tell (0.61.0).

The wire has no ids of messages, no thoughts, no exit codes and no diffs: an edit tells the passages among its arguments.
"""

import re
from collections.abc import Sequence

from turnwire.normalize.common.problems import Problem, problem
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads.fields import fields, text, whole
from turnwire.normalize.streams.observations import (
    Failure,
    Kind,
    Noticed,
    Observation,
    Prompt,
    SessionStarted,
    TextPiece,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    Usage,
)
from turnwire.normalize.streams.reader import OneWay
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

_KINDS: dict[str, Kind] = {
    "run_shell_command": "execute",
    "read_file": "read",
    "read_many_files": "read",
    "write_file": "edit",
    "replace": "edit",
    "glob": "search",
    "grep_search": "search",
    "search_file_content": "search",
    "list_directory": "search",
    "google_web_search": "fetch",
    "web_fetch": "fetch",
}
_MCP = re.compile(r"mcp_([^_]{1,100})_(.{1,200})", re.DOTALL)
"""The name of an MCP server's tool: a server whose name has an underscore is cut there."""
_WRAPPED = re.compile(r"\A\[API Error: (.*)\]\Z", re.DOTALL)


class GeminiReader(OneWay):
    """Reads one process."""

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return what a line tells."""
        match value.get("type"):
            case "init":
                return [
                    SessionStarted(id=text(value, "session_id"), model=text(value, "model"), agent="gemini")
                ]
            case "message":
                words = text(value, "content") or ""
                return [Prompt(words)] if value.get("role") == "user" else [TextPiece(words)]
            case "tool_use":
                return [_called(value)]
            case "tool_result":
                return [_ended(value)]
            case "error":
                return [_failure(value)]
            case "result":
                return _result(value)
            case _:
                return None

    def ended(self, end: Ended) -> Sequence[Observation]:
        """Return that the turn was interrupted, where the process ends well without a result: only then does it."""
        return [TurnEnded(outcome="interrupted")] if end.exit_code == 0 else []


def _called(value: JsonObject) -> ToolCalled:
    name = text(value, "tool_name") or ""
    arguments = value.get("parameters")
    served = _MCP.fullmatch(name)
    return ToolCalled(
        id=text(value, "tool_id") or "",
        name=name,
        arguments=arguments,
        kind=_KINDS.get(name),
        work_dir=text(fields(arguments), "dir_path") if name == "run_shell_command" else None,
        mcp=None if served is None else (served[1], served[2]),
    )


def _ended(value: JsonObject) -> ToolEnded:
    error = fields(value.get("error"))
    failed = value.get("status") == "error"
    return ToolEnded(
        id=text(value, "tool_id") or "",
        status="failed" if failed else "complete",
        output=text(value, "output"),
        error=text(error, "message"),
    )


def _failure(value: JsonObject) -> Failure | Noticed:
    told = _problem(text(value, "message") or "")
    if value.get("severity") == "warning":
        return Noticed(kind="error", text=told.message, level="warning")
    return Failure(message=told.message, status=told.status, code=told.code)


def _result(value: JsonObject) -> Sequence[Observation]:
    stats = fields(value.get("stats"))
    cached = whole(stats, "cached") or 0
    usage = Usage(
        of="turn",
        sent=max((whole(stats, "input_tokens") or 0) - cached, 0),
        received=whole(stats, "output_tokens") or 0,
        cache_read=cached,
    )
    duration = whole(stats, "duration_ms")
    if value.get("status") != "error":
        return [usage, TurnEnded(duration_ms=duration)]
    told = _problem(text(fields(value.get("error")), "message") or "")
    return [
        usage,
        TurnEnded(
            outcome="error",
            message=told.message,
            status=told.status,
            code=told.code,
            duration_ms=duration,
        ),
    ]


def _problem(words: str) -> Problem:
    """Return what an error says; one of the API is its answer as JSON text, in words of Gemini's own."""
    wrapped = _WRAPPED.match(words)
    return problem(RpcError(message=wrapped[1] if wrapped is not None else words))
