"""OpenCode: `~/.local/share/opencode/opencode.db`, as of 1.18.33. Rows of OpenCode 2 are read as messages of that form.

The database holds all conversations. turnwire/recordings/database.py turns its rows into lines: first the conversation,
then each message with its parts, in the format of OpenCode's HTTP server. A changed message comes again, and only its new
parts are read. Subagents are separate conversations; their tokens count for their parent.
"""

from collections.abc import Sequence

from turnwire.normalize.acp.session_files.files import ConversationFiles, record_of
from turnwire.normalize.acp.session_files.observed import steps
from turnwire.normalize.acp.session_files.opencode_2 import message_of
from turnwire.normalize.acp.session_files.steps import (
    Answered,
    Compacted,
    ContinuesFrom,
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
from turnwire.normalize.opencode.parts import called, ended, failure, step_usage
from turnwire.normalize.payloads.fields import fields, flag, objects, text
from turnwire.protocol.json_values import JsonObject

_UNTITLED = "New session - "
_STOPPED = "MessageAbortedError"


class OpenCodeRecords:
    """Reads the records of one conversation."""

    def __init__(self) -> None:
        self._session: str | None = None
        self._told: set[str] = set()
        """Ids of parts, calls, results and errors that were returned."""

    def read(self, record: JsonObject) -> Sequence[Record]:
        """Return the meaning of a record."""
        if "message" in record:
            record = message_of(fields(record["message"]))
        about = fields(record.get("info"))
        name = text(about, "id")
        if "directory" in about:
            return self._head(about)
        if name is None:
            return ()
        parts = objects(record, "parts")
        if text(about, "sessionID") not in (None, self._session):
            return [Record(None, [step for part in parts for step in self._used(part, about)])]
        found: list[Step] = []
        if about.get("role") == "user":
            found += self._asked(name, parts)
        else:
            model = text(about, "modelID")
            found += [ConversationNamed(model=model)] if model else []
            for part in parts:
                found += self._part(part, about)
            found += self._failed(name, fields(about.get("error")))
        if about.get("summary") is True and self._is_new(name):
            found.append(Compacted())
        return [Record(name, found)]

    def _head(self, about: JsonObject) -> Sequence[Record]:
        if self._session is None:
            self._session = text(about, "id")
        title = text(about, "title") or _UNTITLED
        known = ConversationNamed(self._session, text(about, "directory"), text(about, "version"))
        reverted = text(fields(about.get("revert")), "messageID")
        back = [Record(back_to=reverted)] if reverted else []
        found: list[Step] = [known] if title.startswith(_UNTITLED) else [known, Titled(title)]
        origin = text(about, "fork")
        if origin is not None and self._is_new(f"{origin}:fork"):
            found.append(ContinuesFrom(origin))
        return [Record(None, found), *back]

    def _is_new(self, name: str) -> bool:
        if name in self._told:
            return False
        self._told.add(name)
        return True

    def _asked(self, name: str, parts: Sequence[JsonObject]) -> Sequence[Step]:
        words = [
            text(part, "text") or ""
            for part in parts
            if part.get("type") == "text" and not flag(part, "synthetic", "ignored")
        ]
        said = "\n".join(words)
        return [Prompted(said)] if said.strip() and self._is_new(name) else []

    def _part(self, part: JsonObject, about: JsonObject) -> Sequence[Step]:
        name, kind = text(part, "id") or "", part.get("type")
        if kind == "tool":
            return self._tool(part, name)
        if kind == "step-finish":
            return self._used(part, about)
        words, times = text(part, "text"), fields(part.get("time"))
        is_whole = "end" in times or "completed" in fields(about.get("time"))
        if kind not in ("text", "reasoning") or not words or not is_whole or not self._is_new(name):
            return ()
        return [Thought(words) if kind == "reasoning" else Answered(words)]

    def _tool(self, part: JsonObject, name: str) -> Sequence[Step]:
        status = fields(part.get("state")).get("status")
        found = steps([called(part)]) if status != "pending" and self._is_new(name) else ()
        if status in ("completed", "error") and self._is_new(f"{name}:end"):
            return [*found, *steps([ended(part)])]
        return found

    def _used(self, part: JsonObject, about: JsonObject) -> Sequence[Step]:
        name = text(part, "id") or ""
        if part.get("type") != "step-finish" or not self._is_new(name):
            return ()
        usage = step_usage(part)
        return [
            TokensUsed(
                name,
                text(about, "modelID") or "unknown",
                usage.sent,
                usage.received,
                usage.cache_read or 0,
                usage.cache_written or 0,
                # OpenCode writes 0 if it knows no price or a subscription pays
                cost_usd=usage.cost_usd or None,
            )
        ]

    def _failed(self, name: str, error: JsonObject) -> Sequence[Step]:
        if not error or not self._is_new(f"{name}:error"):
            return ()
        if error.get("name") == _STOPPED:
            return [TurnEnded("cancelled")]
        told = failure(error)
        return [TurnFailed(told.message, told.status)]


class OpenCodeFiles(ConversationFiles):
    """Conversations of OpenCode."""

    agent = "opencode"
    program = "opencode"
    records = OpenCodeRecords

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id, which is in the first line."""
        about = fields((record_of(line) or {}).get("info"))
        return text(about, "id") if isinstance(about.get("directory"), str) and "version" in about else None
