"""The Python client against a hub that comes, goes and comes back."""

import asyncio
import socket
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hub_harness import SESSION, StubHost, hub_harness
from pydantic import JsonValue, SecretStr

from turnwire.client import (
    AccessRefused,
    Backoff,
    CaughtUp,
    Client,
    CommandFailed,
    ConnectionLost,
    Cursor,
    EventFrame,
    Following,
    Gap,
    TimedOut,
)
from turnwire.client import commands as ask
from turnwire.client import connect as connect_patiently
from turnwire.client.events import MessageChunk
from turnwire.client.following import HELD
from turnwire.hub.config import HubConfig, Limits
from turnwire.hub.wire.frames import AnyCommand, PermissionRespond, Prompt
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.sqlite.journal import SqliteJournal
from waiting import until

TOKEN = "0123456789abcdef"


def config(port: int = 0) -> HubConfig:
    return HubConfig(port=port, token=SecretStr(TOKEN))


connect = partial(connect_patiently, backoff=Backoff(first=0.005, most=0.02))


async def texts(following: Following, count: int) -> list[str]:
    got: list[str] = []
    async with asyncio.timeout(60):
        async for received in following:
            if isinstance(received, EventFrame) and isinstance(received.event, MessageChunk):
                got.append(received.event.text)
                if len(got) == count:
                    break
    return got


async def test_following_gives_typed_events_and_says_when_it_has_caught_up() -> None:
    async with hub_harness() as hub, connect(hub.url) as client:
        assert client.welcome is not None
        assert client.welcome.role == "control"
        await hub.append("a")
        follow = client.follow(SESSION)
        async with asyncio.timeout(60):
            first, second = await anext(follow), await anext(follow)
        assert isinstance(first, EventFrame)
        assert isinstance(first.event, MessageChunk)
        assert second == CaughtUp(session=SESSION, seq=1)
        await hub.append("b", "c")
        assert await texts(follow, 2) == ["b", "c"]
        assert follow.cursor == Cursor(hub.journal.epoch, 3)
        follow.close()
        assert [received async for received in follow] == []
        again = client.follow(SESSION, follow.cursor)
        await hub.append("d")
        assert await texts(again, 1) == ["d"]


async def test_following_goes_on_where_it_was_over_restarts_of_the_hub() -> None:
    journal = MemoryJournal()
    async with hub_harness(config(), journal=journal) as hub:
        port = hub.hub.port
        keeping = connect(hub.base, TOKEN)
        client = await keeping.__aenter__()
        follow = client.follow(SESSION)
        await hub.append("1", "2")
        assert await texts(follow, 2) == ["1", "2"]
    for number in range(3, 6):
        async with hub_harness(config(port), journal=journal) as hub:
            await hub.append(str(number))
            assert await texts(follow, 1) == [str(number)]
    await keeping.__aexit__(None, None, None)


async def test_a_log_that_began_anew_is_told_as_a_gap_and_then_given_from_its_beginning() -> None:
    async with hub_harness(config()) as hub:
        port = hub.hub.port
        keeping = connect(hub.base, TOKEN)
        client = await keeping.__aenter__()
        follow = client.follow(SESSION)
        await hub.append("1", "2", "3")
        assert await texts(follow, 3) == ["1", "2", "3"]
    async with hub_harness(config(port)) as hub:
        await hub.append("new")
        async with asyncio.timeout(60):
            received = [await anext(follow)]
            while not isinstance(received[-1], EventFrame):
                received.append(await anext(follow))
        gaps = [frame for frame in received if isinstance(frame, Gap)]
        assert [(gap.first, gap.epoch, gap.restarted) for gap in gaps] == [(1, hub.journal.epoch, True)]
        assert isinstance(received[-1], EventFrame)
        assert received[-1].seq == 1
    await keeping.__aexit__(None, None, None)


async def test_a_consumer_that_takes_its_time_gets_everything_and_holds_up_no_command() -> None:
    async with hub_harness() as hub, connect(hub.url) as client:
        follow = client.follow(SESSION)
        total = HELD * 3
        for first in range(0, total, 1000):
            await hub.append(*[str(number) for number in range(first, min(first + 1000, total))])
        await until(lambda: follow.state == "full")
        async with asyncio.timeout(60):
            await client.sessions()
        assert await texts(follow, total) == [str(number) for number in range(total)]


async def test_commands_have_typed_results_and_refusals() -> None:
    host = StubHost()
    results: dict[str, JsonValue] = {
        "session.create": {"session": "new"},
        "prompt": {"prompt": "uuid", "more": 1},
        "permission.respond": None,
        "control": {"ok": [None]},
    }

    def giving(result: JsonValue) -> Callable[[AnyCommand], "asyncio.Future[JsonValue]"]:
        def handler(_: AnyCommand) -> "asyncio.Future[JsonValue]":
            done: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
            done.set_result(result)
            return done

        return handler

    host.handlers = {kind: giving(result) for kind, result in results.items()}
    async with hub_harness(host=host) as hub, connect(hub.url, name="script") as client:
        assert await client.create(workspace="/w", prompt="go") == "new"
        assert await client.prompt(SESSION, "hi", priority="now") == "uuid"
        await client.respond(SESSION, "p1", "allow_once", updated_input={"command": "ls"})
        assert await client.control(SESSION, {"subtype": "x"}) == {"ok": [None]}
        assert [summary.session for summary in await client.sessions()] == [SESSION]
        await hub.journal.append(SESSION, [])
        await hub.append("whole")
        assert (await client.payload(SESSION, 1)).event == MessageChunk(text="whole")
        with pytest.raises(CommandFailed, match="nothing runs") as refused:
            await client.set_model(SESSION, "opus")
        assert (refused.value.code, refused.value.field) == ("not_running", "session")
        prompt, sender = host.commands[1]
        assert isinstance(prompt, Prompt)
        assert (prompt.text, prompt.priority, sender.name) == ("hi", "now", "script")
        answer, _ = host.commands[2]
        assert isinstance(answer, PermissionRespond)
        assert answer.updated_input == {"command": "ls"}


async def test_following_an_unknown_session_fails_with_the_hubs_reason() -> None:
    async with hub_harness() as hub, connect(hub.url) as client:
        follow = client.follow("nope")
        with pytest.raises(CommandFailed, match="unknown_session"):
            async with asyncio.timeout(60):
                await anext(follow)


async def test_a_command_whose_reply_is_cut_off_says_so() -> None:
    host = StubHost()
    started = asyncio.Event()

    async def never(_: AnyCommand) -> JsonValue:
        started.set()
        await asyncio.Event().wait()
        return None

    host.handlers["interrupt"] = never
    async with hub_harness(config(), host=host) as hub:
        keeping = connect(hub.base, TOKEN)
        client = await keeping.__aenter__()
        asking = asyncio.create_task(client.interrupt(SESSION))
        async with asyncio.timeout(60):
            await started.wait()
    with pytest.raises(ConnectionLost):
        await asking
    await keeping.__aexit__(None, None, None)


async def test_a_command_is_sent_again_under_the_id_that_is_given() -> None:
    host, name = StubHost(), str(uuid.uuid4())
    got: list[str] = []

    async def heard(command: AnyCommand) -> JsonValue:
        got.append(command.id)
        return {}

    host.handlers["interrupt"] = heard
    async with hub_harness(host=host) as hub, connect(hub.url) as client:
        for _ in range(2):
            await client.command(ask.Interrupt(session=SESSION), command_id=name)
        await client.interrupt(SESSION)
    assert got[:2] == [name, name]
    assert got[2] != name


async def test_a_wrong_token_is_an_error_at_once_and_ends_what_is_followed() -> None:
    async with hub_harness(config()) as hub:
        port = hub.hub.port
        with pytest.raises(AccessRefused, match="token"):
            async with connect(hub.base, "wrong"):
                pass
        keeping = connect(hub.base, TOKEN)
        client = await keeping.__aenter__()
        follow = client.follow(SESSION)
        async with asyncio.timeout(60):
            await anext(follow)
    async with hub_harness(HubConfig(port=port)):
        with pytest.raises(AccessRefused):
            async with asyncio.timeout(60):
                await anext(follow)
        with pytest.raises(AccessRefused):
            await client.sessions()
    await keeping.__aexit__(None, None, None)


async def test_no_hub_is_a_timeout() -> None:
    with socket.socket() as taken:  # and nobody listens on it
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(TimedOut, match="No hub has answered at ws://"):
            async with connect(f"http://127.0.0.1:{taken.getsockname()[1]}", TOKEN, timeout=0.2):
                pass


async def test_whoever_has_no_token_is_told_where_there_is_one() -> None:
    async with hub_harness(config(0)) as hub:
        with pytest.raises(TimedOut, match="no token was given; the URL that turnwire prints has one"):
            async with connect(hub.base, timeout=0.2):
                pass


async def test_following_goes_on_over_restarts_with_a_journal_on_disk(tmp_path: Path) -> None:
    port, follow, client = 0, None, None
    keeping = None
    for number in range(3):
        journal = await SqliteJournal.open(tmp_path / "journal.db")
        async with hub_harness(config(port), journal=journal) as hub:
            if keeping is None:
                port = hub.hub.port
                keeping = connect(hub.base, TOKEN)
                client = await keeping.__aenter__()
                follow = client.follow(SESSION)
            assert isinstance(client, Client)
            assert follow is not None
            await hub.append(str(number))
            assert await texts(follow, 1) == [str(number)]
        await journal.close()
    assert keeping is not None
    await keeping.__aexit__(None, None, None)


async def test_a_following_that_asks_too_often_waits_and_goes_on() -> None:
    few = HubConfig(port=0, token=SecretStr(TOKEN), limits=Limits(commands_burst=2, commands_per_s=20))
    async with hub_harness(few) as hub, connect(hub.url, ask_again=0.05) as client:
        await hub.append(*map(str, range(60)))
        assert await texts(client.follow(SESSION, held=4), 60) == [*map(str, range(60))]
