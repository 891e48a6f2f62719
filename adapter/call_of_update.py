"""A tool call as rules and policies see it, of an update of the Agent Client Protocol; pure.

Agents tell different things of a call: arguments, a title that is the command, places. The names of tools that rules know are
Claude's, by the kind of the call, so that one set of rules holds for every agent.
"""

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.normalize.common.command_line import command_line
from turnwire.normalize.payloads.fields import fields
from turnwire.normalize.vocabulary import ToolKind
from turnwire.protocol.acp.content import Diff
from turnwire.protocol.acp.updates import ToolCallUpdate
from turnwire.protocol.json_values import JsonObject, text_at

_KINDS: dict[str, tuple[ToolKind, str]] = {
    "read": ("read", "Read"),
    "search": ("search", "Grep"),
    "edit": ("edit", "Edit"),
    "delete": ("edit", "Delete"),
    "move": ("edit", "Move"),
    "execute": ("execute", "Bash"),
    "fetch": ("fetch", "WebFetch"),
    "think": ("note", "Think"),
    "switch_mode": ("plan", "SwitchMode"),
}
"""Kind of the protocol -> its meaning, and the tool's name in rules if the agent does not name it."""


def call_of(update: ToolCallUpdate) -> ToolCall:
    """Return a call as rules and policies see it, from everything that its agent reports about it."""
    kind, tool = _KINDS.get(update.kind or "", ("other", ""))
    arguments: JsonObject = dict(fields(update.raw_input))
    untold: tuple[str, ...] = ()
    if kind == "execute":
        command = command_line(arguments.get("command"))
        arguments, untold = ({**arguments, "command": command}, ()) if command else (arguments, ("command",))
    paths = [location.path for location in update.locations or () if location.path]
    paths += [shown.path for shown in update.content or () if isinstance(shown, Diff) and shown.path]
    paths += [
        text_at(arguments, name)
        for name in ("fileName", "filePath", "absolute_path")
        if text_at(arguments, name)
    ]
    if paths and kind in ("read", "edit", "search") and not any(map(arguments.get, ("file_path", "path"))):
        arguments["file_path"] = paths[0]
    return ToolCall(
        _own_name(update) or tool or update.title or "tool",
        arguments,
        kind,
        tuple(dict.fromkeys(paths)),
        untold,
    )


def _own_name(update: ToolCallUpdate) -> str:
    meta = fields(update.meta)
    return update.name or text_at(meta.get("claudeCode"), "toolName")
