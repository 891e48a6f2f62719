"""GitHub Copilot CLI: `~/.copilot/session-state/ID/events.jsonl`, as of 1.0.102.

The first line describes the conversation. The others are lines of the CLI's JSON output, without the short-lived ones.
Each model call has a `session.usage_record`. Older versions report only sums, when a process ends; the sums of a resumed
conversation begin at zero again. A rewind removes lines
from the file and names the first removed event.
"""

from collections.abc import Sequence
from typing import NamedTuple

from turnwire.normalize.acp.session_files.files import ConversationFiles, record_of
from turnwire.normalize.acp.session_files.observed import steps
from turnwire.normalize.acp.session_files.steps import (
    Compacted,
    ConversationNamed,
    Record,
    Step,
    Titled,
    TokensUsed,
    TurnEnded,
)
from turnwire.normalize.copilot.reader import CopilotReader
from turnwire.normalize.payloads.fields import fields, text, whole
from turnwire.protocol.json_values import JsonObject

_MESSAGES = frozenset({"user.message", "assistant.message"})


class _Tokens(NamedTuple):
    sent: int = 0
    written: int = 0
    read: int = 0
    made: int = 0

    def plus(self, other: "_Tokens") -> "_Tokens":
        return _Tokens(*(one + more for one, more in zip(self, other, strict=True)))

    def beyond(self, other: "_Tokens") -> "_Tokens":
        return _Tokens(*(max(one - less, 0) for one, less in zip(self, other, strict=True)))

    def of(self, key: str, model: str) -> TokensUsed:
        return TokensUsed(key, model, self.sent, self.written, self.read, self.made)


_NONE = _Tokens()


class CopilotRecords:
    """Reads the records of one file."""

    def __init__(self) -> None:
        self._lines = CopilotReader()
        self._counted: dict[str, _Tokens] = {}
        """Model -> tokens counted so far."""
        self._has_calls = False
        """Calls of the model are reported one by one."""

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return the meaning of a record."""
        kind, name, data = text(record, "type") or "", text(record, "id"), fields(record.get("data"))
        match kind:
            case "session.start" | "session.resume":
                if not self._has_calls:
                    self._counted.clear()
                branch = text(fields(data.get("context")), "branch")
                found = [*steps(self._lines.received(record) or ()), ConversationNamed(git_branch=branch)]
                return [Record(None, found)]
            case "session.title_changed":
                title = text(data, "title")
                return [Record(None, [Titled(title)])] if title else ()
            case "session.snapshot_rewind":
                return [Record(back_to=text(data, "upToEventId"))]
            case "session.usage_record":
                return [Record(None, self._used(fields(data.get("usage")), name or ""))]
            case "session.compaction_complete":
                return [Record(None, [Compacted()])]
            case "session.shutdown":
                return [Record(None, [*self._rest(data, name or ""), TurnEnded()])]
            case "abort":
                return [Record(None, [TurnEnded("cancelled")])]
            case _:
                said = steps(self._lines.received(record) or ())
                return [Record(name if kind in _MESSAGES else None, said)]

    def _used(self, usage: JsonObject, name: str) -> Sequence[Step]:
        model, used = text(usage, "model") or "unknown", _tokens(usage)
        self._has_calls = True
        self._counted[model] = self._counted.get(model, _NONE).plus(used)
        return [used.of(name, model)]

    def _rest(self, data: JsonObject, name: str) -> Sequence[Step]:
        """Return the tokens of a process's final sums that single calls did not report."""
        found: list[Step] = []
        for model, told in fields(data.get("modelMetrics")).items():
            known = self._counted.get(model, _NONE)
            more = _tokens(fields(fields(told).get("usage"))).beyond(known)
            if any(more):
                self._counted[model] = known.plus(more)
                found.append(more.of(f"{name}:{model}", model))
        return found


def _tokens(usage: JsonObject) -> _Tokens:
    read, made = whole(usage, "cacheReadTokens") or 0, whole(usage, "cacheWriteTokens") or 0
    sent = max((whole(usage, "inputTokens") or 0) - read - made, 0)
    return _Tokens(sent, whole(usage, "outputTokens") or 0, read, made)


class CopilotFiles(ConversationFiles):
    """Conversation files of GitHub Copilot CLI."""

    agent = "copilot"
    program = "copilot"
    records = CopilotRecords

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id, which is in the first line."""
        told = record_of(line) or {}
        data = fields(told.get("data"))
        return text(data, "sessionId") if told.get("type") == "session.start" and "producer" in data else None
