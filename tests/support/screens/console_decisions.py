"""Sessions in which something is asked, to be decided on in a page; and what of it reaches the hub."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, Locator, Page, expect

from console_page import console
from console_states import HubHarness, empty_hub, entries, hub_harness, made, show
from turnwire.normalize.claude.requests.options import options
from turnwire.normalize.events import AgentEvent, PermissionRequest
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.work import ShellExec

RULE = "Bash(npm publish *)"
OPTIONS = [
    option
    for option in options(
        [
            {
                "type": "addRules",
                "rules": [
                    {"toolName": "Bash", "ruleContent": "npm publish *"},
                    {"toolName": "Bash", "ruleContent": "npm *"},
                ],
                "behavior": "allow",
                "destination": "localSettings",
            }
        ]
    )
    if option.option_id != "reject_interrupt"
]


def command(pending_id: str, text: str = "npm publish", **more: Any) -> PermissionRequest:
    return PermissionRequest(
        pending_id=pending_id,
        permission_title=text.partition("\n")[0],
        permission_options=OPTIONS,
        action_type="command",
        normalized=ShellExecPayload(shell_exec=ShellExec(command=text)),
        tool_input={"command": text, **more},
    )


@asynccontextmanager
async def session(
    browser: Browser, *requests: AgentEvent, width: int = 1280, height: int = 800
) -> AsyncIterator[tuple[HubHarness, Page]]:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "asked", [*entries("tool-bash"), *made(requests)], workspace="/home/ada/greeting")
        touched: dict[str, Any] = {"has_touch": True, "is_mobile": True} if width < 500 else {}
        async with console(browser, where.url, width=width, height=height, **touched) as page:
            await expect(page.locator(".request" if requests else ".row").first).to_be_visible()
            yield where, page


def given(where: HubHarness) -> list[dict[str, Any]]:
    """The commands that reached the hub, but for those that only read."""
    return [
        one.model_dump(exclude_defaults=True)
        for one, _ in where.host.commands
        if not one.type.startswith(("library.", "workspace.", "worktree.list"))
    ]


OWN_CLOCK = """() => {
  let now = performance.now();
  performance.now = () => now;
  window.rest = (milliseconds) => { now += milliseconds; };
}"""
TENTH = """async () => {
  window.rest(100);
  await new Promise((done) => setTimeout(done, 150));
}"""
"""A tenth of a second on the page's own clock, in which a control looks where it stands."""

SECOND = f"async () => {{ for (let tenth = 0; tenth < 7; tenth += 1) await ({TENTH})(); }}"


PAUSES = """() => {
  if (window.pauses) return;
  window.pauses = true;
  const clock = performance.now.bind(performance);
  let later = 0;
  performance.now = () => clock() + later;
  addEventListener('keydown', () => { later += 2000; }, true);
}"""
"""A pause before each key that is long enough for a key to count, on a clock that goes on."""


async def own_clock(page: Page) -> None:
    """Stop the page's clock: no control becomes armed until it is told to go on, however slow the machine is."""
    await page.evaluate(OWN_CLOCK)


async def pass_the_second(page: Page) -> None:
    """Let its clock go on for longer than a deciding control must stand still, with looks all the while."""
    await page.evaluate(SECOND)


async def armed(*controls: Locator) -> None:
    for control in controls:
        await expect(control).to_be_enabled()


async def at_rest(control: Locator) -> None:
    """Click on what decides, where the browser has scrolled it to, once it has stood there for its second."""
    await control.hover()
    # the looks at where it stands now come before this
    await control.evaluate("() => new Promise((done) => setTimeout(done, 250))")
    await armed(control)
    box = await control.bounding_box()
    assert box is not None
    await control.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


async def in_sight(page: Page, *wanted: Locator) -> None:
    """Fail unless all of each is on the screen, and not below something else."""
    for one in wanted:
        await expect(one).to_be_visible()
        assert await one.evaluate(
            """node => {
              const { left, top, right, bottom } = node.getBoundingClientRect();
              const [x, y] = [(left + right) / 2, (top + bottom) / 2];
              const over = document.elementFromPoint(x, y);
              return left >= 0 && top >= 0 && right <= innerWidth + 1 && bottom <= innerHeight + 1
                && (node.contains(over) || over.contains(node));
            }"""
        ), await one.evaluate("node => node.outerHTML.slice(0, 200)")
