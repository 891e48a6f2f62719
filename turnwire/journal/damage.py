"""Damage found in the logs: logged once and counted once, however often it is read."""

import logging

import msgspec

log = logging.getLogger(__name__)


class DamagedNumbers:
    """The damaged numbers of each session that reads have found so far."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._found: dict[str, list[tuple[int, int]]] = {}
        """Ranges, disjoint and in order, both ends included."""

    @property
    def count(self) -> int:
        """Return the number of damaged events."""
        return sum(last - first + 1 for ranges in self._found.values() for first, last in ranges)

    def found(self, session: str, first: int, last: int) -> None:
        """Note a range, and say so if any of it is new."""
        ranges = self._found.setdefault(session, [])
        if any(start <= first and last <= end for start, end in ranges):
            return
        log.error(
            "events are damaged in the journal, and readers get a gap in their place",
            extra={"journal": self._where, "session": session, "first": first, "last": last},
        )
        apart = [one for one in ranges if one[1] < first - 1 or one[0] > last + 1]
        joined = [one for one in ranges if one not in apart]
        first = min([first, *(start for start, _ in joined)])
        last = max([last, *(end for _, end in joined)])
        self._found[session] = sorted([*apart, (first, last)])


def is_json(text: bytes) -> bool:
    """Return whether stored data is valid JSON."""
    try:
        msgspec.json.decode(text.decode(), type=msgspec.Raw)
    except (UnicodeDecodeError, msgspec.DecodeError):
        return False
    return True


def is_json_object(text: bytes) -> bool:
    """Tell the same of an event."""
    return text.startswith(b"{") and is_json(text)
