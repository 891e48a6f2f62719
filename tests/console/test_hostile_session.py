"""A session that means harm: it runs nothing, reaches nobody, shows what it is, and does not freeze the page."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hostile_content import ANSI_BOMB, EMOJI, LINES, MARKUP, RTL, harm, shell, unusual
from playwright.async_api import Browser, Page, expect

from console_page import console, go_to, violations
from console_states import empty_hub, hub_harness, made, show
from turnwire.journal.base import Entry
from turnwire.normalize.events import (
    AgentEvent,
    Malformed,
    MessageChunk,
    TurnStarted,
    Unknown,
    UserMessage,
    to_json,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG_LINE = "z" * 5_000_000


SAFE = ("https://", "http://", "vscode://file/srv/")


async def settled(page: Page) -> None:
    """Wait until the conversation is drawn."""
    await expect(page.locator(".row").first).to_be_visible()
    await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@asynccontextmanager
async def tasks_of(browser: Browser, page: Page) -> AsyncIterator[list[int]]:
    """The microseconds that each task of the page's main thread had a processor; there once the block has ended.

    The clock would tell nothing beside other work on the machine.
    """
    tasks: list[int] = []
    await browser.start_tracing(page=page, categories=["toplevel"])
    try:
        yield tasks
        # The page answers within a task, which is traced at its end.
        await page.evaluate("new Promise(done => setTimeout(done))")
    finally:
        traced = json.loads(await browser.stop_tracing())["traceEvents"]
    main = {
        (event["pid"], event["tid"])
        for event in traced
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks += [
        event.get("tdur", 0)
        for event in traced
        if event.get("ph") == "X"
        and event["name"] == "ThreadControllerImpl::RunTask"
        and (event["pid"], event["tid"]) in main
    ]


async def layout(browser: Browser, page: Page) -> int:
    """The microseconds in which this page lays out fifteen thousand lines of text."""
    async with tasks_of(browser, page) as tasks:
        await page.evaluate(LAYOUT)
    return max(tasks)


@asynccontextmanager
async def no_long_task(browser: Browser, page: Page) -> AsyncIterator[None]:
    """Fail when the page is busy at a stretch for longer than it takes to lay out fifteen thousand lines of text.

    That is measured in the same page, before and after, so that a slower machine has a longer limit.
    """
    before = await layout(browser, page)
    async with tasks_of(browser, page) as tasks:
        yield
    after = await layout(browser, page)
    logging.getLogger(__name__).info("longest task: %s µs; layout: %s and %s µs", max(tasks), before, after)
    assert 0 < max(tasks) < max(before, after)


LAYOUT = """() => {
  const probe = document.createElement('div');
  for (let line = 0; line < 15000; line += 1) {
    const one = document.createElement('p');
    one.textContent = `line ${line} of a text that is laid out and thrown away`;
    probe.append(one);
  }
  document.body.append(probe);
  probe.getBoundingClientRect();
  probe.remove();
}"""


async def open_everything(page: Page) -> None:
    """Open every fold that is drawn, from the top of the list to its end."""
    scroller = page.locator(".scroller[aria-label=Conversation]")
    for share in (0, 0.25, 0.5, 0.75, 1):
        await scroller.evaluate("(node, share) => node.scrollTo(0, share * node.scrollHeight)", share)
        await settled(page)
        await page.evaluate(OPEN_ONE_AFTER_THE_OTHER)
        await settled(page)


OPEN_ONE_AFTER_THE_OTHER = """async () => {
  for (const head of document.querySelectorAll('.row .fold-head[aria-expanded=false]')) {
    head.click();
    await new Promise(requestAnimationFrame);
  }
}"""


async def test_nothing_of_a_hostile_session_runs_loads_or_hides(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "harm", made(harm()), title=MARKUP)
        # console() fails for any request to elsewhere, and for any violation of the content security policy.
        async with console(browser, where.url) as page:
            await settled(page)
            await open_everything(page)
            await page.keyboard.press("Alt+i")
            await page.get_by_role("tab", name="Changes").click()
            await page.locator(".file .fold-head").click()
            await expect(page.locator(".file .diff")).to_be_visible()
            assert await page.evaluate("window.harm") is None
            assert await violations(page) == []
            assert (
                await page.locator("#root iframe, #root script, #root style, #root form[action]").count() == 0
            )
            addresses = await page.locator("#root a").evaluate_all("links => links.map(link => link.href)")
            assert [address for address in addresses if not address.startswith(SAFE)] == []
            await expect(page.locator(".request .code")).to_contain_text("⟨U+202E⟩cod.tnatropmi⟨U+202C⟩")
            assert (
                await page.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.textContent)")
                is False
            )


@pytest.mark.long
async def test_what_is_unusual_comes_through_whole_and_a_large_change_in_parts(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "empty", made([Unknown(message_type="x", raw="{}")]))
        await show(where, "unusual", made(unusual()), title=f"{RTL} {EMOJI}", workspace=f"/srv/{RTL}")
        for width, height, scheme in ((1440, 900, "light"), (390, 844, "dark")):
            async with console(browser, where.url, width=width, height=height, scheme=scheme) as page:  # type: ignore[arg-type]
                await settled(page)
                async with no_long_task(browser, page):
                    await go_to(page, "#/s/unusual")
                    await expect(page.locator(".session-head h1")).to_have_text(f"{RTL} {EMOJI}")
                    await open_everything(page)
                    rows = page.locator(".row .diff tr")
                    await expect(rows.first).to_be_attached()
                    drawn = await rows.count()
                    assert 100 < drawn < LINES / 10
                    await page.locator(".row .diff .more").first.click()
                    await expect(rows.nth(drawn)).to_be_attached()
                    assert await rows.count() < LINES / 5
                prose = page.locator(".prose h1, .prose h2, .prose h3").first
                await page.locator(".scroller[aria-label=Conversation]").evaluate(
                    "node => node.scrollTo(0, 0)"
                )
                await expect(prose).to_have_text(RTL)
                await page.get_by_role("textbox", name="Prompt").fill(RTL)
                for said in (prose, page.locator(".user-text"), page.locator(".composer textarea")):
                    assert await said.evaluate("node => getComputedStyle(node).direction") == "rtl"
                await expect(page.locator(".prose p").first).to_have_text(EMOJI.strip())
                assert await page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.long
async def test_lines_of_five_megabytes_and_bombs_of_colours_do_not_freeze_the_page(browser: Browser) -> None:
    events: list[AgentEvent] = [
        UserMessage(text=LONG_LINE[:250_000]),
        MessageChunk(text=LONG_LINE, message_id="m1", block_index=0),
        MessageChunk(
            text="# Heading\n\n" + "* item **bold** `code`\n" * 40_000, message_id="m1", block_index=1
        ),
        MessageChunk(text="[" * 20_000 + "](" * 20_000, message_id="m1", block_index=2),
        MessageChunk(text="> " * 3_000 + "deep", message_id="m1", block_index=3),
        MessageChunk(
            text="\n".join("  " * depth + "- deep" for depth in range(400)), message_id="m1", block_index=4
        ),
        *shell("t1", "cat long", LONG_LINE[:250_000]),
        *shell("t2", "cat bomb", ANSI_BOMB),
        Malformed(reason="too long", raw=LONG_LINE[:250_000], size=len(LONG_LINE)),
    ]
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "empty", made([Unknown(message_type="x", raw="{}")]))
        await show(where, "long", made(events))
        async with console(browser, where.url) as page:
            await settled(page)
            async with no_long_task(browser, page):
                await go_to(page, "#/s/long")
                await expect(page.locator(".session-head h1")).to_have_text("long")
                await open_everything(page)


def many(count: int) -> list[Entry]:
    """Turns with texts that stream, reasoning, and tools: `count` events."""
    entries: list[Entry] = []
    turn = 0
    while len(entries) < count:
        turn += 1
        entries += made(
            [
                TurnStarted(operation_id=f"turn-{turn}", origin="user"),
                UserMessage(text=f"Prompt {turn}: please look at the **code** and say what it does."),
                *(
                    MessageChunk(
                        text=f"word {index} of `turn {turn}`, ",
                        message_id=f"m{turn}",
                        block_index=0,
                        is_delta=True,
                    )
                    for index in range(30)
                ),
                *shell(f"t{turn}a", f"ls -la {turn}", "total 1\nfile\n" * 5),
                *shell(f"t{turn}b", f"grep -rn word{turn} .", "a:1:word\n"),
            ]
        )
        entries.append(
            Entry(
                json.dumps(
                    {
                        "type": "complete",
                        "operation_id": f"turn-{turn}",
                        "data": {
                            "outcome": "completed",
                            "is_error": False,
                            "cost_usd": 0.01,
                            "duration_ms": 900,
                        },
                    },
                    separators=(",", ":"),
                ).encode()
            )
        )
    return entries[:count]


@pytest.mark.long
async def test_a_hundred_thousand_events_load_and_scroll_without_a_long_task(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "empty", made([Unknown(message_type="x", raw="{}")]))
        await show(where, "many", many(100_000))
        async with console(browser, where.url) as page:
            await settled(page)
            async with no_long_task(browser, page):
                await go_to(page, "#/s/many")
                await expect(page.locator(".session-head h1")).to_have_text("many")
                await settled(page)
                await page.evaluate(SCROLL)
            assert await page.locator(".item").count() < 200


SCROLL = """async () => {
  const node = document.querySelector('.scroller[aria-label=Conversation]');
  for (let step = 0; step < 200; step += 1) {
    node.scrollTop = step < 150 ? node.scrollTop - 400 : node.scrollHeight * Math.random();
    await new Promise(requestAnimationFrame);
  }
}"""


@pytest.mark.long
async def test_ten_thousand_tools_in_one_turn_are_listed_and_inspected(browser: Browser) -> None:
    events: list[AgentEvent] = [TurnStarted(operation_id="turn-1", origin="user")]
    for index in range(10_000):
        events += shell(f"t{index}", f"echo {index}", str(index))
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "empty", made([Unknown(message_type="x", raw="{}")]))
        await show(where, "tools", [Entry(to_json(event)) for event in events])
        async with console(browser, where.url) as page:
            await settled(page)
            async with no_long_task(browser, page):
                await go_to(page, "#/s/tools")
                await expect(page.get_by_text("echo 9999").first).to_be_visible()
                await page.keyboard.press("Alt+i")
                await expect(page.locator(".spans li").first).to_be_visible()
                await page.get_by_role("tab", name="Events").click()
                await page.get_by_label("Search events").fill("echo 4321")
                await expect(page.locator(".filter [role=status]")).to_have_text("2")
                await expect(page.locator(".event").first).to_contain_text("echo 4321")
