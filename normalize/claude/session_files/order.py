"""Records that the CLI writes before the record they hang on: from 2.1.104 on a fast tool's result precedes its call."""

HELD_BYTES = 16 << 20
"""Bytes of lines that a reader holds until their parents arrive. Further lines are read in place."""


class Order:
    """The records that stand before their own parent's record."""

    def __init__(self) -> None:
        self.late: set[str] = set()
        """Ids of those records."""
        self._seen: set[str] = set()
        self._missed: set[str] = set()

    def note(self, uuid: str, parent: str | None) -> None:
        """Take a record, in file order. A copy is ignored."""
        if uuid in self._seen:
            return
        self._seen.add(uuid)
        if uuid in self._missed:
            self.late.add(uuid)
        if parent is not None and parent not in self._seen:
            self._missed.add(parent)
