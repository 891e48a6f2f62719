"""Frontends that are cut at random, and a sidecar that is killed at random: nothing is missing, nothing comes twice."""

import asyncio
import json
import os
import random
import resource
import sys
from collections.abc import AsyncIterator, Sized
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from hub_harness import SESSION, HubHarness, ask, events, hub_harness, receive
from ports import free_ports

from recordings import ROOT
from turnwire.client import Backoff, EventFrame, connect
from turnwire.client.events import MessageChunk
from turnwire.hub.config import HubConfig, Limits
from turnwire.journal.base import Journal
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.normalize.events.envelope import Cursor
from waiting import until

CLIENTS = 20
KILLS = 100 if "TURNWIRE_EXPLORE" in os.environ else 40


@asynccontextmanager
async def journal_of(kind: str, folder: Path) -> AsyncIterator[Journal]:
    if kind == "memory":
        yield MemoryJournal()
    else:
        journal = await SqliteJournal.open(folder / "journal.db")
        yield journal
        await journal.close()


def has(seen: Sized, count: int) -> bool:
    return len(seen) >= count


async def come_and_go(hub: HubHarness, chance: random.Random, times: int, last: int) -> list[tuple[int, str]]:
    """Follow the session with so many disconnections, and return all that was seen until its last event."""
    seen: list[tuple[int, str]] = []
    for remaining in range(times, -1, -1):
        async with hub.websocket() as frontend:
            after = {"after": seen[-1][0], "epoch": hub.journal.epoch} if seen else {}
            await frontend.send(json.dumps({"type": "subscribe", "id": "1", "session": SESSION, **after}))
            enough = (
                last if remaining == 0 else min(last, len(seen) + chance.randint(0, 2 * last // (times + 1)))
            )
            while (seen[-1][0] if seen else 0) < enough:
                frame = await receive(frontend)
                batch = {"event": [frame], "events": frame.get("events", [])}.get(frame["type"], [])
                seen += [(event["seq"], event["event"]["text"]) for event in batch]
            if chance.random() < 0.5:
                frontend.transport.abort()
    return seen


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("times", [3, pytest.param(50, marks=pytest.mark.long)])
async def test_frontends_cut_at_random_end_with_exactly_the_journals_sequence(
    kind: str, times: int, tmp_path: Path
) -> None:
    chance = random.Random(times)
    total = 400 * times
    async with journal_of(kind, tmp_path) as journal, hub_harness(HubConfig(), journal=journal) as hub:
        following = [
            asyncio.create_task(come_and_go(hub, random.Random(number), times, total))
            for number in range(CLIENTS)
        ]
        made = 0
        while made < total:
            count = min(chance.randint(1, 40), total - made)
            await hub.append(*[str(made + number) for number in range(1, count + 1)])
            made += count
            await asyncio.sleep(0.001 * chance.randint(0, 3))
        async with asyncio.timeout(300):
            for seen in await asyncio.gather(*following):
                assert seen == [(number, str(number)) for number in range(1, total + 1)]


@pytest.mark.parametrize("kills", [3, pytest.param(KILLS, marks=pytest.mark.long)])
async def test_a_sidecar_killed_at_random_loses_nothing_that_a_client_saw(kills: int, tmp_path: Path) -> None:
    chance, token, (port,) = random.Random(kills), "0123456789abcdef", free_ports(1)
    file = tmp_path / "journal.db"
    seen: list[tuple[int, str]] = []
    arguments = [str(ROOT / "tests/support/hubs/journaling_hub.py"), str(file), str(port), token]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests/support/hubs")])

    async def follow() -> None:
        quick = Backoff(first=0.01, most=0.05)
        async with connect(f"http://127.0.0.1:{port}", token, timeout=60, backoff=quick) as client:
            async for received in client.follow(SESSION):
                if isinstance(received, EventFrame):
                    assert isinstance(received.event, MessageChunk)
                    seen.append((received.seq, received.event.text))

    following = asyncio.create_task(follow())
    for number in range(kills):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            str(number),
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
        )
        try:
            assert process.stdout is not None
            async with asyncio.timeout(60):
                assert await process.stdout.readline() == b"listening\n"
            expected = len(seen) + 1
            await until(partial(has, seen, expected))
            await asyncio.sleep(chance.random() * 0.3)
        finally:
            process.kill()
            await process.wait()
        assert not following.done()
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    assert seen == [(number, str(number)) for number in range(1, len(seen) + 1)]
    journal = await SqliteJournal.open(file)
    kept: list[tuple[int, str]] = []
    cursor = Cursor("", 0)
    while cursor.seq < journal.last(SESSION):
        page = await journal.read_after(SESSION, cursor)
        assert page.gap is None
        kept += [(envelope.seq, json.loads(envelope.event)["text"]) for envelope in page.envelopes]
        cursor = page.cursor
    await journal.close()
    assert kept[: len(seen)] == seen
    assert [number for number, _ in kept] == list(range(1, len(kept) + 1))


@pytest.mark.long
async def test_two_thousand_connections_are_turned_away_while_good_frontends_go_on() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    limits = Limits(handshake_s=3600)
    async with hub_harness(HubConfig(limits=limits)) as hub, hub.websocket() as good:
        await ask(good, type="subscribe", session=SESSION)
        peers = [await asyncio.open_connection("127.0.0.1", hub.hub.port) for _ in range(2000)]
        await hub.append("during")
        assert await events(good, 1) == [(1, "during")]
        # the oldest of an address that has its share make room for newer ones
        await until(lambda: hub.hub.refusals.counts["crowded"] == 2000 - limits.newcomers_per_address)
        assert hub.hub.connections == limits.newcomers_per_address + 1
        async with asyncio.timeout(60):
            for reader, _ in peers[: -limits.newcomers_per_address]:
                assert await reader.read() == b""
        for _, writer in peers:
            writer.close()
        assert (await ask(good, type="session.list"))["ok"] is True


async def test_a_frontend_that_subscribes_and_leaves_at_once_leaves_nothing_behind() -> None:
    async with hub_harness() as hub:
        await hub.append(*["x" * 1000] * 5000)
        for _ in range(20):
            async with hub.websocket() as frontend:
                await frontend.send(json.dumps({"type": "subscribe", "id": "1", "session": SESSION}))
                frontend.transport.abort()
        async with hub.websocket() as frontend:
            await ask(frontend, type="subscribe", session=SESSION)
            assert [seq for seq, _ in await events(frontend, 5000)] == list(range(1, 5001))
            await until(lambda: hub.hub.connections == 1)


async def test_a_task_of_the_hub_that_fails_ends_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise KeyError("broken on purpose")

    async with hub_harness(HubConfig(), journal=MemoryJournal()) as hub:
        listener = hub.hub._listener
        assert listener is not None
        await listener.context.tasks.create_task(fail())
        await hub.append("still served")
        async with hub.websocket() as frontend:
            await frontend.send(json.dumps({"type": "subscribe", "id": "1", "session": SESSION}))
            seen: list[object] = []
            while not seen:
                frame = await receive(frontend)
                seen += {"event": [frame], "events": frame.get("events", [])}.get(frame["type"], [])
    assert "A task of the hub failed." in caplog.text
