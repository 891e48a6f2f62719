"""The console in Debian's firefox-esr: each view in both themes, a request answered by mouse, a reload, a cut line."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Page, expect

from console_decisions import at_rest
from console_dialogs import every_dialog, put_into
from console_page import Sidecar, console, firefox, firefox_path, say, violations
from console_states import empty_hub, hub_harness
from console_views import SCRIPT, every_view
from cut_line import line_to
from live import Frontend
from turnwire.client import connect
from turnwire.client.events import MessageChunk, PermissionResolved

pytestmark = pytest.mark.asyncio(loop_scope="session")

SIZES = [(1440, 900), (390, 844)]
LOST = "exception: Firefox can’t establish a connection"
"""How Firefox's own message begins when a connection cannot be made."""

ASIDE = """() => {
  const scroller = document.querySelector('.scroller[aria-label=Conversation]');
  if (scroller.scrollHeight <= scroller.clientHeight || scroller.offsetWidth === scroller.clientWidth) throw new Error('no scrollbar');
  const [one, other] = ['.scroller .row', '.composer'].map(name => document.querySelector(name).getBoundingClientRect());
  return Math.abs(one.left + one.right - other.left - other.right) / 2;
}"""
"""How many pixels the middle of the conversation is from that of the prompt field, while a scrollbar takes room."""

WORKS = """
turns:
  - steps:
      - text: "I make the file."
      - tool: Bash
        input: {command: "touch made.txt", description: "Make a file"}
        permission: true
        result: "made"
      - text: "It is made."
  - steps:
      - text: "One."
      - wait: 0
        until: two
      - text: "Two."
      - wait: 0
        until: three
      - text: "Three."
fallback:
  steps:
    - text: "Echo of {prompt}."
"""


async def test_a_missing_firefox_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FileNotFoundError, match="firefox-esr is not installed: run `make system`"):
        firefox_path()


@pytest.mark.long
@pytest.mark.node
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_view_wide_and_narrow(
    scripted: Sidecar, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    async with (
        firefox(tmp_path / "firefox", scheme) as browser,
        scripted(SCRIPT) as served,
        console(browser, served.url, scheme=scheme, width=1440, height=900) as page,
    ):
        assert await every_view(page, SIZES, [scheme]) == []
        async with hub_harness(host=empty_hub()) as where:
            await put_into(where)
            async with console(browser, where.url, scheme=scheme) as asked:
                assert await every_dialog(asked, SIZES, [scheme]) == []


async def said(page: Page, *words: str) -> None:
    """Wait until the agent's words of the whole conversation are these, each of them once."""
    await expect(page.locator(".answer .prose")).to_have_text(list(words))


@pytest.mark.long
@pytest.mark.node
async def test_a_person_prompts_answers_by_mouse_reloads_and_loses_the_line(
    scripted: Sidecar, tmp_path: Path
) -> None:
    async with (
        firefox(tmp_path / "firefox", "light") as browser,
        scripted(WORKS) as served,
        line_to(served.base) as (line, base),
        console(browser, f"{base}/#token={served.token}&session={served.session}", allowed=(LOST,)) as page,
        connect(served.url) as client,
    ):
        outside = Frontend(client, served.session)
        await expect(page).to_have_url(f"{base}/#/s/{served.session}")
        assert served.token not in await page.evaluate("JSON.stringify([{ ...localStorage }, location.href])")
        await say(page, "Make a file")
        await expect(page.locator(".request")).to_contain_text("touch made.txt")

        # A reload while the agent waits: the request is still there, and nothing is doubled.
        await page.reload()
        await expect(page.locator(".request")).to_have_count(1)
        await expect(page.locator(".request")).to_contain_text("touch made.txt")
        await said(page, "I make the file.")
        await at_rest(page.locator("[data-option=allow_once]"))
        answered = await outside.until(PermissionResolved)
        assert (answered.option_id, answered.behavior) == ("allow_once", "allow")
        await said(page, "I make the file.", "It is made.")
        await expect(page.locator(".request")).to_have_count(0)

        # The conversation scrolls in a low window, and stays in line with what stands below it.
        await page.set_viewport_size({"width": 1280, "height": 420})
        assert await page.evaluate(ASIDE) <= 1
        await page.set_viewport_size({"width": 1280, "height": 800})

        # The line is cut in the middle of a turn.
        await say(page, "Count")
        await said(page, "I make the file.", "It is made.", "One.")
        line.cut()
        await expect(page.locator(".connection")).to_contain_text("The connection is lost")
        assert await violations(page) == []
        (tmp_path / "greeting" / "two").touch()
        await outside.until(MessageChunk, lambda chunk: "Two." in outside.text())
        line.mend()
        await said(page, "I make the file.", "It is made.", "One.", "Two.")
        await expect(page.locator(".connection")).to_have_count(0)

        # The machine itself is offline for a while.
        await page.context.set_offline(True)
        line.cut()
        await expect(page.locator(".connection")).to_contain_text("The connection is lost")
        (tmp_path / "greeting" / "three").touch()
        await outside.until(MessageChunk, lambda chunk: "Three." in outside.text())
        line.mend()
        await page.context.set_offline(False)
        await said(page, "I make the file.", "It is made.", "One.", "Two.", "Three.")
        await expect(page.locator(".said")).to_have_text(["Make a file", "Count"])

        # And a reload of it all shows the same.
        await page.reload()
        await said(page, "I make the file.", "It is made.", "One.", "Two.", "Three.")
        await expect(page.locator(".said")).to_have_text(["Make a file", "Count"])

        # A second session is begun in the dialog, and the first is found again in the list.
        await page.get_by_role("button", name="New session").click()
        await page.get_by_label("First prompt").fill("Make another file")
        await page.get_by_role("button", name="Start", exact=True).click()
        await expect(page.locator(".request")).to_contain_text("touch made.txt")
        await said(page, "I make the file.")
        await expect(page.locator(".said")).to_have_text(["Make another file"])
        await at_rest(page.locator("[data-option=reject_once]"))
        await expect(page.locator(".request")).to_have_count(0)
        await page.get_by_role("navigation", name="Sessions").get_by_role("link", name="Make a file").click()
        await said(page, "I make the file.", "It is made.", "One.", "Two.", "Three.")
