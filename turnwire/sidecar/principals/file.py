"""Tokens in a file of the state directory, mode 0600. `turnwire token` writes it and running sidecars read it.

A sidecar reads it whenever a principal's token or cookie is shown, before each command, and twice a second.
From then on a revoked token is refused everywhere. Its connections are closed within half a second. A
file that cannot be read, or that others can read, counts as empty: someone else may have written
it.
"""

import asyncio
import fcntl
import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from turnwire._runtime.private_files import make_private, open_private, read_private, write_private
from turnwire.hub.principals import BadPrincipal
from turnwire.protocol.errors import TurnwireError
from turnwire.sidecar.principals.kept import KeptToken, TokenTable, read_all, written
from turnwire.sidecar.principals.watched import WatchedTokens

LOOK_S = 0.5
"""Seconds between reads without a request."""

log = logging.getLogger(__name__)


class TokensUnusable(TurnwireError):
    """The store of tokens is unusable. The message names it, and says what to do."""


def token_file(state_dir: Path) -> Path:
    """Return where a sidecar's tokens are."""
    return state_dir / "tokens.json"


class FilePrincipals(WatchedTokens):
    """Implements turnwire.hub.principals.Principals."""

    def __init__(self, path: Path, *, look_s: float = LOOK_S) -> None:
        super().__init__()
        self._path = path
        self._look_s = look_s
        self._seen: object = ()
        self.refresh()

    def refresh(self) -> None:
        """Read the file when it is another one than at the last look."""
        try:
            about = self._path.stat()
            # whose it is and who may read it, too: times of many file systems stay the same for milliseconds
            seen: object = (
                *(about.st_ino, about.st_mtime_ns, about.st_ctime_ns, about.st_size),
                *(about.st_mode, about.st_uid),
            )
        except OSError as error:
            seen = error.errno
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self.replace(TokenTable(_read(self._path)))
        except (OSError, BadPrincipal) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            log.warning(
                "the tokens of principals cannot be used; nobody can log in with one",
                extra={"path": str(self._path), "error": why},
            )
            self.replace(TokenTable())

    async def begin(self) -> None:
        """Do nothing: the file was read."""

    async def close(self) -> None:
        """Do nothing: the file is not open."""

    async def run(self) -> None:
        """Look at the file, and at the clock; runs until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.expire())
            while True:
                await asyncio.sleep(self._look_s)
                self.refresh()


def _read(path: Path) -> list[KeptToken]:
    """Read the file, none when it is not there; raises OSError and BadPrincipal."""
    try:
        text = read_private(path, owners={os.geteuid()}, follows_links=False, limit=16 << 20)
    except FileNotFoundError:
        return []
    return read_all(text.encode())


class FileTokens:
    """The same file, for the commands that create and revoke tokens. Blocking."""

    def __init__(self, state_dir: Path) -> None:
        self.path = token_file(state_dir)

    def tokens(self) -> list[KeptToken]:
        """Return the tokens; raises TokensUnusable."""
        try:
            return _read(self.path)
        except (OSError, BadPrincipal) as error:
            raise self._unusable(error) from error

    def add(self, token: KeptToken) -> None:
        """Keep one more; raises TokensUnusable."""
        self._change(lambda tokens: [*tokens, token])

    def revoke(self, ids: Sequence[str]) -> None:
        """Keep these no more; raises TokensUnusable."""
        self._change(lambda tokens: [token for token in tokens if token.id not in ids])

    def _change(self, change: Callable[[list[KeptToken]], list[KeptToken]]) -> None:
        try:
            make_private(self.path.parent)
            lock = open_private(self.path.with_name(f"{self.path.name}.lock"), os.O_RDWR | os.O_CREAT)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                write_private(self.path, written(change(_read(self.path))), durable=True)
            finally:
                os.close(lock)
        except (OSError, BadPrincipal) as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> TokensUnusable:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return TokensUnusable(
            f"{self.path} cannot be used: {why}; it must be a file of yours that nobody else can read (mode 600)"
        )
