"""What a person types as text decides nothing: a request has the keyboard only once somebody gave it to it."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import chain

import pytest
from playwright.async_api import Browser, Page, expect

from console_decisions import OPTIONS, PAUSES, armed, command, given, own_clock, session
from console_dialogs import REQUESTS
from console_page import console, go_to
from console_states import HubHarness, empty_hub, entries, hub_harness, made, show
from turnwire.normalize.events import AgentEvent, PermissionRequest, PermissionResolved
from turnwire.normalize.payloads import ShowPlanPayload
from turnwire.normalize.payloads.work import ShowPlan
from waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

SENTENCES = (
    ["1", ".", " ", "f", "i", "x", "Enter"],
    ["2", " ", "m", "o", "r", "e", "Control+Enter"],
    ["e", "x", "p", "l", "a", "i", "n", "Control+Enter", "Enter", " "],
    ["y", "Enter", "n", "Enter", "a", "d", "3", "9", "0", "Meta+Enter"],
)
EACH_ONCE = ["1", " ", "Enter", "e", "x", "2", "y", "Control+Enter"]
"""The kinds of keys of all of them."""


async def nothing_decided(
    page: Page, where: HubHarness, before: int = 0, keys: Sequence[str] = tuple(chain(*SENTENCES))
) -> None:
    """Type into the page and fail if any of it reaches the hub, opens the edit, or is taken for a choice."""
    await page.evaluate(PAUSES)
    for key in keys:
        await page.keyboard.press(key)
    # what a key had sent would come before this
    await page.evaluate("() => new Promise((done) => setTimeout(done))")
    assert [one["type"] for one in given(where)[before:]] == []
    await expect(page.locator(".request .edit")).to_have_count(0)
    await expect(page.locator(".request :is(:checked:not(option))")).to_have_count(0)


async def resolved(where: HubHarness, pending: str) -> None:
    await where.journal.append("asked", made([PermissionResolved(pending_id=pending, behavior="allow")]))


async def test_text_typed_into_a_page_that_was_just_opened_or_loaded_again_decides_nothing(
    browser: Browser,
) -> None:
    async with session(browser, command("a")) as (where, page):
        for _ in range(2):
            allow = page.locator("[data-option=allow_once]")
            await armed(allow)
            # the person has not moved anywhere, and a screen reader hears of it all the same
            assert await page.evaluate("document.activeElement === document.body")
            await expect(page.locator("[aria-live=assertive]")).to_have_text(
                "May the agent run this command?"
            )
            await nothing_decided(page, where)
            await page.reload()
        await armed(page.locator("[data-option=allow_once]"))
        await page.keyboard.press("Alt+r")
        await own_clock(page)
        await page.evaluate("window.rest(2000)")
        await page.keyboard.press("1")
        await until(lambda: len(given(where)) == 1)
        assert given(where)[0]["option_id"] == "allow_once"


async def by_mouse(page: Page) -> None:
    await page.locator("[data-option=allow_once]").click()


async def by_digit(page: Page) -> None:
    await page.keyboard.press("Alt+r")
    # longer than a key has to wait; the looks go on in real time
    await page.evaluate("() => new Promise((done) => setTimeout(done, 500))")
    await page.keyboard.press("1")


async def by_enter(page: Page) -> None:
    await page.locator("[data-option=allow_once]").press("Enter")


async def by_note(page: Page) -> None:
    note = page.get_by_label("A note for the agent")
    await note.fill("no")
    await note.press("Control+Enter")


@pytest.mark.long
@pytest.mark.parametrize("answer", [by_mouse, by_digit, by_enter, by_note])
async def test_text_typed_after_one_request_was_answered_decides_nothing_of_the_next(
    browser: Browser, answer: Callable[[Page], Awaitable[None]]
) -> None:
    async with session(browser, command("a"), command("b", "rm -rf build")) as (where, page):
        await armed(page.locator("[data-option=allow_once]"))
        await answer(page)
        await until(lambda: len(given(where)) == 1)
        await resolved(where, "a")
        await expect(page.locator(".request[data-pending=b]")).to_be_visible()
        await armed(page.locator("[data-option=allow_once]"))
        await nothing_decided(page, where, before=1)
        # the keyboard is not lost: the next Tab is in the dialog
        await page.keyboard.press("Tab")
        assert await page.locator(".dock").evaluate("node => node.contains(document.activeElement)")


async def in_the_form(page: Page) -> None:
    await page.keyboard.press("Alt+r")


async def in_the_note(page: Page) -> None:
    await page.get_by_label("A note for the agent").fill("because")


async def step_by_click(page: Page) -> None:
    await page.get_by_role("button", name="The next request").click()


@pytest.mark.long
@pytest.mark.parametrize("there", [in_the_form, in_the_note])
async def test_text_typed_after_somebody_else_answered_decides_nothing_of_the_next(
    browser: Browser, there: Callable[[Page], Awaitable[None]]
) -> None:
    async with session(browser, command("a"), command("b", "rm -rf build")) as (where, page):
        await armed(page.locator("[data-option=allow_once]"))
        await there(page)
        await resolved(where, "a")
        await expect(page.locator(".request[data-pending=b]")).to_be_visible()
        await armed(page.locator("[data-option=allow_once]"))
        await nothing_decided(page, where)


@pytest.mark.long
async def test_text_typed_after_a_look_at_the_next_request_or_at_what_is_remembered_decides_nothing(
    browser: Browser,
) -> None:
    async with session(browser, command("a"), command("b", "rm -rf build")) as (where, page):
        await page.get_by_role("button", name="The next request").click()
        await expect(page.get_by_role("button", name="The next request")).to_be_focused()
        await page.get_by_role("button", name="Always …").click()
        await page.get_by_role("button", name="Back", exact=True).click()
        await expect(page.locator(".request-body")).to_be_focused()
        await armed(page.locator("[data-option=allow_once]"))
        await nothing_decided(page, where)
        await page.locator(".request h2").click()
        await nothing_decided(page, where)
        await page.locator(".request .code").click()
        await nothing_decided(page, where)


@pytest.mark.long
async def test_text_typed_after_another_session_was_chosen_decides_nothing(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "calm", entries("tool-bash"))
        await show(where, "asked", [*entries("tool-bash"), *made([command("a")])])
        async with console(browser, f"{where.url}&session=calm") as page:
            await expect(page.locator(".row").first).to_be_visible()
            await go_to(page, "#/s/asked")
            await armed(page.locator("[data-option=allow_once]"))
            await nothing_decided(page, where)
            await go_to(page, "#/s/calm")
            await expect(page.locator(".request")).to_have_count(0)
            # by the mouse, as most go there
            await page.locator(".session", has_text="asked").click()
            await page.evaluate("document.activeElement.blur()")
            await expect(page.locator(".request")).to_be_visible()
            await nothing_decided(page, where)


PLAN = PermissionRequest(
    pending_id="short",
    tool_name="ExitPlanMode",
    permission_title="Plan",
    permission_options=[OPTIONS[0], OPTIONS[-1]],
    action_type="other",
    normalized=ShowPlanPayload(show_plan=ShowPlan(operation="exit", plan="1. Look\n2. Change")),
)
KINDS: dict[str, list[AgentEvent]] = {**REQUESTS, "a plan of entries": [PLAN]}


@pytest.mark.long
async def test_text_typed_when_any_kind_of_request_appears_decides_nothing(browser: Browser) -> None:
    async with session(browser) as (where, page):
        for name, events in KINDS.items():
            await page.evaluate("document.activeElement.blur()")
            await where.journal.append("asked", made(events))
            request = page.locator(".request")
            await expect(request, name).to_be_visible()
            await expect(page.locator(".request-foot [aria-disabled=false]").first, name).to_be_visible()
            await nothing_decided(page, where, keys=EACH_ONCE)
            pending = await request.get_attribute("data-pending")
            assert pending is not None
            await resolved(where, pending)
            await expect(request, name).to_have_count(0)


@pytest.mark.long
async def test_a_request_leaves_the_prompt_the_focus_and_all_that_is_typed(browser: Browser) -> None:
    async with session(browser) as (where, page):
        prompt = page.get_by_role("textbox", name="Prompt")
        await prompt.press("1")
        await where.journal.append("asked", made([command("a"), command("b")]))
        await armed(page.locator("[data-option=allow_once]"))
        await page.keyboard.type(". fix 2 e")
        await expect(prompt).to_have_value("1. fix 2 e")
        await expect(prompt).to_be_focused()
        await resolved(where, "a")
        await expect(page.locator(".request[data-pending=b]")).to_be_visible()
        await expect(prompt).to_be_focused()
        assert given(where) == []
