"""A browser is let in by a cookie: the token leaves the address, no script can read it, and who logs out is out."""

import pytest
from playwright.async_api import Browser, expect

from console_page import Problems, console, watch
from console_states import empty_hub, entries, hub_harness, show

pytestmark = pytest.mark.asyncio(loop_scope="session")

STORED = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])"


@pytest.mark.long
async def test_the_token_becomes_a_cookie_that_tabs_share_and_a_logout_ends(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "work", entries("tool-bash"))
        async with console(
            browser, f"{where.url}&session=work", allowed=("Failed to load", "WebSocket")
        ) as page:
            head = page.locator(".session-head")
            await expect(head).to_be_visible()
            await expect(page).to_have_url(f"{where.base}/#/s/work")
            assert where.token not in await page.evaluate(STORED)
            (cookie,) = await page.context.cookies()
            assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
            assert where.token not in cookie["value"]
            assert cookie["expires"] > 0  # a bookmark opens after the browser was closed, too

            await page.reload()
            await expect(head).to_be_visible()
            tab = await page.context.new_page()
            problems = Problems(allowed=("Failed to load", "WebSocket"))
            watch(tab, problems, where.url)
            await tab.goto(where.base)
            await expect(tab.locator(".session-head")).to_be_visible()

            await page.bring_to_front()
            await page.keyboard.press("Control+k")
            await expect(page.get_by_role("combobox", name="Session or action")).to_be_focused()
            await page.keyboard.type("log out")
            async with page.expect_event("load"):  # the page loads itself anew at the end
                await page.keyboard.press("Enter")
            await expect(page.get_by_label("Access token")).to_be_visible()
            await expect(tab.get_by_label("Access token")).to_be_visible()
            # What the browser had opens nothing, even where somebody has kept it.
            await page.context.add_cookies([cookie])  # type: ignore[list-item]
            await page.reload()
            await expect(page.get_by_label("Access token")).to_be_visible()

            await page.get_by_label("Access token").fill("not this one, surely")
            await page.get_by_role("button", name="Open").click()
            await expect(page.get_by_label("Access token")).to_have_value("")
            await page.get_by_label("Access token").fill(where.hub.tokens.view)
            await page.get_by_role("button", name="Open").click()
            await expect(head).to_be_visible()
            await expect(page.locator(".composer textarea")).to_have_count(0)
            assert problems.found == []
