"""The subscribed browsers, stored in a file of the state directory that only its owner can read.

A subscription belongs to a role and ends when the role's token changes. The file stores an HMAC of the token, from
which the token cannot be derived.
"""

import hashlib
import hmac
import json
import logging
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from turnwire._runtime.private_files import read_private, write_private
from turnwire.normalize.vocabulary import Role

log = logging.getLogger(__name__)

MOST = 32
"""Maximum number of subscriptions. Another one replaces the oldest."""


class Subscription(Struct, frozen=True):
    """One browser."""

    endpoint: str
    """The push service's URL for this browser. A secret."""
    p256dh: str
    """Its public key, base64url."""
    auth: str
    """Its secret, base64url."""
    role: Role
    """The browser's role. The role view gets no answer buttons."""
    token: str | None = None
    """Id of the principal's token that it subscribed with. The subscription ends with that token and shows only its sessions."""


class Subscriptions:
    """The subscriptions of one state directory."""

    def __init__(self, path: Path, tokens: Mapping[Role, str]) -> None:
        """Read the file. tokens: the current token of each role; subscriptions of other tokens are ignored."""
        self._path = path
        self._proofs = {
            role: hmac.digest(token.encode(), b"turnwire push", hashlib.sha256).hex()
            for role, token in tokens.items()
        }
        self._known = {one.endpoint: one for one in self._read()}

    @property
    def all(self) -> Collection[Subscription]:
        """All valid subscriptions."""
        return list(self._known.values())

    def add(self, one: Subscription) -> None:
        """Add a subscription. It replaces one with the same endpoint."""
        self._known.pop(one.endpoint, None)
        self._known[one.endpoint] = one
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        self._write()

    def drop(self, endpoint: str) -> bool:
        """Remove a subscription. Returns False if there was none."""
        if self._known.pop(endpoint, None) is None:
            return False
        self._write()
        return True

    def _write(self) -> None:
        kept = [{**asdict(one), "proof": self._proofs[one.role]} for one in self._known.values()]
        try:
            write_private(self._path, json.dumps(kept).encode())
        except OSError as error:
            log.warning(
                "push subscriptions cannot be stored; after the next start browsers must subscribe again",
                extra={"path": str(self._path), "error": str(error)},
            )

    def _read(self) -> list[Subscription]:
        try:
            content = json.loads(read_private(self._path, owners={os.getuid()}, follows_links=False))
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:
            log.warning(
                "the stored push subscriptions cannot be used",
                extra={"path": str(self._path), "reason": getattr(error, "strerror", None) or str(error)},
            )
            return []
        found = content if isinstance(content, list) else []
        return [one for entry in found[:MOST] if (one := self._of(entry)) is not None]

    def _of(self, entry: object) -> Subscription | None:
        match entry:
            case {
                "endpoint": str(endpoint),
                "p256dh": str(p256dh),
                "auth": str(auth),
                "role": ("control" | "view") as role,
                "proof": str(proof),
                **more,
            } if proof == self._proofs[role]:
                token = more.get("token")
                return Subscription(endpoint, p256dh, auth, role, None if token is None else str(token))
            case _:
                return None
