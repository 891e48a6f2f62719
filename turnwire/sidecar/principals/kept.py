"""A principal's stored token: hashed, so that reading the store gives no access. Pure.

A token is 256 random bits, so one round of SHA-256 is enough: it cannot be guessed.
"""

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import msgspec

from turnwire.hub.principals import TOKEN_PREFIX, BadPrincipal, Principal, Scope, checked_name
from turnwire.normalize.vocabulary import Role

TokenRole: TypeAlias = Role | Literal["admin"]
"""A role, or that of an operator: control, and leading the workers of a fleet."""


class KeptToken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One token."""

    id: str
    """Its id in lists and for revoking; not secret."""
    name: str
    """The principal's name."""
    role: TokenRole
    sessions: list[str]
    """Which sessions it shows: all, own, folder:PATH."""
    created: float
    """Seconds since 1970."""
    expires: float | None = None
    """The same; None: never."""
    sha256: str
    """Of the token, in hexadecimal digits."""

    def principal(self) -> Principal:
        """Return the principal. Raises BadPrincipal."""
        is_admin = self.role == "admin"
        return Principal(
            "control" if self.role == "admin" else self.role,
            self.name,
            Scope.parse(self.sessions),
            self.id,
            self.expires,
            is_admin,
        )


def new_token(
    name: str, role: TokenRole, scope: Scope, *, now: float, lasts_s: float | None
) -> tuple[str, KeptToken]:
    """Create a token. Returns it with its stored form. Raises BadPrincipal."""
    token = f"{TOKEN_PREFIX}{secrets.token_urlsafe(32)}"
    kept = KeptToken(
        id=secrets.token_hex(6),
        name=checked_name(name),
        role=role,
        sessions=scope.words(),
        created=now,
        expires=None if lasts_s is None else now + lasts_s,
        sha256=hashed(token),
    )
    return token, kept


def hashed(token: str) -> str:
    """Return the stored form of a token."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class TokenTable:
    """The tokens there are at one time."""

    def __init__(self, tokens: Iterable[KeptToken] = ()) -> None:
        """Take the tokens. Raises BadPrincipal."""
        self._tokens = {token.id: (token, token.principal()) for token in tokens}
        self._by_hash = {token.sha256: token.id for token, _ in self._tokens.values()}

    def of_token(self, token: str, now: float) -> Principal | None:
        """Return the principal of a token, if it is valid now."""
        # Looked up by its hash: how long that takes tells nothing of a token that is there.
        return self.of_id(self._by_hash.get(hashed(token), ""), now)

    def of_id(self, token_id: str, now: float) -> Principal | None:
        """Return the principal of a token's id, if it is valid now."""
        _, principal = self._tokens.get(token_id, (None, None))
        if principal is None or (principal.expires is not None and principal.expires <= now):
            return None
        return principal

    def secret(self, token_id: str) -> bytes:
        """Return the hash of a token; b"" where there is none."""
        kept, _ = self._tokens.get(token_id, (None, None))
        return b"" if kept is None else bytes.fromhex(kept.sha256)

    def next_end(self, now: float) -> float | None:
        """Return when the next one expires, in seconds since 1970."""
        ends = [principal.expires for _, principal in self._tokens.values() if principal.expires is not None]
        return min((end for end in ends if end > now), default=None)


_several = msgspec.json.Decoder(list[KeptToken])
_one = msgspec.json.Decoder(KeptToken)


def read_all(text: bytes) -> list[KeptToken]:
    """Read tokens from a file; raises BadPrincipal."""
    try:
        return _several.decode(text)
    except msgspec.DecodeError as error:
        raise BadPrincipal(f"the file does not hold tokens: {error}") from None


def written(tokens: Iterable[KeptToken]) -> bytes:
    """Return the content of the file."""
    return msgspec.json.format(msgspec.json.encode(list(tokens)), indent=1)


def read_each(rows: Mapping[bytes, bytes]) -> list[KeptToken]:
    """Parse tokens that are stored separately. Raises BadPrincipal."""
    try:
        return [_one.decode(row) for row in rows.values()]
    except msgspec.DecodeError as error:
        raise BadPrincipal(f"one entry is not a token: {error}") from None


def row(token: KeptToken) -> bytes:
    """Return one token as a row."""
    return msgspec.json.encode(token)
