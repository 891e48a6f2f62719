"""A long session: its end is drawn first, and is live; what came before is read behind it, and moves nothing."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from hostile_content import shell
from hub_harness import HubHarness
from playwright.async_api import Browser, Page, expect
from pydantic import JsonValue

from console_page import LOST, console, go_to
from console_states import empty_hub, entries, hub_harness, made, show
from cut_line import line_to
from turnwire.hub.wire.frames import AnyCommand
from turnwire.journal.base import Entry, Retention
from turnwire.journal.base import Page as LogPage
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events import AgentEvent, MessageChunk, TurnStarted, UserMessage
from turnwire.normalize.events.envelope import Cursor
from waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

COUNT = 6000
SCROLLER = ".scroller[aria-label=Conversation]"


def long_session(count: int = COUNT) -> list[Entry]:
    """Turns with texts that stream, and tools."""
    written: list[Entry] = []
    turn = 0
    while len(written) < count:
        turn += 1
        events: list[AgentEvent] = [
            TurnStarted(operation_id=f"turn-{turn}", origin="user"),
            UserMessage(text=f"Prompt {turn}", uuid=f"p{turn}"),
            *(
                MessageChunk(
                    text=f"word {index} of {turn}, ", message_id=f"m{turn}", block_index=0, is_delta=True
                )
                for index in range(10)
            ),
            *shell(f"t{turn}", f"ls {turn}", "total 1\n"),
        ]
        done = {"outcome": "completed", "is_error": False, "cost_usd": 0.01}
        complete = {"type": "complete", "operation_id": f"turn-{turn}", "data": done}
        written += [*made(events), Entry(json.dumps(complete, separators=(",", ":")).encode())]
    return written


@dataclass
class Gate:
    """Lets nothing be read that is further from the end than this, until it opens."""

    before: int = 0
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    read: int = 0
    """Events that were read."""
    asked: int = 0
    """Pages that wait, or waited, for it to open."""


class GatedJournal(MemoryJournal):
    """A log of which the end can be read first."""

    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self._gate = gate

    async def read_after(
        self, session: str, cursor: Cursor, *, count: int = 1, size: int = 1 << 20
    ) -> LogPage:
        if cursor.seq < self._gate.before:
            self._gate.asked += 1
            await self._gate.opened.wait()
        page = await super().read_after(session, cursor, count=count, size=size)
        self._gate.read += len(page.envelopes)
        return page


@asynccontextmanager
async def opened(
    browser: Browser, events: list[Entry], **summary: object
) -> AsyncIterator[tuple[HubHarness, Page, Gate]]:
    """The page on a long session, of which no more can be read than its last thousand events."""
    gate = Gate()
    async with hub_harness(host=empty_hub(), journal=GatedJournal(gate)) as where:
        await show(where, "long", events, **summary)
        gate.before = len(events) - 1000
        async with console(browser, where.url) as page:
            await expect(page.locator(".row").first).to_be_visible()
            await until(lambda: gate.asked > 0)
            yield where, page, gate


PLACES = """() => {
  const scroller = document.querySelector('.scroller[aria-label=Conversation]');
  const { top, bottom } = scroller.getBoundingClientRect();
  const seen = [...scroller.querySelectorAll('.row')].map(row => [row.dataset.seq, row.getBoundingClientRect(), row.innerText])
    .filter(([, box]) => box.height > 0 && box.bottom > top && box.top < bottom)
    .map(([seq, box, text]) => [seq, Math.round(box.top), Math.round(box.height), text]);
  return { top: Math.round(scroller.scrollTop), height: Math.round(scroller.scrollHeight), seen };
}"""
"""Where the thumb is and how large, and each row in sight."""
RESTS = """async () => {
  const scroller = document.querySelector('.scroller[aria-label=Conversation]');
  let before = '';
  for (let same = 0; same < 12;) {
    await new Promise(requestAnimationFrame);
    const now = `${scroller.scrollTop} ${scroller.scrollHeight} ${scroller.querySelectorAll('.row').length}`;
    same = now === before ? same + 1 : 0;
    before = now;
  }
}"""
"""Waits until what is in sight was measured."""
WATCH = """() => {
  const scroller = document.querySelector('.scroller[aria-label=Conversation]');
  window.places = [];
  const look = () => {
    const row = [...scroller.querySelectorAll('.row')].find(row => row.dataset.seq === window.watched);
    window.places.push([Math.round(scroller.scrollTop), Math.round(scroller.scrollHeight), row ? Math.round(row.getBoundingClientRect().top) : null].join(' '));
    requestAnimationFrame(look);
  };
  look();
}"""
"""Notes in every frame where the thumb is, how large, and where the row stands that is watched."""


async def whole(page: Page) -> None:
    """Wait until all of the session is there."""
    await expect(page.locator(".leading")).to_have_count(0)
    await page.evaluate(RESTS)


async def test_the_end_is_drawn_and_live_before_the_rest_is_read_which_moves_nothing(
    browser: Browser,
) -> None:
    events = long_session()
    async with opened(browser, events, total_cost_usd=4.5) as (_, page, gate):
        last = page.locator(".row").last
        await expect(last).to_have_attribute("data-seq", str(len(events)))
        assert gate.read <= 1024
        await page.evaluate(RESTS)
        before = await page.evaluate(PLACES)
        assert len(before["seen"]) > 5
        assert before["height"] > 10_000
        await page.evaluate("seq => { window.watched = seq; }", before["seen"][0][0])
        await page.evaluate(WATCH)

        gate.opened.set()
        await whole(page)
        assert await page.evaluate(PLACES) == before
        assert len(set(await page.evaluate("window.places"))) == 1
        await page.locator(SCROLLER).evaluate("node => node.scrollTo(0, 0)")
        await expect(page.get_by_text("Prompt 1", exact=True)).to_be_visible()


@pytest.mark.long
async def test_what_happens_while_the_rest_is_read_is_shown_and_can_be_answered(browser: Browser) -> None:
    events = long_session()
    asked = entries("perm-allow-always", up_to="permission_request")
    async with opened(browser, events) as (where, page, gate):
        await where.journal.append("long", asked)
        request = page.locator(".request")
        await expect(request).to_be_visible()
        await page.get_by_role("textbox", name="Prompt").fill("half a sentence")
        await request.get_by_role("button", name="Allow").first.click()
        await until(lambda: len(where.host.commands) == 1)
        assert where.host.commands[0][0].type == "permission.respond"
        await page.keyboard.press("Alt+i")
        await expect(page.get_by_role("tabpanel")).to_contain_text("still being read")
        await expect(page.locator(".now .more")).to_have_count(0)

        gate.opened.set()
        await whole(page)
        await expect(request).to_be_visible()
        await expect(page.get_by_role("tabpanel")).not_to_contain_text("still being read")
        await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("half a sentence")
        await page.get_by_role("tab", name="Session").click()
        await expect(page.get_by_role("tabpanel")).to_contain_text(str(len(events) + len(asked)))


@pytest.mark.long
async def test_a_reader_who_scrolls_up_meanwhile_stays_where_he_is(browser: Browser) -> None:
    async with opened(browser, long_session()) as (_, page, gate):
        scroller = page.locator(SCROLLER)
        await page.evaluate(RESTS)
        await scroller.evaluate("node => { node.scrollTop -= 1500; }")
        await page.evaluate(RESTS)
        before = await page.evaluate(PLACES)
        assert len(before["seen"]) > 3
        await page.evaluate("seq => { window.watched = seq; }", before["seen"][2][0])
        await page.evaluate(WATCH)
        gate.opened.set()
        await whole(page)
        assert await page.evaluate(PLACES) == before
        assert len(set(await page.evaluate("window.places"))) == 1


@pytest.mark.long
async def test_who_is_above_what_is_there_sees_how_much_is_and_then_what_stands_there(
    browser: Browser,
) -> None:
    async with opened(browser, long_session()) as (_, page, gate):
        scroller = page.locator(SCROLLER)
        await page.evaluate(RESTS)
        await scroller.evaluate("node => node.scrollTo(0, node.scrollHeight / 2)")
        await expect(page.get_by_text(re.compile("0 of 6,.* events"))).to_be_in_viewport()
        gate.opened.set()
        await whole(page)
        seen = (await page.evaluate(PLACES))["seen"]
        assert len(seen) > 3
        assert COUNT / 3 < int(seen[0][0]) < 2 * COUNT / 3


@pytest.mark.long
async def test_a_log_that_begins_anew_meanwhile_is_shown_alone(browser: Browser) -> None:
    async with opened(browser, long_session()) as (where, page, gate):
        await where.journal.delete("long")
        gate.opened.set()
        await where.journal.append("long", made([UserMessage(text="anew")]))
        await expect(page.get_by_text("anew", exact=True)).to_be_visible()
        await whole(page)


@pytest.mark.long
async def test_pieces_of_one_long_text_are_more_than_a_page_before_anything_is_drawn(
    browser: Browser,
) -> None:
    pieces = [
        MessageChunk(text=f"{index} ", message_id="m", block_index=0, is_delta=True) for index in range(600)
    ]
    events = [*long_session(12_000), *made([TurnStarted(operation_id="turn-x", origin="user"), *pieces])]
    gate = Gate()
    async with hub_harness(host=empty_hub(), journal=GatedJournal(gate)) as where:
        await show(where, "long", events, state="running")
        gate.before = len(events) - 2048
        async with console(browser, where.url) as page:
            await expect(page.locator(".row-text").last).to_contain_text("599")
            text = await page.locator(".row-text").last.inner_text()
            assert text.startswith("0 1 2 ")
            await expect(page.locator(".elapsed")).to_be_visible()
            gate.opened.set()
            await whole(page)
            assert await page.locator(".row-text").last.inner_text() == text


async def test_a_log_whose_end_is_one_long_text_is_drawn_whole(browser: Browser) -> None:
    pieces = [
        MessageChunk(text=f"{index} ", message_id="m", block_index=0, is_delta=True) for index in range(3000)
    ]
    events = made([UserMessage(text="Count to 3000"), *pieces])
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "long", events)
        async with console(browser, where.url) as page:
            await expect(page.locator(".row-text").last).to_contain_text("2999")
            await whole(page)
            await page.locator(SCROLLER).evaluate("scroller => { scroller.scrollTop = 0 }")
            await expect(page.get_by_text("Count to 3000", exact=True)).to_be_in_viewport()


@pytest.mark.long
async def test_a_place_that_is_sought_is_shown_once_it_is_there(browser: Browser) -> None:
    async def hits(command: AnyCommand) -> JsonValue:
        snippet: JsonValue = [{"text": "Prompt 1", "hit": True}]
        hit: dict[str, JsonValue] = {"source": "live", "id": "long", "message": None, "seq": 2, "kind": "prompt", "title": "long",
               "folder": "/srv", "at": "2026-01-02T03:04:05Z", "snippet": snippet}  # fmt: skip
        return {"hits": [hit], "complete": True}

    async with opened(browser, long_session()) as (where, page, gate):
        where.host.handlers = {"library.search": hits}
        await go_to(page, "#/history/Prompt")
        await page.get_by_role("button", name="long").click()
        await expect(page.locator(".row").last).to_be_visible()
        await expect(page.locator(".row.found")).to_have_count(0)
        gate.opened.set()
        await expect(page.locator(".row.found")).to_contain_text("Prompt 1")
        await expect(page.locator(".row.found")).to_be_in_viewport()


@pytest.mark.long
async def test_what_retention_took_is_told_once_where_it_was(browser: Browser) -> None:
    journal = MemoryJournal(Retention(max_count=4000))
    async with hub_harness(host=empty_hub(), journal=journal) as where:
        events = long_session()
        await show(where, "long", events)
        async with console(browser, where.url) as page:
            await expect(page.locator(".row").first).to_be_visible()
            await whole(page)
            await page.locator(SCROLLER).evaluate("node => node.scrollTo(0, 0)")
            await expect(page.locator(".row-gap")).to_be_visible()
            await expect(page.locator(".row-gap")).to_have_count(1)


@pytest.mark.long
async def test_pages_are_asked_for_again_after_the_connection_was_lost(browser: Browser) -> None:
    gate = Gate()
    async with (
        hub_harness(host=empty_hub(), journal=GatedJournal(gate)) as where,
        line_to(where.base) as (line, base),
    ):
        await show(where, "long", long_session())
        gate.before = COUNT - 1000
        async with console(browser, f"{base}/#token={where.token}", allowed=(LOST,)) as page:
            await expect(page.locator(".row").first).to_be_visible()
            await until(lambda: gate.asked > 0)
            line.cut()
            await expect(page.get_by_text("The connection is lost")).to_be_visible()
            await expect(page.locator(".row").last).to_be_visible()
            line.mend()
            gate.opened.set()
            await whole(page)
            await page.locator(SCROLLER).evaluate("node => node.scrollTo(0, 0)")
            await expect(page.get_by_text("Prompt 1", exact=True)).to_be_visible()
