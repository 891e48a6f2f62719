"""What the journal reads of a Redis in which others have been: an input is the keys, a line each, or each entry of a stream.

    {"key":"log:one","id":"3-0","fields":{"t":"…","s":"…","e":"…"}}     {"key":"state:one","hash":{…}}
    {"key":"sessions","set":["one"]}     {"key":"epoch","string":"…"}    {"key":"beside:one","list":[…]}

A text stands for its bytes, whatever they are, `{"text":…,"times":…}` for many of them; lines that say nothing are passed over. One
server is started for all inputs of a process.
"""

import asyncio
import json
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from multiprocessing.util import Finalize
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from journals import RedisProcess
from tests.fuzz.rows import Features
from turnwire.journal.base import KEEP_ALL, Entry, Journal, JournalUnavailable, Retention
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.redis.server import Ownership
from turnwire.normalize.events import MessageChunk, to_json
from turnwire.normalize.events.envelope import Cursor

PREFIX = b"turnwire:"
PROGRAM = "redis-server"
"""What has to be installed."""
WHEN = 1_800_000_000_000_000
"""Microseconds since 1970 at which the right keys were written."""
HANG_S = 60.0
"""How long an input may keep anybody: it takes a few milliseconds, also beside other work."""
MOST = 1 << 22
"""Bytes of one value, at most."""
LARGEST_NUMBER = (1 << 53) - 1
"""What a frontend in JavaScript can count to."""

RETENTIONS = (KEEP_ALL, Retention(max_count=4), Retention(max_bytes=300), Retention(max_age_s=10))
"""Which of them is kept to goes by the input's length."""

LOGS = {"one": 12, "two": 5, "begun later": 9, "deleted": 3}
"""Events of each session."""


class _Server:
    """The server of this process, ended with it."""

    def __init__(self) -> None:
        # A path of a socket may have about a hundred characters.
        folder = Path(mkdtemp(prefix="redis-"))
        self.process = RedisProcess(folder)
        self.process.start()
        self.client: Any = Redis(unix_socket_path=str(self.process.socket), socket_timeout=HANG_S)
        # Workers of a pool end without what others do at an exit.
        Finalize(None, self._end, args=(folder,), exitpriority=0)

    def _end(self, folder: Path) -> None:
        self.process.kill()
        shutil.rmtree(folder, ignore_errors=True)

    def again(self) -> None:
        """Begin anew, where an input keeps it busy."""
        self.process.kill()
        self.process.start()


@cache
def _server() -> _Server:
    return _Server()


# From keys to lines, and back.


def dumps() -> list[bytes]:
    """Right keys, and the same with keys of other types, odd entries between and huge ones."""
    whole = _right()
    odd = [_line({"key": f"{kind}:one", form: value}) for kind, form, value in _ODD_KEYS]
    entries = [_line({"key": "log:two", "id": name, "fields": fields}) for name, fields in _ODD_ENTRIES]
    states = [_line({"key": "state:two", "hash": {name: value}}) for name, value in _ODD_STATES]
    huge = _line(
        {"key": "log:two", "id": "6-0", "fields": {"t": "1", "s": "1", "e": {"text": "x", "times": MOST}}}
    )
    return [
        whole,
        *(b"\n".join([one, whole]) for one in odd),
        *(b"\n".join([whole, one]) for one in (*entries, *states, huge)),
        b"\n".join([*odd, *entries, *states, whole]),
    ]


_ODD_KEYS = (
    ("log", "string", "x"), ("log", "list", ["x"]), ("log", "hash", {"1-0": "x"}),
    ("state", "string", "x"), ("state", "set", ["last"]), ("state", "list", ["1"]),
    ("beside", "string", "x"), ("beside", "list", ["x"]), ("beside", "hash", {"1w": "", "2w": "x", "3r": ""}),
)  # fmt: skip
_ODD_ENTRIES = (
    ("5-1", {"t": "1", "s": "1", "e": "{}"}), ("6-0", {"e": "{}"}), ("6-0", {"e": "{}", "s": "1", "t": "1"}),
    ("6-0", {"t": "nan", "s": "inf", "e": "{}"}), ("6-0", {"t": "-1", "s": "-1", "e": "{}"}),
    ("6-0", {"t": "9" * 30, "s": "9" * 30, "e": "{}"}), ("6-0", {"t": "1", "s": "1", "e": "\udcff\udcfe"}),
    ("6-0", {"t": "1", "s": "1", "e": ""}), ("6-0", {"t": "1", "s": "1", "e": '{"type":'}),
    ("18446744073709551615-18446744073709551615", {"t": "1", "s": "1", "e": "{}"}), ("9007199254740992-0", {"t": "1", "s": "1", "e": "{}"}),
)  # fmt: skip
_ODD_STATES = tuple(
    (name, value)
    for name in ("first", "last", "size", "micros", "deleted", "owner", "fence", "writer")
    for value in ("", "x", "nan", "inf", "-1", "0", "6", "1e3", " 7", "9" * 18, "9" * 400, "BUSY")
)


@cache
def _right() -> bytes:
    """Return right keys: what the journal writes for a few sessions, at a time and under names that are always the same."""
    server, lines = _server(), list[bytes]()
    server.client.flushall()
    asyncio.run(_write(server.process.url))
    for key in sorted(server.client.scan_iter()):
        name = key.removeprefix(PREFIX).decode()
        match server.client.type(key):
            case b"stream":
                for entry, fields in server.client.xrange(key):
                    lines.append(_line({"key": name, "id": entry.decode(), "fields": _texts(fields)}))
            case b"hash":
                held = _texts(server.client.hgetall(key))
                if name.startswith("state:"):
                    held["writer"] = "f" * 32
                lines.append(_line({"key": name, "hash": held}))
            case b"set":
                members = sorted(member.decode() for member in server.client.smembers(key))
                lines.append(_line({"key": name, "set": members}))
            case _:
                lines.append(_line({"key": name, "string": "0" * 32}))
    return b"\n".join(lines)


async def _write(url: str) -> None:
    journal = await RedisJournal.open(url, clock=lambda: WHEN)
    for session, count in LOGS.items():
        for number in range(1, count + 1):
            event = to_json(MessageChunk(text=f"{session} {number} " + "é" * number))
            beside = (event + b" ", b"a line") if session == "two" else (None, None)
            await journal.append(session, [Entry(event, *beside)])
    await journal.delete("deleted")
    await journal.close()
    few = await RedisJournal.open(url, Retention(max_count=5), clock=lambda: WHEN)
    for session in [name for name in LOGS if name != "begun later"]:
        few._logs._by_session.pop(session)
    await few.retain()
    await few.close()


def _line(value: Any) -> bytes:
    return json.dumps(value).encode()


def _texts(fields: dict[bytes, bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in fields.items()}


def _bytes(value: Any) -> bytes:
    match value:
        case str():
            try:
                return value.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError:
                return value.encode("utf-8", "surrogatepass")
        case {"text": str() as text, "times": int() as times} if 0 < times * len(text) <= MOST:
            return _bytes(text) * times
        case _:
            return json.dumps(value).encode()


def _commands(data: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Yield each line as a command's name and arguments."""
    for line in data.split(b"\n"):
        try:
            value = json.loads(line.decode("utf-8", "surrogateescape"))
            match value:
                case {"key": str() as key, "id": str() as entry, "fields": dict() as fields} if fields:
                    yield "XADD", [PREFIX + _bytes(key), _bytes(entry), *_pairs(fields)]
                case {"key": str() as key, "hash": dict() as fields} if fields:
                    yield "HSET", [PREFIX + _bytes(key), *_pairs(fields)]
                case {"key": str() as key, "set": list() as members} if members:
                    yield "SADD", [PREFIX + _bytes(key), *map(_bytes, members)]
                case {"key": str() as key, "list": list() as members} if members:
                    yield "RPUSH", [PREFIX + _bytes(key), *map(_bytes, members)]
                case {"key": str() as key, "string": text}:
                    yield "SET", [PREFIX + _bytes(key), _bytes(text)]
                case _:
                    pass
        except (ValueError, RecursionError):
            continue


def _pairs(fields: dict[str, Any]) -> list[bytes]:
    return [_bytes(one) for pair in fields.items() for one in pair]


# What must hold.


def read(data: bytes) -> Features:
    """Put the keys there, read all that the journal says is there, go on behind it, and let another take it over."""
    server, _ = _server(), _right()
    server.client.flushall()
    pipeline = server.client.pipeline(transaction=False)
    commands = list(_commands(data))
    for name, arguments in commands:
        pipeline.execute_command(name, *arguments)
    pipeline.execute(raise_on_error=False)
    untouched = _untouched(commands)
    there = {session: _entries(server.client, session) for session in LOGS}
    features: Features = set()
    retention = RETENTIONS[len(data) % len(RETENTIONS)]
    try:
        asyncio.run(asyncio.wait_for(_use(server, there, untouched, retention, features), HANG_S))
    except TimeoutError:
        server.again()
        raise AssertionError("the journal, or the server, is kept busy for good") from None
    return features


def _untouched(commands: Iterable[tuple[str, list[bytes]]]) -> set[str]:
    """Return the sessions whose keys are as they were written."""
    now, right = (_by_key(each) for each in (commands, _right_commands()))
    listed = next((a[1:] for name, a in commands if name == "SADD" and a[0] == PREFIX + b"sessions"), [])
    shared = {PREFIX + name for name in (b"sessions", b"epoch", b"run", b"ages", b"room")}
    if any(
        {name for name, _ in now.get(key, [])} - {"SADD" if key.endswith(b"sessions") else "SET"}
        for key in shared
    ):
        return set()
    return {
        session
        for session in LOGS
        if _bytes(session) in listed and all(now.get(key) == right.get(key) for key in _keys(session))
    }


def _by_key(commands: Iterable[tuple[str, list[bytes]]]) -> dict[bytes, list[tuple[str, list[bytes]]]]:
    ordered = sorted(commands, key=lambda one: one[1][0])
    return {key: list(found) for key, found in groupby(ordered, key=lambda one: one[1][0])}


@cache
def _right_commands() -> tuple[tuple[str, list[bytes]], ...]:
    return tuple(_commands(_right()))


def _keys(session: str) -> list[bytes]:
    return [PREFIX + f"{kind}:{session}".encode() for kind in ("log", "state", "beside")]


def _entries(client: Any, session: str) -> dict[int, list[bytes]]:
    """Return all that is in a session's stream under each number."""
    found: dict[int, list[bytes]] = {}
    try:
        for entry, fields in client.xrange(_keys(session)[0]):
            found.setdefault(int(entry.partition(b"-")[0]), []).append(fields.get(b"e", b""))
    except RedisError:
        pass
    return found


async def _use(
    server: _Server,
    there: dict[str, dict[int, list[bytes]]],
    untouched: set[str],
    retention: Retention,
    features: Features,
) -> None:
    opened = RedisJournal.open(server.process.url, retention, clock=lambda: WHEN)
    journal = await _named(opened, server, features)
    if journal is None:
        return
    listed = {log.session: log for log in await journal.logs()}
    for session, entries in there.items():
        got = await _named(_read(journal, session, entries), server, features)
        if session in untouched:
            right = {"one": 12, "two": 5, "begun later": 5, "deleted": 0}[session]
            assert got is not None
            assert len(got) == right, f"{session}: {got}"
            assert (session in listed) == (session != "deleted")
        features.add((session, got is None, got is not None and len(got) == len(entries)))
        for number in (1, 3, 6, journal.last(session)):
            whole = await _named(journal.whole(session, number), server, features)
            if whole is not None:
                json.loads(whole.event.decode())
    await _named(journal.retain(), server, features)
    for session in there:
        await _go_on(journal, session, untouched, server, features)
    assert journal.trouble is None, journal.trouble
    features.add(("damaged", min(journal.damaged, 3)))
    await journal.close()
    worker = await _named(RedisJournal.open(server.process.url, owner="worker"), server, features)
    for session in there if worker is not None else ():
        whose = await _named(worker.ownership(session), server, features)
        claimed = await _named(worker.claim(session, whose), server, features)
        assert claimed or session not in untouched
        if claimed:
            deleted = await worker.delete_from(session, Ownership("worker", worker.fence(session)))
            assert deleted == worker.fence(session) + 1
        features.add((session, "claimed", claimed))
    if worker is not None:
        await worker.close()


async def _named(done: Any, server: _Server, features: Features) -> Any:
    """Return what is done, or None where it is refused by a sentence that says which server it is about."""
    try:
        return await done
    except JournalUnavailable as refusal:
        if str(server.process.socket) not in str(refusal):
            raise AssertionError("a refusal that does not say which server") from refusal
        features.add(("refused", str(refusal).partition(": ")[2][:40]))
        return None


async def _read(journal: Journal, session: str, entries: dict[int, list[bytes]]) -> list[int]:
    """Read a log in small pages: each follows the one before it, and has what is in the stream under these numbers."""
    cursor, got, pages = Cursor(journal.epoch, 0), list[int](), 0
    while True:
        page = await journal.read_after(session, cursor, count=4, size=2000)
        pages += 1
        assert pages <= 2 * len(entries) + 2, "pages without end"
        assert page.last <= LARGEST_NUMBER, page.last
        expected = cursor.seq + 1
        if page.gap is not None:
            assert page.gap.first == expected <= page.gap.last
            expected = page.gap.last + 1
        for envelope in page.envelopes:
            assert envelope.seq == expected
            assert envelope.event in entries[envelope.seq], envelope.seq
            told = json.loads(envelope.frame.decode())
            assert (told["session"], told["seq"], len(told["ts"])) == (session, envelope.seq, 27)
            assert isinstance(told["event"], dict)
            expected += 1
        got += [envelope.seq for envelope in page.envelopes]
        assert page.cursor.seq == expected - 1 or (page.cursor.seq == page.last and not page.envelopes)
        if page.cursor.seq >= page.last:
            return got
        assert page.cursor.seq > cursor.seq, "a page that leads nowhere"
        cursor = page.cursor


async def _go_on(
    journal: Journal, session: str, untouched: set[str], server: _Server, features: Features
) -> None:
    """Append an event: it is there under its number, or refused."""
    last, event = journal.last(session), to_json(MessageChunk(text=f"{session} goes on"))
    taken = await _named(_appended(journal, session, event), server, features)
    features.add((session, "goes on", taken))
    assert taken or session not in untouched, f"{session} is refused: {features}"
    if taken:
        page = await journal.read_after(session, Cursor(journal.epoch, last))
        assert [envelope.event for envelope in page.envelopes] == [event], page
        assert page.envelopes[0].seq > last


async def _appended(journal: Journal, session: str, event: bytes) -> bool:
    await journal.append(session, [Entry(event)])
    await journal.flush()
    return True
