"""Where the settings say that principals' tokens are: beside the journal."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from turnwire._runtime.task_owner import TaskOwner
from turnwire.config.settings import Settings
from turnwire.hub.principals import Principals
from turnwire.sidecar.principals.file import FilePrincipals, FileTokens, TokensUnusable, token_file
from turnwire.sidecar.principals.kept import KeptToken
from turnwire.sidecar.process.supervision import kept_up


class KeptPrincipals(Principals, Protocol):
    """Principals that somebody has to keep up to date."""

    async def begin(self) -> None:
        """Know the tokens from now on; raises JournalUnavailable."""
        ...

    async def run(self) -> None:
        """Hear of changes; runs until it is cancelled."""
        ...

    async def close(self) -> None:
        """Let go of what is open."""
        ...


class Tokens(Protocol):
    """The tokens, for who makes and revokes them. Blocking."""

    def tokens(self) -> Sequence[KeptToken]:
        """Return the tokens; raises TokensUnusable."""
        ...

    def add(self, token: KeptToken) -> None:
        """Keep one more; raises TokensUnusable."""
        ...

    def revoke(self, ids: Sequence[str]) -> None:
        """Keep these no more; raises TokensUnusable."""
        ...


@asynccontextmanager
async def principals_of(settings: Settings) -> AsyncIterator[Principals]:
    """Know who a sidecar's hub lets in by tokens of their own, as long as the context lasts; raises JournalUnavailable."""
    found = _kept(settings)
    try:
        await found.begin()
        async with TaskOwner() as tasks:
            tasks.keep("tokens of principals", kept_up("tokens of principals", found.run))
            yield found
    finally:
        await found.close()


def _kept(settings: Settings) -> KeptPrincipals:
    if settings.journal_kind.shared:
        from turnwire.sidecar.principals.redis import RedisPrincipals  # noqa: PLC0415 - an optional extra

        return RedisPrincipals(settings.redis_url)
    return FilePrincipals(token_file(settings.state_dir))


def tokens_of(settings: Settings) -> Tokens:
    """Return the tokens that `principals_of` reads; raises TokensUnusable."""
    if settings.journal_kind.shared:
        try:
            from turnwire.sidecar.principals.redis import RedisTokens  # noqa: PLC0415 - an optional extra
        except ImportError as error:
            raise TokensUnusable(
                "Tokens in Redis need the extra `redis`: pip install 'turnwire[redis]'."
            ) from error
        return RedisTokens(settings.redis_url)
    return FileTokens(settings.state_dir)
