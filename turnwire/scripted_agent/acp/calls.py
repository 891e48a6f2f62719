"""A tool call in ACP's form: kind, title, locations, changes and output."""

from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.scripted_agent.script import Tool

_KINDS = {
    "Read": "read",
    "NotebookRead": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "edit",
    "Bash": "execute",
    "Grep": "search",
    "Glob": "search",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "Task": "think",
    "ExitPlanMode": "switch_mode",
}


def announcement(tool: Tool, arguments: JsonObject) -> JsonObject:
    """The fields of a call before it runs, but its id and status."""
    path = text_at(arguments, "file_path")
    told: JsonObject = {
        "title": text_at(arguments, "command") or (f"{tool.tool} {path}" if path else tool.tool),
        "kind": _KINDS.get(tool.tool, "other"),
        "rawInput": arguments,
        "content": diffs(arguments),
        "locations": [{"path": path}] if path else [],
    }
    return {**told, **tool.acp}


def diffs(arguments: JsonObject) -> list[JsonObject]:
    """Return a call's changes of files as diffs, as far as its input contains them."""
    path = text_at(arguments, "file_path")
    match arguments:
        case {"old_string": str(old), "new_string": str(new)}:
            return [_diff(path, old, new)]
        case {"edits": list(edits)}:
            return [_diff(path, text_at(edit, "old_string"), text_at(edit, "new_string")) for edit in edits]
        case {"content": str(new)} if path:
            return [_diff(path, None, new)]
        case _:
            return []


def _diff(path: str, old: str | None, new: str) -> JsonObject:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def contents(result: Json) -> list[JsonObject]:
    """The result of a call as content blocks of ACP."""
    blocks = result if isinstance(result, list) else [{"type": "text", "text": result}]
    return [{"type": "content", "content": _block(block)} for block in blocks if block != ""]


def _block(block: Json) -> JsonObject:
    match block:
        case {"type": "text", "text": str(text)}:
            return {"type": "text", "text": text}
        case {
            "type": "image",
            "source": {"type": "base64", "media_type": str(media_type), "data": str(content)},
        }:
            return {"type": "image", "mimeType": media_type, "data": content}
        case _:
            return {"type": "text", "text": str(block)}
