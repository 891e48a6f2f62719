"""Pi, through pi-acp."""

import re
from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn
    from turnwire.normalize.tool_calls.tool_call_state import ToolCallState

_EXIT = re.compile(r"\n*Command exited with code (-?\d{1,10})\s*\Z")
_RETRIES = re.compile(r"Retry(?:ing \(attempt \d| finished, resuming\.)")
_SILENT = "The agent ended the turn without a word, as it does when its provider fails."
_END = 100
"""Characters at the end of an output in which the exit code is looked for."""


class Pi(Quirks, frozen=True, kw_only=True):
    """Does not report a provider's failure, or only that it retries. No response has usage."""

    def command(self, facts: "ToolCallState") -> str | None:
        """Return the title: it is the command, whole; of a call of the past it is the tool's name."""
        return None if facts.has_arguments or facts.title == "bash" else facts.title

    def exit_of(self, output: str) -> tuple[int | None, str] | None:
        """Return the exit code in the text. The terminal's exit code is 1 for every failure."""
        found = _EXIT.search(output, max(len(output) - _END, 0))
        return None if found is None else (int(found[1]), output[: found.start()])

    def note_text(self, turn: "Turn", words: str) -> None:
        """Note a retry of the provider, if it is the last text."""
        turn.said_error = words if _RETRIES.match(words) else None

    def failure(self, turn: "Turn", result: JsonObject) -> RpcError | None:
        """Return why a turn failed that has no output, or no output but a notice of the retry."""
        del result
        if turn.said_error is not None:
            return RpcError(message=f"The provider failed, and so did asking it again: {turn.said_error}")
        return None if turn.has_output else RpcError(message=_SILENT)
