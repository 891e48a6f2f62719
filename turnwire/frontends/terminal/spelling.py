"""Text as a terminal can draw it: nothing hides or commands, and no character is wider than it is counted. Pure.

Terminals disagree about the width of an emoji of several code points. So its parts stand side by side, each as wide as all agree.
Marks that would pile up over the lines above are counted instead.
"""

import re

from turnwire.protocol import visible as spelt

MARKS = 4
"""Combining marks of one range that a letter may have."""

_UNEVEN = re.compile(
    r"\ufe0f|(?<![\u0620-\u17ff])\u200d|([\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]{5,})"
)


def visible(text: str) -> str:
    """Spell out what is not seen; newlines and tabs stay."""
    return _even(spelt.visible(text))


def visible_line(text: str) -> str:
    """Do the same for a name that stands in a line."""
    return _even(spelt.visible_line(text))


def visible_prose(text: str) -> str:
    """Do the same for prose."""
    return _even(spelt.visible_prose(text))


def ordered(text: str) -> str:
    """Do the same for code."""
    return _even(spelt.ordered(text))


def _even(text: str) -> str:
    return text if text.isascii() else _UNEVEN.sub(_counted, text)


def _counted(found: re.Match[str]) -> str:
    marks = found[1]
    return f"{marks[:MARKS]}⟨{len(marks) - MARKS} more marks⟩" if marks else ""
