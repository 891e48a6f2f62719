"""`system` messages of miriad-code: tool results, errors, queueing, consolidation of its memory.

They are read in every dialect, since no Claude CLI uses these subtypes for anything else; `turnwire.protocol.miriad.dialect`
turns those that have a counterpart into it.
"""

from turnwire.protocol.claude.blocks import ToolResultBlock
from turnwire.protocol.claude.system import System
from turnwire.protocol.quantities import Count


class SystemToolResult(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="tool_result"):
    """A tool answered."""

    uuid: str | None = None
    """The line's own id; safe to resume at."""
    tool_result: ToolResultBlock = ToolResultBlock()
    """The answer."""


class SystemFailure(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="error"):
    """Something went wrong in the agent."""

    message: str = ""
    """What."""


class Queued(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="queued"):
    """A prompt came while a turn runs, and waits."""

    position: Count | None = None
    """Its place in the queue, from 1."""


class Injected(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="injected"):
    """Queued prompts were put into the running turn, as one user message joined by blank lines."""

    message_count: Count | None = None
    """How many."""
    content_length: Count | None = None
    """How long they are together."""


class Consolidation(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="consolidation"):
    """The agent tidied its memory."""

    entries_created: Count | None = None
    """Entries that are new."""
    entries_updated: Count | None = None
    """Entries that changed."""
