"""The example page on the AI SDK's own `useChat`, in chromium: prompt, allow, deny, a question, a reload in the middle, two tabs."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from console_page import chromium, console
from example_page import build_page, page_served
from live import preloaded_running, scripted_setup

pytestmark = [pytest.mark.long, pytest.mark.node]

SCRIPT = """
turns:
  - match: "tests"
    steps:
      - thinking: "The tests first."
      - text: "I run the tests."
      - tool: Bash
        input: {command: "pytest -q"}
        permission: true
        result: "12 passed"
        structured: {stdout: "12 passed", stderr: "", interrupted: false}
      - text: "All 12 tests pass <b>now</b>."
  - match: "delete"
    steps:
      - tool: Bash
        input: {command: "rm -rf build"}
        permission: true
        result: gone
        on_deny:
          - text: "Then I leave it."
          - end: true
  - match: "ask"
    steps:
      - tool: AskUserQuestion
        input:
          questions:
            - question: "Which colour?"
              header: "Colour"
              multiSelect: false
              options:
                - {label: "Red", description: "warm"}
                - {label: "Blue", description: "cold"}
        permission: true
        result: "Blue it is"
      - text: "Thank you."
"""


async def test_a_page_on_use_chat(tmp_path: Path) -> None:
    built = await build_page("use_chat", tmp_path)
    setup = scripted_setup(tmp_path, "2.1.330", SCRIPT)
    async with (
        preloaded_running(tmp_path, setup) as (_, served),
        page_served("use_chat", served.url, built) as url,
        chromium() as browser,
        console(
            browser,
            url,
            width=900,
            height=900,
            allowed=(own := f"request to {url.partition('/page')[0]}/ai",),
        ) as page,
    ):
        prompt, root = page.get_by_label("Prompt"), page.locator("#root")

        await prompt.fill("Do the tests pass?")
        await prompt.press("Enter")
        await expect(root).to_contain_text("I run the tests.")
        await expect(root).to_contain_text("approval-requested")
        await page.reload()  # in the middle: the turn waits for its answer
        await expect(root).to_contain_text("I run the tests.")
        await page.get_by_role("button", name="Allow").click()
        await expect(root).to_contain_text("All 12 tests pass <b>now</b>.")
        await expect(root).to_contain_text("output-available")
        assert (await root.inner_text()).count("I run the tests.") == 1

        await prompt.fill("delete it")
        await prompt.press("Enter")
        await page.get_by_role("button", name="Deny").click()
        await expect(root).to_contain_text("Then I leave it.")
        await expect(root).to_contain_text("output-denied")

        async with console(browser, url, width=900, height=900, allowed=(own,)) as other:
            second = other.locator("#root")
            await expect(second).to_contain_text("Then I leave it.")
            await prompt.fill("ask me")
            await prompt.press("Enter")
            await page.get_by_role("button", name="Blue").click()
            await expect(root).to_contain_text("Thank you.")
            await other.reload()
            await expect(second).to_contain_text("Thank you.")
            assert await second.inner_text() == await root.inner_text()
