"""Oh My Pi."""

import re
from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn

_ERROR = re.compile(r"([45]\d\d)[ :]")


class OhMyPi(Quirks, frozen=True, kw_only=True):
    """Reports a provider's failure as text, without usage."""

    def note_text(self, turn: "Turn", words: str) -> None:
        """Note a text that begins with an error's status, if it is the last text."""
        turn.said_error = words if _ERROR.match(words) else None

    def failure(self, turn: "Turn", result: JsonObject) -> RpcError | None:
        """Return the last error if the response has no usage."""
        words = turn.said_error
        if words is None or fields(result.get("usage")):
            return None
        return RpcError(int(words[:3]), words)
