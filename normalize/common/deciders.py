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
"""Deciders of one word, those that are followed by a colon and more, and what could be taken for one."""

USER = "user:"
"""What stands before a principal's name: like all with a colon, nothing that a frontend can call itself."""

_GIVEN = re.compile(r"frontend-\d+(-\d+)?(@.*)?")
"""What frontends are called that give no name."""


def is_reserved(name: str) -> bool:
    """Tell whether a name is, or looks like, that of a policy, a rule, a hook or turnwire itself.

    Letter case, widths and surrounding space make no difference, and any colon makes one of these.
    """
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    return ":" in plain or plain in WORDS or _GIVEN.fullmatch(plain) is not None
