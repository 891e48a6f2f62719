"""Peers that do what they should not: each is answered as documented while a good frontend goes on."""

import asyncio
import json
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hub_harness import SESSION, HubHarness, ask, clock_of_the_loop, events, hub_harness, receive
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from turnwire.client import connect
from turnwire.hub.config import HubConfig, Limits
from waiting import until


@asynccontextmanager
async def hub_and_good_frontend(**limits: float) -> AsyncIterator[tuple[HubHarness, ClientConnection]]:
    """At the end the good frontend has seen everything, and can still do something."""
    async with hub_harness(HubConfig(limits=Limits.model_validate(limits))) as hub, hub.websocket() as good:
        await ask(good, type="subscribe", session=SESSION)
        yield hub, good
        await hub.append("after")
        last = hub.journal.last(SESSION)
        seen = [seq for seq, _ in await events(good, last)]
        assert seen == list(range(last + 1 - len(seen), last + 1))
        assert (await ask(good, type="prompt", session=SESSION, text="still there?"))["ok"] is True


async def open_raw(hub: HubHarness, data: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", hub.hub.port)
    writer.write(data)
    return reader, writer


async def rest_of(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(60):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}]
)
async def test_a_page_of_another_origin_and_a_rebound_name_do_not_get_in(headers: dict[str, str]) -> None:
    async with hub_and_good_frontend() as (hub, _):
        lines = {
            "Host": f"127.0.0.1:{hub.hub.port}",
            "Authorization": f"Bearer {hub.token}",
            **headers,
        }
        status, _, body = await hub.request(
            "/ws",
            headers={
                **lines,
                "Connection": "Upgrade",
                "Upgrade": "websocket",
                "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
            },
        )
        assert status == 403
        assert json.loads(body)["error"]["code"] in {"origin_not_allowed", "host_not_allowed"}


async def test_a_subprotocol_that_is_not_ours_is_refused() -> None:
    async with hub_and_good_frontend() as (hub, _):
        with pytest.raises(InvalidStatus) as refused:
            async with hub.websocket(subprotocols=["other.v9"]):
                pass
        assert refused.value.response.status_code == 400


@pytest.mark.parametrize(("token", "code"), [("", 1009), (None, 1009)])
async def test_a_frame_of_100_mb_is_refused_by_its_head(token: str | None, code: int) -> None:
    async with hub_and_good_frontend() as (hub, _), hub.websocket(token) as frontend:
        if token is not None:
            await receive(frontend)
        # Only the head is sent: the hub must not wait for, or hold, what it announces.
        frontend.transport.write(struct.pack("!BBQ", 0x81, 0x80 | 127, 100 << 20) + b"\0\0\0\0")
        with pytest.raises(ConnectionClosed):
            await receive(frontend)
        assert frontend.close_code == code


async def test_the_role_control_may_send_attachments_and_the_role_view_may_not() -> None:
    async with hub_and_good_frontend() as (hub, good):
        large = [{"base64": "A" * (3 << 20)}]
        assert (await ask(good, type="prompt", session=SESSION, attachments=large))["ok"] is True
        async with hub.websocket(hub.hub.tokens.view) as frontend:
            await receive(frontend)
            with pytest.raises(ConnectionClosed):
                await ask(frontend, type="prompt", session=SESSION, attachments=large)
            assert frontend.close_code == 1009


async def test_a_frame_that_is_not_utf_8_or_breaks_the_protocol_closes_only_its_connection() -> None:
    async with hub_and_good_frontend() as (hub, _):
        for data, code in (
            (b"\x81\x81\0\0\0\0\xff", 1007),
            (b"\x81\x01x", 1002),
            (b"\xf1\x80\0\0\0\0", 1002),
        ):
            async with hub.websocket() as frontend:
                await receive(frontend)
                frontend.transport.write(data)
                with pytest.raises(ConnectionClosed):
                    await receive(frontend)
                assert frontend.close_code == code


async def test_a_half_open_handshake_is_cut_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    pass_over = clock_of_the_loop(monkeypatch)
    async with hub_and_good_frontend(handshake_s=300) as (hub, _):
        peers = [await open_raw(hub, data) for data in (b"", b"GET /ws HTTP/1.1\r\nHost: localhost\r\n")]
        await until(lambda: hub.hub.connections == 3)
        pass_over(301)
        for reader, writer in peers:
            assert await rest_of(reader) == b""
            writer.close()
        assert hub.hub.connections == 1


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
        b"GET /" + b"x" * 20000 + b" HTTP/1.1\r\n\r\n",
        b"GET /%ff%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"\0" * 100_000,
    ],
    ids=range(11),
)
async def test_a_request_that_is_none_ends_its_connection_with_an_error_or_without_a_word(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_over = clock_of_the_loop(monkeypatch)
    async with hub_and_good_frontend(handshake_s=300) as (hub, good):
        reader, writer = await open_raw(hub, data)
        for _ in range(3):
            await ask(good, type="session.list")  # by then the hub has heard what was said before
        pass_over(301)
        answer = await rest_of(reader)
        assert answer == b"" or answer.split()[1][:1] == b"4", answer
        writer.close()


async def test_newcomers_over_the_limit_take_the_place_of_those_who_are_silent_for_longest() -> None:
    async with hub_and_good_frontend(connections=20, newcomers=5, handshake_s=300) as (hub, _):
        silent = [await open_raw(hub) for _ in range(40)]
        await until(lambda: hub.hub.refusals.counts["crowded"] == 35)
        assert hub.hub.connections == 6
        assert [await rest_of(reader) for reader, _ in silent[:35]] == [b""] * 35
        assert (await hub.request("/healthz"))[0] == 200
        async with hub.websocket() as frontend:
            await receive(frontend)
        async with hub.websocket(None) as frontend:
            assert (await ask(frontend, type="hello", token=hub.token))["ok"] is True
        for _, writer in silent:
            writer.close()
        await until(lambda: hub.hub.connections == 1)


async def test_one_connection_more_than_all_places_is_turned_away_with_503() -> None:
    async with hub_and_good_frontend(connections=3, newcomers=2) as (hub, _):
        async with hub.websocket() as second, hub.websocket() as third:
            await receive(second)
            await receive(third)
            for _ in range(2):
                status, headers, body = await hub.request("/healthz")
                assert (status, json.loads(body)["error"]["code"]) == (503, "too_many_connections")
                assert headers["retry-after"] == "5"
            assert hub.hub.refusals.counts == {"full": 2}
        await until(lambda: hub.hub.connections == 1)
        assert (await hub.request("/healthz"))[0] == 200


async def test_a_tls_handshake_that_is_not_done_counts_and_ends_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pass_over = clock_of_the_loop(monkeypatch)
    pem = Path(__file__).with_name("localhost.pem")
    context = ssl.create_default_context(cafile=pem)
    limits = Limits(newcomers=5, newcomers_per_address=3, handshake_s=300)
    async with hub_harness(HubConfig(certificate=pem, limits=limits)) as hub:
        silent = [
            await open_raw(hub, data)
            for data in (b"", b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n\r\n") * 10
        ]
        async with connect(hub.url, ssl=context) as client:
            assert [one.session for one in await client.sessions()] == [SESSION]
            pass_over(301)
            for reader, writer in silent:
                await rest_of(reader)
                writer.close()
            await until(lambda: hub.hub.connections == 1)
            counts = hub.hub.refusals.counts
            assert sum(counts.values()) == 30
            assert set(counts) <= {"crowded", "tls"}


async def test_a_peer_that_vanished_is_noticed() -> None:
    async with hub_and_good_frontend(ping_s=0.1, silence_s=0.5) as (hub, _):
        reader, writer = await open_raw(
            hub,
            f"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Authorization: Bearer {hub.token}\r\n\r\n".encode(),
        )
        # It gets the pings, and never answers one.
        answer = await rest_of(reader)
        assert b" 101 " in answer
        assert answer.count(b"\x89\x00") >= 2
        writer.close()


async def test_a_hub_that_stood_still_cuts_nobody_for_what_it_has_not_heard_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pass_over = clock_of_the_loop(monkeypatch)
    async with hub_and_good_frontend() as (hub, good), hub.websocket() as slow:
        await ask(slow, type="subscribe", session=SESSION)
        slow.transport.pause_reading()
        await hub.append(*["x" * 10_000] * 1000)
        await until(lambda: hub.hub.unread > 0)
        assert [seq for seq, _ in await events(good, 1000)] == list(range(1, 1001))
        for _ in range(3):
            pass_over(3600)
            assert (await ask(good, type="session.list"))["ok"] is True
        slow.transport.resume_reading()
        assert (await events(slow, 1000))[-1][0] == 1000


async def test_a_stalled_frontend_lags_without_holding_up_anyone_and_then_gets_everything() -> None:
    async with hub_and_good_frontend() as (hub, good), hub.websocket() as stalled:
        await ask(stalled, type="subscribe", session=SESSION)
        stalled.transport.pause_reading()
        text = "x" * 10_000
        for last in range(100, 3001, 100):
            await hub.append(*[text] * 100)
            assert (await events(good, last))[-1][0] == last
        stalled.transport.resume_reading()
        seen: list[int] = []
        frames: list[str] = []
        while not seen or seen[-1] < 3000:
            frame = await receive(stalled)
            frames.append(frame["type"])
            seen += [event["seq"] for event in frame.get("events", [frame] if "seq" in frame else [])]
        assert "lag" in frames
        assert seen[seen.index(1) :] == list(range(1, 3001))


async def test_json_nested_without_end_is_a_bad_frame_and_no_more() -> None:
    async with hub_and_good_frontend() as (hub, _), hub.websocket() as frontend:
        await receive(frontend)
        head = '{"type":"control","id":"1","session":"s1","request":{"x":'
        for frame in ("[" * 500_000, head + "[" * 100_000, head + '{"a":' * 100_000):
            await frontend.send(frame)
            reply = await receive(frontend)
            assert reply["error"]["code"] == "bad_frame"


async def test_the_hub_stops_at_once_also_with_connections_that_have_not_said_anything() -> None:
    async with hub_harness(HubConfig(limits=Limits(handshake_s=60, hello_s=60))) as hub:
        peers = [
            await open_raw(hub, data) for data in (b"", b"GET /", b"GET /ws HTTP/1.1\r\nHost: localhost\r\n")
        ]
        unnamed = await hub.websocket(None)
        await until(lambda: hub.hub.connections == 4)
        async with asyncio.timeout(30):
            await hub.hub.stop()
    for reader, writer in peers:
        assert await rest_of(reader) == b""
        writer.close()
    await unnamed.wait_closed()
    assert unnamed.close_code == 1001
