"""The console at the hub of a fleet: the machine of a new session, sessions that cannot be reached, and a prompt that is sent again."""

import asyncio
from collections.abc import Sequence

import pytest
from hub_harness import SESSION, StubHost, hub_harness
from msgspec.structs import replace
from playwright.async_api import Browser, expect
from pydantic import JsonValue

from console_page import LOST, console, say
from cut_line import line_to
from turnwire.hub.wire.frames import AnyCommand, Prompt, SessionCreate
from turnwire.hub.wire.frames_out import WorkerChoice
from waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]


class Machines:
    """A fleet of two workers."""

    tag = "0a1b2c3d"

    def workers(self) -> Sequence[WorkerChoice]:
        return [
            WorkerChoice(worker="build-1", labels=["gpu"], agents=["claude"]),
            WorkerChoice(worker="build-2", labels=["big", "gpu"], agents=["claude"]),
        ]


async def test_a_session_is_begun_where_one_says_and_one_that_cannot_be_reached_says_so(
    browser: Browser,
) -> None:
    host = StubHost()
    host.choices = []
    host.summaries = [replace(host.summaries[0], state="unreachable", worker="build-1")]
    async with hub_harness(host=host, fleet=Machines()) as hub, console(browser, hub.url) as page:
        await expect(page.locator(".session")).to_contain_text("unreachable")
        await page.locator(".session").click()
        await expect(page.locator(".session-head")).to_contain_text("unreachable")
        await page.locator(".sidebar").get_by_role("button", name="New session").click()
        machine = page.get_by_label("Machine")
        choices = ["The one with most room", "build-1", "build-2", "big", "gpu"]
        await expect(machine.locator("option")).to_have_text(choices)
        await machine.select_option("big")
        await page.get_by_role("button", name="Start").click()
        await until(lambda: any(isinstance(command, SessionCreate) for command, _ in host.commands))
    (made,) = [command for command, _ in host.commands if isinstance(command, SessionCreate)]
    assert made.worker == "big"
    assert len(made.id) == 36, "a UUID: sent again, it is the same"


async def test_a_prompt_whose_reply_was_lost_is_sent_again_as_the_same_and_one_that_was_edited_is_another(
    browser: Browser,
) -> None:
    host, prompts = StubHost(), list[Prompt]()

    async def prompt(command: AnyCommand) -> JsonValue:
        assert isinstance(command, Prompt)
        prompts.append(command)
        if len(prompts) in {1, 3}:
            await asyncio.Event().wait()
        return {"prompt": "uuid"}

    host.handlers["prompt"] = prompt
    async with (
        hub_harness(host=host, fleet=Machines()) as hub,
        line_to(hub.base) as (line, base),
        console(browser, f"{base}/#token={hub.token}&session={SESSION}", allowed=(LOST,)) as page,
    ):
        field = page.get_by_role("textbox", name="Prompt")
        for count in (1, 3):
            await say(page, "go on")
            await until(lambda count=count: len(prompts) == count)  # type: ignore[misc]  # bound here
            line.cut()
            # It is written there again, for what came of it is not known.
            await expect(field).to_have_value("go on")
            line.mend()
            await expect(page.locator(".connection")).to_have_count(0)
            if count == 3:
                await field.fill("go on, please")
            await page.get_by_role("button", name="Send").click()
            await until(lambda count=count: len(prompts) == count + 1)  # type: ignore[misc]  # bound here
            await expect(field).to_have_value("")
    first, again, second, edited = (command.id for command in prompts)
    assert first == again
    assert len({first, second, edited}) == 3
