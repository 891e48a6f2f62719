"""Pi, through pi-acp."""

import re
from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn
    from turnwire.normalize.acp.tool_call_state import ToolCallState

_EXIT = re.compile(r"\n*Command exited with code (-?\d{1,10})\s*\Z")
_RETRIES = re.compile(r"Retry(?:ing \(attempt \d| finished, resuming\.)")
_SILENT = "The agent ended the turn without a word, as it does when its provider fails."
_END = 100
"""Characters at the end of an output in which the exit code is looked for."""


class Pi(Quirks):
    """It tells of a provider that fails nothing, or that it tries again; no answer has a usage."""

    def command(self, facts: "ToolCallState") -> str | None:
        """Return the title: it is the command, whole; of a call of the past it is the tool's name."""
        return None if facts.has_arguments or facts.title == "bash" else facts.title

    def exit_of(self, output: str) -> tuple[int | None, str] | None:
        """Return the code that the text tells; the terminal's is 1 for every failure."""
        found = _EXIT.search(output, max(len(output) - _END, 0))
        return None if found is None else (int(found[1]), output[: found.start()])

    def hear(self, turn: "Turn", words: str) -> None:
        """Note that the provider was asked again, where this is the last that was said."""
        turn.said_error = words if _RETRIES.match(words) else None

    def failure(self, turn: "Turn", result: JsonObject) -> RpcError | None:
        """Return why a turn failed in which nothing was said or done, or nothing but that the provider was asked again."""
        del result
        if turn.said_error is not None:
            return RpcError(message=f"The provider failed, and so did asking it again: {turn.said_error}")
        return None if turn.has_output else RpcError(message=_SILENT)
