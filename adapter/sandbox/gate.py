"""Whether an agent may reach a host: known hosts at once, new ones once somebody has said so.

Connections to one host wait for one answer. An answer counts for the turn, for the session or for good; what is refused is told with
the reason and with what would allow it, once for each host and turn.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from turnwire.adapter.process import suspend_aware
from turnwire.adapter.sandbox.hosts import (
    LOOPBACK,
    NEVER,
    HostList,
    Listed,
    Target,
    read_address,
    why_refused,
)
from turnwire.protocol.errors import TurnwireError

log = logging.getLogger(__name__)

ANSWER_S = 120.0
"""Seconds that people have to allow a host; a connection that waits longer has been given up by most programs."""

MOST_WAITING = 64
"""Hosts that may be asked about at a time."""

Scope: TypeAlias = Literal["once", "session"]


class HostAnswer(Struct, frozen=True):
    """What was said about a host."""

    allowed: bool
    scope: Scope
    """`once`: until the turn ends."""
    reason: str = ""
    """Why not."""


class HostRefused(TurnwireError):
    """A host that the agent does not reach; says why."""


class Denied(Struct, frozen=True):
    """Something that the sandbox refused."""

    kind: Literal["host", "path"]
    target: str
    reason: str


Ask: TypeAlias = Callable[[Target], Awaitable[HostAnswer]]
Tell: TypeAlias = Callable[[Denied], None]
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a name; raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, proto=6)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


class HostGate:
    """Decides about hosts for one session."""

    def __init__(
        self,
        hosts: Sequence[str],
        api_hosts: Sequence[str] = (),
        *,
        resolve: Resolve = resolve,
        is_behind: Callable[[Target], bool] = lambda _: False,
    ) -> None:
        """Raises ValueError for what is no host.

        Args:
            hosts: the operator's.
            api_hosts: those of the agent's model.
            resolve: finds the addresses of a name.
            is_behind: whether a proxy of the operator's reaches a host; it may be the only one that can resolve a name.
        """
        self._is_behind = is_behind
        self._listed = HostList(hosts)
        self._api = HostList(api_hosts)
        self._resolve = resolve
        self._ask: Ask | None = None
        self._tell: Tell | None = None
        self._answered: dict[Target, HostAnswer] = {}
        self._waiting: dict[Target, asyncio.Future[HostAnswer]] = {}
        self._told: set[tuple[str, str]] = set()

    @property
    def loopback_ports(self) -> tuple[int, ...]:
        """The ports of this machine that are reached at the same port in the sandbox."""
        return self._listed.loopback_ports

    def attach(self, ask: Ask, tell: Tell) -> None:
        """Have new hosts asked about, and refusals told."""
        self._ask, self._tell = ask, tell

    def turn_ended(self) -> None:
        """Forget what counted for the turn."""
        self._answered = {target: one for target, one in self._answered.items() if one.scope == "session"}
        self._told.clear()

    def denied(self, denied: Denied) -> None:
        """Tell of a refusal, once for each target and turn."""
        key = denied.kind, denied.target
        if key in self._told or len(self._told) >= MOST_WAITING:
            return
        self._told.add(key)
        log.info(
            "the sandbox refused",
            extra={"kind": denied.kind, "target": denied.target, "reason": denied.reason},
        )
        if self._tell is not None:
            self._tell(denied)

    async def admit(self, target: Target) -> str:
        """Return the address to connect to; raises HostRefused, which is told as well, and OSError for a name that leads nowhere."""
        try:
            return await self._admitted(target)
        except HostRefused as error:
            self.denied(Denied("host", str(target), str(error)))
            raise

    async def _admitted(self, target: Target) -> str:
        listed: Listed = self._listed.find(target)
        address = target.address
        if target.host == "localhost":
            address = read_address("127.0.0.1")
        if address is not None and (reason := why_refused(address, listed=listed)) is not None:
            raise HostRefused(self._never(target, reason))
        if listed == "no" and self._api.find(target) == "no":
            answer = await self._asked(target)
            if not answer.allowed:
                raise HostRefused(answer.reason)
        if address is not None:
            return str(address)
        try:
            addresses = await self._resolve(target.host, target.port)
        except OSError:
            if not self._is_behind(target):
                raise
            return target.host
        for one in addresses:
            known = read_address(one)
            reason = (
                "it is no address"
                if known is None
                else why_refused(known, listed=listed, by_name=target.host not in LOOPBACK)
            )
            if reason is not None:
                raise HostRefused(self._never(target, f"it leads to {one}, and {reason}"))
        if not addresses:
            raise OSError(f"{target.host} has no address")
        return addresses[0]

    def _never(self, target: Target, reason: str) -> str:
        return f"{target} is refused: {reason}{'' if reason in NEVER else _opened_by(target)}"

    async def _asked(self, target: Target) -> HostAnswer:
        known = self._answered.get(target)
        if known is not None:
            return known
        waiting = self._waiting.get(target)
        if waiting is None:
            if self._ask is None:
                return HostAnswer(False, "once", f"{target} is not in sandbox_hosts, and nobody can be asked")
            if len(self._waiting) >= MOST_WAITING:
                return HostAnswer(False, "once", f"{MOST_WAITING} other hosts wait for an answer")
            waiting = self._waiting[target] = asyncio.get_running_loop().create_future()
            try:
                answer = await self._ask(target)
            except BaseException:
                waiting.cancel()
                raise
            else:
                self._answered[target] = answer
                waiting.set_result(answer)
            finally:
                del self._waiting[target]
            return answer
        return await asyncio.shield(waiting)


def _opened_by(target: Target) -> str:
    return f'. The operator can open it by sandbox_hosts = ["{target}"]'


async def within(seconds: float, answer: "asyncio.Future[HostAnswer]") -> HostAnswer | None:
    """Wait for an answer; None when nobody gave one in time."""
    try:
        async with suspend_aware.timeout(seconds):
            return await asyncio.shield(answer)
    except TimeoutError:
        return None
