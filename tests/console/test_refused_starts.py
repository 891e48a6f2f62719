"""A session that is refused says why in its dialog, at the field that is wrong, in words of the page."""

import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, expect
from pydantic import JsonValue

from agent_process import agent_command
from console_decisions import given
from console_page import console, violations, wire_words
from console_states import empty_hub, entries, hub_harness, show
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import AnyCommand
from turnwire_process import preloaded_turnwire as turnwire
from waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

GREETS = """
fallback:
  steps:
    - text: "Hello."
"""


async def open_dialog(page: Page) -> None:
    await page.locator(".sidebar").get_by_role("button", name="New session").click()
    await expect(page.get_by_role("dialog", name="New session")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_folder_and_a_mode_that_are_not_allowed_are_told_at_their_fields(
    browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    folder = tmp_path / "greeting"
    folder.mkdir()
    (folder / "script.yaml").write_text(GREETS)
    options = ("--policy", "supervised")
    async with (
        turnwire(folder, "run", *options, "--", *agent_command(folder / "script.yaml")) as served,
        console(browser, served.url, scheme=scheme) as page,
    ):
        await expect(page.locator(".composer")).to_be_visible()
        await open_dialog(page)
        dialog = page.get_by_role("dialog", name="New session")
        start = dialog.get_by_role("button", name="Start")
        place, wrong = dialog.get_by_label("Folder", exact=True), dialog.get_by_role("alert")
        await dialog.get_by_label("First prompt").fill("Mend it")
        await place.fill("/etc")
        await start.click()
        await expect(wrong).to_contain_text("Sessions may not work in this folder.")
        await expect(place).to_be_focused()
        await expect(place).to_have_attribute("aria-invalid", "true")
        await expect(place).to_have_accessible_description(re.compile("may not work in this folder"))
        # below the field, in sight, and nowhere behind the dialog
        await expect(wrong).to_be_in_viewport(ratio=1)
        below = await wrong.evaluate(
            "node => node.getBoundingClientRect().top - document.activeElement.getBoundingClientRect().bottom"
        )
        assert 0 <= below < 20
        await expect(page.locator(".toast")).to_have_count(0)
        assert await wire_words(page) == []
        assert await violations(page) == []
        # what is written anew is not wrong yet
        await place.fill("")
        await expect(wrong).to_have_count(0)
        await dialog.get_by_text("Model, mode, policy").click()
        await dialog.get_by_label("Permission mode").select_option("bypassPermissions")
        await dialog.get_by_label("I want this").check()
        # folded away before it is refused
        await dialog.get_by_text("Model, mode, policy").click()
        await start.click()
        await expect(wrong).to_contain_text("lets the agent act without asking, which is not allowed here")
        await expect(dialog.get_by_label("Permission mode")).to_be_focused()
        await expect(wrong).to_be_in_viewport(ratio=1)
        assert await wire_words(page) == []
        await dialog.get_by_label("Permission mode").select_option("")
        await start.click()
        await expect(dialog).to_have_count(0)
        await expect(page.locator(".row", has_text="Mend it").first).to_be_visible()


REFUSED: dict[str, tuple[CommandRefused, str]] = {
    "a policy": (CommandRefused("not_allowed", "looser", "policy"), "Choose a stricter one."),
    "a part of a field": (
        CommandRefused("refused_by_git", "The branch x is there already.", "worktree.branch"),
        "x is there already",
    ),
    "a field that the dialog has not": (
        CommandRefused("not_allowed", "frontends choose no env", "env"),
        "frontends choose no env",
    ),
    "no field": (
        CommandRefused("limit_sessions", "There are 9 sessions already.", None),
        "There are 9 sessions already.",
    ),
}


async def test_every_refusal_is_told_in_the_dialog_and_what_was_written_stays(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "asked", entries("tool-bash"))
        async with console(browser, where.url) as page:
            await open_dialog(page)
            await page.get_by_label("First prompt").fill("Mend it")
            for number, (name, (refusal, words)) in enumerate(REFUSED.items()):

                async def refuse(_: AnyCommand, refusal: CommandRefused = refusal) -> JsonValue:
                    raise refusal

                where.host.handlers["session.create"] = refuse
                await page.get_by_role("button", name="Start").click()
                await until(lambda: len(given(where)) == number + 1)  # noqa: B023  # awaited here
                await expect(page.get_by_role("dialog").get_by_role("alert"), name).to_contain_text(words)
                await expect(page.get_by_role("dialog").get_by_role("alert"), name).to_be_in_viewport(ratio=1)
                await expect(page.locator(".toast"), name).to_have_count(0)
            await expect(page.get_by_label("First prompt")).to_have_value("Mend it")
