"""The rules that an "always" option may remember for a tool call: the CLI's suggestions, or ours if it has none.

The CLI suggests nothing when a hook made it ask (policy `supervised`), although that answer is worth remembering
as well. Our suggestions have the CLI's form and are as narrow as the CLI's: this very command, this host, edits in this
session.
"""

from collections.abc import Callable

from turnwire.normalize.claude.tool_kinds import kind_of
from turnwire.protocol.claude.requests import CanUseTool
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.protocol.parsing.addresses import read_address


def suggestions(request: CanUseTool) -> list[JsonObject]:
    """Return the permission updates that an "always" answer to this request can be made of."""
    kind = kind_of(request.tool_name)
    if kind in ("question", "plan") or request.requires_user_interaction:
        return []
    if request.permission_suggestions:
        return request.permission_suggestions
    if kind == "edit":
        return [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    rule: JsonObject = {"toolName": request.tool_name}
    if (content := _CONTENTS.get(request.tool_name)) is not None:
        rule["ruleContent"] = content(request.input)
        if not rule["ruleContent"]:
            return []
    return [{"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}]


def _command(arguments: JsonObject) -> str:
    command = text_at(arguments, "command")
    # a star in a rule is a wildcard: the rule would allow more than this command
    return "" if "*" in command or "\n" in command else command


def _domain(arguments: JsonObject) -> str:
    address = read_address(text_at(arguments, "url"))
    # a rule by host is about the ports of http and https alone, and a star in it is a wildcard
    if address is None or not address.is_web or "*" in address.host:
        return ""
    return f"domain:{address.host}"


_CONTENTS: dict[str, Callable[[JsonObject], str]] = {"Bash": _command, "WebFetch": _domain}
"""Tools that a rule without content would allow too much of."""
