"""Hermes Agent.

It asks for permission under ids of the requests' own, which Calls.asked_by finds the call of.
"""

import re
from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks, said
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn
    from turnwire.normalize.tool_calls.tool_call_state import ToolCallState

_ERROR = re.compile(r"(?:API call failed after \d{1,3} retries: )?HTTP [45]\d\d\b")
_RESULT = "terminal result\n"
_OUTPUT, _EXIT = "- **output:** ", "- **exit_code:** "
_PROMPT = re.compile(r"(?:\A|\n)\$ (.+)\Z", re.DOTALL)
_CODE = re.compile(r"-?\d{1,10}")


class Hermes(Quirks, frozen=True, kw_only=True):
    """Calls have no arguments, exit codes are text, and tokens count the session."""

    def shown_command(self, facts: "ToolCallState") -> str | None:
        """Return the text after a dollar sign."""
        found = _PROMPT.search(facts.shown_text()) if facts.kind == "execute" else None
        return None if found is None else found[1]

    def exit_of(self, output: str) -> tuple[int | None, str] | None:
        """Return exit code and output from a result that is a list in text form."""
        if not output.startswith(_RESULT):
            return None
        told, found, rest = output[len(_RESULT) :].rpartition(_EXIT)
        code = _CODE.match(rest)
        if not found or code is None:
            return None
        return int(code[0]), told.removeprefix(_OUTPUT).removesuffix("\n")

    def note_text(self, turn: "Turn", words: str) -> None:
        """Note a provider's error that is written as text, if it is the last text."""
        turn.said_error = words if _ERROR.match(words) else None

    def failure(self, turn: "Turn", result: JsonObject) -> RpcError | None:
        """Return the last error if the response has no usage."""
        if turn.said_error is None or fields(result.get("usage")):
            return None
        return said(turn)
