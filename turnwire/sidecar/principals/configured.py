"""Find the store of principals' tokens by the settings: beside the journal."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

from turnwire._runtime.task_owner import TaskOwner
from turnwire.config.settings import Settings
from turnwire.hub.principals import Principals
from turnwire.journal.base import Journal
from turnwire.sidecar.principals.file import FilePrincipals, FileTokens, TokensUnusable, token_file
from turnwire.sidecar.principals.kept import KeptToken
from turnwire.sidecar.process.supervision import kept_up


class KeptPrincipals(Principals, Protocol):
    """Principals that must be kept up to date."""

    async def begin(self) -> None:
        """Load the tokens. Raises JournalUnavailable."""
        ...

    async def run(self) -> None:
        """Follow changes until cancelled."""
        ...

    async def close(self) -> None:
        """Follow them no more."""
        ...


class PrincipalTokens(Protocol):
    """The tokens, for the commands that create and revoke them. Blocking."""

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
async def principals_of(settings: Settings, journal: Journal) -> AsyncIterator[Principals]:
    """Yield the principals with tokens, for the sidecar's hub, kept up to date while the context lasts. Raises JournalUnavailable.

    Tokens in the Redis of the `journal` are read and followed by its connections.
    """
    async with AsyncExitStack() as stack:
        found: KeptPrincipals
        if settings.journal_kind.shared:
            from turnwire.sidecar.principals.redis import RedisPrincipals, subscriber_of  # noqa: PLC0415 - an optional extra

            subscriber = await stack.enter_async_context(subscriber_of(settings.redis_url, journal))
            found = RedisPrincipals(subscriber, prefix=settings.redis_prefix)
        else:
            found = FilePrincipals(token_file(settings.state_dir))
        stack.push_async_callback(found.close)
        await found.begin()
        tasks = await stack.enter_async_context(TaskOwner())
        tasks.keep("tokens of principals", kept_up("tokens of principals", found.run))
        yield found


def tokens_of(settings: Settings) -> PrincipalTokens:
    """Return the tokens that `principals_of` reads; raises TokensUnusable."""
    if settings.journal_kind.shared:
        try:
            from turnwire.sidecar.principals.redis import RedisTokens  # noqa: PLC0415 - an optional extra
        except ImportError as error:
            raise TokensUnusable(
                "Tokens in Redis need the extra `redis`: pip install 'turnwire[redis]'."
            ) from error
        return RedisTokens(settings.redis_url, prefix=settings.redis_prefix)
    return FileTokens(settings.state_dir)
