"""What the console's address says, and what a bookmark of it opens."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from console_page import Problems, console, go_to, watch
from turnwire.client import connect
from turnwire_process import environment
from turnwire_process import preloaded_turnwire as turnwire

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.usefixtures("default_ports")]

DEMO = ("run", "--agent", "demo")


@pytest.mark.long
async def test_the_printed_url_opens_the_session_just_started_and_a_bookmark_of_it_outlives_a_restart(
    browser: Browser, tmp_path: Path
) -> None:
    env = environment(tmp_path / "home")
    async with turnwire(tmp_path, *DEMO, env=env, placed=False) as first:
        pass
    async with (
        turnwire(tmp_path, *DEMO, env=env, placed=False) as second,
        console(browser, second.url) as page,
    ):
        current = page.locator(".session[aria-current=page]")
        await expect(page.locator(".session")).to_have_count(2)
        await expect(current).to_have_count(1)
        await expect(page).to_have_url(f"{second.base}/#/s/{second.session}")
        assert second.session != first.session

        another = await page.context.new_page()
        problems = Problems()
        watch(another, problems, second.url)
        await another.goto(f"{second.base}/#/s/{first.session}")
        await expect(another.locator(".session-head")).to_be_visible()
        await expect(another).to_have_url(f"{second.base}/#/s/{first.session}")
        await another.goto(second.base)
        await expect(another.locator(".session").first).to_have_attribute("aria-current", "page")
        assert problems.found == []

        storage = await page.context.storage_state()
    async with turnwire(tmp_path, *DEMO, env=env, placed=False) as third:
        bookmark = f"{second.base}/#/s/{second.session}"
        assert third.base == second.base
        async with console(browser, bookmark, storage_state=storage) as page:
            await expect(page.locator(".session")).to_have_count(3)
            await expect(page.locator(".session").nth(1)).to_have_attribute("aria-current", "page")


@pytest.mark.long
async def test_an_address_of_no_session_shows_none_in_its_place(browser: Browser, tmp_path: Path) -> None:
    async with (
        turnwire(tmp_path, *DEMO) as served,
        console(browser, served.url.replace(served.session, "s-elsewhere%25")) as page,
    ):
        missing = page.get_by_text("The session s-elsewhere% is not here")
        await expect(missing).to_be_visible()
        await expect(page.locator(".session-head:not(.empty-head)")).to_have_count(0)
        await expect(page.locator(".composer")).to_have_count(0)
        await page.get_by_role("button", name="Open the newest session").click()
        await expect(page.locator(".session-head")).to_be_visible()
        await expect(page).to_have_url(f"{served.base}/#/s/{served.session}")
        await go_to(page, "#/s/%E0%A4%A")
        await expect(page.get_by_text("The session %E0%A4%A is not here")).to_be_visible()
        await page.go_back()
        await expect(page.locator(".session-head")).to_be_visible()


@pytest.mark.long
async def test_a_session_that_another_deletes_is_said_to_be_gone_and_no_other_takes_its_place(
    browser: Browser, tmp_path: Path
) -> None:
    async with (
        turnwire(tmp_path, *DEMO) as served,
        connect(served.url) as client,
        console(browser, served.url) as page,
    ):
        other = await client.create(workspace=str(tmp_path))
        await expect(page.locator(".session")).to_have_count(2)
        await expect(page.locator(".session").last).to_have_attribute("aria-current", "page")
        await client.delete_session(served.session)
        await expect(page.get_by_text(f"The session {served.session} is not here")).to_be_visible()
        await page.get_by_role("button", name="Open the newest session").click()
        await expect(page).to_have_url(f"{served.base}/#/s/{other}")
