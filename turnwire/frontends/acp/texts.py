"""What was already shown of a block of text, in constant memory: ACP 1 can add to a message, and take nothing back.

A correction of a block that only goes on where the pieces ended is shown as what is new; any other is shown whole, once
more. What was said is remembered by its length and digest.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Hashable

MOST = 256
"""Blocks that are remembered; a block is corrected soon, or not at all."""


class ShownTexts:
    """The newest blocks of a session."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[Hashable, tuple[int, hashlib.blake2b]] = OrderedDict()

    def add(self, block: Hashable, text: str) -> str:
        """Note a further piece; returns what is to be shown."""
        length, digest = self._blocks.pop(block, (0, hashlib.blake2b()))
        digest.update(_bytes(text))
        self._blocks[block] = (length + len(text), digest)
        if len(self._blocks) > MOST:
            self._blocks.popitem(last=False)
        return text

    def replace(self, block: Hashable, text: str) -> tuple[str, bool]:
        """Note what takes the place of all pieces; returns what is to be shown, and whether it says again what was shown."""
        length, digest = self._blocks.pop(block, (0, hashlib.blake2b()))
        goes_on = hashlib.blake2b(_bytes(text[:length])).digest() == digest.digest()
        self.add(block, text)
        return (text[length:], False) if goes_on else (text, True)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
