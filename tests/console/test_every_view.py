"""Every view at each size and in both themes: axe finds nothing, nothing scrolls sideways, and what decides can be reached."""

import pytest
from playwright.async_api import Browser

from console_dialogs import every_dialog, put_into
from console_page import Sidecar, console
from console_states import empty_hub, hub_harness
from console_views import SCRIPT, SIZES, every_view

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]


async def test_every_view_at_each_size_and_in_both_themes(browser: Browser, scripted: Sidecar) -> None:
    async with scripted(SCRIPT) as served, console(browser, served.url, width=1440, height=900) as page:
        assert await every_view(page, SIZES, ["light", "dark"]) == []


async def test_all_that_is_asked_at_each_size_and_in_both_themes(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await put_into(where)
        async with console(browser, where.url, width=1440, height=900) as page:
            assert await every_dialog(page, SIZES, ["light", "dark"]) == []


async def test_all_that_is_asked_is_within_reach_of_a_finger(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await put_into(where)
        async with console(browser, where.url, width=390, height=844, has_touch=True, is_mobile=True) as page:
            assert await every_dialog(page, [(390, 844), (320, 568)], ["dark"]) == []
