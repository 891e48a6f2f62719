"""The sessions on the left: three hundred of them stay usable, by hand and by keyboard."""

import pytest
from msgspec.structs import replace
from playwright.async_api import Browser, expect

from console_page import console
from console_states import empty_hub, entries, hub_harness, made, show
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.normalize.events import MessageChunk
from waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="session")


def summary(n: int) -> SessionSummary:
    """One of three hundred sessions in ten folders, two of which wait and one runs."""
    pending = 1 if n in {40, 42} else 0
    return SessionSummary(
        session=f"s{n}",
        title=f"Session number {n}",
        state="waiting" if pending else "running" if n == 41 else "idle",
        last_seq=1,
        pending=pending,
        workspace=f"/srv/folder-{n % 10}",
        agent="demo",
        created="2026-01-01T00:00:00Z",
    )


async def test_three_hundred_sessions_are_found_opened_and_told_apart(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        host = where.host
        await show(where, "first", entries("text-thinking"), workspace="/srv/folder-0")
        host.summaries = [*map(summary, range(300)), *host.summaries]
        host.changed()
        async with console(browser, f"{where.url}&session=first") as page:
            await expect(page.locator(".session[aria-current=page]")).to_contain_text("first")
            groups = page.locator(".sidebar h2")
            await expect(groups.first).to_have_text("Waits for you")
            assert (await groups.all_inner_texts())[:3] == ["Waits for you", "Running", "folder-0"]
            await expect(page.locator(".session").first).to_contain_text("Session number 42")
            assert await page.locator(".session").count() < 110
            row = page.locator(".session", has_text="Session number 42")
            assert await row.evaluate("node => [node.tagName, new URL(node.href).hash]") == ["A", "#/s/s42"]

            search = page.get_by_label("Search sessions")
            await search.fill("folder-3 number 113")
            await expect(page.locator(".session")).to_have_count(1)
            await search.fill("")

            await page.keyboard.press("Control+k")
            await expect(page.get_by_role("combobox", name="Session or action")).to_be_focused()
            await page.keyboard.type("number 277")
            await expect(page.locator(".modal [role=option]")).to_have_count(1)
            await page.keyboard.press("Enter")
            await expect(page.locator(".session-head h1")).to_have_text("Session number 277")
            await expect(page.locator("dialog")).to_have_count(0)

            # Something comes in a session that was read before.
            await where.journal.append("first", made([MessageChunk(text="more", message_id="m9")]))
            host.summaries = [*host.summaries[:-1], replace(host.summaries[-1], last_seq=10_000)]
            host.changed()
            await expect(page.locator(".session", has_text="first").get_by_label("unread")).to_be_visible()

            await page.evaluate("document.activeElement.blur()")
            await page.keyboard.press("?")
            await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
            await page.keyboard.press("Escape")
            await expect(page.locator("dialog")).to_have_count(0)

            await page.keyboard.press("Alt+i")
            await page.get_by_role("tab", name="Session").click()
            await page.get_by_label("Title").fill("A better name")
            await page.get_by_role("button", name="Rename").click()
            await until(lambda: len(host.commands) == 1)
            assert host.commands[0][0].model_dump()["title"] == "A better name"
