"""A phone on its side, one whose keyboard is open, and a small one: what is asked can be read and answered there."""

from typing import Any, Literal

import pytest
from msgspec.structs import replace
from playwright.async_api import Browser, expect

from console_decisions import OPTIONS, armed, command, given, in_sight, session
from console_dialogs import REQUESTS
from console_page import console, violations
from console_states import empty_hub, entries, hub_harness, made, show
from turnwire.normalize.events import PermissionRequest, PermissionResolved, SessionMode
from turnwire.normalize.payloads import ModifyFilePayload
from turnwire.normalize.payloads.files import ModifyFile, Mutation
from waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

SIZES = [(844, 390), (390, 450), (320, 568)]
"""Pixels: on its side, with the keyboard open, and a small one."""

TOUCHED: dict[str, Any] = {"has_touch": True, "is_mobile": True}
STOP = replace(OPTIONS[-1], option_id="reject_and_stop", name="Reject and stop")


def asked(text: str) -> PermissionRequest:
    """Ask for a command, with as many answers as agents offer."""
    return replace(command("a", text), permission_options=[*OPTIONS, STOP])


SHORT: dict[str, PermissionRequest] = {
    "one line": asked("npm publish"),
    "three lines": asked("git add -A\ngit commit -m x\ngit push --force"),
    "a line of 120 characters": asked("tar " + "--exclude=node_modules " * 5),
    "a file": PermissionRequest(
        pending_id="a",
        permission_title="Write src/shop/components/greeting_component.py",
        permission_options=OPTIONS,
        action_type="file_write",
        tool_name="Write",
        normalized=ModifyFilePayload(
            modify_file=ModifyFile(
                file_path="/home/ada/greeting/src/shop/components/greeting_component.py",
                mutations=[Mutation(type="create", content="print('hello')\n")],
            )
        ),
    ),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_a_short_request_is_allowed_where_there_is_little_room(
    browser: Browser, width: int, height: int, scheme: Literal["light", "dark"]
) -> None:
    async with hub_harness(host=empty_hub()) as where:
        for name, request in SHORT.items():
            log = [*made([SessionMode(current_mode_id="default")]), *entries("tool-bash"), *made([request])]
            await show(where, name, log, state="running")
        for number, name in enumerate(SHORT):
            address = f"{where.url}&session={name}"
            async with console(
                browser, address, width=width, height=height, scheme=scheme, **TOUCHED
            ) as page:
                allow, prompt = (
                    page.locator("[data-option=allow_once]"),
                    page.get_by_role("textbox", name="Prompt"),
                )
                if number % 2 == 1:
                    # the keyboard is open because somebody writes
                    await prompt.fill("and then " * 20)
                await armed(allow)
                await expect(page.locator(".unseen"), name).to_have_count(0)
                await in_sight(
                    page, page.locator(".request h2"), page.locator("[data-option=reject_once]"), prompt
                )
                await in_sight(page, *([page.locator(".request-body .code")] if "line" in name else []))
                assert await violations(page) == []
                box = await allow.bounding_box()
                assert box is not None
                await page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
                await until(lambda: len(given(where)) == number + 1)  # noqa: B023  # awaited here
                assert given(where)[-1]["option_id"] == "allow_once"
                resolution = PermissionResolved(pending_id="a", behavior="allow")
                await where.journal.append(name, made([resolution]))
                # the prompt has its tools again, and what was written
                await expect(page.get_by_role("button", name="Attach files")).to_be_visible()
                await expect(prompt).to_have_value("and then " * 20 if number % 2 == 1 else "")


async def test_a_keyboard_that_lies_over_the_page_leaves_a_request_in_sight(browser: Browser) -> None:
    async with session(browser, asked("npm publish"), width=390, height=844) as (where, page):
        # as the page is told by the browser of a phone
        await page.evaluate("document.documentElement.style.setProperty('--seen', '450px')")
        allow = page.locator("[data-option=allow_once]")
        await armed(allow)
        for one in (page.locator(".request-body .code"), allow, page.get_by_role("textbox", name="Prompt")):
            await in_sight(page, one)
            assert await one.evaluate("node => node.getBoundingClientRect().bottom <= 450")
        await allow.click()
        await until(lambda: len(given(where)) == 1)


MANY = "\n".join(f"echo {number}" for number in range(60)) + "\nrm -rf ~/work"


@pytest.mark.parametrize(("width", "height"), [*SIZES, (320, 450)])
async def test_a_long_request_is_read_to_its_end_where_there_is_little_room(
    browser: Browser, width: int, height: int
) -> None:
    async with session(browser, asked(MANY), width=width, height=height) as (where, page):
        allow = page.locator("[data-option=allow_once]")
        to_end = page.get_by_role("button", name="Go to the end")
        await armed(
            page.locator("[data-option=reject_once]"), page.get_by_role("button", name="Allow unseen")
        )
        await in_sight(page, allow, to_end, page.get_by_role("button", name="Allow unseen"))
        await expect(allow).to_be_disabled()
        await to_end.click()
        await expect(page.locator(".unseen")).to_have_count(0)
        await armed(allow)
        await in_sight(page, allow)
        await allow.click()
        await until(lambda: len(given(where)) == 1)


async def test_a_look_at_what_decides_does_not_lay_out_the_page_anew(browser: Browser) -> None:
    async with session(browser, *REQUESTS["a plan"]) as (_, page):
        await armed(page.locator("[data-option=reject_once]"))
        devtools = await page.context.new_cdp_session(page)
        await devtools.send("Performance.enable")

        async def layouts() -> int:
            told = await devtools.send("Performance.getMetrics")
            return next(int(one["value"]) for one in told["metrics"] if one["name"] == "LayoutCount")

        before = await layouts()
        await page.evaluate(
            "() => { for (let x = 0; x < 100; x += 1) document.elementFromPoint(400 + x, 640); }"
        )
        assert await layouts() - before < 100
