"""Items of `codex app-server`: the observations at their beginning and at their end."""

from collections.abc import Callable, Sequence

from turnwire.normalize.codex.words import unwrapped
from turnwire.normalize.payloads.fields import fields, flag, objects, text, whole
from turnwire.normalize.streams.observations import (
    Change,
    Noticed,
    Observation,
    PlanShown,
    TextWhole,
    ToolCalled,
    ToolEnded,
)
from turnwire.protocol.json_values import Json, JsonObject

_NO_CALLS = frozenset({"contextCompaction", "hookPrompt", "plan", "reasoning", "sleep"})
_LONGEST = 1000
"""Characters of what a command does."""
_REVIEWS = {"enteredReviewMode": "The review begins", "exitedReviewMode": "The review is over"}


def started(kind: str, item: JsonObject, *, parent: str | None) -> Sequence[Observation] | None:
    """Return the observations when an item begins; None for an unknown type."""
    if kind in _NO_CALLS or kind in _REVIEWS:
        return []
    called = _called(kind, item, parent)
    return None if called is None else [called]


def completed(kind: str, item: JsonObject, *, parent: str | None) -> Sequence[Observation] | None:
    """Return the observations when an item has ended; None for an unknown type."""
    name = text(item, "id") or ""
    match kind:
        case "agentMessage":
            return [TextWhole(text(item, "text") or "", name, parent=parent)]
        case "reasoning":
            return [
                *_thoughts(item, "summary", name, parent),
                *_thoughts(item, "content", name, parent),
            ]
        case "plan":
            return [PlanShown(text=text(item, "text") or "", id=name)]
        case "sleep":
            return []
        case "enteredReviewMode" | "exitedReviewMode":
            return [Noticed(kind="review", text=f"{_REVIEWS[kind]}: {text(item, 'review') or ''}")]
        case _:
            called = _called(kind, item, parent)
            return None if called is None else [called, _ended(kind, name, item)]


def summary_id(item_id: str | None, place: int) -> str:
    """Return the name of one part of a summary of thoughts."""
    return f"{item_id or ''}:{place}"


def content_id(item_id: str | None, place: int) -> str:
    """Return the name of one part of the thoughts themselves."""
    return f"{item_id or ''}:content:{place}"


def command(item_id: str, told: JsonObject, *, parent: str | None) -> ToolCalled:
    """Return the call of a command, by an item or by the request to run it."""
    words = unwrapped(text(told, "command"))
    does = described(objects(told, "commandActions"))
    return ToolCalled(
        id=item_id,
        name="shell",
        arguments={"command": words, **({"description": does} if does else {})},
        kind="execute",
        title=words,
        work_dir=text(told, "cwd"),
        parent=parent,
    )


def described(actions: Sequence[JsonObject]) -> str:
    """Return what Codex has found out that a command reads, lists or searches; "" where it knows nothing."""
    found = [
        "{} {}".format(*known)
        for action in actions
        if (known := _ACTIONS.get(text(action, "type") or "", _nothing)(action))[1]
    ]
    return "; ".join(dict.fromkeys(found))[:_LONGEST]


def _nothing(_: JsonObject) -> tuple[str, str]:
    return "", ""


def _searched(action: JsonObject) -> tuple[str, str]:
    query, path = text(action, "query"), text(action, "path")
    return "searches", " in ".join(filter(None, (repr(query) if query else None, path)))


def patch(item_id: str, told: Sequence[JsonObject], *, parent: str | None) -> ToolCalled:
    """Return the call of a patch, by its changes."""
    changes = [_change(one) for one in told]
    title = ", ".join(change.path for change in changes)
    return ToolCalled(
        id=item_id, name="apply_patch", kind="edit", title=title, changes=changes, parent=parent
    )


def _called(kind: str, item: JsonObject, parent: str | None) -> ToolCalled | None:
    name = text(item, "id") or ""
    match kind:
        case "commandExecution":
            return command(name, item, parent=parent)
        case "fileChange":
            return patch(name, objects(item, "changes"), parent=parent)
        case "mcpToolCall":
            server, tool = text(item, "server") or "", text(item, "tool") or ""
            return ToolCalled(
                id=name, name=tool, arguments=item.get("arguments"), mcp=(server, tool), parent=parent
            )
        case "collabAgentToolCall":
            tool = text(item, "tool") or "collaboration"
            arguments: JsonObject = {
                key: item[key] for key in ("prompt", "model", "receiverThreadIds") if item.get(key)
            }
            if tool == "spawnAgent":
                arguments["agentType"] = text(item, "agentType") or "agent"
            return ToolCalled(id=name, name=tool, arguments=arguments, parent=parent)
        case "webSearch":
            query = text(item, "query") or ""
            return ToolCalled(
                id=name,
                name="web_search",
                arguments={"query": query},
                kind="fetch",
                title=query,
                parent=parent,
            )
        case "imageView":
            path = text(item, "path") or ""
            return ToolCalled(
                id=name, name="view_image", arguments={"path": path}, kind="read", title=path, parent=parent
            )
        case "dynamicToolCall" | "imageGeneration":
            tool = text(item, "tool") or "image_generation"
            return ToolCalled(id=name, name=tool, arguments=item.get("arguments"), parent=parent)
        case _:
            return None


def _ended(kind: str, name: str, item: JsonObject) -> ToolEnded:
    status = item.get("status")
    failed = status == "failed" or flag(item, "success") is False
    declined = status == "declined"
    return ToolEnded(
        id=name,
        status="denied" if declined else "failed" if failed else "complete",
        output=_output(kind, item),
        exit_code=whole(item, "exitCode"),
        error=text(fields(item.get("error")), "message"),
    )


def _output(kind: str, item: JsonObject) -> Json:
    match kind:
        case "commandExecution":
            return text(item, "aggregatedOutput")
        case "mcpToolCall":
            return fields(item.get("result")).get("content")
        case "collabAgentToolCall":
            said = [text(fields(one), "message") for one in fields(item.get("agentsStates")).values()]
            return "\n".join(words for words in said if words) or None
        case "dynamicToolCall":
            return item.get("contentItems")
        case _:
            return None


def _thoughts(item: JsonObject, member: str, name: str, parent: str | None) -> list[Observation]:
    parts = item.get(member)
    named = summary_id if member == "summary" else content_id
    return [
        TextWhole(part, named(name, place), is_thought=True, parent=parent)
        for place, part in enumerate(parts if isinstance(parts, list) else [])
        if isinstance(part, str)
    ]


def _change(told: JsonObject) -> Change:
    path, words = text(told, "path") or "", text(told, "diff") or ""
    kind = fields(told.get("kind"))
    match kind.get("type"):
        case "add":
            return Change(path=path, kind="create", new=words)
        case "delete":
            return Change(path=path, kind="delete", old=words)
        case _:
            return Change(path=text(kind, "move_path") or path, diff=words)


_ACTIONS: dict[str, Callable[[JsonObject], tuple[str, str]]] = {
    "read": lambda action: ("reads", text(action, "path", "name") or ""),
    "listFiles": lambda action: ("lists", text(action, "path") or "files"),
    "search": _searched,
}
"""What a command does, by the type of an action."""
