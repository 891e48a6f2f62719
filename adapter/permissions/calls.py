"""What an agent wants to do, as rules, grants and policies see it: in the words of no family."""

from msgspec import Struct, field

from turnwire.normalize.vocabulary import ToolKind
from turnwire.protocol.json_values import JsonObject

INTERACTIVE: frozenset[ToolKind] = frozenset({"plan", "question"})
"""Kinds of tools that are a question to a human, so that no answer can stand for the next one."""


class ToolCall(Struct, frozen=True):
    """A call as rules, grants and policies see it."""

    tool: str
    """The tool's name, as rules name it."""
    arguments: JsonObject = field(default_factory=dict)
    """What it is called with; rules know `command`, `file_path`, `notebook_path`, `path` and `url`, so a family without names of its own uses these."""
    kind: ToolKind = "other"
    """What it does."""
    paths: tuple[str, ...] = ()
    """Paths that it touches beside those among its arguments."""
    untold: tuple[str, ...] = ()
    """Arguments that it has and that the agent does not tell: a rule about one allows nothing, and asks where it would deny."""

    @property
    def is_interactive(self) -> bool:
        """True for a question to a human."""
        return self.kind in INTERACTIVE
