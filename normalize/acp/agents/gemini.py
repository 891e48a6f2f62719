"""Gemini CLI."""

from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.protocol.acp.updates import ToolCallUpdate

if TYPE_CHECKING:
    from turnwire.normalize.tool_calls.tool_call_state import ToolCallState

_MODE = "[MODE_UPDATE] "


class Gemini(Quirks, frozen=True, kw_only=True):
    """Calls have little but a title."""

    def tool_name(self, update: ToolCallUpdate) -> str | None:
        """Return the part of a call's id before two underscores."""
        name, found, _ = update.tool_call_id[:200].partition("__")
        return (name or None) if found else None

    def command(self, facts: "ToolCallState") -> str | None:
        """Return the title: it is the command, whole."""
        return None if facts.has_arguments else facts.title

    def mode_in(self, words: str) -> str | None:
        """Return the mode in a text that begins with the mark."""
        return words[len(_MODE) :].strip() if words.startswith(_MODE) else None
