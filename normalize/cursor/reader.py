"""What the lines of `cursor-agent -p --output-format stream-json` tell (2026.08.11, from public descriptions of them).

A text comes whole. With --stream-partial-output it comes in pieces first: a piece has `timestamp_ms` and no `model_call_id`, and
whole texts follow that repeat them. The tool of a call is the one member of `tool_call` whose name ends in ToolCall.
"""

from collections.abc import Sequence

from turnwire.normalize.common.problems import problem
from turnwire.normalize.cursor import results
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads.fields import fields, flag, objects, parsed, text, whole
from turnwire.normalize.streams.observations import (
    Failure,
    Kind,
    Noticed,
    Observation,
    PlanShown,
    Prompt,
    SessionStarted,
    TextPiece,
    TextWhole,
    ToolCalled,
    TurnEnded,
    Usage,
)
from turnwire.normalize.streams.reader import OneWay
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

_SUFFIX = "ToolCall"
_KINDS: dict[str, Kind] = {
    "applyPatch": "edit",
    "delete": "delete",
    "edit": "edit",
    "fetch": "fetch",
    "glob": "search",
    "grep": "search",
    "ls": "search",
    "read": "read",
    "semSearch": "search",
    "shell": "execute",
    "webFetch": "fetch",
    "webSearch": "fetch",
    "write": "edit",
}
_TODO_STATUS = "TODO_STATUS_"
_MESSAGE_OVER = TextWhole("")
"""Says that what follows is another message."""
_THOUGHT_OVER = TextWhole("", is_thought=True)


class CursorReader(OneWay):
    """Reads one process."""

    def __init__(self) -> None:
        self._pieces = ""
        """Pieces of a text since the last whole one."""
        self._said: str | None = None
        """All texts of the turn, once one of them came in pieces."""
        self._called: set[str] = set()
        """Calls that run."""
        self._has_failed = False

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return what a line tells."""
        match value.get("type"), value.get("subtype"):
            case "system", "init":
                return [
                    SessionStarted(
                        id=text(value, "session_id"),
                        model=text(value, "model"),
                        cwd=text(value, "cwd"),
                        mode=text(value, "permissionMode"),
                        agent="cursor-agent",
                    )
                ]
            case "system", str() as kind:
                return [Noticed(kind=kind, text=text(value, "message", "text") or kind, details=value)]
            case "user", _:
                return [Prompt(_words(value))]
            case "assistant", _:
                return self._text(value)
            case "thinking", "delta":
                return [TextPiece(text(value, "text") or "", is_thought=True)]
            case "thinking", "completed":
                return [_THOUGHT_OVER]
            case "tool_call", "started":
                call = _call(value)
                self._called.add(call.id)
                return [call]
            case "tool_call", "completed":
                return self._tool_ended(value)
            case "interaction_query", _:
                return _asked(value)
            case "error", _:
                self._has_failed = True
                told = problem(RpcError(message=text(value, "message", "error") or ""))
                return [Failure(message=told.message, status=told.status, code=told.code)]
            case "result", _:
                return self._result(value)
            case _:
                return None

    def ended(self, end: Ended) -> Sequence[Observation]:  # noqa: ARG002 - however it ends
        """Return that the turn failed, where an error was told and no result."""
        return [TurnEnded(outcome="error")] if self._has_failed else []

    def _text(self, value: JsonObject) -> Sequence[Observation]:
        words = _words(value)
        if "timestamp_ms" in value and "model_call_id" not in value:
            self._pieces += words
            self._said = (self._said or "") + words
            return [TextPiece(words)]
        pieces, self._pieces = self._pieces, ""
        if self._said is None:
            return [TextWhole(words)]
        if pieces and words.startswith(pieces):
            rest = words[len(pieces) :]
            self._said += rest
            return [TextPiece(rest), _MESSAGE_OVER]
        if words.strip() and self._said.strip().endswith(words.strip()):
            return [_MESSAGE_OVER]
        self._said += words
        return [TextWhole(words)]

    def _tool_ended(self, value: JsonObject) -> Sequence[Observation]:
        call = _call(value)
        ended = results.ended(call, _tool(value)[1].get("result"))
        if call.id in self._called:
            self._called.discard(call.id)
            return [ended]
        return [call, ended]

    def _result(self, value: JsonObject) -> Sequence[Observation]:
        self.__init__()  # type: ignore[misc]  # another turn begins
        told: list[Observation] = []
        usage = fields(value.get("usage"))
        if usage:
            told.append(
                Usage(
                    of="turn",
                    sent=whole(usage, "inputTokens") or 0,
                    received=whole(usage, "outputTokens") or 0,
                    cache_read=whole(usage, "cacheReadTokens"),
                    cache_written=whole(usage, "cacheWriteTokens"),
                )
            )
        duration, of_api = whole(value, "duration_ms"), whole(value, "duration_api_ms")
        kind = text(value, "subtype") or ""
        if not flag(value, "is_error") and not kind.startswith("error"):
            return [*told, TurnEnded(duration_ms=duration, duration_api_ms=of_api)]
        reason = problem(RpcError(message=text(value, "error", "result") or kind))
        ended = TurnEnded(
            outcome="max_turns" if kind == "error_max_turns" else "error",
            message=reason.message,
            status=reason.status,
            code=reason.code,
            duration_ms=duration,
            duration_api_ms=of_api,
        )
        return [*told, ended]


def _words(value: JsonObject) -> str:
    blocks = objects(fields(value.get("message")), "content")
    return "".join(text(block, "text") or "" for block in blocks)


def _tool(value: JsonObject) -> tuple[str, JsonObject]:
    """Return the name of a call's tool, and what is told of the call."""
    told = fields(value.get("tool_call"))
    named = next(
        (name for name, body in told.items() if name.endswith(_SUFFIX) and isinstance(body, dict)), None
    )
    if named is not None:
        return named.removesuffix(_SUFFIX), fields(told[named])
    function = fields(told.get("function"))
    given = function.get("arguments")
    arguments = parsed(given, given) if isinstance(given, str) else given
    return text(function, "name") or "tool", {**told, "args": arguments}


def _call(value: JsonObject) -> ToolCalled:
    name, body = _tool(value)
    arguments = body.get("args")
    known = fields(arguments)
    call = text(value, "call_id") or text(fields(value.get("tool_call")), "toolCallId") or ""
    if name == "mcp":
        server = text(known, "serverIdentifier", "providerIdentifier") or ""
        tool = text(known, "toolName", "name") or ""
        return ToolCalled(
            id=call, name=text(known, "name") or tool, arguments=known.get("args"), mcp=(server, tool)
        )
    if name == "write" and (written := text(known, "fileText")) is not None:
        arguments = {**known, "content": written}
    elif (todos := objects(known, "todos")) or name == "updateTodos":
        arguments = {**known, "todos": [_todo(todo) for todo in todos]}
    return ToolCalled(
        id=call,
        name=name,
        arguments=arguments,
        kind=_KINDS.get(name),
        work_dir=text(known, "workingDirectory"),
    )


def _todo(told: JsonObject) -> JsonObject:
    status = text(told, "status") or "pending"
    return {**told, "status": status.removeprefix(_TODO_STATUS).lower()}


def _asked(value: JsonObject) -> Sequence[Observation]:
    """Return a plan that is shown. The agent answers all such questions itself; of others the call tells."""
    asked = fields(fields(value.get("query")).get("createPlanRequestQuery"))
    plan = text(fields(asked.get("args")), "plan")
    return [] if plan is None else [PlanShown(text=plan)]
