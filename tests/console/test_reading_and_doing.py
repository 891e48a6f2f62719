"""What a reader does: finds, copies, comments on several lines; and what becomes of prompts that wait."""

from collections.abc import Sequence
from uuid import uuid4

import pytest
from playwright.async_api import Browser, FilePayload, expect
from pydantic import JsonValue

from console_decisions import given
from console_page import console, violations
from console_states import HubHarness, empty_hub, entries, hub_harness, made, show
from turnwire.hub.wire.frames import AnyCommand, Prompt, PromptWithdraw
from turnwire.normalize.events import (
    AgentEvent,
    MessageChunk,
    Queued,
    ToolUpdate,
    TurnStarted,
    UserMessage,
    Withdrawn,
)
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.work import ShellExec, ShellOutput
from waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]


def command(number: int, text: str) -> ToolUpdate:
    """A command that went well."""
    output = ShellOutput(exit_code=0, stdout=f"\x1b[32moutput {number}\x1b[0m\n")
    payload = ShellExecPayload(shell_exec=ShellExec(command=text, output=output))
    return ToolUpdate(tool_call_id=f"c{number}", tool_name="Bash", tool_status="complete", normalized=payload)


def long_conversation() -> list[AgentEvent]:
    """Hundreds of answers, and commands that fold far above their end."""
    commands = [command(number, f"step {number}") for number in range(3)]
    answers = [
        MessageChunk(text=f"Answer {number}\n\nmore", message_id=f"m{number}") for number in range(400)
    ]
    return [MessageChunk(text="First", message_id="m"), *commands, *answers]


async def test_words_are_found_where_nothing_is_drawn_and_what_is_read_can_be_copied(
    browser: Browser,
) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "long", made(long_conversation()))
        async with console(browser, where.url, permissions=["clipboard-read", "clipboard-write"]) as page:
            await expect(page.get_by_text("Answer 399")).to_be_visible()
            await page.keyboard.press("Alt+f")
            await page.keyboard.type("output 1")
            await expect(page.locator(".find-bar [role=status]")).to_have_text("1 of 1 place")
            found = page.locator(".row.found")
            await expect(found).to_be_in_viewport()
            await expect(found).to_contain_text("step 1")
            await expect(page.get_by_label("Find in this conversation")).to_be_focused()
            assert await violations(page) == []
            copy = found.get_by_role("button", name="Copy standard output")
            await copy.focus()
            await copy.press("Enter")
            await expect(found.get_by_role("button", name="Copied")).to_be_visible()
            assert await page.evaluate("navigator.clipboard.readText()") == "output 1\n"
            await page.get_by_label("Find in this conversation").fill("answer 39")
            await expect(page.locator(".find-bar [role=status]")).to_have_text("11 of 11 places")
            await page.get_by_label("Find in this conversation").press("Enter")
            await expect(page.locator(".find-bar [role=status]")).to_have_text("10 of 11 places")
            await expect(found).to_contain_text("Answer 398")
            await page.keyboard.press("Escape")
            await expect(page.locator(".find-bar")).to_have_count(0)


async def test_a_comment_is_about_all_lines_between_two_clicks(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "change", entries("tool-write-edit"))
        async with console(browser, where.url) as page:
            lines = page.locator(".diff.remarkable", has=page.locator("tr.removed")).last
            numbers = (
                page.locator(".diff.remarkable tr.removed").filter(has_text="y = 2").locator("[data-line]")
            )
            await expect(lines).to_be_visible()
            first = (
                page.locator(".diff.remarkable tr.removed").filter(has_text="x = 1").locator("[data-line]")
            )
            await first.first.click()
            await expect(page.locator(".remark-form")).to_be_visible()
            await numbers.first.click(modifiers=["Shift"])
            field = page.locator(".remark-form textarea")
            await field.fill("Why both?")
            await field.press("Control+Enter")
            await page.get_by_role("textbox", name="Prompt").press("Enter")
            await until(lambda: len(given(where)) == 1)
            (sent,) = given(where)
            assert "new.py:1-2 (before the change)\n> x = 1\n> y = 2\nWhy both?" in sent["text"]


class Waiting:
    """A hub whose agent works while prompts wait for it."""

    def __init__(self, where: HubHarness, texts: Sequence[str]) -> None:
        self.where = where
        self.queue = {str(uuid4()): text for text in texts}
        self.files: dict[str, list[str | None]] = {}
        where.host.handlers |= {"prompt.withdraw": self.withdraw, "prompt": self.prompt}

    def events(self) -> list[AgentEvent]:
        said = [event for uuid, text in self.queue.items() for event in self.waits(uuid, text)]
        return [
            TurnStarted(operation_id="t", origin="user"),
            MessageChunk(text="Working", message_id="m"),
            *said,
        ]

    def waits(self, uuid: str, text: str) -> list[AgentEvent]:
        return [Queued(prompt=uuid, position=1), UserMessage(text=text, uuid=uuid)]

    async def withdraw(self, command: AnyCommand) -> JsonValue:
        assert isinstance(command, PromptWithdraw)
        waited = self.queue.pop(command.prompt, None) is not None
        await self.where.journal.append("busy", made([Withdrawn(prompt=command.prompt)]))
        return {"withdrawn": waited}

    async def prompt(self, command: AnyCommand) -> JsonValue:
        assert isinstance(command, Prompt)
        uuid = str(uuid4())
        self.queue[uuid] = command.text
        self.files[command.text] = [one.name for one in command.attachments or ()]
        await self.where.journal.append("busy", made(self.waits(uuid, command.text)))
        return {"prompt": uuid}


async def test_waiting_prompts_are_reordered_changed_and_taken_back_before_a_stop(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        waiting = Waiting(where, ["one", "two", "three"])
        await show(where, "busy", made(waiting.events()), state="running")
        async with console(browser, where.url) as page:
            texts = page.locator(".queue .queued-text")
            field = page.get_by_role("textbox", name="Prompt")
            await expect(texts).to_have_text(["one", "two", "three"])
            # What was attached goes with its prompt, also when that is said again or changed.
            picture = FilePayload(name="map.png", mimeType="image/png", buffer=b"x")
            await page.locator("input[type=file]").set_input_files([picture])
            await field.fill("four")
            await field.press("Enter")
            await expect(texts).to_have_text(["one", "two", "three", "four"])
            await page.get_by_role("button", name="Have this one heard first").last.click()
            await expect(texts).to_have_text(["four", "one", "two", "three"])
            waiting.files.clear()
            await page.get_by_role("button", name="Have this one heard first").last.click()
            await expect(texts).to_have_text(["three", "four", "one", "two"])
            assert waiting.files == {"four": ["map.png"], "one": [], "two": []}
            await page.get_by_role("button", name="Change this prompt").nth(1).click()
            await expect(field).to_have_value("four")
            await expect(page.locator(".composer")).to_contain_text("map.png")
            await page.get_by_role("button", name="Remove map.png").click()
            await field.fill("")
            await expect(texts).to_have_text(["three", "one", "two"])
            assert list(waiting.queue.values()) == ["three", "one", "two"]

            await field.fill("half a thought")
            await page.get_by_role("button", name="Change this prompt").nth(1).click()
            await expect(texts).to_have_text(["three", "two"])
            await expect(field).to_have_value("one\n\nhalf a thought")
            await field.fill("")

            # Stop asks first, and a press on Escape stops nothing.
            await field.press("Escape")
            dialog = page.get_by_role("dialog", name="Stop the turn")
            await expect(dialog).to_contain_text("2 prompts wait")
            assert await violations(page) == []
            assert [one["type"] for one in given(where)].count("interrupt") == 0
            await dialog.get_by_role("button", name="Stop, and take them back").click()
            await expect(field).to_have_value("three\n\ntwo")
            await until(lambda: given(where)[-1]["type"] == "interrupt")
            assert waiting.queue == {}


async def test_a_port_of_the_sandbox_is_opened_in_a_page_that_does_not_know_the_console(
    browser: Browser,
) -> None:
    async with hub_harness(host=empty_hub()) as where:
        is_open = False

        async def ports(_: AnyCommand) -> JsonValue:
            return {"ports": [{"port": 5173, "open": is_open}]}

        async def opened(_: AnyCommand) -> JsonValue:
            nonlocal is_open
            is_open = True
            return {"url": where.url.partition("#")[0] + "healthz", "port": 1, "path": "/"}

        where.host.handlers |= {"port.list": ports, "port.open": opened}
        said: list[AgentEvent] = [MessageChunk(text="It runs", message_id="m")]
        await show(where, "served", made(said), state="idle", sandbox="network")
        async with console(browser, where.url, width=1600) as page:
            await page.get_by_role("button", name="Inspector", exact=True).click()
            await page.get_by_role("tab", name="Session").click()
            assert await violations(page) == []
            async with page.expect_popup() as popup:
                await page.get_by_role("button", name="Open port 5173").click()
            other = await popup.value
            await other.wait_for_url("**/healthz")
            assert await other.evaluate("window.opener") is None
            await expect(page.get_by_role("button", name="Close it to browsers")).to_be_visible()
            assert [one["type"] for one in given(where)].count("port.open") == 1
