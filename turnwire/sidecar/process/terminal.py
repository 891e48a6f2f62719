"""Somebody else's text on a terminal: names of files, what an agent said, what a recording holds.

A control sequence in it could move the cursor, name the window or write the clipboard, and a character that turns the
direction around could show another text; such characters are spelt as Python spells them. Joiners stay: emoji need them.
"""

import re

_ORDERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def harmless(text: str) -> str:
    """Return the text with every character spelt that a terminal would obey, but for newlines and tabs."""
    return _ORDERS.sub(lambda found: ascii(found.group())[1:-1], text)
