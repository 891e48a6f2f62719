"""Store a sidecar's tokens and port for its next start, so that open tabs and bookmarks continue to work.

The file is in the state directory, and only its owner can read it. It holds random tokens if none are configured, the
port if none was given, and ended logins. Configured tokens are never written to it.
"""

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from turnwire._runtime.private_files import read_private, write_private
from turnwire.hub.server.access import MINIMUM_TOKEN, RoleTokens
from turnwire.hub.server.cookies import LoggedOut

log = logging.getLogger(__name__)


class StoredFile(Struct, frozen=True):
    """The file's contents."""

    tokens: RoleTokens
    port: int | None = None
    listening: int | None = None
    logged_out: LoggedOut = field(default_factory=LoggedOut)


class StoredAccess:
    """The stored access of one state directory."""

    def __init__(self, directory: Path, *, keeps_tokens: bool = True) -> None:
        """Read the file. keeps_tokens: whether its tokens are used, and tokens are written to it."""
        self.path = directory / "access.json"
        self._keeps_tokens = keeps_tokens
        self._kept = self._read() or StoredFile(RoleTokens.random())
        """The current content of the file, or what would be written to it."""

    @property
    def tokens(self) -> RoleTokens:
        """The tokens of the last start, or new ones."""
        return self._kept.tokens

    @property
    def port(self) -> int | None:
        """The stored port; None if there is none."""
        return self._kept.port

    @property
    def listening(self) -> int | None:
        """The port that the last start listened on, whether stored or given."""
        return self._kept.listening

    @property
    def logged_out(self) -> LoggedOut:
        """The ended logins."""
        return self._kept.logged_out

    def log_out(self, logged_out: LoggedOut) -> None:
        """Store the ended logins. A failure is logged."""
        self._kept = replace(self._kept, logged_out=logged_out)
        self.keep(self.port)

    def renew(self) -> None:
        """Create new tokens. The old ones become invalid."""
        self._kept = replace(self._kept, tokens=RoleTokens.random())

    def keep(self, port: int | None, listening: int | None = None) -> None:
        """Write the file for the next start. A failure is logged; the next start then uses other tokens and another port.

        port: None stores no port. listening: the port of this start, for `turnwire attach`.
        """
        self._kept = replace(self._kept, port=port, listening=listening)
        try:
            self._write()
        except OSError as error:
            log.warning(
                "the access tokens cannot be stored; the next start makes new ones",
                extra={"path": str(self.path), "error": str(error)},
            )

    def _write(self) -> None:
        content: dict[str, object] = {"port": self.port, "listening": self.listening}
        over = self.logged_out
        if over.logins or over.until:
            content["logged_out"] = {"logins": dict(over.logins), "until": over.until}
        if self._keeps_tokens:
            content |= {"control": self.tokens.control, "view": self.tokens.view}
        write_private(self.path, json.dumps(content).encode())

    def _read(self) -> StoredFile | None:
        try:
            text = read_private(self.path, owners={os.getuid()}, follows_links=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            why = error.strerror or str(error)
        else:
            if (kept := _parsed(text)) is not None:
                return kept if self._keeps_tokens else replace(kept, tokens=RoleTokens.random())
            why = "it does not hold two tokens"
        log.warning(
            "the stored access tokens cannot be used; new ones are made",
            extra={"path": str(self.path), "reason": why},
        )
        return None


def _parsed(text: str) -> StoredFile | None:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match content:
        case {"control": str(control), "view": str(view)} if (
            control != view and (control + view).isascii() and min(len(control), len(view)) >= MINIMUM_TOKEN
        ):
            return StoredFile(
                RoleTokens(control, view),
                _port(content, "port"),
                _port(content, "listening"),
                _logged_out(content),
            )
        case {"port": _} if not content.keys() & {"control", "view"}:
            return StoredFile(
                RoleTokens.random(), _port(content, "port"), _port(content, "listening"), _logged_out(content)
            )
        case _:
            return None


def _logged_out(content: Mapping[str, object]) -> LoggedOut:
    match content.get("logged_out"):
        case {"logins": dict(logins), "until": int(until)}:
            return LoggedOut(
                {str(name): began for name, began in logins.items() if isinstance(began, int)}, until
            )
        case _:
            return LoggedOut()


def _port(content: Mapping[str, object], name: str) -> int | None:
    port = content.get(name)
    return port if isinstance(port, int) and not isinstance(port, bool) and 0 < port < 1 << 16 else None
