"""Kimi Code."""

import re

from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.protocol.acp.updates import ToolCall, ToolCallUpdate

_WORD = re.compile(r"\A[A-Za-z][A-Za-z0-9_-]{0,63}\Z")


class Kimi(Quirks, frozen=True, kw_only=True):
    """A call's second title describes the call."""

    def tool_name(self, update: ToolCallUpdate) -> str | None:
        """Return the first title if it is one word: then it is the tool's name."""
        title = update.title or ""
        return title if isinstance(update, ToolCall) and _WORD.match(title) else None
