"""The audit trail: every request, decision and refusal of a session as a line of JSON; only ever appended to.

The file is readable by its owner alone: it holds commands and paths, whatever the agent wanted to do. A disk that refuses
costs the trail, not the session: the trouble is kept in `trouble`. A thread of its own writes, so that no disk holds
up the reader.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from turnwire._runtime.private_files import open_private
from turnwire.adapter.permissions.requests import AgentRequest, ToolRequest, UnreadableRequest
from turnwire.normalize.inputs import Decision
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import JsonObject


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class AuditTrail:
    """An open audit file, with the session that writes to it."""

    def __init__(self, path: Path, session: str, *, now: Callable[[], str] = _now) -> None:
        """Open the file for appending; raises OSError."""
        self.trouble: str | None = None
        """Why the trail ends before the session does; None while it is whole."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = open_private(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="turnwire-audit")
        self._session = session
        self._now = now

    def note_request(self, request: AgentRequest | UnreadableRequest) -> None:
        """Note what the agent asks, in its own words; what cannot be read is answered with an error."""
        if isinstance(request, UnreadableRequest):
            self._write("unread", request.request_id, {"reason": request.reason})
        else:
            also = request.also if isinstance(request, ToolRequest) else ()
            fields: JsonObject = {"request": request.said}
            if also:
                fields["also"] = [{"tool": call.tool, "arguments": call.arguments} for call in also]
            self._write("asked", request.request_id, fields)

    def note_decision(self, decision: Decision) -> None:
        """Note who decided what, and after how long."""
        fields: JsonObject = {
            "behavior": decision.behavior,
            "by": decision.by,
            "waited_ms": decision.waited_ms,
            "option_id": decision.option_id,
            "message": decision.message,
            "updated_input": decision.updated_input,
            "destination": decision.destination,
            "interrupt": decision.interrupt or None,
        }
        self._write("decided", decision.pending_id, fields)

    def note_void(self, request_id: str, reason: str) -> None:
        """Note that a request needs no answer any more."""
        self._write("voided", request_id, {"reason": reason})

    def note_refusal(self, request_id: str, by: str, code: str) -> None:
        """Note an answer that did not count."""
        self._write("refused", request_id, {"by": by, "code": code})

    def note_denied(self, target: str, kind: str, reason: str, tool_call_id: str | None) -> None:
        """Note what the sandbox refused: a host or a path; `tool_call_id`: of which tool call, where that is known."""
        self._write("sandbox_denied", target, {"kind": kind, "reason": reason, "tool_call_id": tool_call_id})

    def note_shell(self, by: str, program: str, workspace: str, sandbox: str) -> None:
        """Note that a person opened a shell, which asks nobody."""
        self._write(
            "shell_opened",
            "shell",
            {"by": by, "program": program, "workspace": workspace, "sandbox": sandbox},
        )

    def close(self) -> None:
        """Write what is still to be written and close the file."""
        self._writer.shutdown(wait=True)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, what: str, request_id: str, fields: JsonObject) -> None:
        row = {"ts": self._now(), "session": self._session, "what": what, "request_id": request_id}
        row |= {name: value for name, value in fields.items() if value is not None}
        self._writer.submit(self._append, line_of(row))

    def _append(self, line: bytes) -> None:
        try:
            # one write to a file opened with O_APPEND: rows of several sessions never mix
            os.write(self._file, line)
        except OSError as error:
            self.trouble = error.strerror
