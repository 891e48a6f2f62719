"""The habits that agents differ in when they tell of tool calls, each as most agents have it."""

from typing import TYPE_CHECKING

from turnwire.protocol.acp.updates import ToolCallUpdate

if TYPE_CHECKING:
    from turnwire.normalize.tool_calls.tool_call_state import ToolCallState


class CallQuirks:
    """An agent that tells of its calls what the protocol says, and no more."""

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
