"""Ids that are unique in a session, whatever ids the agent gives.

Model servers count calls anew in each message (`functions.Bash:0`), gateways give all messages one id, and some agents count anew in
each process. The first use of an id keeps it. A later use gets the turn and a number: `call_0#turn-3.2`.
"""

import re

from turnwire.normalize.common.bounded_dict import BoundedDict

_REMEMBERED = 4096
"""Most ids whose use is remembered. An id that an agent uses again and again stays among the newest."""
_COUNTED = re.compile(r"(?:\A|[^0-9A-Za-z])[0-9]{1,6}\Z")
_SHORT = 12


class UniqueIds:
    """The ids of the calls, or of the messages, of one session."""

    def __init__(self, first_turn: int = 1) -> None:
        """`first_turn`: number of the first turn. Of the turns before it we do not know the ids."""
        self._knows_all = first_turn == 1
        self._before = f"turn-{first_turn - 1}"
        self._uses: BoundedDict[tuple[str, str | None, int]] = BoundedDict(_REMEMBERED)
        """Agent's id -> our id, turn and number of its newest use."""

    def new(self, own: str, turn: str | None) -> str:
        """Return our id of something new that the agent calls `own`."""
        use = self._uses.get(own)
        count = 1 if use is None else use[2] + 1
        if use is None and own and (self._knows_all or not _may_repeat(own)):
            ours = own
        else:
            ours = f"{own}#{turn or self._before}.{count}"
        self._uses.put(own, (ours, turn, count))
        return ours

    def of(self, own: str) -> str:
        """Return our id of the newest thing that the agent calls `own`."""
        use = self._uses.get(own)
        return own if use is None else use[0]

    def in_turn(self, own: str, turn: str | None) -> str:
        """Return our id of what the agent calls `own` in this turn. In another turn it is something new."""
        use = self._uses.get(own)
        if use is None or (use[1] != turn and turn is not None):
            return self.new(own, turn)
        return use[0]


def _may_repeat(own: str) -> bool:
    """Return whether an id looks counted rather than random."""
    return len(own) < _SHORT or _COUNTED.search(own) is not None
