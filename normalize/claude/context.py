"""How full the main model's context window is.

The used tokens come from the last answer of the main thread. A subagent has its own context and does not count. The window's
size comes from
the result's usage by model. Its model names can differ from the session's by date, provider or a `[1m]` suffix.
Until a result arrives, that suffix and a table decide. The size of another model is unknown. So is a size that an
answer exceeds: session files name a model without the suffix that was requested.
"""

import re

from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.events import AgentEvent, ContextWindow
from turnwire.protocol.claude.blocks import Usage
from turnwire.protocol.claude.results import Result
from turnwire.protocol.quantities import MOST

LONG_SIZE = 1_000_000
"""Window of a model with `[1m]` in its name."""

SIZES = {
    **dict.fromkeys(("claude-opus-5-5", "claude-sonnet-5-5"), LONG_SIZE),
    **dict.fromkeys(
        (
            "claude-3-opus", "claude-3-haiku", "claude-3-5-sonnet", "claude-3-5-haiku", "claude-3-7-sonnet",
            "claude-sonnet-4", "claude-sonnet-4-5", "claude-sonnet-4-6",
            "claude-opus-4", "claude-opus-4-1", "claude-opus-4-5", "claude-opus-4-6", "claude-haiku-4-5",
        ),
        200_000,
    ),
}  # fmt: skip
"""Windows by plain model name, from results and the API's documentation. The CLI reports them only in a result."""

_PROVIDER = re.compile(r"^(?:.*/)?(?:[a-z]{2,6}\.)?(?:anthropic[./])?")
_LONGEST_MODEL = 300
"""Longest model name that is looked up, in characters. A longer one counts as no model and would be slow to search."""
_SUFFIX = re.compile(r"(?:\[1m\]|@.*|-v\d+(?::\d+)?|[-@]?\d{8}|-latest)+$")


class Context:
    """Follows the main model, its window and the tokens used."""

    def __init__(self, place: EventContext) -> None:
        self._place = place
        self._model: str | None = None
        self._sizes: dict[str, int] = {}
        self._size: int | None = None
        self._used = 0
        self._largest: dict[str, int] = {}
        """The most tokens of an answer, by model."""
        self._shown: tuple[int | None, int, str | None] | None = None

    def model(self, name: str | None, *, is_whole: bool = False) -> None:
        """Set the main thread's model. Synthetic messages have none. `is_whole`: the name is as the session requested it."""
        if not name or name in ("<synthetic>", self._model):
            return
        # An answer names its model without the [1m] that the session asked for.
        if is_whole or self._model is None or plain_name(name) != plain_name(self._model) or "[1m]" in name:
            self._model = name
            self._size = self._size_now()

    def used(self, usage: Usage | None, *, final: bool = True) -> list[AgentEvent]:
        """Take the usage of a main-thread answer. Usage that is not `final` is kept and published with the next change."""
        tokens = usage.context_tokens if usage is not None else 0
        if not 0 < tokens <= MOST:
            return []
        self._used = tokens
        self.holds(tokens)
        return self.show() if final else []

    def holds(self, tokens: int) -> None:
        """The main model's window holds so many tokens: a smaller size is wrong."""
        name = self._model or ""
        if tokens > self._largest.get(name, 0):
            self._largest[name] = tokens
            self._size = self._size_now()

    def reset(self, tokens: int | None) -> list[AgentEvent]:
        """The conversation was replaced by a summary of so many tokens, or is empty."""
        self._used = tokens if tokens is not None and 0 < tokens <= MOST else 0
        return self.show()

    def result(self, result: Result) -> list[AgentEvent]:
        """Learn the sizes of windows from a result."""
        for name, model in result.model_usage_camel.items():
            self._learn(name, model.context_window)
        for name, spec in result.model_usage_snake.items():
            self._learn(name, spec.context_window)
        return self.show()

    def show(self) -> list[AgentEvent]:
        """Return the event, unless nothing has changed since the last one."""
        size = self._size
        shown = (size, self._used, self._model)
        if shown == self._shown or (self._used == 0 and self._shown is None):
            return []
        self._shown = shown
        here = self._place.here
        return [
            ContextWindow(
                session_id=here["session_id"],
                operation_id=here["operation_id"],
                context_window_size=size,
                context_window_used=self._used,
                context_window_remaining=None if size is None else size - self._used,
                context_efficiency=None if size is None else 100 * self._used / size,
                model=self._model,
            )
        ]

    def _learn(self, name: str, size: int | None) -> None:
        if size is not None and size > 0 and self._sizes.get(name) != size:
            self._sizes[name] = size
            self._size = self._size_now()

    def _size_now(self) -> int | None:
        size = self._told_size()
        return None if size is not None and size < self._largest.get(self._model or "", 0) else size

    def _told_size(self) -> int | None:
        name = self._model
        if name is None:
            return next(iter(self._sizes.values())) if len(self._sizes) == 1 else None
        if name in self._sizes:
            return self._sizes[name]
        plain = plain_name(name)
        for known, size in self._sizes.items():
            if plain_name(known) == plain:
                return size
        return LONG_SIZE if "[1m]" in name else SIZES.get(plain)


def plain_name(model: str) -> str:
    """Return a model's name without provider, date and variant."""
    if len(model) > _LONGEST_MODEL:
        return model
    return _SUFFIX.sub("", _PROVIDER.sub("", model.lower()))
