"""Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl`, as of 0.61.0.

The first line names the conversation. When a message's calls have results, the message is written again under its id,
and only the new parts are read. `$set` changes the head and may contain messages. `$rewindTo` removes a message and all
after it. The folder is in another file (`.project_root`), and in the CLI's first text for the model.
"""

import re
from collections.abc import Iterator, Sequence

from turnwire.normalize.acp.session_files.files import ConversationFiles, record_of
from turnwire.normalize.acp.session_files.steps import (
    Answered,
    Change,
    ConversationNamed,
    Failed,
    Prompted,
    Record,
    Step,
    Thought,
    Titled,
    TokensUsed,
    ToolCalled,
    ToolReturned,
)
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.protocol.json_values import Json, JsonObject

_CONTEXT = re.compile(r"\s*<session_context>")
_FOLDER = re.compile(r"Workspace Directories:\*\*\n\s*- (/[^\n]{1,4000})")
_UNTRUSTED = re.compile(r"\A<untrusted_context>\n(?:Output: )?(.*)\n</untrusted_context>\Z", re.DOTALL)
_EXIT = re.compile(r"(?m)^Exit Code: (-?\d{1,10})$")

KINDS = {
    "read_file": "read", "read_many_files": "read", "write_file": "edit", "replace": "edit", "edit": "edit",
    "run_shell_command": "execute", "grep_search": "search", "search_file_content": "search", "glob": "search",
    "list_directory": "search", "google_web_search": "fetch", "web_search": "fetch", "web_fetch": "fetch",
}  # fmt: skip
"""Tools of Gemini CLI and of its forks -> what they do."""


def words_of(content: Json) -> str:
    """Return the text of a message's content: a text, or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(
        part
        for item in (content if isinstance(content, list) else [])
        if (part := text(fields(item), "text"))
    )


def called(call: str, name: str, arguments: JsonObject, title: str | None = None) -> ToolCalled:
    """Return a tool call."""
    words = text(arguments, "command", "file_path", "absolute_path", "path", "pattern", "query", "url")
    return ToolCalled(call, name, KINDS.get(name, "other"), title or words or name, arguments)


def returned(call: str, status: str | None, result: Json, display: Json) -> ToolReturned:
    """Return a tool's result. result: the text for the model. display: the result for the user."""
    shown = fields(display)
    output = display if isinstance(display, str) else text(shown, "output", "text", "error")
    answer = [fields(fields(item.get("functionResponse")).get("response")) for item in _items(result)]
    if output is None:
        output = "\n".join(found for one in answer if (found := text(one, "output", "error")))
        inside = _UNTRUSTED.match(output)
        output = output if inside is None else inside[1]
    failed = status in ("error", "cancelled") or any("error" in one and "output" not in one for one in answer)
    code = whole(shown, "exitCode")
    if code is None and (
        exited := _EXIT.search("\n".join(text(one, "output") or "" for one in answer)[-4000:])
    ):
        code = int(exited[1])
    path = text(shown, "filePath", "fileName")
    changes: Sequence[Change] = ()
    if path is not None and "fileDiff" in shown and not failed:
        before = None if shown.get("isNewFile") is True else text(shown, "originalContent")
        changes = [Change(path, before or None, text(shown, "newContent") or "")]
    return ToolReturned(call, output, failed, code, changes)


def _items(value: Json) -> Iterator[JsonObject]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            yield item


class GeminiRecords:
    """Reads the records of one file."""

    def __init__(self) -> None:
        self._is_aside = False
        self._told: dict[str, int] = {}
        """Message id -> number of steps returned so far: text, calls, results, tokens."""
        self._done: set[str] = set()

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return the meaning of a record."""
        if "projectHash" in record:
            self._is_aside = record.get("kind") == "subagent"
            title = text(record, "summary")
            about = ConversationNamed(session_id=text(record, "sessionId"))
            return [Record(None, [about, Titled(title)] if title else [about])]
        back = text(record, "$rewindTo")
        if back is not None:
            return [Record(back_to=back)]
        change = fields(record.get("$set"))
        if change:
            title = text(change, "summary")
            titled = [Record(None, [Titled(title)])] if title else []
            return [
                *titled,
                *(one for message in objects(change, "messages") for one in self._message(message)),
            ]
        return self._message(record)

    def _message(self, message: JsonObject) -> Sequence[Record]:
        name = text(message, "id")
        if name is None or self._is_aside:
            return ()
        steps: list[Step] = []
        match message.get("type"):
            case "user":
                if name not in self._told:
                    steps = self._asked(words_of(message.get("content")))
            case "gemini":
                steps = self._answered(name, message)
            case "error" if name not in self._told:
                steps = [Failed(words_of(message.get("content")))]
            case _:
                return ()
        self._told.setdefault(name, 1)
        return [Record(name, steps)]

    def _asked(self, words: str) -> list[Step]:
        if _CONTEXT.match(words):
            folder = _FOLDER.search(words)
            return [ConversationNamed(folder=folder[1].strip())] if folder else []
        return [Prompted(words)] if words.strip() else []

    def _answered(self, name: str, message: JsonObject) -> list[Step]:
        steps: list[Step] = []
        if name not in self._told:
            thoughts = [
                f"**{text(one, 'subject') or ''}**\n{text(one, 'description') or ''}".strip()
                for one in objects(message, "thoughts")
            ]
            steps += [Thought("\n\n".join(thoughts))] if thoughts else []
            words = words_of(message.get("content"))
            steps += [Answered(words)] if words else []
        model, tokens = text(message, "model"), fields(message.get("tokens"))
        if tokens and f"tokens:{name}" not in self._done:
            self._done.add(f"tokens:{name}")
            sent, cached = whole(tokens, "input") or 0, whole(tokens, "cached") or 0
            written = (whole(tokens, "output") or 0) + (whole(tokens, "thoughts") or 0)
            steps.append(TokensUsed(name, model or "unknown", max(sent - cached, 0), written, cached))
            steps.append(ConversationNamed(model=model))
        for call in objects(message, "toolCalls"):
            steps += self._call(call)
        return steps

    def _call(self, call: JsonObject) -> list[Step]:
        name, tool = text(call, "id"), text(call, "name") or "tool"
        if name is None:
            return []
        steps: list[Step] = []
        if name not in self._done:
            self._done.add(name)
            steps.append(called(name, tool, fields(call.get("args")), text(call, "description")))
        status = text(call, "status")
        if status in ("success", "error", "cancelled") and f"result:{name}" not in self._done:
            self._done.add(f"result:{name}")
            steps.append(returned(name, status, call.get("result"), call.get("resultDisplay")))
        return steps


class GeminiFiles(ConversationFiles):
    """Conversation files of Gemini CLI."""

    agent = "gemini"
    program = "gemini-cli"
    records = GeminiRecords

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id."""
        if b'"projectHash"' not in line:
            return None
        told = record_of(line) or {}
        return text(told, "sessionId") if isinstance(told.get("projectHash"), str) else None
