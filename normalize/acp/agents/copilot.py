"""GitHub Copilot CLI."""

import re
from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks, said
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn

_REFUSED = re.compile(r"Error: (?:[45]\d\d\b|.{0,500}?\bHTTP [45]\d\d\b)")
"""An error with the API's status. A model's own words have no status and arrive in more than one piece."""


class Copilot(Quirks, frozen=True, kw_only=True):
    """Reports errors as text, and counts the session's tokens."""

    def note_text(self, turn: "Turn", words: str) -> None:
        """Note an error that is written as text, if it is the agent's last text."""
        turn.said_error = words if words.startswith("Error: ") else None

    def failure(self, turn: "Turn", result: JsonObject) -> RpcError | None:
        """Return the last error, if it has a status or if no call of the session succeeded (then there is no usage)."""
        words = turn.said_error
        if words is None or (fields(result.get("usage")) and not _REFUSED.match(words)):
            return None
        return said(turn)
