"""Qwen Code: `~/.qwen/projects/FOLDER/chats/ID.jsonl`, as of 0.24.4.

Records look like Claude's but contain Gemini's messages: each has a `uuid`, its parent's uuid and `message.parts`. The
result of a call is a line of its own. Most `system` lines concern only the CLI.
"""

from collections.abc import Sequence

from turnwire.normalize.acp.session_files.files import ConversationFiles, record_of
from turnwire.normalize.acp.session_files.gemini import called, returned
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
)
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.protocol.json_values import JsonObject


class QwenRecords:
    """Reads the records of one file."""

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return the meaning of a record."""
        uuid = text(record, "uuid")
        if uuid is None:
            return ()
        message = fields(record.get("message"))
        parts = objects(message, "parts")
        about = ConversationNamed(
            text(record, "sessionId"), text(record, "cwd"), text(record, "version"), text(record, "model"),
            text(record, "gitBranch"),
        )  # fmt: skip
        steps: list[Step] = [about]
        match record.get("type"):
            case "user":
                words = "\n".join(said for part in parts if (said := text(part, "text")))
                steps += (
                    [Prompted(words)]
                    if words.strip() and record.get("provenance") in (None, "real_user")
                    else []
                )
            case "assistant":
                steps += _answered(uuid, record, parts)
            case "tool_result":
                steps += _result(record, parts)
            case "system":
                steps += _system(record)
            case _:
                pass
        return [Record(uuid, steps, text(record, "parentUuid"))]


def _answered(uuid: str, record: JsonObject, parts: Sequence[JsonObject]) -> list[Step]:
    steps: list[Step] = []
    for part in parts:
        words, call = text(part, "text"), fields(part.get("functionCall"))
        if words:
            steps.append(Thought(words) if part.get("thought") is True else Answered(words))
        elif (name := text(call, "id")) is not None:
            steps.append(called(name, text(call, "name") or "tool", fields(call.get("args"))))
    usage = fields(record.get("usageMetadata"))
    if usage:
        sent, cached = whole(usage, "promptTokenCount") or 0, whole(usage, "cachedContentTokenCount") or 0
        written = (whole(usage, "candidatesTokenCount") or 0) + (whole(usage, "thoughtsTokenCount") or 0)
        steps.append(
            TokensUsed(uuid, text(record, "model") or "unknown", max(sent - cached, 0), written, cached)
        )
    return steps


def _result(record: JsonObject, parts: Sequence[JsonObject]) -> list[Step]:
    told = fields(record.get("toolCallResult"))
    call = text(told, "callId") or next(
        (name for part in parts if (name := text(fields(part.get("functionResponse")), "id"))), None
    )
    return [] if call is None else [returned(call, text(told, "status"), [*parts], told.get("resultDisplay"))]


def _system(record: JsonObject) -> list[Step]:
    payload = fields(record.get("systemPayload"))
    match record.get("subtype"):
        case "custom_title":
            title = text(payload, "customTitle")
            return [Titled(title)] if title else []
        case "chat_compression":
            return [Compacted()]
        case _:
            return []


class QwenFiles(ConversationFiles):
    """Conversation files of Qwen Code."""

    agent = "qwen"
    program = "qwen-code"
    records = QwenRecords

    def recognises(self, line: bytes) -> bool:
        """Return whether a line belongs to such a file."""
        if b'"parts"' not in line and b'"systemPayload"' not in line:
            return False
        told = record_of(line) or {}
        is_kind = "systemPayload" in told or isinstance(fields(told.get("message")).get("parts"), list)
        return is_kind and text(told, "sessionId") is not None

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id."""
        return text(record_of(line) or {}, "sessionId")
