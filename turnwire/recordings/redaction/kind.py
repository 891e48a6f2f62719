"""A row of the tables of secrets, and what their patterns share."""

from typing import NamedTuple


class Kind(NamedTuple):
    """A row of the tables."""

    name: str
    """What it is, for the list of what was replaced."""
    keywords: str
    """Words with blanks between them, one of which is in every text that has such a secret."""
    pattern: str
    """The keyword and what stands around the secret, which is the group `secret`; without such a group, what follows the keyword."""
    example: str
    """A text with such a secret; `{h32}` stands for 32 characters drawn from an alphabet."""
    inside: bool = False
    """The pattern begins before the keyword."""


ANY = r"[A-Za-z0-9_\-]"
ALNUM = "[A-Za-z0-9]"
HEX = "[0-9a-fA-F]"
IN_BASE64 = r"[A-Za-z0-9_\-+/=]"
"""What follows letters and digits in base64: an image of some megabytes has short beginnings like `YC` in every place."""
UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
