"""`<turnwire-session>` in a page of somebody else: a session that means harm, a second decision, a session of somebody else."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from element_page import PAGE, POLICY, built, site
from hostile_content import MARKUP, harm
from playwright.async_api import Page, expect

from console_page import WAIT_MS, chromium
from console_states import empty_hub, hub_harness, made, show
from live import preloaded_running, scripted_setup
from turnwire.client.events import PermissionRequest, PermissionResolved
from turnwire.hub.config import HubConfig

pytestmark = [pytest.mark.long, pytest.mark.node]

INSIDE = "document.querySelector('turnwire-session').shadowRoot"


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return asyncio.run(built(tmp_path_factory.mktemp("built")))


@asynccontextmanager
async def pages(script: bytes) -> AsyncIterator[tuple[str, Callable[[str, str, str], Awaitable[Page]]]]:
    """The origin of a site, and what opens a session in a page of it."""
    inside: dict[str, tuple[str, bytes, str]] = {}
    async with site(inside) as origin, chromium() as browser:
        complaints: list[str] = []

        async def shown(base: str, session: str, token: str) -> Page:
            policy = POLICY.format(hub=f"{base} {base.replace('http', 'ws', 1)}")
            inside["/turnwire-session.js"] = ("text/javascript", script, policy)
            inside["/"] = (
                "text/html",
                PAGE.format(base=base, session=session, token=token).encode(),
                policy,
            )
            page = await browser.new_page(viewport={"width": 900, "height": 760})
            page.set_default_timeout(WAIT_MS)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
            await page.goto(f"{origin}/")
            return page

        yield origin, shown
        assert complaints == []


async def test_nothing_of_a_hostile_session_runs_loads_or_hides_in_the_page(script: bytes) -> None:
    async with pages(script) as (origin, shown):
        config = HubConfig(allowed_origins=(origin,))
        async with hub_harness(config, host=empty_hub()) as where:
            await show(where, "harm", made(harm()), title=MARKUP)
            page = await shown(where.base, "harm", where.token)
            await expect(page.locator("turnwire-session .row").first).to_be_visible()
            scroller = page.locator("turnwire-session .scroller[aria-label=Conversation]")
            for share in (0, 0.25, 0.5, 0.75, 1):
                await scroller.evaluate("(node, share) => node.scrollTo(0, share * node.scrollHeight)", share)
                for head in await page.locator(
                    "turnwire-session .row .fold-head[aria-expanded=false]"
                ).element_handles():
                    await head.evaluate("node => node.click()")
            await expect(page.locator("turnwire-session .request")).to_contain_text(
                "⟨U+202E⟩cod.tnatropmi⟨U+202C⟩"
            )
            assert await page.evaluate("window.harm") is None
            odd = f"[...{INSIDE}.querySelectorAll('iframe, script, style, form[action], img[src^=http]')].length"
            assert await page.evaluate(odd) == 0
            links = f"[...{INSIDE}.querySelectorAll('a')].map((link) => link.protocol)"
            assert {*await page.evaluate(links)} <= {"http:", "https:", "vscode:"}
            hidden = f"/[\\u202a-\\u202e\\u2066-\\u2069]/.test({INSIDE}.textContent)"
            assert await page.evaluate(hidden) is False


async def test_who_decides_second_is_told_and_another_session_is_not_shown(
    script: bytes, tmp_path: Path
) -> None:
    async with pages(script) as (origin, shown):
        setup = scripted_setup(tmp_path, "2.1.330")
        async with preloaded_running(
            tmp_path, setup, "--policy", "supervised", "--allowed-origin", origin
        ) as (mine, served):
            first, second = [await shown(served.base, mine.session, served.token) for _ in range(2)]
            none = await shown(served.base, "s-0000000000", served.token)
            await expect(none.locator("turnwire-session")).to_contain_text("This session is not here")
            await mine.prompt("ls")
            await mine.until(PermissionRequest)
            buttons = [page.locator("turnwire-session [data-option=reject_once]") for page in (first, second)]
            await expect(buttons[1]).to_be_visible()
            await first.bring_to_front()
            await expect(buttons[0]).to_have_attribute("aria-disabled", "false")
            await buttons[0].click()
            await mine.until(PermissionResolved)
            for page, button in zip((first, second), buttons, strict=True):
                await expect(page.locator("turnwire-session .request-over")).to_contain_text("Denied")
                await expect(button).to_have_count(0)
            wrong = await shown(served.base, mine.session, "x" * 40)
            await expect(wrong.locator("turnwire-session .refusal")).to_be_visible()
            assert await wrong.locator("turnwire-session textarea").count() == 0
            for page in (first, second, none, wrong):
                await page.close()
