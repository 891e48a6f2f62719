"""Where the settings say that principals' tokens are: beside the journal."""

from collections.abc import Sequence
from typing import Protocol

from hub.principals import Principals
from sidecar.config.settings import Settings
from sidecar.principals.file import FilePrincipals, FileTokens, token_file
from sidecar.principals.kept import KeptToken


class KeptPrincipals(Principals, Protocol):
    """Principals that somebody has to keep up to date."""

    async def run(self) -> None:
        """Hear of changes; runs until it is cancelled."""
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


def principals_of(settings: Settings) -> KeptPrincipals:
    """Return who a sidecar's hub lets in by tokens of their own."""
    return FilePrincipals(token_file(settings.state_dir))


def tokens_of(settings: Settings) -> Tokens:
    """Return the tokens that `principals_of` reads."""
    return FileTokens(settings.state_dir)
