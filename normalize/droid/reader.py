"""What the lines of `droid exec --output-format stream-json` tell (0.215.0).

Texts and thoughts come whole, a thought twice. The exit code of a command stands in its output, and the result of an edit is JSON
text with the lines of the change. A run that fails tells errors, and has no last line.
"""

import re
from collections.abc import Sequence

from turnwire.normalize.common.problems import problem
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads import diff
from turnwire.normalize.payloads.fields import fields, flag, objects, parsed, text, texts, whole
from turnwire.normalize.streams.observations import (
    Failure,
    Kind,
    Observation,
    Prompt,
    SessionStarted,
    TextWhole,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    Usage,
)
from turnwire.normalize.streams.reader import OneWay
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

KINDS: dict[str, Kind] = {
    "ApplyPatch": "edit",
    "Create": "edit",
    "Edit": "edit",
    "Execute": "execute",
    "FetchUrl": "fetch",
    "Glob": "search",
    "Grep": "search",
    "LS": "search",
    "MultiEdit": "edit",
    "Read": "read",
    "WebSearch": "fetch",
}
_EXITED = re.compile(r"\n{0,2}\[Process exited with code (-?\d{1,10})\]\s{0,10}\Z")
_FAILED = re.compile(r"\AError: Command failed \(exit code: -?\d{1,10}\)\n")
_NO_OUTPUT = "Command completed successfully"
_STATUS = re.compile(r"\A([45]\d\d) ")
_REFUSED = re.compile(r"(?i)insufficient permission|\b(?:rejected|declined|denied) by (?:the )?user")
_TODO = re.compile(r"(?m)^[ \t]{0,20}\d{1,9}\. \[(\w{1,20})\] (.*)$")
"""An entry of a list that is a text: `1. [in_progress] First`."""
_SIGNS = {"added": "+", "removed": "-", "unchanged": " "}


class DroidReader(OneWay):
    """Reads one process."""

    def __init__(self) -> None:
        self._has_answered = False
        """The assistant has said something in this turn."""
        self._has_failed = False

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return what a line tells."""
        match value.get("type"):
            case "system" if value.get("subtype") == "init":
                return [
                    SessionStarted(
                        id=text(value, "session_id"),
                        model=text(value, "model"),
                        cwd=text(value, "cwd"),
                        agent="droid",
                        tools=texts(value, "tools"),
                    )
                ]
            case "message":
                return self._message(value)
            case "reasoning":
                return [TextWhole(text(value, "text") or "", text(value, "id"), is_thought=True)]
            case "tool_call":
                name = text(value, "toolName", "toolId") or ""
                return [
                    ToolCalled(
                        id=text(value, "id") or "",
                        name=name,
                        arguments=_arguments(fields(value.get("parameters"))),
                        kind=KINDS.get(name),
                    )
                ]
            case "tool_result":
                return [call_ended(value)]
            case "error":
                return self._failure(value)
            case "completion":
                return self._completion(value)
            case _:
                return None

    def ended(self, end: Ended) -> Sequence[Observation]:  # noqa: ARG002 - however it ends
        """Return that the turn failed, where errors were its last lines."""
        return [TurnEnded(outcome="error")] if self._has_failed else []

    def _message(self, value: JsonObject) -> Sequence[Observation]:
        words, name = text(value, "text") or "", text(value, "id")
        if value.get("role") == "user":
            return [Prompt(words, name)]
        self._has_answered = True
        return [TextWhole(words, name)]

    def _failure(self, value: JsonObject) -> Sequence[Observation]:
        """Tell the reason; that the run has therefore failed is nothing new."""
        if self._has_failed and value.get("source") == "cli":
            return []
        self._has_failed = True
        words = text(value, "message") or ""
        told = problem(RpcError(message=words))
        found = _STATUS.match(words) if told.status is None else None
        if found is not None:
            told = problem(RpcError(message=f"HTTP {words}"))
        return [Failure(message=words or told.message, status=told.status, code=told.code)]

    def _completion(self, value: JsonObject) -> Sequence[Observation]:
        words = text(value, "finalText") or ""
        unheard = [TextWhole(words)] if words and not self._has_answered else []
        self._has_answered = self._has_failed = False
        usage = fields(value.get("usage"))
        counted = Usage(
            of="turn",
            sent=whole(usage, "input_tokens") or 0,
            received=whole(usage, "output_tokens") or 0,
            cache_read=whole(usage, "cache_read_input_tokens"),
            cache_written=whole(usage, "cache_creation_input_tokens"),
        )
        ended = TurnEnded(duration_ms=whole(value, "durationMs"), num_turns=whole(value, "numTurns"))
        return [*unheard, counted, ended]


def _arguments(told: JsonObject) -> JsonObject:
    todos = told.get("todos")
    if not isinstance(todos, str):
        return told
    return {**told, "todos": [{"status": one[1], "content": one[2]} for one in _TODO.finditer(todos)]}


def call_ended(value: JsonObject) -> ToolEnded:
    """Return the end of a call that `tool_result` tells."""
    call, name = text(value, "id") or "", text(value, "toolName", "toolId") or ""
    failed = flag(value, "isError") or False
    words = text(fields(value.get("error")), "message") if failed else text(value, "value")
    if words is None:
        return ToolEnded(
            id=call, name=name, status="failed" if failed else "complete", output=value.get("value")
        )
    found = _EXITED.search(words) if name == "Execute" else None
    if found is not None:
        shown = _FAILED.sub("", words[: found.start()])
        return ToolEnded(
            id=call,
            name=name,
            status="failed" if failed else "complete",
            output="" if shown == _NO_OUTPUT else shown,
            exit_code=int(found[1]),
        )
    if failed:
        refused = _REFUSED.search(words[:500]) is not None
        reason = words.removeprefix("Error: ").removeprefix("Error: ")
        return ToolEnded(id=call, name=name, status="denied" if refused else "failed", error=reason)
    return ToolEnded(id=call, name=name, output=_result(words))


def _result(words: str) -> JsonObject | str:
    """Return the result of an edit with its diff; any other is a text."""
    if not words.startswith('{"success":'):
        return words
    told = fields(parsed(words))
    if not told:
        return words
    lines = objects(told, "diffLines")
    path = text(told, "file_path") or ""
    return {"diff": _unified(path, lines)} if lines else {"success": told.get("success")}


def _unified(path: str, lines: Sequence[JsonObject]) -> str:
    """Return the hunks of lines that tell their own numbers: where these jump, another hunk begins."""
    hunks: list[tuple[int, int, list[str]]] = []
    old = new = 1
    for line in lines:
        numbers, sign = fields(line.get("lineNumber")), _SIGNS.get(text(line, "type") or "", " ")
        old_at = old if sign == "+" else whole(numbers, "old") or old
        new_at = new if sign == "-" else whole(numbers, "new") or new
        if not hunks or (old_at, new_at) != (old, new):
            if sign == "-":
                new_at += old_at - old
            elif sign == "+":
                old_at += new_at - new
            hunks.append((old_at, new_at, []))
        hunks[-1][2].append(sign + (text(line, "content") or ""))
        old, new = old_at + (sign != "+"), new_at + (sign != "-")
    body: list[str] = []
    for old_start, new_start, hunk in hunks:
        removed = sum(not line.startswith("+") for line in hunk)
        added = sum(not line.startswith("-") for line in hunk)
        body += [diff.header(old_start, removed, new_start, added), *hunk]
    return diff.document(path, body)
