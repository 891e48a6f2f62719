"""How a Redis is reached: one server, the primary that sentinels name, or a cluster; with TLS, with a user of its own.

| URL | |
|---|---|
| `redis://USER:PASSWORD@HOST:PORT/DB`, `unix:///SOCKET` | one server |
| `redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME/DB` | the primary that these sentinels call NAME; what the sentinels themselves ask for is `?sentinel_username=` and `?sentinel_password=` |
| `redis+cluster://USER:PASSWORD@HOST:PORT,HOST:PORT` | a cluster that some of these belong to |

`rediss`, `rediss+sentinel` and `rediss+cluster` are the same with TLS; `?ssl_ca_certs=/FILE.pem` is whose certificates are believed, and
what else redis-py's URLs take goes there, too. Needs the extra `redis`.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.asyncio.cluster import ClusterPipeline, RedisCluster
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode
from redis.exceptions import ConnectionError as RedisUnreachable
from redis.exceptions import NoPermissionError, NoScriptError, RedisClusterException, RedisError
from redis.exceptions import TimeoutError as RedisTimeout

from turnwire.journal.base import JournalUnavailable

WAIT_MS = 1000
"""How long replicas have to say that they have what was written; then it is tried again."""

ANSWER_S = 5.0
"""How long a server has to answer, where the URL says nothing else (`?socket_timeout=`): one that stands still is as good as gone."""

AT_ONCE = 64
"""Commands that one connection to Redis has under way; more wait their turn, as long as an answer may take. Fewer where the URL says so
(`?max_connections=`)."""

NOT_BY_DIGEST = (NoScriptError, NoPermissionError)
"""Errors for a script's digest: the server does not know it, or its user has the right to EVAL alone."""

SENTINEL_S = 2.0
"""How long a sentinel has to answer before the next one is asked."""


_HAS_PLACE: ContextVar[bool] = ContextVar("has a place", default=False)


class _Places:
    """Places for commands that are under way. The library's pools refuse what exceeds them; here it waits its turn."""

    def __init__(self, url: str) -> None:
        query = dict(parse_qsl(urlsplit(url).query))
        self.answer_s = float(query.get("socket_timeout", ANSWER_S))
        # One connection of the pool is the subscriber's.
        self._free = asyncio.Semaphore(
            max(1, min(AT_ONCE, int(query.get("max_connections", AT_ONCE + 1)) - 1))
        )

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Take a place, and make an error of the library's own kind of what else it raises where the server is at fault.

        A cluster that is not whole is none of RedisError. A connection may be closed while another task is about to write
        on it, by the server or by the cluster's client. The client closes all of them when a node is away. uvloop then
        raises RuntimeError and the library itself AttributeError.
        """
        if _HAS_PLACE.get():
            # A cluster's pipeline does again what has moved to another node.
            yield
            return
        try:
            async with asyncio.timeout(self.answer_s):
                await self._free.acquire()
        except TimeoutError:
            raise RedisTimeout(
                f"other commands have kept all connections to it for {self.answer_s:g} s"
            ) from None
        before = _HAS_PLACE.set(True)
        try:
            yield
        except (RedisClusterException, RuntimeError, AttributeError) as error:
            raise RedisUnreachable(str(error) or "the connection was closed") from error
        finally:
            _HAS_PLACE.reset(before)
            self._free.release()


class _Pipeline(Pipeline):
    places: _Places

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        async with self.places.one():
            return await super().execute(raise_on_error)


class _Server(Redis):
    places: _Places

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        async with self.places.one():
            return await super().execute_command(*args, **options)  # type: ignore[no-untyped-call]  # as the library has it

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:
        pipeline = _Pipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)
        pipeline.places = self.places
        return pipeline


class _ClusterPipeline(ClusterPipeline):
    places: _Places

    async def execute(self, raise_on_error: bool = True, allow_redirections: bool = True) -> list[Any]:
        async with self.places.one():
            return await super().execute(raise_on_error, allow_redirections)


class _Cluster(RedisCluster):
    places: _Places

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        async with self.places.one():
            return await super().execute_command(*args, **kwargs)

    def pipeline(self, transaction: Any | None = None, shard_hint: Any | None = None) -> ClusterPipeline:
        if transaction or shard_hint:
            raise ValueError("no transaction spans the slots of a cluster")
        pipeline = _ClusterPipeline(self)  # type: ignore[abstract]  # so is the library's own, by what it is typed as
        pipeline.places = self.places
        return pipeline


@dataclass(frozen=True, slots=True)
class Connection:
    """A Redis, whatever stands behind it."""

    redis: "_Server"
    """Does commands; a cluster's client does the same ones."""
    name: str
    """Its address without a password, for people."""
    is_cluster: bool = False
    sentinels: Sequence[Redis] = ()
    """The sentinels, which know the primary."""
    answer_s: float = ANSWER_S
    """How long it has to answer."""

    def longest_wait_ms(self, wanted_ms: int) -> int:
        """Return how long a read may wait on the server for something new: well within the time that an answer has."""
        return max(1, min(wanted_ms, int(self.answer_s * 500)))

    def tagged(self, name: str) -> str:
        """Return a name as it stands in keys that one script touches together: a cluster keeps these in one slot."""
        return f"{{{name}}}" if self.is_cluster else name

    async def about(self) -> list[Mapping[str, Any]]:
        """Return what each primary says of itself; raises RedisError."""
        if not self.is_cluster:
            return [await self.redis.info()]
        told = await self._cluster.info(target_nodes=RedisCluster.PRIMARIES)
        # of one primary it is the answer itself
        return [told] if "run_id" in told else [told[name] for name in sorted(told)]

    async def ping(self) -> None:
        """Have each primary answer; raises RedisError."""
        nodes = {"target_nodes": RedisCluster.PRIMARIES} if self.is_cluster else {}
        await self.redis.ping(**nodes)

    async def always_synced(self) -> bool:
        """Tell whether each primary syncs a write to its disk before it acknowledges it; False if it does not say."""
        try:
            if self.is_cluster:
                told = await self._cluster.config_get("append*", target_nodes=RedisCluster.PRIMARIES)
                found = [told] if "appendonly" in told else list(told.values())
            else:
                found = [await self.redis.config_get("append*")]
        except RedisError:
            # Hosted servers often forbid CONFIG; then the worse is assumed.
            return False
        return all(one.get("appendonly") == "yes" and one.get("appendfsync") == "always" for one in found)

    def homes(self, keys: Sequence[str]) -> list[ClusterNode | None]:
        """Return which nodes have some keys, each once; [None] where there is one server alone. Raises RedisError."""
        if not self.is_cluster:
            return [None]
        try:
            nodes = [self._cluster.get_node_from_key(key) for key in keys]
        except RedisClusterException as error:
            raise RedisUnreachable(str(error)) from error
        found = {node.name: node for node in nodes if node is not None}
        return [found[name] for name in sorted(found)]

    def wait(self, pipeline: Any, node: ClusterNode | None, replicas: int) -> None:
        """Have a pipeline end with how many replicas of a node have what it wrote."""
        target = {} if node is None else {"target_nodes": node}
        pipeline.execute_command("WAIT", replicas, WAIT_MS, **target)

    async def run(self, script: str, keys: Sequence[str], *arguments: bytes | str | int) -> Any:
        """Run a script: by its digest, and in full where that does not do. Raises RedisError."""
        try:
            return await self.redis.evalsha(digest(script), len(keys), *keys, *arguments)
        except NOT_BY_DIGEST:
            return await self.redis.eval(script, len(keys), *keys, *arguments)

    async def close(self) -> None:
        """Let go of the connections."""
        for one in (self.redis, *self.sentinels):
            await one.aclose()

    @property
    def _cluster(self) -> Any:
        return self.redis


@cache
def digest(script: str) -> str:
    """Return what a server knows a script by once it has run it."""
    return hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()


def connect(url: str) -> Connection:
    """Return the Redis of a URL, to which nothing is sent yet; raises JournalUnavailable for what is no URL of one."""
    kind = urlsplit(url).scheme
    try:
        match kind:
            case "redis+cluster" | "rediss+cluster":
                connection = _cluster(url)
            case "redis+sentinel" | "rediss+sentinel":
                connection = _sentinels(url)
            case _:
                connection = _one(url)
        connection.redis.places = places = _Places(url)
        return replace(connection, answer_s=places.answer_s)
    except (ValueError, TypeError) as error:
        # Neither the URL nor the library's words about it, which may hold the password.
        raise JournalUnavailable(
            f"The setting redis_url is not a URL of a Redis ({type(error).__name__}). Such a URL begins with redis://, rediss:// or unix://, or "
            "with redis+sentinel:// or redis+cluster:// and hosts with commas (rediss+ for TLS); docs/journal.md shows each."
        ) from None


def _one(url: str) -> Connection:
    client = cast("_Server", _Server.from_url(url, socket_timeout=ANSWER_S, retry=_retry()))
    where = client.connection_pool.connection_kwargs
    name = str(where.get("path") or f"{where.get('host', 'localhost')}:{where.get('port', 6379)}")
    return Connection(client, name)


def _cluster(url: str) -> Connection:
    first, others = _hosts(url, 6379)
    nodes = [ClusterNode(host, port) for host, port in others]  # type: ignore[no-untyped-call]  # as the library has it
    client = _Cluster.from_url(
        _plain(url, first), startup_nodes=nodes, socket_timeout=ANSWER_S, retry=_retry()
    )
    return Connection(cast("_Server", client), f"cluster of {_shown([first, *others])}", is_cluster=True)


def _sentinels(url: str) -> Connection:
    first, others = _hosts(url, 26379)
    parts = urlsplit(url)
    service, _, db = parts.path.strip("/").partition("/")
    if not service or (db and not db.isdigit()):
        raise ValueError(service)
    query = dict(parse_qsl(parts.query))
    own = {
        name.removeprefix("sentinel_"): query.pop(name)
        for name in list(query)
        if name.startswith("sentinel_")
    }
    plain = _plain(urlunsplit(parts._replace(path=f"/{db}", query=urlencode(query))), first)
    pool = Redis.from_url(plain, socket_timeout=ANSWER_S).connection_pool
    options = {name: value for name, value in pool.connection_kwargs.items() if name not in {"host", "port"}}
    secure = {"ssl": True} if parts.scheme.startswith("rediss") else {}
    tls = {name: value for name, value in options.items() if name.startswith("ssl_")}
    sentinel = Sentinel(  # type: ignore[no-untyped-call]  # as above
        [first, *others],
        sentinel_kwargs={
            "socket_timeout": SENTINEL_S,
            "socket_connect_timeout": SENTINEL_S,
            **tls,
            **secure,
            **own,
        },
    )
    client = cast(
        "_Server", sentinel.master_for(service, _Server, **{**options, **secure, "retry": _retry()})
    )
    return Connection(client, f"{service} by {_shown([first, *others])}", sentinels=sentinel.sentinels)


def _hosts(url: str, default: int) -> tuple[tuple[str, int], list[tuple[str, int]]]:
    found: list[tuple[str, int]] = []
    for one in urlsplit(url).netloc.rpartition("@")[2].split(","):
        parts = urlsplit(f"//{one}")
        if not parts.hostname:
            raise ValueError(one)
        found.append((parts.hostname, parts.port or default))
    return found[0], found[1:]


def _plain(url: str, host: tuple[str, int]) -> str:
    """Return a URL of one host, as the library reads it."""
    parts = urlsplit(url)
    login, at, _ = parts.netloc.rpartition("@")
    name = f"[{host[0]}]" if ":" in host[0] else host[0]
    return urlunsplit(
        parts._replace(scheme=parts.scheme.partition("+")[0], netloc=f"{login}{at}{name}:{host[1]}")
    )


def _shown(hosts: Sequence[tuple[str, int]]) -> str:
    return ",".join(f"{host}:{port}" for host, port in hosts)


def _retry() -> Retry:
    # One immediate retry, for a connection that the server closed meanwhile; longer waits are the journal's to plan.
    return Retry(NoBackoff(), 1)
