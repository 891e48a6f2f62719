"""The Python client against hubs that close, lag, lose events, keep silent, or are no hubs at all."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from turnwire.client import (
    LATEST,
    AccessRefused,
    Backoff,
    CaughtUp,
    Client,
    CommandFailed,
    ConnectionLost,
    EventFrame,
    Following,
    Gap,
    Lag,
    ProtocolError,
    TimedOut,
    commands,
)
from turnwire.client import connect as connect_patiently
from turnwire.client.codes import CLOSE_CODES, FINAL_CLOSE_CODES
from turnwire.client.events import Unknown

connect = partial(connect_patiently, backoff=Backoff(first=0.005, most=0.02))
HANG = 60.0
"""Seconds after which a test hangs."""


def welcome(epoch: str = "e") -> dict[str, Any]:
    return {
        "type": "welcome", "protocol": "turnwire.v1", "version": "0", "epoch": epoch, "role": "control", "sessions": [],
    }  # fmt: skip


def event(seq: int, **content: Any) -> dict[str, Any]:
    shown = content or {"type": "message_chunk", "text": str(seq)}
    return {"type": "event", "session": "s", "seq": seq, "ts": "t", "event": shown}


@dataclass
class OddHub:
    """A hub that answers commands as a test says, and else does nothing right or wrong."""

    answers: dict[str, Callable[[dict[str, Any]], list[dict[str, Any]]]] = field(default_factory=dict)
    """From a command to the frames that answer it; without one it is answered ok."""
    status: HTTPStatus | None = None
    """Turn connections away with this status."""
    refusal: str = '{"error":{"code":"unauthorized","message":"The token is wrong."}}'
    """What is said with it."""
    received: list[dict[str, Any]] = field(default_factory=list)
    came: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, 0))
    """Released by every command that comes."""
    connections: int = 0
    server: Server | None = None

    @property
    def url(self) -> str:
        assert self.server is not None
        return f"http://127.0.0.1:{next(iter(self.server.sockets)).getsockname()[1]}/#token=t"

    def door(self, connection: ServerConnection, _: Request) -> Response | None:
        if self.status is None:
            return None
        return connection.respond(self.status, self.refusal)

    async def converse(self, connection: ServerConnection) -> None:
        self.connections += 1
        try:
            await connection.send(json.dumps(welcome()))
            async for text in connection:
                command = json.loads(text)
                self.received.append(command)
                answer = self.answers.get(command["type"], subscribed())
                for frame in answer(command):
                    await connection.send(json.dumps(frame))
                self.came.release()
        except ConnectionClosed:
            pass

    async def say(self, *frames: str | bytes | dict[str, Any]) -> None:
        assert self.server is not None
        for connection in self.server.connections:
            for frame in frames:
                await connection.send(json.dumps(frame) if isinstance(frame, dict) else frame)

    async def close(self, code: int) -> None:
        assert self.server is not None
        for connection in list(self.server.connections):
            await connection.close(code, "because")


@asynccontextmanager
async def odd_hub(hub: OddHub | None = None) -> AsyncIterator[OddHub]:
    hub = hub or OddHub()
    async with (
        asyncio.timeout(HANG),
        serve(hub.converse, "127.0.0.1", 0, process_request=hub.door, max_size=None) as hub.server,
    ):
        yield hub


def subscribed(*frames: dict[str, Any]) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    """Answer a subscription with these frames behind its reply."""
    return lambda command: [{"type": "reply", "id": command["id"], "ok": True}, *frames]


async def disconnected(client: Client) -> None:
    """Send commands until the client knows that its connection is gone."""
    while True:
        try:
            await client.set_model("s", None)
        except ConnectionLost as lost:
            if "was not sent" in str(lost):
                raise


async def failed(client: Client, following: Following) -> BaseException:
    """Return the one error that the client, its followings and its commands end with."""
    with pytest.raises((AccessRefused, ProtocolError)) as raised:
        async for _ in following:
            pass
    with pytest.raises(type(raised.value)):
        await client.sessions()
    with pytest.raises(type(raised.value)):
        await client.connected()
    with pytest.raises(type(raised.value)):
        await anext(client.follow("s"))
    return raised.value


@pytest.mark.parametrize(
    "frame",
    [
        "Bad gateway",
        '{"type":"event","session":"s","event":{"type":"notice"}}',
        json.dumps(welcome()),
        f'{{"type":"of_tomorrow","pad":"{"x" * 10_000}"}}',
        "[" * 5_000,
        b"{}",
    ],
    ids=["no JSON", "an event without a number", "a second welcome", "too large", "deep nesting", "binary"],
)
async def test_a_hub_that_is_none_ends_the_client_once_and_for_all(frame: str | bytes) -> None:
    hub = OddHub(answers={"interrupt": lambda _: []})
    async with odd_hub(hub), connect(hub.url, max_frame=8192) as client:
        following = client.follow("s")
        pending = asyncio.create_task(client.interrupt("s"))
        for _ in range(2):
            await hub.came.acquire()
        await hub.say(frame)
        with pytest.raises(ProtocolError):
            await pending
        assert isinstance(await failed(client, following), ProtocolError)
        assert hub.connections == 1


async def test_a_hub_that_never_sends_what_follows_the_cursor_fails_the_following_alone() -> None:
    hub = OddHub(answers={"subscribe": subscribed(event(1), event(3))})
    async with odd_hub(hub), connect(hub.url) as client:
        following = client.follow("s")
        first = await anext(following)
        assert isinstance(first, EventFrame)
        with pytest.raises(ProtocolError, match="from 3 again and again, not what follows 1"):
            await anext(following)
        await client.set_model("s", None)


@pytest.mark.parametrize("code", [code for code in CLOSE_CODES if code > 1009 or code == 1001])
async def test_a_closed_connection_is_made_again_unless_that_is_in_vain(code: int) -> None:
    async with odd_hub() as hub, connect(hub.url) as client:
        following = client.follow("s")
        await hub.came.acquire()
        await hub.close(code)
        if code in FINAL_CLOSE_CODES:
            assert str(await failed(client, following)) == "because"
            assert hub.connections == 1
        else:
            await hub.came.acquire()
            assert hub.received[-1]["type"] == "subscribe"
            assert hub.connections == 2


class CountedBackoff(Backoff):
    """Knows how often it began anew."""

    resets = 0

    def reset(self) -> None:
        self.resets += 1
        super().reset()


async def test_waits_grow_while_a_hub_lets_in_and_has_no_log_to_read_and_begin_anew_once_it_has() -> None:
    backoff = CountedBackoff(first=0.005, most=0.02)
    async with odd_hub() as hub, connect_patiently(hub.url, backoff=backoff) as client:
        assert backoff.resets == 1
        following = client.follow("s")
        for _ in range(3):
            await hub.came.acquire()
            await hub.close(1011)
        await hub.came.acquire()
        assert (hub.connections, backoff.resets) == (4, 1)
        await hub.say({"type": "caught_up", "session": "s", "seq": 0})
        await client.set_model("s", None)
        assert (backoff.resets, following.state) == (2, "subscribed")


@pytest.mark.parametrize("status", [HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN])
async def test_a_handshake_that_is_refused_is_not_tried_again(status: HTTPStatus) -> None:
    async with odd_hub(OddHub(status=status)) as hub:
        with pytest.raises(AccessRefused, match=r"The token is wrong\."):
            async with connect(hub.url):
                pass


@pytest.mark.parametrize("refusal", ["<h1>Forbidden</h1>", "{}", '{"error":"no"}', "[" * 5_000])
async def test_a_refusal_in_other_words_is_told_by_its_status(refusal: str) -> None:
    async with odd_hub(OddHub(status=HTTPStatus.FORBIDDEN, refusal=refusal)) as hub:
        with pytest.raises(AccessRefused, match="403"):
            async with connect(hub.url):
                pass


async def test_a_frame_of_a_type_that_this_version_does_not_know_is_passed_over() -> None:
    hub = OddHub(answers={"subscribe": subscribed({"type": "of_tomorrow"}, event(1))})
    async with odd_hub(hub), connect(hub.url) as client:
        first = await anext(client.follow("s"))
        assert isinstance(first, EventFrame)
        assert first.seq == 1


async def test_a_hub_that_is_busy_is_asked_again() -> None:
    async with odd_hub(OddHub(status=HTTPStatus.SERVICE_UNAVAILABLE)) as hub:
        connecting = connect(hub.url)
        entering = asyncio.create_task(connecting.__aenter__())
        await asyncio.sleep(0)
        hub.status = None
        client = await entering
        assert (await client.connected()).epoch == "e"
        await connecting.__aexit__(None, None, None)


async def test_a_command_that_is_not_answered_in_time_says_so_and_others_go_on() -> None:
    hub = OddHub(answers={"interrupt": lambda _: []})
    async with odd_hub(hub), connect(hub.url, reply_timeout=0.05) as client:
        with pytest.raises(TimedOut, match=r'has not answered "interrupt" in 0\.05 s'):
            await client.interrupt("s")
        await client.command(commands.SetModel(session="s"), timeout=HANG)


async def test_a_command_without_a_connection_is_not_kept_for_later() -> None:
    async with odd_hub() as hub, connect(hub.url) as client:
        hub.status = HTTPStatus.SERVICE_UNAVAILABLE
        following = client.follow("s")
        await hub.came.acquire()
        await hub.close(1001)
        with pytest.raises(ConnectionLost, match="was not sent"):
            await disconnected(client)
        hub.status = None
        await client.connected()
        await client.set_model("s", None)
        following.close()
    with pytest.raises(ConnectionLost, match="The client was closed"):
        await client.interrupt("s")
    with pytest.raises(ConnectionLost, match="The client was closed"):
        await client.connected()


async def test_a_lag_is_told_and_what_retention_took_is_a_gap() -> None:
    gap = {"type": "gap", "session": "s", "from": 1, "to": 3, "epoch": "e"}
    lag = {"type": "lag", "session": "s", "behind": 7}
    up = {"type": "caught_up", "session": "s", "seq": 4}
    hub = OddHub(answers={"subscribe": subscribed(gap, event(4), lag, up)})
    async with odd_hub(hub), connect(hub.url) as client:
        following = client.follow("s")
        told = [await anext(following) for _ in range(4)]
        assert told[0] == Gap("s", 1, 3, "e", restarted=False)
        assert isinstance(told[1], EventFrame)
        assert told[2:] == [Lag(session="s", behind=7), CaughtUp(session="s", seq=4)]


async def test_an_event_of_an_unknown_type_is_given_in_its_place() -> None:
    hub = OddHub(answers={"subscribe": subscribed(event(1, type="of_tomorrow"), event(2))})
    async with odd_hub(hub), connect(hub.url) as client:
        following = client.follow("s")
        first, second = await anext(following), await anext(following)
        assert isinstance(first, EventFrame)
        assert isinstance(second, EventFrame)
        assert (first.seq, second.seq) == (1, 2)
        assert isinstance(first.event, Unknown)
        assert first.event.message_type == "of_tomorrow"


async def test_several_followings_of_a_session_share_what_the_hub_sends() -> None:
    async with odd_hub() as hub, connect(hub.url) as client:
        first = client.follow("s")
        await hub.came.acquire()
        await hub.say(event(1), event(2), {"type": "caught_up", "session": "s", "seq": 2})
        assert [type(await anext(first)) for _ in range(3)] == [EventFrame, EventFrame, CaughtUp]
        second = client.follow("s")
        await hub.came.acquire()
        gone = {"type": "gap", "session": "s", "from": 1, "to": 1, "epoch": "e"}
        await hub.say(gone, event(2), {"type": "caught_up", "session": "s", "seq": 2}, event(3))
        assert await anext(second) == Gap("s", 1, 1, "e", restarted=False)
        received = [await anext(second) for _ in range(3)]
        assert [type(one) for one in received] == [EventFrame, CaughtUp, EventFrame]
        # what only the second had not seen is not told to the first again
        assert await anext(first) == received[-1]
        first.close()
        await hub.say(event(4))
        assert isinstance(await anext(second), EventFrame)
        second.close()
        await hub.came.acquire()
    assert [(one["type"], one.get("after", 0)) for one in hub.received] == [
        ("subscribe", 0),
        ("subscribe", 0),
        ("unsubscribe", 0),
    ]


async def test_a_loop_that_is_left_is_followed_no_more() -> None:
    async with odd_hub() as hub, connect(hub.url) as client:
        for _ in range(2):
            follow = asyncio.create_task(first_of(client))
            await hub.came.acquire()
            gc.collect()  # one that is waited for stays
            await hub.say(event(1))
            assert (await follow).seq == 1
            await hub.came.acquire()
        kept = client.follow("s")
        await hub.came.acquire()
        await hub.say(event(1))
        assert isinstance(await anext(kept), EventFrame)
        client.close()
        del kept
    assert [one["type"] for one in hub.received] == ["subscribe", "unsubscribe"] * 2 + ["subscribe"]


async def first_of(client: Client) -> EventFrame:
    async for received in client.follow("s"):
        if isinstance(received, EventFrame):
            return received
    raise AssertionError("it ended")


async def test_latest_is_behind_what_the_hub_has_when_it_begins() -> None:
    def granted(command: dict[str, Any]) -> list[dict[str, Any]]:
        reply = {"type": "reply", "id": command["id"], "ok": True, "result": {"epoch": "e", "last": 7}}
        return [reply, *(event(seq) for seq in range(command.get("after", 0) + 1, 9))]

    hub = OddHub(answers={"subscribe": granted})
    async with odd_hub(hub), connect(hub.url) as client:
        following = client.follow("s", LATEST)
        received = await anext(following)
        assert isinstance(received, EventFrame)
        assert received.seq == 8


async def test_a_token_is_asked_for_anew_before_each_attempt() -> None:
    hub = OddHub()
    given: list[int] = []

    async def token() -> str:
        given.append(len(given))
        return f"t{len(given)}"

    async with odd_hub(hub), connect(hub.url.partition("#")[0], token, name="me") as client:
        await hub.came.acquire()
        hub.status = HTTPStatus.UNAUTHORIZED
        await hub.close(min(FINAL_CLOSE_CODES))
        # a token that is over is renewed once, and what is refused after that is refused for good
        following = client.follow("s")
        with pytest.raises(AccessRefused, match="wrong"):
            await anext(following)
    assert given == [0, 1]


async def test_a_function_that_fails_is_asked_again() -> None:
    hub, tries = OddHub(), []

    def url() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("not now")
        return hub.url

    async with odd_hub(hub), connect(url) as client:
        assert client.is_connected
        assert client.address.startswith("ws://127.0.0.1:")


async def test_a_lazy_client_connects_when_it_is_first_used() -> None:
    async with odd_hub() as hub, connect(hub.url, lazy=True) as client:
        assert (hub.connections, client.is_connected) == (0, False)
        await client.set_model("s", None)
        assert hub.connections == 1
    async with connect("http://127.0.0.1:1", lazy=True) as client:
        with pytest.raises(TimedOut, match="No hub has answered"):
            await client.command(commands.SessionList(), timeout=0.05)


async def test_a_server_that_is_no_hub_is_named_as_such() -> None:
    hub = OddHub(status=HTTPStatus.NOT_FOUND, refusal="<html>not here</html>")
    async with odd_hub(hub):
        with pytest.raises(AccessRefused, match="is it a turnwire hub, and the port right"):
            async with connect(hub.url):
                pass


async def test_a_refusal_without_a_reason_and_a_reply_of_another_shape_are_errors() -> None:
    hub = OddHub(
        answers={
            "interrupt": lambda command: [{"type": "reply", "id": command["id"], "ok": False}],
            "session.list": lambda command: [
                {"type": "reply", "id": command["id"], "ok": True, "result": {"no": "list"}}
            ],
        }
    )
    async with odd_hub(hub), connect(hub.url) as client:
        with pytest.raises(CommandFailed, match="gave no reason"):
            await client.interrupt("s")
        with pytest.raises(ProtocolError, match=r"reply to session\.list"):
            await client.sessions()


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8790",
        "localhost:8790/#token=secret",
        "http://",
        "http://127.0.0.1:99999",
        "ftp://127.0.0.1",
        "",
    ],
)
async def test_an_address_that_is_none_is_said_at_once_and_without_its_token(url: str) -> None:
    words = r"is no address of a hub: give http://HOST:PORT"
    with pytest.raises(ValueError, match=words) as refused:
        async with connect(url):
            pass
    assert "secret" not in str(refused.value)
    with pytest.raises(TimedOut, match=words):
        async with connect(lambda: url, timeout=0.2):
            pass


async def test_a_hub_that_has_gone_silent_is_left_for_a_new_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("turnwire.client.client.SILENCE_S", 0.2)
    monkeypatch.setattr("turnwire.client.client.CLOSE_S", 0.2)
    hub = OddHub(answers={"subscribe": subscribed(event(1), {"type": "caught_up", "session": "s", "seq": 1})})
    silent = asyncio.Event()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1 << 16):
                if not silent.is_set():
                    writer.write(data)
        except OSError:
            pass
        writer.close()

    async def passing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to, back = await asyncio.open_connection("127.0.0.1", int(hub.url.split(":")[2].partition("/")[0]))
        await asyncio.gather(forward(reader, back), forward(to, writer))

    async with odd_hub(hub), await asyncio.start_server(passing, "127.0.0.1", 0) as line:
        port = line.sockets[0].getsockname()[1]
        async with connect(f"http://127.0.0.1:{port}", "t") as client:
            following = client.follow("s")
            assert isinstance(await anext(following), EventFrame)
            before = hub.connections
            silent.set()
            while client.is_connected:  # noqa: ASYNC110 - nobody is told
                await asyncio.sleep(0.01)
            silent.clear()
            await client.connected()
            assert hub.connections > before


async def test_a_wait_that_is_cancelled_ends_alone() -> None:
    hub = OddHub(answers={"interrupt": lambda _: []})
    async with odd_hub(hub), connect(hub.url) as client:
        waiting = asyncio.create_task(client.interrupt("s"))
        await hub.came.acquire()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await client.set_model("s", None)
        assert hub.connections == 1
    for wait in (Client.connected, Client.sessions):
        async with connect("http://127.0.0.1:1", lazy=True) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await wait(client)
