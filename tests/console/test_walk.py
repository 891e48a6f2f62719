"""The whole way by the keyboard alone, from the prompt over a permission to the answer, at each size and in both themes.

axe is asked at each stop, and what decides must be in sight; nothing may be wider than the page.
"""

from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from console_page import Sidecar, console, violations

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

ASKS = """
fallback:
  steps:
    - text: "I make the file, as you say."
    - tool: Bash
      input: {command: "touch made.txt", description: "Make a file"}
      permission: true
      result: "made"
    - text: "All of {prompt} is done."
"""

STOPS = [
    (1440, 900, "light"),
    (1440, 900, "dark"),
    (1024, 768, "dark"),
    (768, 1024, "light"),
    (390, 844, "dark"),
    (320, 640, "light"),
]

HIDDEN = """() => [...document.querySelectorAll('.request h2, .request .title, .request [data-option], .request .code')]
  .filter(node => node.checkVisibility())
  .map(node => [node, node.getBoundingClientRect()])
  .filter(([node, { left, top, right, bottom }]) => {
    const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1 || !(node.contains(over) || over?.contains(node));
  }).map(([node]) => node.outerHTML.slice(0, 120))"""


async def looked_at(page: Page, where: str, width: int) -> list[str]:
    """What is wrong with the page as it is now."""
    wrong = [f"{where}: {complaint}" for complaint in await violations(page)]
    wide = await page.evaluate("document.documentElement.scrollWidth")
    return wrong + ([f"{where}: {wide} wide"] if wide > width else [])


async def test_from_prompt_to_permission_to_answer_by_the_keyboard_alone(
    browser: Browser, scripted: Sidecar
) -> None:
    wrong: list[str] = []
    async with scripted(ASKS) as served:
        for number, (width, height, scheme) in enumerate(STOPS):
            options: dict[str, Any] = {"width": width, "height": height, "scheme": scheme}
            async with console(browser, served.url, **options) as page:
                prompt = page.get_by_role("textbox", name="Prompt")
                here = f"{width} {scheme}"
                await expect(prompt).to_be_visible()
                await page.keyboard.press("Tab")
                await page.keyboard.press("Enter")
                await expect(prompt).to_be_focused()
                await page.keyboard.type(f"walk {number}")
                wrong += await looked_at(page, f"{here}, before", width)
                await page.keyboard.press("Enter")

                request = page.locator(".request")
                await expect(request).to_be_visible()
                # The focus stays in the field: the way to the request is a key of its own.
                await expect(prompt).to_be_focused()
                await page.keyboard.press("Alt+r")
                await expect(page.locator(".request-form")).to_be_focused()
                focused = await page.evaluate("performance.now()")
                await expect(page.locator("[data-option=allow_once]")).to_be_enabled()
                assert await page.evaluate(HIDDEN) == [], here
                wrong += await looked_at(page, f"{here}, asked", width)
                # no key answers before the keyboard was at rest for a while
                await page.wait_for_function("focused => performance.now() - focused > 450", arg=focused)
                await page.keyboard.press("1")

                await expect(page.get_by_text(f"All of walk {number} is done.", exact=True)).to_be_visible()
                await expect(request).to_have_count(0)
                # Who reads by ear is told, too.
                told = page.locator(".heard[role=status]", has_text=f"All of walk {number} is done.")
                await expect(told).to_have_count(1)
                await expect(prompt).to_be_focused()
                await expect(page.locator(".row", has_text="completed").last).to_be_visible()
                wrong += await looked_at(page, f"{here}, answered", width)

                await page.keyboard.press("Control+k")
                await expect(page.get_by_label("Session or action")).to_be_focused()
                await page.keyboard.type("changes")
                await page.keyboard.press("Enter")
                tab = page.get_by_role("tab", name="Changes")
                await expect(tab).to_have_attribute("aria-selected", "true")
                wrong += await looked_at(page, f"{here}, changes", width)
                await page.keyboard.press("Alt+i")
                await expect(tab).to_have_count(0)
                await page.keyboard.press("Alt+c")
                await expect(prompt).to_be_focused()
    assert wrong == []
