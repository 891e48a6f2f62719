"""Every view at each size and in both themes: axe finds nothing, and nothing scrolls sideways that should not."""

import pytest
from playwright.async_api import Browser

from console_page import Sidecar, console
from console_views import SCRIPT, SIZES, every_view

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]


async def test_every_view_at_each_size_and_in_both_themes(browser: Browser, scripted: Sidecar) -> None:
    async with scripted(SCRIPT) as served, console(browser, served.url, width=1440, height=900) as page:
        assert await every_view(page, SIZES, ["light", "dark"]) == []
