"""Cursor's CLI: `~/.cursor/projects/PROJECT/agent-transcripts/ID/ID.jsonl`, known only from descriptions of 2026.

A line is a message with a role and Anthropic API parts. It has no id, time, tokens or results of calls. Prompts are
inside `<user_query>`.
"""

from collections.abc import Sequence

from turnwire.normalize.acp.session_files.files import ConversationFiles, record_of
from turnwire.normalize.acp.session_files.observed import called
from turnwire.normalize.acp.session_files.steps import Answered, Prompted, Record, Step
from turnwire.normalize.payloads.fields import fields, objects, text
from turnwire.normalize.streams.observations import Kind, ToolCalled
from turnwire.protocol.json_values import JsonObject

_OPENS, _CLOSES = "<user_query>", "</user_query>"
"""The tags around a prompt."""
_KINDS: dict[str, Kind] = {
    "ApplyPatch": "edit", "Delete": "delete", "Glob": "search", "Grep": "search", "Read": "read", "ReadFile": "read",
    "Shell": "execute", "StrReplace": "edit", "WebFetch": "fetch", "WebSearch": "search", "Write": "edit",
}  # fmt: skip


class CursorRecords:
    """Reads the records of one file."""

    def __init__(self) -> None:
        self._count = 0

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return the meaning of a record."""
        if record.get("role") not in ("user", "assistant"):
            return ()
        self._count += 1
        name, found = str(self._count), list[Step]()
        for number, part in enumerate(objects(fields(record.get("message")), "content")):
            words, tool = text(part, "text") or "", text(part, "name") or ""
            if part.get("type") == "tool_use":
                call = text(part, "id") or f"{name}:{number}"
                found.append(
                    called(ToolCalled(id=call, name=tool, arguments=part.get("input"), kind=_KINDS.get(tool)))
                )
            elif record["role"] == "assistant":
                found.append(Answered(words))
            elif words.strip():
                _, _, query = words.partition(_OPENS)
                prompt, closes, _ = query.partition(_CLOSES)
                found.append(Prompted(prompt.strip() if closes else words))
        return [Record(name, found)]


class CursorFiles(ConversationFiles):
    """Conversation files of Cursor's CLI."""

    agent = "cursor"
    program = "cursor-agent"
    records = CursorRecords

    def recognises(self, line: bytes) -> bool:
        """Return whether a line belongs to such a file. Messages of other agents have a type, or content beside the role."""
        told = record_of(line) or {}
        is_message = isinstance(fields(told.get("message")).get("content"), list)
        return (
            told.get("role") in ("user", "assistant")
            and is_message
            and told.keys() <= {"role", "message", "timestamp"}
        )
