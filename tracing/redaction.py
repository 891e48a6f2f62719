r"""What is a secret, and what takes its place: something of the same length and look, the same wherever it stands.

Patterns are matched on JSON text as it is on the wire, so a secret may follow an escape such as `\n`. Replacements
use no character that JSON escapes; so lines stay valid, and sizes, structure and times are kept.
"""

import re
from collections.abc import Callable
from hashlib import blake2b

_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf]))"
"""The beginning of a word; an escaped line break right before it does not make it a longer word."""
_QUOTE = r"\\*[\"']?"
_WORD = r"[A-Za-z0-9_\-]"

PREFIXED: dict[str, str] = {
    "Anthropic key": rf"sk-ant-{_WORD}{{8,}}",
    "OpenAI key": rf"sk-(?:proj-|svcacct-)?{_WORD}{{16,}}",
    "GitHub token": r"gh[pousr]_[A-Za-z0-9]{16,}",
    "GitHub fine-grained token": r"github_pat_[A-Za-z0-9_]{16,}",
    "GitLab token": rf"gl(?:pat|rt|dt|cbt)-{_WORD}{{12,}}",
    "Slack token": r"xox[abeoprs]-[A-Za-z0-9\-]{10,}",
    "AWS access key id": r"(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}",
    "Google API key": rf"AIza{_WORD}{{20,}}",
    "Google OAuth token": r"ya29\.[A-Za-z0-9_\-.]{16,}",
    "Stripe key": r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}",
    "npm token": r"npm_[A-Za-z0-9]{16,}",
    "PyPI token": rf"pypi-{_WORD}{{16,}}",
    "Hugging Face token": r"hf_[A-Za-z0-9]{16,}",
    "SendGrid key": r"SG\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}",
    "DigitalOcean token": r"do[opr]_v1_[a-f0-9]{16,}",
    "Telegram bot token": r"\d{8,10}:AA[A-Za-z0-9_\-]{20,}",
    "age secret key": r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    "JSON web token": r"eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{4,}",
}
"""Secrets that say themselves what they are."""

INTRODUCED: dict[str, str] = {
    "Authorization header": r"(?i:(?:bearer|basic|token)\s+)(?P<secret>[A-Za-z0-9+/=_.\-]{8,})",
    "password in a URL": r"(?i:[a-z][a-z0-9+.\-]*://[^\s/:@\"'\\]*:)(?P<secret>[^\s/@\"'\\]+)(?=@)",
    "assignment": (
        r"(?i:(?:[A-Za-z0-9_\-]{0,80}(?:password|passwd|pwd|secret|token|api[_\-]?key|access[_\-]?key|account[_\-]?key|"
        r"private[_\-]?key|client[_\-]?secret|auth|credential|cookie|session[_\-]?key)[A-Za-z0-9_\-]*?)"
        rf"{_QUOTE}\s*[:=]\s*{_QUOTE})"
        r"(?P<secret>(?!(?:true|false|null|none|undefined|[\d.]+)\b)[A-Za-z0-9+/=_.~!@#%^&*\-]{6,})"
    ),
    "password option": r"(?i:--?(?:password|passwd|token|secret|api-key)[= ]\s*)(?P<secret>[^\s\"'\\]{4,})",
}
"""Secrets that what stands before them gives away."""

NAMES: dict[str, str] = {
    "home directory": r"(?:/home/|/Users/|[A-Za-z]:(?:\\|/)+Users(?:\\|/)+)(?P<secret>[^/\s\"'\\:<>|*?]+)",
    "home directory in a project's name": r"-(?:home|Users)-(?P<secret>[A-Za-z0-9_.]+)(?=-)",
    "e-mail address": r"(?:(?<![\\A-Za-z0-9._%+\-])|(?<=\\[nrtbf]))(?P<secret>[A-Za-z0-9._%+\-]{1,64}@[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)+)",
}
"""What names a person."""

_PEM = re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)(.*?)(-----END [A-Z ]*PRIVATE KEY-----|$)", re.DOTALL)
_PEM_CHARACTER = re.compile(r"\\+[nrt]|[A-Za-z0-9+/]")
_FILLED = "abcdefghijklmnopqrstuvwxyz"


class Redaction:
    """Replaces secrets; the same secret gets the same replacement, which only this key gives."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.counts: dict[str, int] = {}
        """How often something of each kind was replaced."""
        self._rules: list[tuple[str, re.Pattern[str], Callable[[str], str]]] = [
            *(
                (name, re.compile(_START + rf"(?P<secret>{pattern})"), self._keep_prefix)
                for name, pattern in PREFIXED.items()
            ),
            *((name, re.compile(_START + pattern), self._letters) for name, pattern in INTRODUCED.items()),
            *((name, re.compile(pattern), self._letters) for name, pattern in NAMES.items()),
        ]
        self._replaced: set[str] = set()

    def apply(self, text: str) -> str:
        """Return JSON text, or any text, without secrets and of the same length."""
        if "PRIVATE KEY-----" in text:
            text = _PEM.sub(self._pem, text)
        for name, pattern, replacement in self._rules:
            text = pattern.sub(lambda found, n=name, r=replacement: self._replace(found, n, r), text)  # type: ignore[misc]  # lambda defaults
        return text

    def _replace(self, found: re.Match[str], name: str, replacement: Callable[[str], str]) -> str:
        secret = found["secret"]
        if secret in self._replaced:
            return found[0]  # a later rule meets what an earlier one has put there
        self.counts[name] = self.counts.get(name, 0) + 1
        fresh = replacement(secret)
        self._replaced.add(fresh)
        start = found.start("secret") - found.start()
        return found[0][:start] + fresh + found[0][start + len(secret) :]

    def _keep_prefix(self, secret: str) -> str:
        """Keep what says which kind of secret it was; replace the rest."""
        cut = next((at for at, character in enumerate(secret) if character in "-_." and at >= 2), 2) + 1
        return secret[:cut] + self._letters(secret[cut:])

    def _letters(self, secret: str) -> str:
        """Letters for letters and digits; punctuation stays."""
        stream = self._stream(secret)
        return "".join(
            _FILLED[stream[at % len(stream)] % len(_FILLED)] if character.isalnum() else character
            for at, character in enumerate(secret)
        )

    def _stream(self, secret: str) -> bytes:
        return blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key, digest_size=64).digest()

    def _pem(self, found: re.Match[str]) -> str:
        self.counts["private key"] = self.counts.get("private key", 0) + 1
        body = _PEM_CHARACTER.sub(lambda one: one[0] if one[0].startswith("\\") else "x", found[2])
        return found[1] + body + found[3]
