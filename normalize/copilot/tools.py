"""Calls of Copilot's tools, as the lines `tool.*` tell them."""

import re
from collections.abc import Sequence

from msgspec import Struct, field

from turnwire.normalize.payloads.diff import header
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.normalize.streams.observations import Change, Kind, ToolCalled, ToolEnded
from turnwire.protocol.json_values import JsonObject

_KINDS: dict[str, Kind] = {
    "apply_patch": "edit",
    "bash": "execute",
    "create": "edit",
    "edit": "edit",
    "glob": "search",
    "grep": "search",
    "powershell": "execute",
    "rg": "search",
    "str_replace_editor": "edit",
    "view": "read",
    "web_fetch": "fetch",
    "web_search": "fetch",
}
_REFUSED = frozenset({"denied", "rejected"})
_STOPPED = frozenset({"aborted", "cancelled", "interrupted"})
_CHANGES = {"create": "create", "delete": "delete"}
_SHELL_END = re.compile(
    r"\n?<(?:shellId: \S{1,80} )?(?:completed|exited) with exit code -?\d{1,10}>\s{0,10}\Z"
)
_HUNK = re.compile(r"(?m)^@@ -(\d{1,9}),(\d{1,9}) \+(\d{1,9}),(\d{1,9}) @@")
_NEXT_FILE = re.compile(r"(?m)^(?=diff --git )")


class Shown(Struct):
    """Output of running commands, by call and stream."""

    pieces: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def add(self, call: str, stream: str, words: str) -> None:
        """A command has written more."""
        self.pieces.setdefault(call, {}).setdefault(stream, []).append(words)

    def take(self, call: str) -> dict[str, str] | None:
        """Return a command's output by stream; None if nothing was reported separately."""
        told = self.pieces.pop(call, None)
        return None if told is None else {stream: "".join(words) for stream, words in told.items()}


def called(data: JsonObject) -> ToolCalled:
    """Return the beginning of a call."""
    name = text(data, "toolName") or ""
    server, tool = text(data, "mcpServerName"), text(data, "mcpToolName")
    return ToolCalled(
        id=text(data, "toolCallId") or "",
        name=name,
        arguments=data.get("arguments"),
        kind=_KINDS.get(name),
        parent=text(data, "parentToolCallId"),
        mcp=None if server is None else (server, tool or name),
    )


def ended(data: JsonObject, shown: dict[str, str] | None) -> ToolEnded:
    """Return the end of a call. `shown`: its command's output by stream."""
    call = text(data, "toolCallId") or ""
    metrics = fields(fields(data.get("toolTelemetry")).get("metrics"))
    code = whole(fields(data.get("shellExecution")), "exitCode")
    code = whole(metrics, "exit_code") if code is None else code
    if data.get("success") is not True:
        error = fields(data.get("error"))
        reason = text(error, "code")
        return ToolEnded(
            id=call,
            status="denied" if reason in _REFUSED else "interrupted" if reason in _STOPPED else "failed",
            error=text(error, "message") or "The call failed without a reason given by the agent.",
            exit_code=code,
        )
    result = fields(data.get("result"))
    return ToolEnded(
        id=call,
        output=_SHELL_END.sub("", text(result, "content") or ""),
        exit_code=code,
        stdout=None if shown is None else shown.get("stdout", ""),
        stderr=None if shown is None else shown.get("stderr", ""),
        changes=_changes(objects(data, "fileEdits"), text(result, "detailedContent") or ""),
    )


def _changes(edits: Sequence[JsonObject], shown: str) -> Sequence[Change]:
    """Return the changes of files, each with its part of the diff where there is one of each."""
    parts = [part for part in _NEXT_FILE.split(shown) if part.startswith("diff --git ")]
    diffs = parts if len(parts) == len(edits) else [None] * len(edits)
    return [
        Change(
            path=text(edit, "path") or "",
            kind=_CHANGES.get(text(edit, "kind") or "", "edit"),  # type: ignore[arg-type]
            diff=None if diff is None else _exact(diff),
        )
        for edit, diff in zip(edits, diffs, strict=True)
    ]


def _exact(diff: str) -> str:
    """Return a diff that `patch` takes. Copilot counts an empty line after the last newline of a file, and it counts an empty file
    from line 1.
    """
    hunks = [*_HUNK.finditer(diff)]
    if not hunks:
        return diff
    last = hunks[-1]
    old_start, old_lines, new_start, new_lines = map(int, last.groups())
    body = diff[last.end() :].rstrip("\n")
    if body.endswith("\n "):
        body, old_lines, new_lines = body[:-2], old_lines - 1, new_lines - 1
    head = header(old_start if old_lines else 0, old_lines, new_start if new_lines else 0, new_lines)
    return f"{diff[: last.start()]}{head}{body}\n"
