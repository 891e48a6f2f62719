"""A dictionary of bounded size that drops its oldest entries."""

from typing import TypeVar

Value = TypeVar("Value")


class BoundedDict(dict[str, Value]):
    """Keeps the entries that were put last; all but putting and forgetting is a dictionary's own."""

    __slots__ = ("_limit",)

    def __init__(self, limit: int) -> None:
        """`limit`: most entries."""
        super().__init__()
        self._limit = limit

    def put(self, key: str, value: Value) -> None:
        """Remember the value as the newest, and forget the oldest entry above the limit."""
        self.pop(key, None)
        if len(self) >= self._limit:
            del self[next(iter(self))]
        self[key] = value

    def forget(self, key: str) -> None:
        """Let go of one entry, if it is there."""
        self.pop(key, None)
