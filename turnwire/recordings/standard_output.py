"""Standard output for text of others: a file or a pipe gets it as it is, a terminal spelt out.

A control sequence could move the cursor, name the window or write the clipboard, and a character that turns the direction
around could show another text (turnwire/protocol/visible.py).
"""

import sys
from collections.abc import Callable
from typing import Protocol

from turnwire.protocol.visible import ordered


class Output(Protocol):
    """Takes bytes."""

    def write(self, data: bytes, /) -> int:
        """Write whole lines, or whole characters."""

    def flush(self) -> None:
        """Hand on what was written."""


def standard_output(spell: Callable[[str], str] = ordered) -> Output:
    """Return standard output; a terminal's spells out what it would obey and what cannot be seen.

    spell: how; code by default. Pass `visible` for a document whose code is ordered already.
    """
    return _Spelling(sys.stdout.buffer, spell) if sys.stdout.isatty() else sys.stdout.buffer


class _Spelling:
    def __init__(self, out: Output, spell: Callable[[str], str]) -> None:
        self._out = out
        self._spell = spell

    def write(self, data: bytes, /) -> int:
        # what is no UTF-8 is spelt as the code points that stand for such bytes
        self._out.write(self._spell(data.decode("utf-8", "surrogateescape")).encode())
        return len(data)

    def flush(self) -> None:
        self._out.flush()
