"""Ids that are unique in a session, whatever ids the agent gives.

Model servers count calls anew in each message (`functions.Bash:0`), gateways give all messages one id, and some agents count anew in
each process. The first use of an id keeps it. A later use gets the turn and a number: `call_0#turn-3.2`.
"""

import re
from typing import TypeAlias

from turnwire.normalize.common.bounded_dict import BoundedDict

_COUNTED = 4096
"""Most ids that look counted and are remembered. One that an agent uses again and again stays among the newest."""
_RANDOM = 64
"""Most ids that look random. Only a gateway uses them again, and then at once."""
_UNIQUE = re.compile(r"[0-9]{10}|[0-9a-f]{8}-[0-9a-f]{4}-|(?=[A-Za-z]{0,20}[0-9])[0-9A-Za-z]{10}")
"""A part of an id by which it is random: a time, a UUID, or letters and digits."""


_Use: TypeAlias = tuple[str, str | None, int]
"""The newest use of an agent's id: our id, its turn and number."""


class UniqueIds:
    """The ids of the calls, or of the messages, of one session."""

    def __init__(self, first_turn: int = 1) -> None:
        """`first_turn`: number of the first turn. Of the turns before it we do not know the ids."""
        self._knows_all = first_turn == 1
        self._before = f"turn-{first_turn - 1}"
        self._counted: BoundedDict[_Use] = BoundedDict(_COUNTED)
        self._random: BoundedDict[_Use] = BoundedDict(_RANDOM)

    def new(self, own: str, turn: str | None) -> str:
        """Return our id of something new that the agent calls `own`."""
        may_repeat = _UNIQUE.search(own) is None
        uses = self._counted if may_repeat else self._random
        use = uses.get(own)
        count = 1 if use is None else use[2] + 1
        if use is None and own and (self._knows_all or not may_repeat):
            ours = own
        else:
            ours = f"{own}#{turn or self._before}.{count}"
        uses.put(own, (ours, turn, count))
        return ours

    def of(self, own: str) -> str:
        """Return our id of the newest thing that the agent calls `own`."""
        use = self._use(own)
        return own if use is None else use[0]

    def in_turn(self, own: str, turn: str | None) -> str:
        """Return our id of what the agent calls `own` in this turn. In another turn it is something new."""
        use = self._use(own)
        if use is None or (use[1] != turn and turn is not None):
            return self.new(own, turn)
        return use[0]

    def _use(self, own: str) -> _Use | None:
        return self._random.get(own) or self._counted.get(own)
