"""The fleet's keys in Redis: values in, plain values out. All of them begin with `turnwire:fleet:`.

| key | |
|---|---|
| `schema` | least version that a hub or worker must know |
| `workers` | set of the names of workers |
| `{worker}:lease` | hash: instance, place, about; lives as long as the lease is renewed |
| `{worker}:wish` | what an operator wants of it: `cordon` or `drain` |
| `{worker}:orders` | stream of commands with the consumer group `worker`; an entry goes with its answer |
| `{id}:outcome` | what is known of a command, for as long as it may be repeated |
| `{id}:route` | which worker a new session's command went to |
| `{hub}:replies` | stream of answers; gone soon after its hub |
| `sessions` | set of the ids of sessions |
| `{session}:entry` | hash: worker, fence, summary, group, record, for a day after a deletion the fence alone; a claim of the session's log changes worker and fence (turnwire/journal/redis) |
| `{code}:invitation` | whose a code is that logs one more browser in, by its SHA-256; gone once it is used |
| `{principal}:spent:DAY` | dollars of a principal on a day; gone two days later |
| `{principal}:reserved` | hash: sessions that commands of a principal begin or let run, and until when that counts |
| `logins` | hash: when each login began that is over, by its id |
| `changes` | stream that names sessions (`s`), workers (`w`) and logins (`l`) of which something is another now |

Names in braces are in braces in the key, too: what one script touches is in one slot of a cluster. Redis's own library raises
RedisError from all methods; who calls them knows what that means for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from redis.exceptions import ResponseError

from turnwire._runtime.version import VERSION
from turnwire.journal.base import JournalUnavailable
from turnwire.journal.redis.connection import connect
from turnwire.journal.redis.server import entry_key, state_key

GROUP = "worker"
SCHEMA = 1
"""Version of what is in these keys, and of what hubs and workers say to each other. A change that older ones cannot skip raises it."""
CHANGES_KEPT = 100_000
"""Changes that a hub may be behind by before it reads the whole directory again."""

BARRED_MS = 86_400_000
"""How long a deleted session's entry refuses earlier owners."""

_RENEW = """
-- KEYS lease, wish; ARGV instance, place, about, milliseconds, whether this is the first time.
-- Returns {whether it is ours, whether it was there, seconds, microseconds, the wish}. Only a new life takes it from an earlier one at its place:
-- of two lives at one place, as of a copied state directory, the former one never takes it back.
local held = redis.call('HMGET', KEYS[1], 'instance', 'place')
local there = 0
if held[1] then
    if held[1] ~= ARGV[1] and (held[2] ~= ARGV[2] or ARGV[5] ~= 'yes') then return {0, 1, 0, 0, ''} end
    if held[1] == ARGV[1] then there = 1 end
end
redis.call('HSET', KEYS[1], 'instance', ARGV[1], 'place', ARGV[2], 'about', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local now = redis.call('TIME')
return {1, there, tonumber(now[1]), tonumber(now[2]), redis.call('GET', KEYS[2]) or ''}
"""

_RELEASE = """
-- KEYS lease; ARGV instance
if redis.call('HGET', KEYS[1], 'instance') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""

_PUT = """
-- KEYS entry, state of the log; ARGV worker, fence, summary, group, record. What a later owner has written stays, and the log knows it first
local known = math.max(tonumber(redis.call('HGET', KEYS[1], 'fence') or '0'), tonumber(redis.call('HGET', KEYS[2], 'fence') or '0'))
if known > tonumber(ARGV[2]) then return 0 end
-- what remains of a removal would end this entry with itself
if not redis.call('HGET', KEYS[1], 'worker') then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'worker', ARGV[1], 'fence', ARGV[2], 'summary', ARGV[3], 'group', ARGV[4], 'record', ARGV[5])
return 1
"""

_REMOVE = """
-- KEYS entry, state of the log; ARGV fence, milliseconds. Only a log that was deleted, or never begun, has no entry any more. What remains
-- for a while is none, and refuses those of earlier owners
local owner, deleted = unpack(redis.call('HMGET', KEYS[2], 'owner', 'deleted'))
if owner and deleted ~= '1' then return 0 end
if tonumber(redis.call('HGET', KEYS[1], 'fence') or '0') > tonumber(ARGV[1]) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'fence', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
"""

_RESERVE = """
-- KEYS what commands of a principal are about to use; ARGV name, milliseconds. Returns all names that are not over
local now = redis.call('TIME')
local ms = tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
local names, held = {ARGV[1]}, redis.call('HGETALL', KEYS[1])
for index = 1, #held, 2 do
    if tonumber(held[index + 1]) <= ms then
        redis.call('HDEL', KEYS[1], held[index])
    elseif held[index] ~= ARGV[1] then
        names[#names + 1] = held[index]
    end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', ms + tonumber(ARGV[2])))
redis.call('PEXPIRE', KEYS[1], 600000)
return names
"""

_SETTLE = """
-- KEYS as above; ARGV name, the session that was used or empty, milliseconds
redis.call('HDEL', KEYS[1], ARGV[1])
if ARGV[2] == '' then return 0 end
local now = redis.call('TIME')
local ms = tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
redis.call('HSET', KEYS[1], ARGV[2], string.format('%.0f', ms + tonumber(ARGV[3])))
redis.call('PEXPIRE', KEYS[1], 600000)
return 1
"""

_TAKE_OUT = """
-- KEYS any
local kept = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
return kept
"""


@dataclass(frozen=True, slots=True)
class LeaseRenewal:
    """What came of renewing a lease."""

    is_ours: bool
    """False while another worker of the name lives elsewhere."""
    had_lapsed: bool
    """Whether there was none, or one of an earlier life."""
    now_ms: int
    """Redis's own clock."""
    wish: str
    """What an operator wants of the worker; empty when nothing."""


class HeldLease(NamedTuple):
    """A lease that lives."""

    about: bytes
    """What the worker says of itself."""
    wish: str
    """What an operator wants of it: `cordon`, `drain`, or empty."""


@dataclass(frozen=True, slots=True)
class WorkerLease:
    """A worker as an operator sees it."""

    worker: str
    about: bytes | None
    """What it says of itself; None where it is not there."""
    left_ms: int
    """Milliseconds that its lease is good unless it is renewed."""
    wish: str
    """What an operator wants of it: `cordon`, `drain`, or empty."""
    waiting: int
    """Commands that it has not answered yet."""


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """A session in the directory."""

    session: str
    worker: str
    fence: int
    summary: bytes
    group: str | None
    """Whose workers see its files."""
    record: bytes | None
    """What another one of the group needs to go on with it."""


@dataclass(frozen=True, slots=True)
class DirectoryChanges:
    """What is another now."""

    sessions: frozenset[str] = frozenset()
    """Whose entries."""
    workers: bool = False
    """Whether leases."""
    logins: bool = False
    """Whether more logins are over."""


class FleetStore:
    """The keys of one fleet."""

    def __init__(self, url: str, prefix: str = "turnwire:") -> None:
        # It may send something twice; a command that went twice has one id.
        self._connection = connect(url)
        self._redis = self._connection.redis
        self._logs = prefix
        self._prefix = f"{prefix}fleet:"

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def check_schema(self) -> None:
        """See that this release knows what is in Redis; raises JournalUnavailable where a newer one has written it."""
        key = f"{self._prefix}schema"
        await self._redis.set(key, SCHEMA, nx=True)
        found = _text(cast("bytes | None", await self._redis.get(key)) or b"")
        if not found.isdigit() or int(found) > SCHEMA:
            raise JournalUnavailable(
                f"The fleet at {self._connection.name} is of a newer turnwire (schema {found[:20]!r}; this one, {VERSION}, knows {SCHEMA}). "
                "Upgrade this hub or worker, then start it again."
            )

    async def renew(
        self, worker: str, instance: str, place: str, about: bytes, lease_ms: int, *, begins: bool = False
    ) -> LeaseRenewal:
        """Hold a worker's lease for so long from now on, unless another one lives.

        One that `begins` takes it from an earlier life at the same place.
        """
        keys, first = (self._of(worker, "lease"), self._of(worker, "wish")), "yes" if begins else "no"
        found = await self._connection.run(_RENEW, keys, instance, place, about, lease_ms, first)
        ours, there, seconds, micros, wish = found
        return LeaseRenewal(bool(ours), not there, seconds * 1000 + micros // 1000, _text(wish))

    async def wish(self, worker: str, wish: str | None) -> None:
        """Want something of a worker: `cordon`, `drain`, or None for nothing any more."""
        key = self._of(worker, "wish")
        await (self._redis.delete(key) if wish is None else self._redis.set(key, wish))
        await self._tell("w", worker)

    async def tell_worker(self, worker: str) -> None:
        """Have hubs look at a worker's lease now."""
        await self._tell("w", worker)

    async def join(self, worker: str) -> None:
        """List a worker, and see that it can be sent commands."""
        try:
            await self._redis.xgroup_create(self._of(worker, "orders"), GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise
        await self._redis.sadd(f"{self._prefix}workers", worker)
        await self._tell("w", worker)

    async def release(self, worker: str, instance: str) -> None:
        """Let go of a lease: the worker is not there any more."""
        await self._connection.run(_RELEASE, [self._of(worker, "lease")], instance)
        await self._tell("w", worker)

    async def leases(self) -> dict[str, HeldLease | None]:
        """Return what workers say of themselves and what is wanted of them; None of those that are not there."""
        names = sorted(_texts(await self._redis.smembers(f"{self._prefix}workers")))
        pipeline = self._redis.pipeline(transaction=False)
        for name in names:
            pipeline.hget(self._of(name, "lease"), "about")
            pipeline.get(self._of(name, "wish"))
        rows = await pipeline.execute()
        return {
            name: None if about is None else HeldLease(about, _text(wish or b""))
            for name, about, wish in zip(names, rows[::2], rows[1::2], strict=True)
        }

    async def waiting(self, worker: str) -> int:
        """Return how many commands a worker has not answered yet."""
        return int(await self._redis.xlen(self._of(worker, "orders")))

    async def operators_view(self) -> list[WorkerLease]:
        """Return what is known of each worker that was ever there, by name."""
        names = sorted(_texts(await self._redis.smembers(f"{self._prefix}workers")))
        pipeline = self._redis.pipeline(transaction=False)
        for name in names:
            pipeline.hget(self._of(name, "lease"), "about")
            pipeline.pttl(self._of(name, "lease"))
            pipeline.get(self._of(name, "wish"))
            pipeline.xlen(self._of(name, "orders"))
        rows = await pipeline.execute()
        return [
            WorkerLease(name, about, max(0, left), _text(wish or b""), waiting)
            for name, about, left, wish, waiting in zip(names, *(rows[n::4] for n in range(4)), strict=True)
        ]

    async def forget_worker(self, worker: str) -> None:
        """Forget the name of a worker that will not come back; its sessions stay."""
        await self._redis.srem(f"{self._prefix}workers", worker)
        await self.wish(worker, None)

    async def put(self, entry: DirectoryEntry) -> bool:
        """Keep a session's entry; False where the session is another's by now, or was deleted while its worker was gone."""
        kept = await self._connection.run(
            _PUT,
            self._of_session(entry.session),
            entry.worker,
            entry.fence,
            entry.summary,
            entry.group or "",
            entry.record or b"",
        )
        if kept:
            await self._redis.sadd(f"{self._prefix}sessions", entry.session)
            await self._tell("s", entry.session)
        return bool(kept)

    async def remove(self, session: str, fence: int) -> None:
        """Forget the entry of a session that was deleted, and of no other; a later owner's stays."""
        if await self._connection.run(_REMOVE, self._of_session(session), fence, BARRED_MS):
            await self._redis.srem(f"{self._prefix}sessions", session)
        await self._tell("s", session)

    async def entries(self, sessions: Sequence[str] | None = None) -> dict[str, DirectoryEntry | None]:
        """Return some sessions' entries, or all."""
        if sessions is None:
            sessions = sorted(_texts(await self._redis.smembers(f"{self._prefix}sessions")))
        found: dict[str, DirectoryEntry | None] = {}
        for start in range(0, len(sessions), 500):
            names = sessions[start : start + 500]
            pipeline = self._redis.pipeline(transaction=False)
            for name in names:
                pipeline.hmget(self._of_session(name)[0], ["worker", "fence", "summary", "group", "record"])
            for name, row in zip(names, await pipeline.execute(), strict=True):
                found[name] = _entry(name, row)
        return found

    async def newest_change(self) -> str:
        """Return the place of the newest change."""
        rows = cast("list[Any]", await self._redis.xrevrange(f"{self._prefix}changes", count=1))
        return rows[0][0].decode() if rows else "0-0"

    async def log_out(self, logins: Mapping[str, int], newest: int) -> None:
        """Keep which logins are over, of all the newest ones."""
        key = f"{self._prefix}logins"
        await self._redis.hset(key, mapping={name: str(began) for name, began in logins.items()})
        known = await self.logins()
        if excess := sorted(known, key=known.__getitem__)[:-newest]:
            await self._redis.hdel(key, *excess)
        await self._tell("l", ",".join(logins))

    async def logins(self) -> dict[str, int]:
        """Return which logins are over: when each began, by its id."""
        kept = cast("dict[bytes, bytes]", await self._redis.hgetall(f"{self._prefix}logins"))
        return {_text(name): int(began) for name, began in kept.items() if began.isdigit()}

    async def spend(self, principal: str, day: str, dollars: float) -> None:
        """Add to what a principal has spent on a day."""
        key = self._of(principal, f"spent:{day}")
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.incrbyfloat(key, dollars)
        pipeline.expire(key, 2 * 86400)
        await pipeline.execute()

    async def spent(self, principal: str, day: str) -> float:
        """Return what a principal has spent on a day."""
        return float(cast("bytes | None", await self._redis.get(self._of(principal, f"spent:{day}"))) or 0)

    async def reserve(self, principal: str, name: str, keep_ms: int) -> set[str]:
        """Note that a command of a principal is about to use something; return all that is noted and not over."""
        keys = [self._of(principal, "reserved")]
        return _texts(set(await self._connection.run(_RESERVE, keys, name, keep_ms)))

    async def settle(self, principal: str, name: str, session: str | None, keep_ms: int) -> None:
        """Note what a command used; None if it used nothing."""
        keys = [self._of(principal, "reserved")]
        await self._connection.run(_SETTLE, keys, name, session or "", keep_ms)

    async def invite(self, code: str, invited: bytes, keep_ms: int) -> None:
        """Keep whose a code is."""
        await self._redis.set(self._of(code, "invitation"), invited, px=keep_ms)

    async def invited(self, code: str) -> bytes | None:
        """Return whose a code is, to the first who asks; None where nothing is kept of it."""
        found = await self._connection.run(_TAKE_OUT, [self._of(code, "invitation")])
        return cast("bytes | None", found)

    async def changes(self, after: str, block_ms: int) -> tuple[str, DirectoryChanges] | None:
        """Wait for changes after a place; return the next place, and them; None where some were dropped meanwhile."""
        key = f"{self._prefix}changes"
        rows = await self._read(key, after, block_ms, 1000)
        if not rows:
            return after, DirectoryChanges()
        if after != "0-0":
            before = cast("list[Any]", await self._redis.xrange(key, after, after))
            if not before:
                return None
        sessions = {_text(fields[b"s"]) for _, fields in rows if b"s" in fields}
        workers = any(b"w" in fields for _, fields in rows)
        logins = any(b"l" in fields for _, fields in rows)
        return rows[-1][0].decode(), DirectoryChanges(frozenset(sessions), workers, logins)

    async def route(self, order: str, worker: str, keep_ms: int) -> str:
        """Return which worker a command goes to: this one, unless it went to another before."""
        key = self._of(order, "route")
        await self._redis.set(key, worker, nx=True, px=keep_ms)
        kept = cast("bytes | None", await self._redis.get(key))
        return worker if kept is None else _text(kept)

    async def send(self, worker: str, order: bytes) -> str:
        """Put a command into a worker's stream; return its place."""
        place = await self._redis.xadd(self._of(worker, "orders"), {"o": order})
        return cast("bytes", place).decode()

    async def withdraw(self, worker: str, place: str) -> None:
        """Take back a command that no worker has begun."""
        await self._redis.xdel(self._of(worker, "orders"), place)

    async def next_commands(self, worker: str, block_ms: int, count: int) -> list[tuple[str, bytes]]:
        """Take new commands out of a worker's stream, waiting so long for one at most."""
        return await self._take(worker, ">", count, block_ms)

    async def left(self, worker: str, after: str, count: int) -> list[tuple[str, bytes]]:
        """Return commands after a place that were taken and not answered yet."""
        return await self._take(worker, after, count, None)

    async def _take(
        self, worker: str, after: str, count: int, block_ms: int | None
    ) -> list[tuple[str, bytes]]:
        wait_ms = None if block_ms is None else self._connection.longest_wait_ms(block_ms)
        found = await self._redis.xreadgroup(
            GROUP, worker, {self._of(worker, "orders"): after}, count=count, block=wait_ms
        )
        # One that was withdrawn has no fields any more.
        return [(place.decode(), (fields or {}).get(b"o", b"")) for place, fields in _rows(found)]

    async def begin(self, order: str, outcome: bytes, keep_ms: int) -> bytes | None:
        """Note that a command is begun; return what was noted before, if anything."""
        key = self._of(order, "outcome")
        while True:
            if await self._redis.set(key, outcome, nx=True, px=keep_ms):
                return None
            if (noted := cast("bytes | None", await self._redis.get(key))) is not None:
                return noted

    async def outcome(self, order: str) -> bytes | None:
        """Return what is known of a command."""
        return cast("bytes | None", await self._redis.get(self._of(order, "outcome")))

    async def note(self, order: str, outcome: bytes, keep_ms: int) -> None:
        """Note what came of a command."""
        await self._redis.set(self._of(order, "outcome"), outcome, px=keep_ms)

    async def forget(self, order: str) -> None:
        """Let a command be as one that never came."""
        await self._redis.delete(self._of(order, "outcome"))

    async def answer(self, hub: str, order: str, answer: bytes, keep_ms: int) -> None:
        """Tell a hub what came of a command."""
        key = self._of(hub, "replies")
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.xadd(key, {"id": order, "a": answer})
        pipeline.pexpire(key, keep_ms)
        await pipeline.execute()

    async def done(self, worker: str, place: str) -> None:
        """Drop a command that was answered."""
        key = self._of(worker, "orders")
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.xack(key, GROUP, place)
        pipeline.xdel(key, place)
        await pipeline.execute()

    async def replies(self, hub: str, after: str, block_ms: int) -> tuple[str, list[tuple[str, bytes]]]:
        """Wait for answers after a place; return the next place, and them."""
        key = self._of(hub, "replies")
        rows = await self._read(key, after, block_ms, 500)
        if not rows:
            return after, []
        place = rows[-1][0].decode()
        await self._redis.xtrim(key, minid=place)
        told = [fields for _, fields in rows if fields.keys() >= {b"id", b"a"}]
        return place, [(_text(fields[b"id"]), fields[b"a"]) for fields in told]

    async def _read(self, key: str, after: str, block_ms: int, count: int) -> list[Any]:
        wait_ms = self._connection.longest_wait_ms(block_ms)
        return _rows(await self._redis.xread({key: after}, count=count, block=wait_ms))

    async def _tell(self, kind: str, name: str) -> None:
        await self._redis.xadd(f"{self._prefix}changes", {kind: name}, maxlen=CHANGES_KEPT, approximate=True)

    def _of_session(self, session: str) -> list[str]:
        """Return the keys of a session's entry, and of the state of its log."""
        return [entry_key(self._logs, session), state_key(self._connection, self._logs, session)]

    def _of(self, name: str, kind: str) -> str:
        return f"{self._prefix}{{{name}}}:{kind}"


def _rows(found: Any) -> list[Any]:
    """Return the entries of the one stream that was read; the protocol's third version answers with a map."""
    if not found:
        return []
    if isinstance(found, dict):
        (batches,) = found.values()
        return [row for batch in batches for row in (batch if isinstance(batch, list) else [batch])]
    return list(found[0][1])


def _text(value: bytes) -> str:
    """Return a name; one that is none of ours, as whoever reaches the server can write there, is another's."""
    return value.decode(errors="replace")


def _texts(members: Any) -> set[str]:
    return {_text(member) for member in members}


def _entry(session: str, row: Sequence[bytes | None]) -> DirectoryEntry | None:
    worker, fence, summary, group, record = row
    if worker is None or fence is None or summary is None or not fence.isdigit():
        return None
    return DirectoryEntry(
        session, _text(worker), int(fence), summary, _text(group or b"") or None, record or None
    )
