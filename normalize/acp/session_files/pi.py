"""pi (`~/.pi/agent/sessions/FOLDER/TIME_ID.jsonl`) and OpenClaw (`~/.openclaw/agents/AGENT/sessions/ID.jsonl`), versions 1 to 3.

From public descriptions of the format. The first line names the conversation. Each further entry has an id and its parent's; in the
first version entries have neither, and follow each other. A message has the role of a user, an assistant or a tool's result.
"""

import re
from collections.abc import Sequence

from turnwire.normalize.acp.session_files.files import ConversationFiles, record_of
from turnwire.normalize.acp.session_files.observed import called
from turnwire.normalize.acp.session_files.steps import (
    Answered,
    Change,
    Compacted,
    ConversationNamed,
    Prompted,
    Record,
    Step,
    Thought,
    Titled,
    TokensUsed,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    TurnFailed,
)
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.normalize.streams import observations as seen
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.quantities import amount

_KINDS: dict[str, seen.Kind] = {
    "bash": "execute", "exec": "execute", "read": "read", "edit": "edit", "write": "edit", "grep": "search", "find": "search",
    "ls": "search", "web_search": "fetch", "web_fetch": "fetch",
}  # fmt: skip
_CALLS = frozenset({"toolCall", "toolUse", "tool_use"})
_EXIT = re.compile(r"\n*Command exited with code (-?\d{1,10})\s*\Z")
_END = 100
"""Characters at the end of an output in which the exit code is looked for."""


class PiRecords:
    """Reads the records of one file."""

    def __init__(self) -> None:
        self._count = 0
        self._changes: dict[str, Sequence[Change]] = {}
        """Call id -> what it is to change."""

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return the meaning of a record."""
        if record.get("type") == "session":
            return [
                Record(
                    None,
                    [
                        ConversationNamed(
                            text(record, "id"), text(record, "cwd"), model=text(record, "modelId")
                        )
                    ],
                )
            ]
        self._count += 1
        name = text(record, "id") or f"entry-{self._count}"
        return [Record(name, self._entry(name, record), text(record, "parentId"))]

    def _entry(self, name: str, entry: JsonObject) -> Sequence[Step]:
        match entry.get("type"):
            case "message":
                return self._message(name, fields(entry.get("message")))
            case "model_change":
                return [ConversationNamed(model=text(entry, "modelId"))]
            case "compaction":
                return [Compacted()]
            case "session_info":
                title = text(entry, "name")
                return [Titled(title)] if title else ()
            case _:
                return ()

    def _message(self, name: str, message: JsonObject) -> Sequence[Step]:
        match message.get("role"):
            case "user":
                words = _words(message.get("content"))
                return [Prompted(words)] if words.strip() else ()
            case "assistant":
                return self._answered(name, message)
            case "toolResult":
                return [self._returned(message)]
            case "bashExecution":
                command = text(message, "command") or ""
                code = whole(message, "exitCode")
                return [
                    ToolCalled(name, "bash", "execute", command, {"command": command}),
                    ToolReturned(name, text(message, "output") or "", bool(code), code),
                ]
            case _:
                return ()

    def _answered(self, name: str, message: JsonObject) -> Sequence[Step]:
        model = text(message, "model")
        found: list[Step] = [ConversationNamed(model=model)] if model else []
        content = message.get("content")
        found += [Answered(content)] if isinstance(content, str) and content else []
        for number, part in enumerate(objects(message, "content")):
            kind, words = text(part, "type"), text(part, "text", "thinking")
            if kind in _CALLS:
                found.append(self._called(text(part, "id") or f"{name}:{number}", part))
            elif words:
                found.append(Thought(words) if kind == "thinking" else Answered(words))
        usage = fields(message.get("usage"))
        if any(whole(usage, kind) for kind in ("input", "output", "cacheRead", "cacheWrite")):
            # a copy in a fork's file has the same id and time
            found.append(
                TokensUsed(
                    f"{name}:{whole(message, 'timestamp')}", model or "unknown",
                    whole(usage, "input") or 0, whole(usage, "output") or 0,
                    whole(usage, "cacheRead") or 0, whole(usage, "cacheWrite") or 0,
                    # pi writes 0 if it knows no price
                    cost_usd=amount(fields(usage.get("cost")).get("total")) or None,
                )
            )  # fmt: skip
        return [*found, *_ended(message)]

    def _called(self, call: str, part: JsonObject) -> ToolCalled:
        name = text(part, "name") or "tool"
        arguments = fields(part.get("arguments", part.get("input")))
        path = text(arguments, "path", "file_path")
        if name == "edit" and path is not None:
            edits = [
                (text(edit, "oldText", "old_string"), text(edit, "newText", "new_string"))
                for edit in objects(arguments, "edits") or [arguments]
            ]
            self._changes[call] = [Change(path, old, new or "") for old, new in edits if old is not None]
        return called(seen.ToolCalled(id=call, name=name, arguments=arguments, kind=_KINDS.get(name)))

    def _returned(self, message: JsonObject) -> ToolReturned:
        call, output = text(message, "toolCallId") or "", _words(message.get("content"))
        code, changes = whole(fields(message.get("details")), "exitCode"), self._changes.pop(call, ())
        if (exited := _EXIT.search(output, max(len(output) - _END, 0))) is not None:
            code, output = int(exited[1]), output[: exited.start()]
        failed = message.get("isError") is True or bool(code)
        return ToolReturned(call, output, failed, code, () if failed else changes)


def _ended(message: JsonObject) -> Sequence[Step]:
    match message.get("stopReason"):
        case "aborted":
            return [TurnEnded("cancelled")]
        case "error":
            return [TurnFailed(text(message, "errorMessage") or "The model's provider failed.")]
        case "stop" | "length" | "end_turn":
            return [TurnEnded()]
        case _:
            return ()


def _words(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        text(part, "text") or "" for part in objects({"content": content}, "content") if "text" in part
    )


class PiFiles(ConversationFiles):
    """Conversation files of pi and of OpenClaw."""

    agent = "pi"
    program = "pi"
    records = PiRecords

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id, which is in the first line."""
        told = record_of(line) or {}
        is_head = told.get("type") == "session" and "cwd" in told and isinstance(told.get("timestamp"), str)
        return text(told, "id") if is_head else None
