"""Pages of a log, asked for one by one, beside what is followed."""

import json

import pytest
from hub_harness import SESSION, ask, chunk, hub_harness, receive
from pydantic import JsonValue
from websockets.asyncio.client import ClientConnection

from turnwire.hub.config import HubConfig, Limits
from turnwire.hub.delivery.pages import PAGE_COUNT, PAGE_SIZE
from turnwire.journal.base import Page, Retention
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events.envelope import Cursor


async def page(frontend: ClientConnection, **fields: JsonValue) -> tuple[list[int], int, int]:
    """Ask for a page: the numbers of its events, where it ends, and where the log does."""
    result = (await ask(frontend, type="events.get", session=SESSION, **fields))["result"]
    assert [event["type"] for event in result["events"]] == ["event"] * len(result["events"])
    return [event["seq"] for event in result["events"]], result["seq"], result["last"]


async def test_the_pages_of_a_log_are_all_of_it_once_each_and_in_order() -> None:
    count = 9 * PAGE_COUNT + 7
    async with hub_harness() as hub, hub.websocket(max_size=None) as frontend:
        await hub.append(*(str(number) for number in range(count)))
        seen: list[int] = []
        pages = 0
        while len(seen) < count:
            numbers, end, last = await page(frontend, after=len(seen), epoch=hub.journal.epoch)
            assert (end, last) == (numbers[-1], count)
            seen += numbers
            pages += 1
        assert seen == list(range(1, count + 1))
        assert pages == 3
        assert await page(frontend, after=count, epoch=hub.journal.epoch) == ([], count, count)


async def test_a_page_ends_before_the_number_that_is_followed_already() -> None:
    async with hub_harness() as hub, hub.websocket() as frontend:
        await hub.append("a", "b", "c", "d")
        epoch = hub.journal.epoch
        assert await page(frontend, before=4) == ([1, 2, 3], 3, 4)
        assert await page(frontend, after=2, before=4, epoch=epoch) == ([3], 3, 4)
        assert await page(frontend, after=3, before=4, epoch=epoch) == ([], 3, 4)
        assert await page(frontend, after=1, before=9, epoch=epoch) == ([2, 3, 4], 4, 4)


async def test_a_page_is_as_large_as_a_connection_may_hold_or_has_one_event_that_is_larger() -> None:
    async with hub_harness() as hub, hub.websocket(max_size=None) as frontend:
        text = "x" * (PAGE_SIZE // 2 - 1000)
        await hub.append(*[text] * 12, "y" * (3 * PAGE_SIZE), "z")
        epoch = hub.journal.epoch
        assert (await page(frontend))[0] == list(range(1, 9))
        assert (await page(frontend, after=8, epoch=epoch))[0] == [9, 10, 11, 12]
        assert (await page(frontend, after=12, epoch=epoch))[0] == [13, 14]


async def test_a_page_says_what_is_gone_before_it_and_in_which_life_of_the_log_it_is() -> None:
    journal = MemoryJournal(Retention(max_count=3))
    async with hub_harness(journal=journal) as hub, hub.websocket() as frontend:
        await hub.append("a", "b", "c", "d", "e")
        reply = await ask(frontend, type="events.get", session=SESSION)
        first = reply["result"]["events"][0]["seq"]
        assert first > 1
        assert reply["result"]["gap"] == {"from": 1, "to": first - 1}
        assert reply["result"]["epoch"] == hub.journal.epoch
        before = await ask(frontend, type="events.get", session=SESSION, before=2)
        assert before["result"]["gap"] == {"from": 1, "to": 1}
        assert (before["result"]["events"], before["result"]["seq"]) == ([], 1)
        void = await ask(frontend, type="events.get", session=SESSION, after=4, epoch="another")
        assert void["result"]["gap"]["from"] == 1
        assert void["result"]["events"][0]["seq"] == first


async def test_a_page_is_refused_by_the_field_that_is_wrong() -> None:
    async with hub_harness() as hub, hub.websocket() as frontend:
        await hub.append("a")
        for fields, field in (({"after": 1}, "epoch"), ({"before": 0}, "before"), ({"after": -1}, "after")):
            error = (await ask(frontend, type="events.get", session=SESSION, **fields))["error"]
            assert (error["code"], error["field"]) == ("invalid_params", field)
        unknown = (await ask(frontend, type="events.get", session="none-such"))["error"]
        assert (unknown["code"], unknown["field"]) == ("unknown_session", "session")


async def test_who_may_only_view_may_read_pages() -> None:
    async with hub_harness() as hub, hub.websocket(hub.hub.tokens.view) as frontend:
        await hub.append("a")
        assert await page(frontend) == ([1], 1, 1)


class CountingJournal(MemoryJournal):
    """Counts what is read of it."""

    reads = 0

    async def read_after(self, session: str, cursor: Cursor, *, count: int = 1, size: int = 1) -> Page:
        self.reads += 1
        return await super().read_after(session, cursor, count=count, size=size)


async def test_pages_are_read_only_as_fast_as_their_replies_are() -> None:
    journal = CountingJournal()
    commands = 60
    async with hub_harness(HubConfig(limits=Limits(commands_burst=1000)), journal=journal) as hub:
        text = "x" * (PAGE_SIZE - 1000)
        for _ in range(4):
            await hub.journal.append(SESSION, [chunk(text)])
        async with hub.websocket(max_size=None) as good, hub.websocket(max_size=None) as greedy:
            await receive(greedy)
            greedy.transport.pause_reading()
            for number in range(commands):
                command = {"type": "events.get", "id": str(number), "session": SESSION}
                await greedy.send(json.dumps({**command, "after": number % 4, "epoch": hub.journal.epoch}))
            for _ in range(50):
                await ask(good, type="session.list")
            # What the buffers of both ends take, and one that waits.
            assert hub.hub.unread < 8 << 20
            assert await page(good, after=3, epoch=hub.journal.epoch) == ([4], 4, 4)
            greedy.transport.resume_reading()
            answered = 0
            while answered < commands:
                answered += (await receive(greedy))["type"] == "reply"


@pytest.mark.parametrize("fields", [{}, {"after": 500}, {"before": 400}])
async def test_readers_who_want_the_same_pages_read_them_once(fields: dict[str, JsonValue]) -> None:
    journal = CountingJournal()
    async with hub_harness(journal=journal) as hub, hub.websocket() as one, hub.websocket() as other:
        await hub.append(*(str(number) for number in range(700)))
        epoch: dict[str, JsonValue] = {"epoch": hub.journal.epoch}
        assert await page(one, **fields, **epoch) == await page(other, **fields, **epoch)
        assert journal.reads == (1 if "before" in fields else 2)
