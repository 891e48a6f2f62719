"""The names under which decisions are made that no human makes, and which so no frontend may give itself.

`by` of a decision is a frontend's own name, that of its principal, or one of these: the audit trail would otherwise not tell
them apart.
"""

import re
import unicodedata

WORDS = frozenset(
    {
        "cancelled",
        "hook",
        "policy",
        "remembered",
        "rule",
        "sidecar",
        "system",
        "timeout",
        "turnwire",
        "unknown",
    }
)
"""Deciders of one word, prefixes of deciders with a colon, and names that could be mistaken for them."""

USER = "user:"
"""Prefix of a principal's name. No frontend can give itself a name with a colon."""

_GIVEN = re.compile(r"frontend-\d+(-\d+)?(@.*)?")
"""Names of frontends that give themselves no name."""


def is_reserved(name: str) -> bool:
    """Tell whether a name is, or looks like, that of a policy, a rule, a hook or turnwire itself.

    Letter case, widths and surrounding space make no difference, and any colon makes one of these.
    """
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    return ":" in plain or plain in WORDS or _GIVEN.fullmatch(plain) is not None
