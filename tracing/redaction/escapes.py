r"""Text under its escapes: read it as it was meant, change it, and write it back in as many characters.

`\u002d` in JSON and `%2D` in a URL hide a character from every pattern. Each function returns the text without one layer
of them and where they stood, so that a change of some characters can be put back under the same escapes.
"""

import re
from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

_JSON = re.compile(r"""\\(?:u[0-9a-fA-F]{4}|["'\\/bfnrt])""")
_PERCENT = re.compile(r"%(?:0[9aAdD]|[2-7][0-9a-fA-F])")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Unescaped(NamedTuple):
    """A text and its meaning."""

    source: str
    """As it was written."""
    text: str
    """Without one layer of escapes."""
    places: Sequence[int]
    """Where the escapes stand in the source, in order."""
    sizes: bytes
    """Characters of each escape."""

    def restored(self, text: str) -> str:
        """Return the source with another text of the same length, escaped where it was."""
        if text == self.text:
            return self.source
        parts: list[str] = []
        done = place = at = 0
        for start, size in zip(self.places, self.sizes, strict=True):
            place += start - at
            at = start + size
            if (
                size > 2 and text[place] != self.text[place]
            ):  # a short escape is punctuation, which nobody replaces
                parts += (
                    text[done:place],
                    f"%{ord(text[place]):02X}" if size == 3 else f"\\u{ord(text[place]):04x}",
                )
                done = place + 1
            else:
                parts += (text[done:place], self.source[start:at])
                done = place + 1
            place += 1
        return "".join([*parts, text[done:]])


def without_json_escapes(source: str) -> Unescaped:
    """Read a text as the inside of a JSON string; what is no escape stays as it is."""
    return _without(source, _JSON, _json_character)


def without_percent_escapes(source: str) -> Unescaped:
    """Read a text as part of a URL; escapes beyond ASCII stay as they are."""
    return _without(source, _PERCENT, lambda escape: chr(int(escape[1:], 16)))


def _json_character(escape: str) -> str:
    digits = escape[2:]
    return chr(int(digits, 16)) if digits else _SHORT.get(escape[1], escape[1])


def _without(source: str, pattern: re.Pattern[str], character: Callable[[str], str]) -> Unescaped:
    # arrays, since a line of megabytes may be nothing but escapes
    places, sizes = array("Q"), bytearray()
    for found in pattern.finditer(source):
        places.append(found.start())
        sizes.append(found.end() - found.start())
    text = pattern.sub(lambda found: character(found[0]), source) if places else source
    return Unescaped(source, text, places, bytes(sizes))
