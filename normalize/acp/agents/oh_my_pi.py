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


class OhMyPi(Quirks):
    """It tells a provider that fails as text, and no usage then."""

    def hear(self, turn: "Turn", words: str) -> None:
        """Note a text that begins with the status of an error, as the last that is said."""
        turn.said_error = words if _ERROR.match(words) else None

    def failure(self, turn: "Turn", result: JsonObject) -> RpcError | None:
        """Return the error that was said last, if the answer has no usage."""
        words = turn.said_error
        if words is None or fields(result.get("usage")):
            return None
        return RpcError(int(words[:3]), words)
