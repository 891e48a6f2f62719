"""The habits that agents differ in, each as most agents have it."""

from typing import TYPE_CHECKING, Literal

from turnwire.normalize.tool_calls.call_quirks import CallQuirks
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn


class Quirks(CallQuirks, frozen=True, kw_only=True):
    """An agent that follows the protocol and adds nothing."""

    joins_prompts: bool = False
    """A prompt that arrives during a turn joins it. Both prompts are then answered at its end."""
    counts: Literal["turn", "session", "last_call"] = "turn"
    """What the usage in a response covers. A turn of several calls of the model may count the last one alone."""

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


def said(turn: "Turn") -> RpcError:
    """Return the agent's own text about its failure."""
    return RpcError(message=(turn.said_error or "").removeprefix("Error: "))
