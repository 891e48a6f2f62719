"""Gemini CLI."""

from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.normalize.common.option_effects import Granted
from turnwire.protocol.acp.updates import ToolCallUpdate

if TYPE_CHECKING:
    from turnwire.normalize.tool_calls.tool_call_state import ToolCallState

_MODE = "[MODE_UPDATE] "

_GRANTS: dict[tuple[str, str | None], str] = {
    ("proceed_always", "edit"): "every edit of a file",
    ("proceed_always", "execute"): "commands that begin with the same programs",
    ("proceed_always_server", None): "every tool of this MCP server",
    ("proceed_always_tool", None): "every call of this tool of this MCP server",
}
"""Option and kind of the call -> what the agent then allows unasked."""


class Gemini(Quirks, frozen=True, kw_only=True):
    """Calls have little but a title."""

    def tool_name(self, update: ToolCallUpdate) -> str | None:
        """Return the part of a call's id before two underscores."""
        name, found, _ = update.tool_call_id[:200].partition("__")
        return (name or None) if found else None

    def command(self, facts: "ToolCallState") -> str | None:
        """Return the title: it is the command, whole."""
        return None if facts.has_arguments else facts.title

    def granted(self, option_id: str, kind: str | None) -> Granted | None:
        """Return what `Allow for this session` means: of an edit, the mode `autoEdit` (0.61)."""
        what = _GRANTS.get((option_id, kind if option_id == "proceed_always" else None))
        return None if what is None else Granted(what, "session")

    def mode_in(self, words: str) -> str | None:
        """Return the mode in a text that begins with the mark."""
        return words[len(_MODE) :].strip() if words.startswith(_MODE) else None
