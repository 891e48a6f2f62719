"""What came of a call: the result has one member, which says how it went (`success`, `rejected`, `failure`, `error`, …)."""

from collections.abc import Callable
from typing import Literal

from turnwire.normalize.payloads.fields import fields, flag, objects, text, texts, whole
from turnwire.normalize.streams.observations import Change, ToolCalled, ToolEnded
from turnwire.protocol.json_values import Json, JsonObject

_REASONS = ("reason", "error", "errorMessage", "message", "modelVisibleError")
_REFUSED = ("rejected", "userRejected")
_REJECTED = "The call was rejected."


def ended(call: ToolCalled, result: Json) -> ToolEnded:
    """Return the end of a call."""
    if not isinstance(result, dict):
        if result == "rejected":
            return ToolEnded(id=call.id, name=call.name, status="denied", error=_REJECTED)
        return ToolEnded(id=call.id, name=call.name, output=result)
    refused = next((name for name in _REFUSED if name in result), None)
    if refused is not None:
        reason = text(fields(result[refused]), *_REASONS) or _REJECTED
        return ToolEnded(id=call.id, name=call.name, status="denied", error=reason)
    how = "success" if "success" in result else next((name for name in result if fields(result[name])), "")
    told = fields(result.get(how))
    status: Literal["complete", "failed"] = "complete" if how in ("success", "") else "failed"
    if call.kind == "execute" and ("stdout" in told or "exitCode" in told):
        return _command(call, told, status)
    if status == "failed":
        return ToolEnded(id=call.id, name=call.name, status=status, error=text(told, *_REASONS) or how)
    if call.mcp is not None:
        return ToolEnded(
            id=call.id,
            name=call.name,
            status="failed" if flag(told, "isError") else status,
            output=[_part(block) for block in objects(told, "content")],
        )
    read = _TEXTS.get(call.name)
    return ToolEnded(
        id=call.id,
        name=call.name,
        output=told or None if read is None else read(told),
        changes=_changes(call, told),
    )


def _command(call: ToolCalled, told: JsonObject, status: Literal["complete", "failed"]) -> ToolEnded:
    stdout, stderr = text(told, "stdout") or "", text(told, "stderr") or ""
    code = whole(told, "exitCode")
    return ToolEnded(
        id=call.id,
        name=call.name,
        status="failed" if code else status,
        output=text(told, "interleavedOutput") or stdout + stderr,
        exit_code=code,
        signal=text(told, "signal") or None,
        stdout=stdout,
        stderr=stderr,
    )


def _changes(call: ToolCalled, told: JsonObject) -> list[Change]:
    path = text(told, "path") or text(fields(call.arguments), "path") or ""
    match call.name:
        case "edit":
            before, after = text(told, "beforeFullFileContent"), text(told, "afterFullFileContent")
            if after is None:
                return [Change(path=path, diff=text(told, "diffString"))]
            return [
                Change(path=path, kind="create" if before is None else "edit", old=before or "", new=after)
            ]
        case "delete":
            return [Change(path=path, kind="delete", old=text(told, "prevContent"))]
        case _:
            return []


def _part(block: JsonObject) -> JsonObject:
    """Return a part of an MCP tool's result as MCP has it."""
    inner = fields(block.get("text"))
    return {"type": "text", "text": text(inner, "text") or ""} if inner else block


def _files(told: JsonObject) -> str:
    return "\n".join(texts(told, "files") or ())


def _matches(told: JsonObject) -> str:
    """Return what grep found, a line for each match, file or count."""
    found: list[str] = []
    for place in fields(told.get("workspaceResults")).values():
        kinds = fields(place)
        for file in objects(fields(kinds.get("content")), "matches"):
            name = text(file, "file") or ""
            found += [
                f"{name}:{whole(match, 'lineNumber') or 0}:{text(match, 'content') or ''}"
                for match in objects(file, "matches")
                if not flag(match, "isContextLine")
            ]
        found += texts(fields(kinds.get("files")), "files") or ()
        counts = objects(fields(kinds.get("count")), "counts")
        found += [f"{text(one, 'file') or ''}: {whole(one, 'count') or 0}" for one in counts]
    return "\n".join(found)


def _listed(told: JsonObject) -> str:
    """Return the paths of a folder's files, and those of the folders in it."""
    waiting, found = [fields(told.get("directoryTreeRoot"))], list[str]()
    while waiting:
        folder = waiting.pop()
        place = (text(folder, "absPath") or "").rstrip("/")
        found += [f"{place}/{text(file, 'name') or ''}" for file in objects(folder, "childrenFiles")]
        waiting += reversed(objects(folder, "childrenDirs"))
    return "\n".join(found)


def _answer(told: JsonObject) -> str:
    """Return what a subagent said."""
    said = [text(fields(step.get("assistantMessage")), "text") for step in objects(told, "conversationSteps")]
    return "\n".join(words for words in said if words)


_TEXTS: dict[str, Callable[[JsonObject], str]] = {
    "delete": lambda told: text(told, "message") or "",
    "edit": lambda told: text(told, "message", "resultForModel") or "",
    "fetch": lambda told: text(told, "content", "markdown") or "",
    "glob": _files,
    "grep": _matches,
    "ls": _listed,
    "read": lambda told: text(told, "content") or "",
    "task": _answer,
    "webFetch": lambda told: text(told, "content", "markdown") or "",
    "write": lambda told: text(told, "message") or "",
}
"""The text of a result, of tools that are known; that of any other is told as it is."""
