"""What comes from outside: frames of frontends, all that arrives at the hub's port before a WebSocket, and whole conversations.

A hub's connections are made by the hub itself, on a transport of ours: what is fed is what a socket would give, in pieces of any
size, without a socket. Nothing waits for a clock.
"""

import asyncio
import base64
import json
import logging
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import JsonValue, SecretStr

from tests.fuzz.rows import Features
from turnwire.hub.config import HubConfig, Limits
from turnwire.hub.host import Frontend
from turnwire.hub.hub import Hub
from turnwire.hub.schema import document
from turnwire.hub.wire.commands import id_of, parse
from turnwire.hub.wire.frames import AnyCommand
from turnwire.hub.wire.frames_out import Reply, SessionSummary
from turnwire.journal.base import Entry
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events import MessageChunk, to_json

CONTROL, VIEW = "control-" + "c" * 36, "view-" + "v" * 39
SECRET = "only for those who have a token"
SESSION, EVENTS = "s1", 30
MOST_PASSES = 3000
"""Passes of the event loop that an input may take: work is bounded by what came."""
MOST_BYTES = 400_000
"""Bytes that one connection is answered at most, where it asks for no event again and again: the console's largest file, and some."""


# Single frames.


def frame(data: bytes) -> Features:
    text = data.decode("utf-8", "surrogateescape")
    features: Features = set()
    roles: tuple[Literal["control", "view"] | None, ...] = ("control", "view", None)
    for role in roles:
        got = parse(text, role)
        if isinstance(got, Reply):
            assert got.error is not None
            assert len(got.error.message) < 2000
            features.add((role, got.error.code, got.error.field))
        else:
            assert got.type == json.loads(text)["type"]
            features.add((role, got.type))
    return features


def commands() -> list[bytes]:
    """A command of each kind, with all that it can have."""
    schema: Any = document("commands")
    definitions = schema["$defs"]
    return [
        json.dumps(_example(one, definitions, 0)).encode() for one in definitions.values() if _is_command(one)
    ]


def _is_command(definition: Any) -> bool:
    return bool({"type", "id"} <= definition.get("properties", {}).keys())


def _example(part: Any, definitions: Any, depth: int) -> Any:
    match part:
        case {"$ref": str(target)}:
            return _example(definitions[target.rpartition("/")[2]], definitions, depth + 1)
        case {"const": value} | {"enum": [value, *_]}:
            return value
        case {"anyOf": [first, *_]} | {"oneOf": [first, *_]}:
            return _example(first, definitions, depth + 1)
        case {"properties": fields} if depth < 6:
            return {key: _example(value, definitions, depth + 1) for key, value in fields.items()}
        case {"type": "array", "items": item} if depth < 6:
            return [_example(item, definitions, depth + 1)]
        case {"type": "integer" | "number"}:
            return 1
        case {"type": "boolean"}:
            return True
        case {"type": "object"}:
            return {"key": "value"}
        case _:
            return "text"


# A hub without a socket.


class _Host:
    """Does whatever it is told."""

    async def execute(self, command: AnyCommand, frontend: Frontend) -> JsonValue:
        return {"did": command.type, "by": frontend.name}

    def sessions(self) -> Sequence[SessionSummary]:
        return [SessionSummary(session=SESSION, state="idle", last_seq=EVENTS, pending=0, title=SECRET)]

    def agents(self) -> None:
        return None

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:
        del watcher
        return lambda: None


class _Socket:
    def setsockopt(self, *_: object) -> None:
        """Take an option."""


class Wire(asyncio.Transport):
    """The other end of a connection."""

    def __init__(self, protocol: asyncio.Protocol, address: str) -> None:
        super().__init__({"peername": (address, 4000), "socket": _Socket()})
        self.said = bytearray()
        """What the hub has written."""
        self.is_read = True
        self.is_over = False
        """The protocol was told that the connection is lost."""
        self.says_goodbye = False
        """The hub has sent the frame that closes a WebSocket, and hears no other."""
        self._protocol, self._closes = protocol, False
        self._loop = asyncio.get_running_loop()
        protocol.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._closes:
            self.said += data
            self.says_goodbye |= data[:1] == b"\x88"

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        del high, low

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def is_reading(self) -> bool:
        return self.is_read

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        """Say that nothing more is written."""

    def is_closing(self) -> bool:
        return self._closes

    def close(self) -> None:
        if not self._closes:
            self._closes = True
            self._loop.call_soon(self._lose)

    def abort(self) -> None:
        self.close()

    def _lose(self) -> None:
        self.is_over = True
        self._protocol.connection_lost(None)

    def hear(self, data: bytes) -> None:
        """Have the peer say something."""
        self._protocol.data_received(data)

    def end(self) -> None:
        """Have the peer go."""
        if not self._closes and not self._protocol.eof_received():
            self.close()


class _Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(f"{record.name}: {self.format(record)}")


@dataclass
class Port:
    """A hub whose connections are made by hand."""

    runner: asyncio.Runner
    hub: Hub
    factory: Callable[[], asyncio.Protocol]
    errors: _Errors
    cookie: str = ""
    tasks: int = 0
    """Of the hub at rest."""
    made: int = 0
    trouble: list[str] = field(default_factory=list)
    """What the event loop has told."""
    wires: list[Wire] = field(default_factory=list)
    """Of the present input."""

    def run(self, work: Callable[["Port"], Awaitable[Features]]) -> Features:
        """Run something on the hub's loop, and see that nothing is left of it."""
        logging.disable(logging.NOTSET)
        try:
            return self.runner.run(self._clean(work))
        finally:
            logging.disable(logging.CRITICAL)

    async def _clean(self, work: Callable[["Port"], Awaitable[Features]]) -> Features:
        self.errors.told.clear()
        self.trouble.clear()
        try:
            features = await work(self)
        finally:
            for wire in self.wires:
                wire.abort()
            self.wires.clear()
            for _ in range(MOST_PASSES):
                if self.hub.connections == 0 and len(asyncio.all_tasks()) <= self.tasks:
                    break
                await asyncio.sleep(0)
        assert self.hub.connections == 0, "a connection is left"
        assert self.hub.frontends == 0, "a frontend is left"
        assert len(asyncio.all_tasks()) <= self.tasks, f"tasks are left: {asyncio.all_tasks()}"
        assert not self.errors.told, str(self.errors.told)
        assert not self.trouble, str(self.trouble)
        return features

    def wire(self) -> Wire:
        """Have a peer connect, from an address of its own: who guesses tokens is slowed down by address."""
        self.made += 1
        address = f"10.{self.made >> 16 & 255}.{self.made >> 8 & 255}.{self.made & 255}"
        self.wires.append(Wire(self.factory(), address))
        return self.wires[-1]


async def settled(wire: Wire, over: Callable[[], bool]) -> None:
    """Let the hub work until something holds, or nothing more comes of it."""
    for _ in range(MOST_PASSES):
        if wire.is_over or over():
            return
        await asyncio.sleep(0)
    raise AssertionError("the hub is not done with it")


async def rested(wire: Wire, passes: int = 25) -> None:
    """Let the hub work until it says nothing more for some passes."""
    quiet, size = 0, -1
    for _ in range(MOST_PASSES):
        quiet = quiet + 1 if len(wire.said) == size else 0
        size = len(wire.said)
        if quiet >= passes:
            return
        await asyncio.sleep(0)
    raise AssertionError("the hub does not come to rest")


@cache
def port() -> Port:
    """Start a hub, once."""
    runner = asyncio.Runner()
    loop = runner.get_loop()
    factories: list[Callable[[], asyncio.Protocol]] = []
    create_server = loop.create_server

    def noted(factory: Any, *rest: Any, **more: Any) -> Any:
        factories.append(factory)
        return create_server(factory, *rest, **more)

    loop.create_server = noted  # type: ignore[method-assign, assignment]  # the one place where the hub makes its connections
    errors = _Errors()
    for name in ("turnwire", "hub.websockets", "asyncio"):
        logging.getLogger(name).addHandler(errors)
        logging.getLogger(name).propagate = False

    async def started() -> Hub:
        journal = MemoryJournal()
        for number in range(EVENTS):
            await journal.append(SESSION, [Entry(to_json(MessageChunk(text=f"{number + 1} {SECRET}")))])
        limits = Limits(
            wrong_token_s=0,
            commands_burst=100_000,
            commands_per_s=100_000,
            connections=8,
            newcomers=8,
        )
        config = HubConfig(token=SecretStr(CONTROL), view_token=SecretStr(VIEW), cookie="fuzz", limits=limits)
        hub = Hub(journal, _Host(), config)
        await hub.start()
        return hub

    hub = runner.run(started())
    made = Port(runner, hub, factories[0], errors)
    loop.set_exception_handler(lambda _, context: made.trouble.append(str(context)))

    async def log_in(_: Port) -> Features:
        made.tasks = len(asyncio.all_tasks())
        wire = made.wire()
        wire.hear(head("POST /login HTTP/1.1", f"Authorization: Bearer {CONTROL}"))
        await rested(wire)
        wire.end()
        found = re.search(rb"Set-Cookie: (fuzz=[^;]+);", wire.said)
        assert found is not None
        made.cookie = found[1].decode()
        return set()

    made.run(log_in)
    return made


# Heads.

HOST = "Host: 127.0.0.1"
KEY = base64.b64encode(b"0123456789abcdef").decode()
UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    f"Sec-WebSocket-Key: {KEY}",
)
_ANSWER = re.compile(rb"HTTP/1\.1 (\d{3}) [A-Za-z ]+\r\n((?:[A-Za-z-]+: [^\r\n]*\r\n)*)\r\n")
HEADERS = {
    "Access-Control-Allow-Origin", "Allow", "Cache-Control", "Connection", "Content-Encoding", "Content-Length",
    "Content-Security-Policy", "Content-Type", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Date", "ETag",
    "Referrer-Policy", "Retry-After", "Sec-WebSocket-Accept", "Sec-WebSocket-Protocol", "Service-Worker-Allowed", "Set-Cookie",
    "Upgrade", "Vary", "WWW-Authenticate", "X-Accel-Buffering", "X-Content-Type-Options", "X-Frame-Options",
}  # fmt: skip
"""All that the hub ever says."""
STATUSES = {101, 200, 304, 400, 401, 403, 404, 405, 413, 414, 426, 429, 431, 501, 503, 505}


def head(request: str, *lines: str) -> bytes:
    """A request as it should be."""
    return "\r\n".join((request, HOST, *lines, "", "")).encode()


def heads() -> list[bytes]:
    """Requests for all there is, with and without what lets in; some behind each other, with bodies, and in chunks."""
    bearer, view = f"Authorization: Bearer {CONTROL}", f"Authorization: Bearer {VIEW}"
    cookie = f"Cookie: theme=dark; {port().cookie}"
    plain = [
        head("GET / HTTP/1.1", "Accept-Encoding: gzip, br"),
        head("GET /healthz HTTP/1.1"),
        head("HEAD /readyz HTTP/1.1"),
        head("GET /sessions HTTP/1.1", bearer),
        head("GET /sessions HTTP/1.1", cookie, "Sec-Fetch-Site: same-origin"),
        head("GET /metrics HTTP/1.1", view),
        head(f"GET /sessions/{SESSION}/events?after=-0 HTTP/1.1", view, "Accept: text/event-stream"),
        head(f"GET /sessions/{SESSION}/events HTTP/1.1", cookie, "Last-Event-ID: x-7"),
        head("POST /login HTTP/1.1", bearer, "Content-Length: 0", "Origin: http://127.0.0.1"),
        head("POST /logout HTTP/1.1", "Cookie: fuzz=1.2.3"),
        head("GET /ws HTTP/1.1", *UPGRADE, bearer, "Sec-WebSocket-Protocol: turnwire.v1"),
        head("GET /ws HTTP/1.1", *UPGRADE, cookie, "Origin: http://127.0.0.1"),
        head("GET /ws HTTP/1.1", *UPGRADE, f"Sec-WebSocket-Protocol: turnwire.v1, turnwire.token.{VIEW}"),
        head(
            "GET /ws HTTP/1.1",
            *UPGRADE,
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
        ),
        head("GET /nothing HTTP/1.1", "X-Forwarded-For: 1.2.3.4", "Forwarded: for=1.2.3.4;host=x"),
        b"GET /healthz HTTP/1.0\r\n\r\n",
        b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ]
    body = b"5\r\nhello\r\n0\r\n\r\n"
    return [
        *plain,
        plain[1] + plain[3],
        head("POST /login HTTP/1.1", bearer, "Transfer-Encoding: chunked") + body,
        head("GET /healthz HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked") + body + plain[3],
        plain[10] + framed(json.dumps({"type": "subscribe", "id": "1", "session": SESSION}).encode()),
    ]


def pieces(data: bytes, source: random.Random) -> Iterator[bytes]:
    """Cut an input as a network would."""
    start = 0
    while start < len(data):
        size = source.choice((1, 2, 7, 60, 500, 5000))
        yield data[start : start + size]
        start += size


async def _exchange(port: Port, parts: Sequence[bytes] | Iterator[bytes], *, in_haste: bool = False) -> bytes:
    """Return what is answered to a peer that says this; `in_haste`: and has said at once that it says no more."""
    wire = port.wire()
    for part in parts:
        if wire.is_closing():
            break
        wire.hear(part)
        await settled(wire, lambda: wire.is_read)
        if not in_haste:
            await asyncio.sleep(0)
    if not in_haste:
        await rested(wire)
    wire.end()
    await settled(wire, lambda: False)
    return bytes(wire.said)


def _status(said: bytes) -> int:
    """See that this is one whole answer, or none, and that it says nothing that is not the hub's; return its status."""
    if not said:
        return 0
    found = _ANSWER.match(said)
    assert found is not None, f"no answer of ours: {said[:300]!r}"
    status, rest = int(found[1]), said[found.end() :]
    assert status in STATUSES, said[:300]
    named = [line.partition(b": ") for line in found[2].decode().encode().split(b"\r\n")[:-1]]
    names = [name.decode() for name, _, _ in named]
    assert set(names) <= HEADERS, set(names) - HEADERS
    assert len(names) == len(set(names)), names
    length = next((int(value) for name, _, value in named if name == b"Content-Length"), None)
    if status != 101 and length is not None:
        assert len(rest) in (0, length), f"{len(rest)} bytes follow, where {length} were announced"
        assert not re.search(rb"HTTP/1\.1 \d", rest) or b"<" in rest, "a second answer"
    return status


def http_head(data: bytes) -> Features:
    port_ = port()

    async def work(port: Port) -> Features:
        whole = await _exchange(port, [data])
        cut = await _exchange(port, pieces(data, random.Random(len(data))))
        status = _status(whole)
        assert _status(cut) == status, "the pieces decide about the answer"
        hurried = await _exchange(port, [data], in_haste=True)
        if b"text/event-stream" not in whole:
            assert _status(hurried) == status, "who says no more has no answer"
        for said in (whole, cut, hurried):
            assert len(said) < MOST_BYTES
            if SECRET.encode() in said or b"Set-Cookie: fuzz=1" in said:
                assert any(each.encode() in data for each in (CONTROL, VIEW, port.cookie)), (
                    "let in without a token"
                )
        if status == 101:
            assert re.search(rb"(?i)upgrade", data) is not None
        return {(status, whole.partition(b"\r\n\r\n")[2][:60] if status != 101 else b"")}

    return port_.run(work)


# Conversations.


def framed(text: bytes) -> bytes:
    """A text frame, as a client sends it."""
    size = len(text)
    if size < 126:
        length = bytes([0x80 | size])
    elif size < 65536:
        length = b"\xfe" + size.to_bytes(2, "big")
    else:
        length = b"\xff" + size.to_bytes(8, "big")
    return b"\x81" + length + b"\0\0\0\0" + text


def frames_in(said: bytes) -> Iterator[tuple[int, bytes]]:
    """The frames that the hub has written: opcode and content."""
    at = 0
    while at < len(said):
        assert said[at] & 0x80, "a frame in parts"
        opcode, size = said[at] & 15, said[at + 1]
        at += 2
        if size == 126:
            size = int.from_bytes(said[at : at + 2], "big")
            at += 2
        elif size == 127:
            size = int.from_bytes(said[at : at + 8], "big")
            at += 8
        assert len(said) >= at + size, "half a frame"
        yield opcode, bytes(said[at : at + size])
        at += size


def talks() -> list[bytes]:
    """Conversations, a frame a line."""
    subscribe = json.dumps({"type": "subscribe", "id": "s", "session": SESSION}).encode()
    hello = json.dumps({"type": "hello", "id": "h", "token": CONTROL, "name": "me"}).encode()
    every = commands()
    return [
        *(hello + b"\n" + each for each in every),
        hello + b"\n" + subscribe,
        hello + b"\n" + subscribe + b"\n" + b"\n".join(every[:6]),
        subscribe + b"\n" + json.dumps({"type": "unsubscribe", "id": "u", "session": SESSION}).encode(),
        json.dumps({"type": "hello", "id": "h", "token": "wrong"}).encode(),
        hello.replace(CONTROL.encode(), VIEW.encode()) + b"\n" + b"\n".join(every),
    ]


def conversation(data: bytes) -> Features:
    roles: tuple[str | None, ...] = (CONTROL, VIEW, None)
    token = roles[len(data) % 3]
    lines = data.split(b"\n")

    async def work(port: Port) -> Features:
        wire = port.wire()
        shown = [] if token is None else [f"Authorization: Bearer {token}"]
        wire.hear(head("GET /ws HTTP/1.1", *UPGRADE, *shown))
        await settled(wire, lambda: b"\r\n\r\n" in wire.said)
        for line in lines:
            await settled(wire, lambda: wire.is_read or wire.says_goodbye)
            if wire.is_closing() or wire.says_goodbye:
                break
            for part in pieces(framed(line), random.Random(len(line))):
                if not wire.is_closing():
                    wire.hear(part)
        await rested(wire)
        was_closed = wire.is_closing()
        wire.end()
        await settled(wire, lambda: False)
        told = list(frames_in(bytes(wire.said).partition(b"\r\n\r\n")[2]))
        return _judged(lines, told, token, closed=was_closed)

    return port().run(work)


def _judged(
    lines: list[bytes], told: list[tuple[int, bytes]], token: str | None, *, closed: bool
) -> Features:
    frames = [json.loads(content) for opcode, content in told if opcode == 1]
    closes = [content for opcode, content in told if opcode == 8]
    replies = [frame for frame in frames if frame["type"] == "reply"]
    names = [id_of(line.decode()) for line in lines if _is_utf8(line)]
    if not closed and not closes:
        assert len(replies) == len(lines), f"{len(replies)} replies to {len(lines)} frames"
        answered = Counter(str(reply["id"]) for reply in replies)
        assert Counter(name for name in names if name is not None) <= answered, (answered, names)
    assert len(replies) <= len(lines)
    assert not [reply for reply in replies if (reply.get("error") or {}).get("code") == "internal"]
    if token is None and not any(each.encode() in line for line in lines for each in (CONTROL, VIEW)):
        assert SECRET not in json.dumps(frames), "told without a token"
    begins = sum(b"subscribe" in line for line in lines)
    events = [
        one for frame in frames for one in ([frame] if frame["type"] == "event" else frame.get("events", []))
    ]
    numbers = [event["seq"] for event in events]
    if begins <= 1:
        assert numbers == sorted(set(numbers)), "an event twice, or out of order"
    for event in events:
        assert event["event"]["text"] == f"{event['seq']} {SECRET}"
    kinds = {
        (reply["ok"], (reply.get("error") or {}).get("code"), (reply.get("error") or {}).get("field"))
        for reply in replies
    }
    return {*kinds, *(close[:2] for close in closes), len(numbers), *(frame["type"] for frame in frames)}


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
