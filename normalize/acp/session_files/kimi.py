"""Kimi Code: `~/.kimi-code/sessions/PROJECT/ID/agents/main/wire.jsonl`, as of 2.1.0.

The file logs every text twice: as events of the loop, and as messages. Only the events are read. `state.json`, two
folders up, has the id and the folder. Subagents have folders beside `main`.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

from turnwire.normalize.acp.session_files.files import ConversationFiles, record_of
from turnwire.normalize.acp.session_files.observed import called
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
    ToolReturned,
    TurnEnded,
    TurnFailed,
)
from turnwire.normalize.kimi.reader import KINDS
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.normalize.streams.observations import ToolCalled
from turnwire.protocol.json_values import JsonObject

_EXITED = re.compile(r"\n?Command failed with exit code: (-?\d{1,10})\.?\Z")
_SESSION = re.compile(r"session_[0-9a-zA-Z-]{1,100}\Z")


class KimiRecords:
    """Reads the records of one file."""

    def __init__(self) -> None:
        self._models: dict[str, str] = {}
        """Model aliases of the user's settings -> model names."""

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return the meaning of a record."""
        match record.get("type"):
            case "turn.prompt" if fields(record.get("origin")).get("kind") in (None, "user"):
                words = "\n".join(text(part, "text") or "" for part in objects(record, "input")).strip("\n")
                return [Record(text(record, "promptId"), [Prompted(words)] if words.strip() else [])]
            case "context.append_loop_event":
                return self._event(fields(record.get("event")))
            case "profile.bind":
                folder = text(fields(record.get("environmentDisclosure")), "cwd")
                return [Record(None, [ConversationNamed(folder=folder)])]
            case "llm.request":
                return [Record(None, self._request(record))]
            case "usage.record":
                return [Record(None, self._used(record))]
            case "turn.ended":
                return [Record(None, [_end(record)])]
            case "context.apply_compaction":
                return [Record(None, [Compacted()])]
            case "context.undo":
                return [Record(back_by=max(whole(record, "count") or 0, 0))]
            case None if "agents" in record:
                title = text(record, "title") if record.get("isCustomTitle") is True else None
                about: Step = ConversationNamed(text(record, "id"), text(record, "cwd"))
                return [Record(None, [about, Titled(title)] if title else [about])]
            case _:
                return ()

    def _event(self, event: JsonObject) -> Sequence[Record]:
        match event.get("type"):
            case "content.part":
                part = fields(event.get("part"))
                thought, words = text(part, "think"), text(part, "text")
                said: list[Step] = [Thought(thought)] if thought else [Answered(words)] if words else []
                return [Record(text(event, "uuid"), said)]
            case "tool.call":
                name = text(event, "name") or ""
                told = ToolCalled(
                    id=text(event, "toolCallId") or "", name=name, arguments=event.get("args"), kind=KINDS.get(name)
                )  # fmt: skip
                return [Record(text(event, "uuid"), [called(told)])]
            case "tool.result":
                return [Record(None, [_returned(event)])]
            case _:
                return ()

    def _request(self, record: JsonObject) -> Sequence[Step]:
        model, name = text(record, "model"), text(record, "modelAlias")
        if model and name:
            self._models[name] = model
        return [ConversationNamed(model=model)]

    def _used(self, record: JsonObject) -> Sequence[Step]:
        usage, name = fields(record.get("usage")), text(record, "model") or "unknown"
        sent, read = whole(usage, "inputOther") or 0, whole(usage, "inputCacheRead") or 0
        written, made = whole(usage, "output") or 0, whole(usage, "inputCacheCreation") or 0
        # a fork's copies have the same time to the millisecond
        key = f"kimi:{record.get('time')}:{sent}:{written}:{read}:{made}"
        return [TokensUsed(key, self._models.get(name, name), sent, written, read, made)]


def _returned(event: JsonObject) -> Step:
    result = fields(event.get("result"))
    told = result.get("output")
    words = (
        told if isinstance(told, str) else "\n".join(text(one, "text") or "" for one in objects(result, "output"))
    )  # fmt: skip
    exited = _EXITED.search(words)
    return ToolReturned(
        text(event, "toolCallId") or "",
        words[: exited.start()] if exited else words,
        result.get("isError") is True,
        int(exited[1]) if exited else None,
    )


def _end(record: JsonObject) -> Step:
    error = fields(record.get("error"))
    match record.get("reason"):
        case "cancelled":
            return TurnEnded("cancelled")
        case "failed" | "blocked":
            status = whole(fields(error.get("details")), "statusCode")
            return TurnFailed(text(error, "message") or "The agent does not say why the turn failed.", status)
        case _:
            return TurnEnded()


class KimiFiles(ConversationFiles):
    """Conversation files of Kimi Code."""

    agent = "kimi"
    program = "kimi-code"
    records = KimiRecords

    def recognises(self, line: bytes) -> bool:
        """Return whether a line is the first of such a file."""
        told = record_of(line) or {}
        return told.get("type") == "metadata" and isinstance(told.get("protocol_version"), str)

    def named(self, path: PurePath) -> str:
        """Return the conversation's id: the name of a folder in the path."""
        return next((part for part in reversed(path.parts) if _SESSION.match(part)), path.stem)

    def beside(self, path: PurePath) -> Sequence[PurePath]:
        """Return the file with the id and the folder."""
        return [path.parent.parent.parent / "state.json"]
