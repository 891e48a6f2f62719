"""Where any of many words occurs in a text, found in one pass: what keeps hundreds of rules quick."""

import re
from array import array
from collections.abc import Iterable, Sequence

_Tree = dict[str, "_Tree"]
_END = ""


class Keywords:
    """Finds words; a tree of their letters makes one pattern, which is linear in the text."""

    def __init__(self, words: Iterable[str]) -> None:
        found = sorted({word for word in words if word})
        tree: _Tree = {}
        for word in found:
            at = tree
            for letter in word:
                at = at.setdefault(letter, {})
            at[_END] = {}
        self._pattern = re.compile(f"(?=({_pattern(tree)}))")
        known = set(found)
        self._beginnings = {
            word: [word[:size] for size in range(1, len(word) + 1) if word[:size] in known] for word in found
        }

    def places(self, text: str) -> dict[str, Sequence[int]]:
        """Return where each word begins that is there, in order."""
        places: dict[str, array[int]] = {}
        for found in self._pattern.finditer(text):
            at = found.start()
            for word in self._beginnings[found[1]]:
                known = places.get(word)
                if known is None:
                    known = places[word] = array("Q")
                known.append(at)
        return dict(places)


def _pattern(tree: _Tree) -> str:
    """Return a pattern of the longest word that begins here."""
    ways = [re.escape(letter) + _pattern(rest) for letter, rest in tree.items() if letter != _END]
    if not ways:
        return ""
    one = ways[0] if len(ways) == 1 and _END not in tree else f"(?:{'|'.join(ways)})"
    return f"{one}?" if _END in tree else one
