"""The codes that log one more browser in, good at all hubs of a fleet: a phone that was shown one reaches any of them."""

import hashlib

import msgspec
from redis.exceptions import RedisError

from turnwire.fleet.store import FleetStore
from turnwire.hub.host import CommandRefused
from turnwire.hub.principals import BadPrincipal, Principal, Scope
from turnwire.hub.server.invitations import LIFE_S, PREFIX, new_code
from turnwire.normalize.vocabulary import Role


class _Invited(msgspec.Struct, frozen=True, kw_only=True):
    """Whose a code is, as it is kept."""

    role: Role
    name: str | None
    sessions: list[str]
    id: str | None
    expires: float | None

    def principal(self) -> Principal:
        """Raises BadPrincipal."""
        return Principal(self.role, self.name, Scope.parse(self.sessions), self.id, self.expires)


class FleetInvitations:
    """Implements `turnwire.hub.server.invitations.Invitations`: codes are in Redis, hashed, until they are used or over."""

    def __init__(self, store: FleetStore, *, life_s: float = LIFE_S) -> None:
        self._store = store
        self._life_ms = int(life_s * 1000)

    async def give(self, principal: Principal) -> str:
        """Return a new code; raises CommandRefused when Redis does not take it."""
        code = new_code()
        kept = _Invited(
            role=principal.role,
            name=principal.name,
            sessions=principal.scope.words(),
            id=principal.id,
            expires=principal.expires,
        )
        try:
            await self._store.invite(_hashed(code), msgspec.json.encode(kept), self._life_ms)
        except (RedisError, OSError) as error:
            raise _away(error) from error
        return code

    async def redeem(self, code: str) -> Principal | None:
        """Return whose a code is, once, at whatever hub; raises CommandRefused when Redis does not tell."""
        if not code.startswith(PREFIX):
            return None
        try:
            kept = await self._store.invited(_hashed(code))
        except (RedisError, OSError) as error:
            raise _away(error) from error
        try:
            return None if kept is None else msgspec.json.decode(kept, type=_Invited).principal()
        except (msgspec.DecodeError, BadPrincipal):
            return None  # not written by one of these


def _hashed(code: str) -> str:
    return hashlib.sha256(code.encode(errors="replace")).hexdigest()


def _away(error: Exception) -> CommandRefused:
    return CommandRefused("journal_unavailable", f"The fleet's Redis cannot be used: {error}. Try it again.")
