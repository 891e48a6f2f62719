"""Records that the CLI writes before the record they hang on: from 2.1.104 on a fast tool's result precedes its call."""

HELD_BYTES = 16 << 20
"""Bytes of lines that a reader holds until their parents come; what is beyond them is read in its place."""


class Order:
    """Which records came behind one that names them as its parent."""

    def __init__(self) -> None:
        self.late: set[str] = set()
        """Those records."""
        self._seen: set[str] = set()
        self._missed: set[str] = set()

    def note(self, uuid: str, parent: str | None) -> None:
        """Take in a record, in the order of the file; a copy of one is no news."""
        if uuid in self._seen:
            return
        self._seen.add(uuid)
        if uuid in self._missed:
            self.late.add(uuid)
        if parent is not None and parent not in self._seen:
            self._missed.add(parent)
