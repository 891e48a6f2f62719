"""The example page on AG-UI's own client, in chromium: a person prompts, allows, and comes back."""

import os
from pathlib import Path

import pytest
from playwright.async_api import expect

from console_page import chromium, console
from example_page import build_page, page_served
from live import preloaded_running, scripted_setup

pytestmark = [pytest.mark.long, pytest.mark.node]

SCRIPT = """
fallback:
  steps:
    - thinking: "The tests first, then the rest."
    - tool: TodoWrite
      input:
        todos:
          - {content: "Run the tests", status: in_progress, activeForm: "Running the tests"}
          - {content: "Mend what fails", status: pending, activeForm: "Mending what fails"}
      result: "Todos have been modified"
    - text: "I run the tests."
    - tool: Bash
      input: {command: "pytest -q", description: "Run the tests"}
      permission: true
      result: "12 passed"
      structured: {stdout: "12 passed", stderr: "", interrupted: false}
    - text: "All 12 tests pass <b>now</b>."
"""


async def test_a_person_prompts_allows_and_comes_back(tmp_path: Path) -> None:
    built = await build_page("agui", tmp_path)
    setup = scripted_setup(tmp_path, "2.1.330", SCRIPT)
    async with (
        preloaded_running(tmp_path, setup) as (_, served),
        page_served("agui", served.url, built) as url,
        chromium() as browser,
        # what it asks beside its own files is of its own origin
        console(
            browser, url, width=900, height=560, allowed=(f"request to {url.partition('/page')[0]}/agui/",)
        ) as page,
    ):
        await page.get_by_label("Message").fill("Do the tests pass?")
        await page.get_by_role("button", name="Send").click()
        asks = page.get_by_role("alertdialog")
        await expect(asks).to_contain_text("pytest -q")
        if folder := os.environ.get("TURNWIRE_SCREENSHOTS"):
            await page.screenshot(path=Path(folder) / "agui.png")
        await asks.get_by_role("button", name="Allow", exact=True).click()
        messages = page.locator("#messages")
        await expect(messages).to_contain_text("All 12 tests pass <b>now</b>.")
        await expect(messages).to_contain_text("12 passed")
        await expect(page.locator("#todos li")).to_have_count(2)
        await expect(page.locator("#session")).to_contain_text(served.session)
        shown = await messages.inner_text()
        await page.reload()
        await expect(messages).to_contain_text("All 12 tests pass")
        assert await messages.inner_text() == shown
