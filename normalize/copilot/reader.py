"""Lines of `copilot -p PROMPT --output-format json` (1.0.102).

The conversation has no id before the last line, and an interrupted run has no last line. A thought arrives three times: in
pieces, in the
message and whole. While a command runs, standard output and standard error are separate. There are no tokens.
"""

from collections.abc import Sequence

from turnwire.normalize.common.problems import Problem, problem
from turnwire.normalize.copilot import tools
from turnwire.normalize.events import CompactBoundary
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.normalize.streams.observations import (
    ContextUsed,
    Event,
    Failure,
    Noticed,
    Observation,
    Prompt,
    Retracted,
    Retry,
    SessionStarted,
    TextPiece,
    TextWhole,
    ToolOutput,
    TurnEnded,
    Usage,
)
from turnwire.normalize.streams.reader import OneWay
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

_QUIET = frozenset(
    {
        "agent.interrupted",
        "assistant.intent",
        "assistant.message_start",
        "assistant.streaming_delta",
        "assistant.tool_call_delta",
        "assistant.turn_end",
        "hook.end",
        "hook.start",
        "model.call_final_result",
        "pending_messages.modified",
        "permission.completed",
        "permission.requested",
        "skill.invoked",
        "subagent.completed",
        "subagent.deselected",
        "subagent.failed",
        "subagent.selected",
        "subagent.started",
        "system.message",
        "system.notification",
        "tool.execution_progress",
        "tool.user_requested",
    }
)
_QUIET_NOTES = frozenset({"file_created", "model_retry"})
"""Notes that repeat other lines."""


class CopilotReader(OneWay):
    """Reads one process."""

    def __init__(self) -> None:
        self._rounds = 0
        self._retries = 0
        self._problem: Problem | None = None
        """Why the newest call of the model failed, as long as it is not tried again."""
        self._answer: list[str] = []
        """Texts of the call of the model that runs."""
        self._thinks = False
        """Pieces of a thought have arrived that is not complete yet."""
        self._thought: str | None = None
        """A thought that was published with its message."""
        self._shown = tools.Shown()
        self._has_failed = self._is_aborted = self._is_idle = False

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return the observations in a line."""
        kind, data = text(value, "type") or "", fields(value.get("data"))
        space, _, name = kind.partition(".")
        match space:
            case "result":
                return self._result(value)
            case "user" if name == "message":
                return self._prompt(data)
            case "abort":
                self._is_aborted = True
                return []
            case "assistant":
                found = self._assistant(name, data)
            case "model":
                found = self._model(name, data)
            case "session":
                found = self._session(name, data)
            case "tool":
                found = self._tool(name, data)
            case _:
                found = None
        return [] if found is None and kind in _QUIET else found

    def ended(self, end: Ended) -> Sequence[Observation]:
        """Return how the turn has ended, where its last line is missing."""
        if self._is_aborted:
            return [TurnEnded(outcome="interrupted")]
        if self._is_idle and end.exit_code in (None, 0, 1):
            return [TurnEnded(outcome="error" if self._has_failed else "completed")]
        return []

    def _prompt(self, data: JsonObject) -> Sequence[Observation]:
        self._has_failed = self._is_aborted = self._is_idle = False
        return [
            Prompt(
                text(data, "content") or "",
                text(data, "messageId"),
                synthetic=data.get("source") not in (None, "user"),
            )
        ]

    def _assistant(self, name: str, data: JsonObject) -> Sequence[Observation] | None:
        parent = text(data, "parentToolCallId")
        match name:
            case "turn_start":
                self._rounds += parent is None
                return []
            case "message_delta":
                message = text(data, "messageId") or ""
                self._answers(message)
                return [TextPiece(text(data, "deltaContent") or "", message, parent=parent)]
            case "message":
                return self._message(data, parent)
            case "reasoning_delta":
                self._thinks = True
                thought = text(data, "reasoningId") or ""
                self._answers(thought)
                return [TextPiece(text(data, "deltaContent") or "", thought, is_thought=True, parent=parent)]
            case "reasoning":
                return self._reasoning(data, parent)
            case "turn_retry":
                return self._retry(data)
            case "usage":
                return [_usage(data)]
            case "idle":
                self._is_idle = True
                self._is_aborted = self._is_aborted or data.get("aborted") is True
                return [TurnEnded(outcome="interrupted")] if self._is_aborted else []
            case _:
                return None

    def _answers(self, message: str) -> None:
        if message not in self._answer:
            self._answer.append(message)

    def _message(self, data: JsonObject, parent: str | None) -> Sequence[Observation]:
        words, message = text(data, "content") or "", text(data, "messageId") or ""
        thought = text(data, "reasoningText")
        told: list[Observation] = []
        if thought and not self._thinks:
            self._thought = thought
            told.append(TextWhole(thought, f"{message}:reasoning", is_thought=True, parent=parent))
        if words:
            self._answers(message)
            told.append(TextWhole(words, message, parent=parent))
        return told

    def _reasoning(self, data: JsonObject, parent: str | None) -> Sequence[Observation]:
        words, told = text(data, "content") or "", self._thought
        self._thinks, self._thought = False, None
        if not words or words == told:
            return []
        return [TextWhole(words, text(data, "reasoningId") or "", is_thought=True, parent=parent)]

    def _model(self, name: str, data: JsonObject) -> Sequence[Observation] | None:
        match name:
            case "call_start":
                half = self._half()
                self._problem = None
                return half
            case "call_failure":
                words = text(data, "errorMessage", "failureKind") or ""
                self._problem = problem(RpcError(code=whole(data, "statusCode"), message=words))
                self._retries = (whole(data, "retryAttempt") or 0) + 1
                return []
            case "call_finished":
                if data.get("outcome") == "success":
                    self._answer = []
                    self._problem = None
                return []
            case _:
                return None

    def _retry(self, data: JsonObject) -> Sequence[Observation]:
        failed = self._problem or Problem(text(data, "reason") or "")
        half = self._half()
        self._problem = None
        return [*half, Retry(message=failed.message, status=failed.status, attempt=max(self._retries, 1))]

    def _half(self) -> Sequence[Observation]:
        """Retract the text of a model's call that failed and is repeated."""
        half, self._answer = self._answer, []
        return [Retracted(tuple(half))] if half and self._problem is not None else []

    def _session(self, name: str, data: JsonObject) -> Sequence[Observation]:
        words = text(data, "message") or ""
        match name:
            case "start" | "resume" | "tools_updated" | "model_change":
                return [
                    SessionStarted(
                        id=text(data, "sessionId"),
                        model=text(data, "model", "selectedModel", "newModel"),
                        cwd=text(fields(data.get("context")), "cwd"),
                        version=text(data, "copilotVersion"),
                        agent="copilot",
                        resumed=name == "resume",
                    )
                ]
            case "mcp_servers_loaded":
                failed = (one for one in objects(data, "servers") if one.get("status") == "failed")
                return [
                    Noticed(
                        kind="mcp_server_failed",
                        text=f"The MCP server {text(one, 'name') or ''} does not start: "
                        + (text(one, "error") or "it does not say why"),
                        level="warning",
                    )
                    for one in failed
                ]
            case "error":
                self._has_failed = True
                told = problem(RpcError(code=whole(data, "statusCode"), message=words))
                return [Failure(message=words or told.message, status=told.status, code=told.code)]
            case "info" | "warning" if words and data.get("infoType") not in _QUIET_NOTES:
                return [Noticed(kind="info", text=words, level="warning" if name == "warning" else "info")]
            case "usage_info":
                return _context(whole(data, "currentTokens"), whole(data, "tokenLimit"))
            case "compaction_complete":
                return [Event(lambda here: CompactBoundary(**here))]
            case _:
                return []

    def _tool(self, name: str, data: JsonObject) -> Sequence[Observation] | None:
        call = text(data, "toolCallId") or ""
        match name:
            case "execution_start":
                return [tools.called(data)]
            case "shell_output":
                self._shown.add(call, text(data, "stream") or "", text(data, "text") or "")
                return []
            case "execution_partial_result":
                return [ToolOutput(call, text(data, "partialOutput") or "", is_all=True)]
            case "execution_complete":
                metrics = fields(fields(data.get("toolTelemetry")).get("metrics"))
                context = _context(
                    whole(metrics, "context_current_tokens"), whole(metrics, "context_token_limit")
                )
                return [tools.ended(data, self._shown.take(call)), *context]
            case _:
                return None

    def _result(self, value: JsonObject) -> Sequence[Observation]:
        usage = fields(value.get("usage"))
        failed = value.get("exitCode") != 0
        ended = TurnEnded(
            outcome="interrupted" if self._is_aborted else "error" if failed else "completed",
            duration_ms=whole(usage, "sessionDurationMs"),
            duration_api_ms=whole(usage, "totalApiDurationMs"),
            num_turns=self._rounds or None,
        )
        self._rounds = 0
        return [SessionStarted(id=text(value, "sessionId"), agent="copilot"), ended]


def _usage(data: JsonObject) -> Usage:
    read, written = whole(data, "cacheReadTokens"), whole(data, "cacheWriteTokens")
    return Usage(
        of="call",
        sent=max((whole(data, "inputTokens") or 0) - (read or 0) - (written or 0), 0),
        received=whole(data, "outputTokens") or 0,
        cache_read=read,
        cache_written=written,
    )


def _context(used: int | None, size: int | None) -> Sequence[Observation]:
    return [ContextUsed(used=used, size=size)] if used is not None and size is not None else []
