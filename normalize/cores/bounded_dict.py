"""A dictionary that forgets its oldest entries: what may be asked for again soon, at a bounded cost."""

from typing import Generic, TypeVar

Value = TypeVar("Value")


class BoundedDict(Generic[Value]):
    """Keeps the entries that were put last."""

    def __init__(self, limit: int) -> None:
        """`limit`: how many entries are kept."""
        self._limit = limit
        self._entries: dict[str, Value] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def get(self, key: str) -> Value | None:
        """Return what was put last under the key; None if nothing was, or it is forgotten."""
        return self._entries.get(key)

    def put(self, key: str, value: Value) -> None:
        """Remember the value as the newest, and forget the oldest entry above the limit."""
        self._entries.pop(key, None)
        if len(self._entries) >= self._limit:
            del self._entries[next(iter(self._entries))]
        self._entries[key] = value

    def forget(self, key: str) -> None:
        """Let go of one entry, if it is there."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Let go of all entries."""
        self._entries.clear()
