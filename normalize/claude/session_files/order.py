"""Records that the CLI writes before the record they hang on: from 2.1.104 on a fast tool's result precedes its call."""

from collections.abc import Iterable

from turnwire.protocol.claude.session_lines import LineHead

HELD_BYTES = 16 << 20
"""Bytes of lines that a reader holds until their parents arrive. Further lines are read in place."""


class Order:
    """The records that stand before their own parent's record."""

    def __init__(self) -> None:
        self.late: set[str] = set()
        """Ids of those records."""
        self._seen: set[str] = set()
        self._missed: set[str] = set()

    def note(self, records: Iterable[LineHead]) -> None:
        """Take records, in file order. A copy is ignored, and so is a record without an id."""
        seen, missed = self._seen, self._missed
        for record in records:
            uuid, parent = record.uuid, record.parent_uuid
            if uuid is None or uuid in seen:
                continue
            seen.add(uuid)
            if uuid in missed:
                self.late.add(uuid)
            if parent is not None and parent not in seen:
                missed.add(parent)
