"""The habits that agents differ in when they tell of tool calls, each as most agents have it."""

from typing import TYPE_CHECKING

from msgspec import Struct

from turnwire.normalize.common.option_effects import Granted
from turnwire.protocol.acp.updates import ToolCallUpdate

if TYPE_CHECKING:
    from turnwire.normalize.tool_calls.tool_call_state import ToolCallState


class CallQuirks(Struct, frozen=True, kw_only=True):
    """An agent that tells of its calls what the protocol says, and no more."""

    shows_whole_files: bool = False
    """A diff holds the whole file, so its line numbers are the file's own."""
    batches_permissions: bool = False
    """One request asks for all calls that wait, and names the last of them."""
    forgets_refused_calls: bool = False
    """A call that was refused is never heard of again: the refusal itself ends it."""

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

    def granted(self, option_id: str, kind: str | None) -> Granted | None:
        """Return what an answer that lasts allows, asked about a call of a kind; None where the agent alone knows."""
        del option_id, kind
        return None

    def exit_of(self, output: str) -> tuple[int | None, str] | None:
        """Return the exit code that the text of a result tells, and the output in it; None where it tells none."""
        del output
        return None
