"""GitHub Copilot CLI."""

import re
from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks, said
from turnwire.normalize.acp.tokens import Counted, Tokens, difference
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn

_REFUSED = re.compile(r"Error: (?:[45]\d\d\b|.{0,500}?\bHTTP [45]\d\d\b)")
"""An error that an API answered with its status: words of a model have none, and come in more than one piece."""


class Copilot(Quirks):
    """It tells errors as text, and counts the session."""

    def hear(self, turn: "Turn", words: str) -> None:
        """Note an error that is told as text, as the last that the agent says."""
        turn.said_error = words if words.startswith("Error: ") else None

    def failure(self, turn: "Turn", result: JsonObject) -> RpcError | None:
        """Return the error that was said last, if it has a status or no call of the session has succeeded, which has no usage."""
        words = turn.said_error
        if words is None or (fields(result.get("usage")) and not _REFUSED.match(words)):
            return None
        return said(turn)

    def counted(self, told: Tokens, before: Tokens | None, *, has_calls: bool) -> Counted:
        """Return what is new of the session's total."""
        del has_calls
        return Counted(difference(told, before), total=told)
