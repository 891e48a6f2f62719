"""axe finds nothing to complain of, in any state, dark or light, wide or narrow; and a keyboard is enough."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from console_page import console, go_to, screenshot, violations
from console_states import empty_hub, entries, hub_harness, made, show
from turnwire.normalize.events import AgentEvent, MessageChunk, ToolUpdate
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.work import ShellExec, ShellOutput
from waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

STATES = {
    "tool-write-edit": None,
    "tool-bash": None,
    "tool-glob-grep": None,
    "tool-read": None,
    "tool-tasks": None,
    "tool-web": None,
    "subagent-foreground": None,
    "text-thinking": None,
    "api-529-retry": None,
    "api-500": None,
    "slash-compact": None,
    "kill-midturn": None,
    "perm-allow-always": "permission_request",
    "ask-denied": "question_request",
    "plan-reject": "permission_request",
    "mcp-elicitation": "question_request",
}
"""Scenario, and the event at which it is stopped."""


LONG = pytest.mark.long

PICTURES = {("tool-write-edit", 1280, "dark"): "dark", ("perm-allow-always", 360, "light"): "narrow"}


def words_in_colour() -> list[AgentEvent]:
    """Headings that skip levels, and all colours that a terminal has, on grounds of all colours."""
    codes = [*range(30, 38), *range(90, 98), "38;5;208", "38;5;232", "38;5;231", "38;2;255;255;0"]
    grounds = ["7", *range(40, 48), "48;5;21", "48;5;226", "48;2;0;0;0"]
    output = "".join(f"\x1b[{code}mcolour\x1b[0m " for code in codes)
    output += "".join(f"\x1b[{code};{ground}mground\x1b[0m " for code in codes[::3] for ground in grounds)
    payload = ShellExecPayload(
        shell_exec=ShellExec(command="ls", output=ShellOutput(exit_code=0, stdout=output))
    )
    return [
        MessageChunk(text="#### Fourth\n\ntext\n\n# First\n\n###### Sixth\n\nשלום **עולם**", message_id="m"),
        ToolUpdate(tool_call_id="t", tool_name="Bash", tool_status="complete", normalized=payload),
    ]


@pytest.mark.long
@pytest.mark.node
@pytest.mark.parametrize(
    ("width", "scheme"),
    [(1280, "light"), (1280, "dark"), (360, "light")],
)
async def test_axe_finds_no_violation_in_any_state(
    browser: Browser, width: int, scheme: Any, tmp_path: Path, update_goldens: bool
) -> None:
    async with hub_harness(host=empty_hub()) as where:
        for scenario, up_to in STATES.items():
            await show(where, scenario, entries(scenario, up_to=up_to), agent="demo", total_cost_usd=0.05)
        await show(where, "words", made(words_in_colour()))
        async with console(browser, where.url, width=width, scheme=scheme) as page:
            found: dict[str, list[str]] = {}
            for scenario in (*STATES, "words"):
                await go_to(page, f"#/s/{scenario}")
                await expect(page.locator(".session-head h1")).to_have_text(scenario.replace("-", " "))
                await expect(page.locator(".row").first).to_be_visible()
                if (picture := PICTURES.get((scenario, width, scheme))) is not None:
                    await screenshot(page, picture, keep=update_goldens, folder=tmp_path)
                await page.evaluate(
                    "document.querySelectorAll('.row .fold-head[aria-expanded=false]').forEach(head => head.click())"
                )
                if complaints := await violations(page):
                    found[scenario] = complaints
            assert found == {}


@pytest.mark.long
@pytest.mark.node
@pytest.mark.parametrize("width", [1400, pytest.param(360, marks=LONG)])
async def test_axe_finds_no_violation_in_the_inspector_and_the_menus(browser: Browser, width: int) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "tool-write-edit", entries("tool-write-edit"))
        async with console(browser, where.url, width=width) as page:
            await expect(page.locator(".row").first).to_be_visible()
            found = await violations(page)
            await page.keyboard.press("Alt+i")
            for tab in ("Turn", "Events", "Session"):
                await page.get_by_role("tab", name=tab).click()
                found += await violations(page)
            await page.get_by_role("tab", name="Changes").click()
            await page.get_by_label("Layout of changes").select_option("split")
            await page.locator(".file .fold-head").first.click()
            await expect(page.locator(".file .diff").first).to_be_visible()
            found += await violations(page)
            await page.get_by_role("tab", name="Events").click()
            await page.locator(".event").last.click()
            await expect(page.get_by_role("heading", name="Line it came from")).to_be_visible()
            found += await violations(page)
            await page.get_by_role("button", name="Close the inspector").click()
            await page.keyboard.press("Control+k")
            await expect(page.locator(".modal [role=option]").first).to_be_visible()
            found += await violations(page)
            await page.keyboard.press("Escape")
            await page.get_by_role("textbox", name="Prompt").fill("/")
            found += await violations(page)
            if width < 400:
                await page.get_by_role("button", name="Sessions").click()
            await page.get_by_role("button", name="New session").click()
            found += await violations(page)
            assert found == []


async def test_a_permission_is_answered_with_the_keyboard_alone(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "ask", entries("perm-allow-always", up_to="permission_request"), state="waiting")
        async with console(browser, where.url) as page:
            await expect(page.locator("[data-option=reject_once]")).to_be_enabled()
            # the dialog says how it is given the keyboard, until it has it
            way = page.locator(".request").get_by_text("Keyboard: Alt R")
            await expect(way).to_be_visible()
            await page.keyboard.press("Alt+r")
            await expect(page.locator(".request-form")).to_be_focused()
            await expect(way).to_be_hidden()
            for _ in range(3):  # past what scrolls and the command, to the message
                await page.keyboard.press("Tab")
            await page.keyboard.type("no, thank you")
            await page.keyboard.press("Control+Enter")
            await until(lambda: len(where.host.commands) == 1)
            command, _ = where.host.commands[0]
            assert command.model_dump(exclude_none=True, exclude={"id"}) == {
                "type": "permission.respond",
                "session": "ask",
                "pending_id": command.model_dump()["pending_id"],
                "option_id": "reject_once",
                "message": "no, thank you",
                "interrupt": False,
            }


@pytest.mark.long
@pytest.mark.parametrize("width", [360, pytest.param(820, marks=LONG), pytest.param(1280, marks=LONG)])
async def test_nothing_is_wider_than_the_page(browser: Browser, width: int) -> None:
    async with hub_harness(host=empty_hub()) as where:
        for scenario, up_to in STATES.items():
            await show(where, scenario, entries(scenario, up_to=up_to))
        async with console(browser, where.url, width=width) as page:
            for scenario in STATES:
                await go_to(page, f"#/s/{scenario}")
                await expect(page.locator(".session-head h1")).to_have_text(scenario.replace("-", " "))
                await expect(page.locator(".row").first).to_be_visible()
                wide = await page.evaluate(
                    "[...document.querySelectorAll('.row, .composer, .session-head')]"
                    ".filter(node => node.scrollWidth > node.clientWidth + 1 && node.clientWidth)"
                    ".map(node => node.className + node.scrollWidth)"
                )
                assert wide == [], scenario
                assert await page.evaluate("document.documentElement.scrollWidth") <= width
