"""Every view of the console, for walks through all of them: how it is opened, and what is wrong with it at each size."""

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Literal

from playwright.async_api import Page, expect

from console_page import say, violations

SCRIPT = """
fallback:
  steps:
    - text: "A table:\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |\\n\\nand `code`."
    - tool: Write
      input: {file_path: "notes/a-rather-long-name-of-a-file.md", content: "one\\ntwo\\n"}
      result: "written"
    - tool: Bash
      input: {command: "touch made.txt", description: "Make a file"}
      permission: true
      result: "made"
    - text: "All is done."
"""

SIDEWAYS = """() => {
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
  // What holds code, tables and terminals scrolls by itself; nothing else is to.
  const scrolls = 'pre, .pane, .pane *, .code, .table, table, .shell-terminal, .shell-terminal *, input, textarea, select, .heard, .formula';
  // A list of rows tells no width: what is too wide in it is cut off at the edge of the window.
  const clips = node => getComputedStyle(node).overflowX !== 'visible';
  const beyond = node => {
    const { left, right, width } = node.getBoundingClientRect();
    if (width === 0 || (left >= -1 && right <= innerWidth + 1)) return false;
    for (let above = node; above && !above.matches('.scroller, body'); above = above.parentElement) if (clips(above)) return false;
    return true;
  };
  for (const node of document.querySelectorAll('body *')) {
    if (node.closest('svg') || node.matches(scrolls) || node.closest('.shell-terminal') || !node.checkVisibility({ visibilityProperty: true })) continue;
    const { overflowX, textOverflow } = getComputedStyle(node);
    if ((overflowX === 'auto' || overflowX === 'scroll') && textOverflow !== 'ellipsis' && node.scrollWidth > node.clientWidth + 1)
      wrong.push(`scrolls sideways: ${node.outerHTML.slice(0, 100)}`);
    if (beyond(node) && !beyond(node.parentElement)) wrong.push(`beyond the edge: ${node.outerHTML.slice(0, 100)}`);
  }
  return wrong;
}"""

REACH = """wanted => {
  const wrong = [];
  const buttons = [...document.querySelectorAll(wanted)].filter(node => node.checkVisibility());
  if (buttons.length === 0) wrong.push(`nothing to reach: ${wanted}`);
  for (const node of buttons) {
    const name = `${node.getAttribute('aria-label') ?? node.textContent}: ${node.outerHTML.slice(0, 80)}`;
    node.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
    const { left, top, right, bottom } = node.getBoundingClientRect();
    const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (!node.contains(over)) wrong.push(`covered by ${over?.outerHTML.slice(0, 80)}: ${name}`);
    // Scrolling ends at a whole pixel.
    if (left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1)
      wrong.push(`out of the window, at ${[left, top, right, bottom].map(Math.round)}: ${name}`);
    for (let above = node.parentElement; above; above = above.parentElement) {
      const here = above.className || above.tagName;
      if (above.scrollLeft > 0) wrong.push(`reached by scrolling ${here} sideways: ${name}`);
      // A person cannot scroll there; what asked for the place can.
      if (above.scrollTop > 0 && /hidden|clip/.test(getComputedStyle(above).overflowY)) {
        wrong.push(`cut off by ${here}: ${name}`);
        above.scrollTop = 0;
      }
    }
  }
  return wrong;
}"""
"""Finds buttons that cannot be pressed even where they have been scrolled to."""

SEND = ".composer .send"
"""What has to be within reach where no dialog covers the prompt."""


Scheme = Literal["light", "dark"]
SIZES = [(1440, 900), (1024, 768), (768, 1024), (390, 844), (320, 640)]
"""Width and height of the windows, in pixels."""
COLOURED = {1440, 390}
"""Widths at which axe looks at every theme. At the others themes differ in nothing but colours, so the first is enough."""


async def at_each_size(
    page: Page, view: str, sizes: Sequence[tuple[int, int]], schemes: Sequence[Scheme], reach: str = ""
) -> list[str]:
    """What is wrong with a view at any size, in any theme; the window has the first size afterwards.

    reach: a selector of the buttons that decide; each of them must be within reach at each size.
    """
    wrong: list[str] = []
    for width, height in sizes:
        await page.set_viewport_size({"width": width, "height": height})
        for scheme in schemes:
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert await page.evaluate(
                "scheme => matchMedia(`(prefers-color-scheme: ${scheme})`).matches", scheme
            )
            await page.evaluate(
                "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            here = f"{view}, {width} {scheme}"
            if scheme == schemes[0] or width in COLOURED:
                wrong += [f"{here}: {one}" for one in await violations(page)]
            wrong += [f"{here}: {one}" for one in await page.evaluate(SIDEWAYS)]
            if folder := os.environ.get("TURNWIRE_TEST_PICTURES"):
                name = f"{view.replace(' ', '-')}-{width}-{scheme}.png"
                await page.screenshot(path=Path(folder) / name)
        if reach:
            wrong += [f"{view}, {width}: {one}" for one in await page.evaluate(REACH, reach)]
    await page.set_viewport_size({"width": sizes[0][0], "height": sizes[0][1]})
    return wrong


def tab(name: str) -> Callable[[Page], Awaitable[None]]:
    async def show(page: Page) -> None:
        await page.get_by_role("tab", name=name, exact=True).click()
        await expect(page.get_by_role("tab", name=name, exact=True)).to_have_attribute(
            "aria-selected", "true"
        )

    return show


async def file_opened(page: Page) -> None:
    await tab("Files")(page)
    await page.locator(".workspace-files").get_by_role("button", name="script.yaml").click()
    await expect(page.locator(".viewer td.line").first).to_be_visible()


async def shell_opened(page: Page) -> None:
    await page.get_by_role("button", name="Open a shell here").click()
    await expect(page.get_by_text("Alt C leads back")).to_be_visible()


async def event_opened(page: Page) -> None:
    await tab("Events")(page)
    await page.locator(".event").first.click()
    await expect(page.locator(".detail")).to_be_visible()


def dialog(command: str) -> Callable[[Page], Awaitable[None]]:
    async def show(page: Page) -> None:
        await page.keyboard.press("Control+k")
        await expect(page.get_by_label("Session or action")).to_be_focused()
        if command:
            await page.keyboard.type(command)
            await page.keyboard.press("Enter")
            await expect(page.get_by_label("Session or action")).to_have_count(0)
            await expect(page.get_by_role("dialog")).to_be_visible()

    return show


async def found(page: Page) -> None:
    await page.get_by_role("textbox", name="Prompt").focus()
    await page.keyboard.press("Alt+f")
    await page.keyboard.type("code")
    await expect(page.locator(".find-bar")).to_be_visible()


INSPECTOR: dict[str, Callable[[Page], Awaitable[None]]] = {
    "changes": tab("Changes"),
    "files": tab("Files"),
    "a file": file_opened,
    "shell": tab("Shell"),
    "an open shell": shell_opened,
    "turn": tab("Turn"),
    "an event": event_opened,
    "session": tab("Session"),
}

DIALOGS = {
    "palette": dialog(""),
    "new session": dialog("New session"),
    "phone": dialog("Open on a phone"),
    "keys": dialog("Keys"),
}


async def every_view(page: Page, sizes: Sequence[tuple[int, int]], schemes: Sequence[Scheme]) -> list[str]:
    """Walk through every view of a sidecar on `SCRIPT`; returns what is wrong with any of them."""
    wrong: list[str] = []

    async def look(view: str, reach: str = SEND) -> list[str]:
        return await at_each_size(page, view, sizes, schemes, reach)

    await expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()
    wrong += await look("a new session")
    await say(page, "Make a file with a table")
    await expect(page.locator(".request")).to_be_visible()
    wrong += await look("a permission", f"{SEND}, .request-foot button")
    await expect(page.locator("[data-option=allow_once]")).to_be_enabled()
    await page.locator("[data-option=allow_once]").click()
    await expect(page.get_by_text("All is done.", exact=True)).to_be_visible()
    wrong += await look("an answer")
    await found(page)
    wrong += await look("find")
    await page.keyboard.press("Escape")
    for view, show in DIALOGS.items():
        await show(page)
        wrong += await look(view, "dialog :is(button, input)")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.get_by_role("button", name="Inspector", exact=True).click()
    for view, show in INSPECTOR.items():
        await show(page)
        wrong += await look(view, "[role=tab], .inspector > header button")
    await page.get_by_role("button", name="Close the inspector").click()
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.get_by_role("button", name="Sessions", exact=True).click()
    await expect(page.locator(".page.menu-open")).to_be_visible()
    wrong += await look("the menu", ".sidebar button")
    for view in ("history", "usage"):
        await page.evaluate("view => { location.hash = `#/${view}` }", view)
        await expect(page.get_by_role("heading", name=view.title(), exact=True).first).to_be_visible()
        wrong += await look(view, "main :is(button, input, select, a)")
    return wrong
