"""What the lines of `kimi -p PROMPT --output-format stream-json` tell (2.1.0, and the older kimi-cli).

A line is a message with a role. There are no thoughts, no tokens and no prompts on this wire; errors are on stderr alone, and whether a
tool failed stands in the words of its result. Each process answers one prompt.
"""

import re
from collections.abc import Sequence

from turnwire.normalize.common.problems import problem
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads.fields import fields, objects, parsed, text, whole
from turnwire.normalize.streams.observations import (
    Kind,
    Noticed,
    Observation,
    Prompt,
    Retry,
    SessionStarted,
    TextWhole,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import Json, JsonObject

KINDS: dict[str, Kind] = {
    "Bash": "execute",
    "Edit": "edit",
    "FetchURL": "fetch",
    "Glob": "search",
    "Grep": "search",
    "Read": "read",
    "ReadFile": "read",
    "ReadMediaFile": "read",
    "SearchWeb": "fetch",
    "Shell": "execute",
    "StrReplaceFile": "edit",
    "WebSearch": "fetch",
    "Write": "edit",
    "WriteFile": "edit",
}
_FAILED = re.compile(r"\n?Command failed with exit code: (-?\d{1,10})\.?\Z")
_CLOSED = re.compile(r"\n?Session closed\Z")
_CHANGED = re.compile(r"\A(?:Replaced|Wrote|Appended|File )")
_NO_TOOL = re.compile(r'\ATool "[^"\n]{0,200}" not found\Z')
_STATUS = re.compile(r": ([45]\d\d) ")
_PREFIX = "error: failed to run prompt: "
_INTERRUPTED = 130
"""Exit code after SIGINT."""
_TODO = {"done": "completed"}


class KimiReader:
    """Reads the lines of one process of the agent."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        """Tools of the calls that have no result yet."""
        self._has_answered = False
        """The last message was an answer without calls."""

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return what a line tells."""
        match value.get("role"):
            case "assistant":
                said, called = _said(value.get("content")), self._called(value)
                self._has_answered = bool(said) and not called
                return [*said, *called]
            case "tool":
                return [self._ended(value)]
            case "meta":
                return _meta(value)
            case "user":
                return self.sent(value)
            case _:
                return None

    def sent(self, value: JsonObject) -> Sequence[Observation]:
        """Return a prompt that was written to stdin as a message."""
        if value.get("role") != "user":
            return []
        return [Prompt(_words(value.get("content")))]

    def ended(self, end: Ended) -> Sequence[Observation]:
        """Return how the turn ended whose last line is missing: the exit code and stderr tell."""
        if end.exit_code == 0 or (end.reason == "end_of_input" and self._has_answered):
            return [TurnEnded()]
        if end.exit_code == _INTERRUPTED:
            return [TurnEnded(outcome="interrupted")]
        words = next((line for line in end.stderr_tail.splitlines() if line.startswith(_PREFIX)), None)
        if words is None:
            return []
        reason = words.removeprefix(_PREFIX)
        found = _STATUS.search(f": {reason}")
        told = problem(RpcError(message=reason if found is None else f"HTTP {found[1]}: {reason}"))
        return [TurnEnded(outcome="error", message=reason, status=told.status, code=told.code)]

    def _called(self, value: JsonObject) -> list[ToolCalled]:
        found: list[ToolCalled] = []
        for one in objects(value, "tool_calls"):
            told, call = fields(one.get("function")), text(one, "id") or ""
            name = text(told, "name") or ""
            self._names[call] = name
            found.append(
                ToolCalled(
                    id=call, name=name, arguments=_arguments(told.get("arguments")), kind=KINDS.get(name)
                )
            )
        return found

    def _ended(self, value: JsonObject) -> ToolEnded:
        call = text(value, "tool_call_id") or ""
        name, words = self._names.pop(call, ""), _words(value.get("content"))
        if (failed := _FAILED.search(words)) is not None:
            shown = words[: failed.start()]
            return ToolEnded(id=call, name=name, status="failed", output=shown, exit_code=int(failed[1]))
        if (closed := _CLOSED.search(words)) is not None:
            return ToolEnded(id=call, name=name, status="interrupted", output=words[: closed.start()])
        if _NO_TOOL.match(words) or (KINDS.get(name) == "edit" and not _CHANGED.match(words)):
            return ToolEnded(id=call, name=name, status="failed", error=words.strip())
        return ToolEnded(id=call, name=name, output=words)


def _meta(value: JsonObject) -> Sequence[Observation] | None:
    match value.get("type"):
        case "system.version":
            return [SessionStarted(agent="kimi", version=text(value, "version")), TurnStarted()]
        case "session.resume_hint":
            return [SessionStarted(id=text(value, "session_id")), TurnEnded()]
        case "turn.step.retrying":
            return [
                Retry(
                    message=text(value, "error_message"),
                    status=whole(value, "status_code"),
                    attempt=whole(value, "failed_attempt") or 1,
                    most=whole(value, "max_attempts"),
                    delay_ms=whole(value, "delay_ms"),
                )
            ]
        case str() as kind if isinstance(value.get("content"), str):
            return [Noticed(kind=kind, text=text(value, "content") or "")]
        case _:
            return None


def _said(content: Json) -> list[TextWhole]:
    """Return the texts and thoughts of a message: a text, or a list of parts."""
    if isinstance(content, str):
        return [TextWhole(content)] if content else []
    found = [
        TextWhole(text(part, "think") or text(part, "text") or "", is_thought=part.get("type") == "think")
        for part in objects({"": content}, "")
        if part.get("type") in ("text", "think")
    ]
    return [one for one in found if one.text]


def _words(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        text(part, "text") or "" for part in objects({"": content}, "") if part.get("type") == "text"
    )


def _arguments(told: Json) -> Json:
    """Return the arguments, which are JSON text; the text itself where it is none."""
    if not isinstance(told, str):
        return told
    value = parsed(told, told)
    todos = objects(fields(value), "todos")
    if not todos:
        return value
    return {
        **fields(value),
        "todos": [
            {"content": text(one, "title", "content") or "", "status": _TODO.get(status, status)}
            for one in todos
            if (status := text(one, "status") or "pending")
        ],
    }
