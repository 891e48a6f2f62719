"""The habits that agents differ in, each as most agents have it."""

from typing import TYPE_CHECKING

from turnwire.normalize.acp.tokens import Counted, Tokens
from turnwire.normalize.tool_calls.call_quirks import CallQuirks
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn


class Quirks(CallQuirks):
    """An agent that follows the protocol and adds nothing."""

    def joins_prompts(self) -> bool:
        """Return whether a prompt that arrives during a turn joins it. Both prompts are then answered at its end."""
        return False

    def mode_in(self, words: str) -> str | None:
        """Return the mode named in a piece of text; None if there is none."""
        del words
        return None

    def note_text(self, turn: "Turn", words: str) -> None:
        """Note facts about the turn in a piece of text."""

    def failure(self, turn: "Turn", result: JsonObject) -> RpcError | None:
        """Return why a turn has failed that ends as if all were well; None where it has not."""
        del result
        return said(turn) if turn.has_failed else None

    def was_refused(self, result: JsonObject) -> bool:
        """Tell whether a turn that ends as cancelled ends because a human refused a call, which is no interrupt."""
        del result
        return False

    def counted(self, told: Tokens, before: Tokens | None, *, has_calls: bool) -> Counted:
        """Return the meaning of a response's usage.

        before: the usage of the previous response. has_calls: the turn has called a tool, so it called the model more than
        once.
        """
        del before, has_calls
        return Counted(told)


def said(turn: "Turn") -> RpcError:
    """Return the agent's own text about its failure."""
    return RpcError(message=(turn.said_error or "").removeprefix("Error: "))
