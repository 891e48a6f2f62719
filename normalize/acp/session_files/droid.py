"""Droid of Factory: `~/.factory/sessions/FOLDER/ID.jsonl`, as of 0.215.0.

Each line is an Anthropic API message with an id. Texts in `<system-reminder>` come from the CLI, not from the human. The
tokens are one sum in another file, `ID.settings.json`.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

from turnwire.normalize.acp.session_files.files import ConversationFiles, record_of
from turnwire.normalize.acp.session_files.observed import called, steps
from turnwire.normalize.acp.session_files.steps import (
    Answered,
    Compacted,
    ConversationNamed,
    Prompted,
    Record,
    Step,
    Thought,
    Titled,
    TokensUsed,
    TurnEnded,
    TurnFailed,
)
from turnwire.normalize.droid.reader import KINDS, call_ended
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.normalize.streams.observations import ToolCalled
from turnwire.protocol.json_values import JsonObject

_STATUS = re.compile(r"\b([45]\d\d)\b")
_REMINDER = "<system-reminder>"
_STOPPED = frozenset({"aborted", "cancelled", "interrupted", "user_cancelled"})


class DroidRecords:
    """Reads the records of one file."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        """Call id -> tool name."""
        self._problem: str | None = None
        """Why the turn failed, if the CLI has told the user."""

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return the meaning of a record."""
        match record.get("type"):
            case "session_start":
                title = text(record, "sessionTitle", "title")
                about: Step = ConversationNamed(text(record, "id"), text(record, "cwd"))
                return [Record(None, [about, Titled(title)] if title else [about])]
            case "message":
                return [self._message(record)]
            case "compaction_state":
                return [Record(None, [Compacted()])]
            case "agent_turn_outcome":
                return [Record(None, [self._outcome(record)])]
            case None if "tokenUsage" in record:
                return [Record(None, self._sum(record))]
            case _:
                return ()

    def _message(self, record: JsonObject) -> Record:
        message = fields(record.get("message"))
        is_human, told = message.get("role") == "user", message.get("content")
        parts = [{"type": "text", "text": told}] if isinstance(told, str) else objects(message, "content")
        found: list[Step] = []
        is_notice = message.get("visibility") == "user_only"
        for part in parts:
            words = text(part, "text", "thinking") or ""
            match part.get("type"):
                case "text" if is_notice:
                    self._problem = words
                case "text" if is_human:
                    found += [Prompted(words)] if words.strip() and not words.startswith(_REMINDER) else []
                case "text":
                    found.append(Answered(words))
                case "thinking":
                    found.append(Thought(words))
                case "tool_use":
                    found.append(self._called(part))
                case "tool_result":
                    found += self._returned(part)
                case _:
                    pass
        model = text(message, "modelId")
        return Record(
            text(record, "id"), [ConversationNamed(model=model), *found] if model else found, text(record, "parentId")
        )  # fmt: skip

    def _outcome(self, record: JsonObject) -> Step:
        reason, words = text(record, "reason") or "completed", self._problem
        self._problem = None
        if reason in _STOPPED:
            return TurnEnded("cancelled")
        if reason == "completed":
            return TurnEnded()
        status = _STATUS.search(words or "")
        return TurnFailed(words or f"The agent ended the turn: {reason}.", int(status[1]) if status else None)

    def _called(self, part: JsonObject) -> Step:
        call, name = text(part, "id") or "", text(part, "name") or ""
        self._names[call] = name
        return called(ToolCalled(id=call, name=name, arguments=part.get("input"), kind=KINDS.get(name)))

    def _returned(self, part: JsonObject) -> Sequence[Step]:
        call, told = text(part, "tool_use_id") or "", part.get("content")
        words = (
            told if isinstance(told, str) else "\n".join(text(one, "text") or "" for one in objects(part, "content"))
        )  # fmt: skip
        failed = part.get("is_error") is True
        result: JsonObject = {"error": {"message": words}} if failed else {"value": words}
        return steps(
            [call_ended({"id": call, "toolName": self._names.get(call, ""), "isError": failed, **result})]
        )

    def _sum(self, record: JsonObject) -> Sequence[Step]:
        usage, model = fields(record.get("tokenUsage")), text(record, "model") or "unknown"
        sent, read = whole(usage, "inputTokens") or 0, whole(usage, "cacheReadTokens") or 0
        written, made = whole(usage, "outputTokens") or 0, whole(usage, "cacheCreationTokens") or 0
        if not (sent or written):
            return ()
        return [TokensUsed(model, model, sent, written, read, made, is_sum=True)]


class DroidFiles(ConversationFiles):
    """Conversation files of Droid."""

    agent = "droid"
    program = "droid"
    records = DroidRecords

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id, which is in the first line."""
        told = record_of(line) or {}
        return text(told, "id") if told.get("type") == "session_start" and "cwd" in told else None

    def beside(self, path: PurePath) -> Sequence[PurePath]:
        """Return the file with the token sums."""
        return [path.with_name(f"{path.stem}.settings.json")]
