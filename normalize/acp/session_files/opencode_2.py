"""OpenCode 2: `session_message` rows of opencode.db as messages of the 1.x form. From public descriptions of 2.0.

A row has a type and data. An assistant's row has its texts, thoughts and calls in `content`, and the tokens of its model call.
"""

from collections.abc import Sequence

from turnwire.normalize.payloads.fields import fields, objects, text
from turnwire.protocol.json_values import JsonObject


def message_of(row: JsonObject) -> JsonObject:
    """Return a row as `{info, parts}`. A row of a type that says nothing of the conversation has no parts."""
    data, name = fields(row.get("data")), text(row, "id") or ""
    info: JsonObject = {"id": name, "sessionID": text(row, "sessionID"), "time": data.get("time")}
    match row.get("type"):
        case "user":
            words = {"type": "text", "id": f"{name}:text", "text": text(data, "text")}
            return {"info": info | {"role": "user"}, "parts": [words]}
        case "assistant":
            model = text(fields(data.get("model")), "id", "modelID")
            about = info | {"role": "assistant", "modelID": model, "error": _error(data)}
            parts = [_part(f"{name}:{place}", part) for place, part in enumerate(objects(data, "content"))]
            return {"info": about, "parts": [*parts, *_finished(name, data)]}
        case "compaction":
            return {"info": info | {"role": "assistant", "summary": True}, "parts": []}
        case _:
            return {"info": info | {"role": "assistant"}, "parts": []}


def _part(name: str, part: JsonObject) -> JsonObject:
    if part.get("type") != "tool":
        return part | {"id": name}
    state = fields(part.get("state"))
    said = "\n".join(text(one, "text") or "" for one in objects(state, "content"))
    told: JsonObject = {
        "status": "pending" if state.get("status") == "streaming" else state.get("status"),
        "input": state.get("input"),
        "output": text(state, "output") or said,
        "metadata": fields(state.get("structured")) or state.get("metadata"),
        "error": text(fields(state.get("error")), "message") or text(state, "error") or said,
    }
    return {
        "type": "tool",
        "id": name,
        "callID": text(part, "id") or name,
        "tool": text(part, "name"),
        "state": told,
    }


def _error(data: JsonObject) -> JsonObject:
    error = fields(data.get("error"))
    if not error:
        return {}
    return {"name": text(error, "type", "name"), "data": {"message": text(error, "message")}}


def _finished(name: str, data: JsonObject) -> Sequence[JsonObject]:
    is_over = "finish" in data or "completed" in fields(data.get("time"))
    if "tokens" not in data or not is_over:
        return ()
    return [{"type": "step-finish", "id": f"{name}:end", "tokens": data["tokens"], "cost": data.get("cost")}]
