"""The habits that agents differ in, each as most agents have it."""

from typing import TYPE_CHECKING

from turnwire.normalize.acp.tokens import Counted, Tokens
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.acp.updates import ToolCallUpdate
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn
    from turnwire.normalize.acp.tool_call_state import ToolCallState


class Quirks:
    """An agent that does what the protocol says, and no more."""

    # What it tells of calls.

    def tool_name(self, update: ToolCallUpdate) -> str | None:
        """Return the tool's name where an update hides it: in an id, or in a title."""
        del update
        return None

    def command(self, facts: "ToolCallState") -> str | None:
        """Return the command of a call that tells no arguments; a title is none, unless it is known to be."""
        del facts
        return None

    def shown_command(self, facts: "ToolCallState") -> str | None:
        """Return the command of a call that shows it before it runs."""
        del facts
        return None

    def exit_of(self, output: str) -> tuple[int | None, str] | None:
        """Return the exit code that the text of a result tells, and the output in it; None where it tells none."""
        del output
        return None

    def shows_whole_files(self) -> bool:
        """Tell whether a diff holds the whole file, so that its line numbers are the file's own."""
        return False

    def batches_permissions(self) -> bool:
        """Tell whether one request asks for all calls that wait, and names the last of them."""
        return False

    def forgets_refused_calls(self) -> bool:
        """Tell whether a call that was refused is never heard of again: the refusal itself ends it."""
        return False

    # What it tells of turns.

    def joins_prompts(self) -> bool:
        """Tell whether a prompt that comes while a turn runs is heard in this turn, and both are answered at its end."""
        return False

    def mode_in(self, words: str) -> str | None:
        """Return the mode that a piece of text tells; None where it tells none."""
        del words
        return None

    def hear(self, turn: "Turn", words: str) -> None:
        """Note what a piece of text tells of the turn beside its words."""

    def failure(self, turn: "Turn", result: JsonObject) -> RpcError | None:
        """Return why a turn has failed that ends as if all were well; None where it has not."""
        del result
        return said(turn) if turn.has_failed else None

    def was_refused(self, result: JsonObject) -> bool:
        """Tell whether a turn that ends as cancelled ends because a human refused a call, which is no interrupt."""
        del result
        return False

    def counted(self, told: Tokens, before: Tokens | None, *, has_calls: bool) -> Counted:
        """Return what the usage of an answer counts.

        before: the usage of the answer before. has_calls: whether the turn has called a tool, and so the model more than once.
        """
        del before, has_calls
        return Counted(told)


def said(turn: "Turn") -> RpcError:
    """Return what the agent has said of its failure."""
    return RpcError(message=(turn.said_error or "").removeprefix("Error: "))
