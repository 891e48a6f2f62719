"""What an agent wants to do, as rules, grants and policies see it: in the words of no family."""

import shlex
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct, field

from turnwire.normalize.vocabulary import ToolKind
from turnwire.protocol.json_values import Json, JsonObject

INTERACTIVE: frozenset[ToolKind] = frozenset({"plan", "question"})
"""Kinds of tools that are a question to a human, so that no answer can stand for the next one."""

MAX_TEXTS = 256
"""Texts of one argument that are looked at; of more than these nothing is known."""


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
    def line(self) -> str | None:
        """The line of shell that it runs; a list of words as a line of these; None for none."""
        match self.arguments.get("command"):
            case str(line):
                return line
            case [*words] if words and all(isinstance(word, str) for word in words):
                return _joined(tuple(map(str, words)))
            case _:
                return None

    def texts(self, name: str) -> Sequence[str] | None:
        """Return the texts of an argument, all that are in a list or an object; None where they are not known, or too many."""
        if name in self.untold:
            return None
        found: list[str] = []
        waiting: list[Json] = [self.arguments.get(name)]
        while waiting:
            match waiting.pop():
                case str(text):
                    found.append(text)
                case bool(truth):
                    found.append("true" if truth else "false")
                case int(number) | float(number):
                    found.append(str(number))
                case list(values):
                    waiting += reversed(values[: MAX_TEXTS + 1])
                case dict(fields):
                    for key, value in [*fields.items()][: MAX_TEXTS + 1]:
                        waiting += (value, key)
                case _:
                    pass
            if len(found) + len(waiting) > 4 * MAX_TEXTS or len(found) > MAX_TEXTS:
                return None
        return found

    @property
    def is_interactive(self) -> bool:
        """True for a question to a human."""
        return self.kind in INTERACTIVE


@lru_cache(maxsize=8)
def _joined(words: tuple[str, ...]) -> str:
    """Return words as a line of shell, which is asked for by each rule."""
    return shlex.join(words)
