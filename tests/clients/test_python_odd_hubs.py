"""The Python client against hubs that close, lag, lose events, keep silent, or are no hubs at all."""

import asyncio
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
            await client.interrupt("s")
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
        assert await client.interrupt("s") is None


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
        assert await client.command(commands.PromptWithdraw(session="s", prompt="p"), timeout=HANG) is None


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
        assert await client.interrupt("s") is None
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


async def test_following_a_session_again_ends_the_former_following() -> None:
    async with odd_hub() as hub, connect(hub.url) as client:
        former = client.follow("s")
        latter = client.follow("s")
        assert [received async for received in former] == []
        for _ in range(2):
            await hub.came.acquire()
        former.close()
        await hub.say(event(1))
        assert isinstance(await anext(latter), EventFrame)
        assert [command["type"] for command in hub.received] == ["subscribe", "subscribe"]


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
