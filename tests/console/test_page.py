"""What one sees, types and touches, on a desk and on a phone."""

from typing import Any

import pytest
from hostile_content import shell
from playwright.async_api import Browser, expect

from console_page import console, go_to, violations
from console_states import empty_hub, entries, hub_harness, made, show
from turnwire.normalize.events import (
    AgentEvent,
    MessageChunk,
    SessionMode,
    ToolCall,
    ToolUpdate,
    TurnStarted,
    UserMessage,
)
from turnwire.normalize.payloads import ModifyFilePayload
from turnwire.normalize.payloads.files import ModifyFile, ModifyOutput, Mutation
from waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

TABLE = (
    "| name | what it is |\n|:--|--:|\n| a-long-word-that-fits | thirteen words " + "and more " * 9 + "|\n"
)
LINES = "".join(f"+line {n}\n" for n in range(1, 121))


def edit() -> list[ToolCall | ToolUpdate]:
    """A new file of 120 lines."""
    body = ModifyFile(
        file_path="/srv/project/src/greeting.py",
        mutations=[Mutation(type="create", diff=f"@@ -0,0 +1,120 @@\n{LINES}")],
        output=ModifyOutput(applied=True),
    )
    payload = ModifyFilePayload(modify_file=body)
    call = ToolCall(
        tool_call_id="t1", tool_name="Write", tool_title="Write", tool_status="running", normalized=payload
    )
    return [
        call,
        ToolUpdate(tool_call_id="t1", tool_name="Write", tool_status="complete", normalized=payload),
    ]


@pytest.mark.long
async def test_on_a_desk_nothing_that_was_written_or_attached_is_lost_or_broken(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        printed = "".join(f"line {number}\n" for number in range(5000))
        events: list[AgentEvent] = [
            UserMessage(text="hello\n" * 60),
            *shell("t2", "seq 5000", printed),
            *edit(),
            MessageChunk(text=TABLE, message_id="m"),
        ]
        await show(where, "work", made(events), workspace="/srv/project")
        async with console(browser, where.url) as page:
            field = page.get_by_role("textbox", name="Prompt")
            await expect(page.locator(".diff .number").first).to_be_visible()

            tall = await page.locator(".diff tr").evaluate_all(
                "rows => rows.filter(row => row.getBoundingClientRect().height > 24).map(row => row.innerText)"
            )
            assert tall == []
            head = page.locator(".card.tool .subject .path")
            assert await head.locator("bdi").all_inner_texts() == ["greeting.py", "src"]

            aligned = await page.locator(".prose td").evaluate_all(
                "cells => cells.map(cell => getComputedStyle(cell).textAlign.replace('-webkit-', ''))"
            )
            assert aligned == ["left", "right"]

            printed = await page.locator(".terminal").inner_text()
            assert printed.startswith("line 0\n")
            assert printed.rstrip().endswith("line 4999")
            assert "line 2500\n" not in printed

            await field.fill("half a sentence")
            await page.reload()
            await expect(field).to_have_value("half a sentence")

            files = [
                {"name": name, "mimeType": "text/plain", "buffer": name.encode()} for name in ("a", "b", "c")
            ]
            await page.locator("input[type=file]").set_input_files(files)  # type: ignore[arg-type]
            await expect(
                page.get_by_role("list", name="Attached files").get_by_role("listitem")
            ).to_have_count(3)

            await where.journal.append("work", made([TurnStarted(operation_id="turn-1", origin="user")]))
            later = page.get_by_label("When it is heard")
            await later.select_option("later")
            scroller = page.locator(".scroller[aria-label=Conversation]")
            await scroller.evaluate("node => node.scrollTo(0, 0)")
            await expect(page.get_by_role("button", name="To the end")).to_be_visible()
            await page.get_by_role("button", name="Send").click()
            await until(lambda: len(where.host.commands) == 1)
            sent = where.host.commands[0][0].model_dump()
            assert sent["priority"] == "later"
            assert [attached["name"] for attached in sent["attachments"]] == ["a", "b", "c"]
            await expect(page.get_by_role("button", name="To the end")).to_have_count(0)
            await expect(later).to_have_value("next")
            await expect(field).to_be_focused()

            await page.reload()
            await expect(field).to_be_visible()
            await page.keyboard.press("Tab")
            await page.keyboard.press("Enter")
            await expect(field).to_be_focused()


PHONE: dict[str, Any] = {"has_touch": True, "is_mobile": True}
SMALL = """() => [...document.querySelectorAll('button, select, input, textarea, .choice')]
  .filter(node => node.checkVisibility({ visibilityProperty: true }) && node.type !== 'radio' && node.type !== 'checkbox'
    && node.type !== 'file' && !node.classList.contains('skip'))
  .map(node => [node, node.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && (height < 43.5 || width < 43.5))
  .map(([node, { width, height }]) => `${node.outerHTML.slice(0, 90)} ${width}x${height}`)"""
LISTS = "\n\nwords\n\n".join("".join(f"{n}. step\n" for n in range(1, last + 1)) for last in (9, 120, 1001))
ROOM = """lists => lists.map(list => {
  const { paddingLeft, fontSize } = getComputedStyle(list);
  return `${Math.floor(parseFloat(paddingLeft) / parseFloat(fontSize))}em`;
})"""
NUMBERS = "| bytes | what it is |\n|--:|:--|\n| 1234567890 |" + " many words" * 60 + " |\n"
CUT_SHORT = """selects => selects.filter(select => {
  const context = document.createElement('canvas').getContext('2d');
  const { font, paddingLeft, paddingRight } = getComputedStyle(select);
  context.font = font;
  const text = context.measureText(select.selectedOptions[0].text).width;
  const arrow = 20;
  return text > select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrow;
}).map(select => `${select.ariaLabel} ${select.clientWidth}`)"""
LINES_OF = """node => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return new Set([...range.getClientRects()].map(({ top }) => top)).size;
}"""
"""Lines that a text is broken into."""
ZOOMED = """() => [...document.querySelectorAll('input, select, textarea')]
  .filter(node => parseFloat(getComputedStyle(node).fontSize) < 16).map(node => node.outerHTML.slice(0, 90))"""


@pytest.mark.long
async def test_on_a_phone_a_finger_hits_what_it_means(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        asked = entries("perm-allow-always", up_to="permission_request")
        await show(where, "asked", [*entries("tool-bash"), *asked], agent="demo", state="waiting", pending=1)
        await show(where, "question", entries("ask-denied", up_to="question_request"))
        await show(where, "table", made([MessageChunk(text=NUMBERS + "\n" + LISTS, message_id="m")]))
        async with console(browser, f"{where.url}&session=asked", width=390, height=844, **PHONE) as page:
            await expect(page.locator(".request")).to_be_visible()
            assert await page.evaluate(SMALL) == []
            assert await page.evaluate(ZOOMED) == []
            wide = "[document.documentElement.scrollWidth, document.querySelector('.composer').scrollWidth]"
            assert max(await page.evaluate(wide)) <= 390
            tools = await page.locator(".composer .tools").bounding_box()
            assert tools is not None
            assert tools["height"] < 60

            # What can be chosen while the agent works can be read.
            await expect(page.locator(".stop")).to_be_visible()
            await where.journal.append("asked", made([SessionMode(current_mode_id="bypassPermissions")]))
            await expect(page.locator(".mode-picker summary")).to_have_text("Ask nothing")
            assert await page.locator(".composer select:visible").evaluate_all(CUT_SHORT) == []

            field = page.get_by_role("textbox", name="Prompt")
            await field.tap()
            await page.keyboard.type("one")
            await page.keyboard.press("Enter")
            await page.keyboard.type("two")
            await expect(field).to_have_value("one\ntwo")
            assert where.host.commands == []
            await page.get_by_role("button", name="Send").tap()
            await until(lambda: len(where.host.commands) == 1)

            await page.get_by_role("button", name="Sessions").tap()
            assert await page.evaluate(SMALL) == []
            await page.get_by_role("button", name="Find").tap()
            await page.get_by_label("Session or action").fill("notify")
            await expect(page.get_by_role("option", name="Notify me")).to_be_visible()
            await page.get_by_label("Session or action").fill("")
            await page.keyboard.press("Escape")
            await page.locator(".session", has_text="question").tap()
            await expect(page.locator(".request legend").first).to_be_visible()
            assert await page.evaluate(SMALL) == []

            await go_to(page, "#/s/table")
            number = page.locator(".prose td").first
            await expect(number).to_be_visible()
            assert await number.evaluate(LINES_OF) == 1
            # Numbers of a list are as wide as the longest.
            assert await page.locator(".prose ol").evaluate_all(ROOM) == ["2em", "3em", "4em"]

            await page.keyboard.press("?")
            await expect(page.get_by_role("dialog").locator("kbd").first).to_be_visible()


@pytest.mark.parametrize(("width", "role"), [(1280, "control"), (390, "control"), (390, "view")])
@pytest.mark.long
async def test_a_page_without_sessions_says_how_to_begin(browser: Browser, width: int, role: Any) -> None:
    async with hub_harness(host=empty_hub()) as where:
        token = where.hub.tokens.view if role == "view" else where.token
        async with console(browser, f"{where.base}/#token={token}", width=width) as page:
            await expect(page.get_by_role("heading", name="No session yet")).to_be_visible()
            assert await violations(page) == []
            await page.get_by_role("button", name="All keys").click()
            await expect(page.get_by_role("dialog")).to_be_visible()
            await page.keyboard.press("Escape")
            begin = page.locator(".tour").get_by_role("button", name="New session")
            if role == "view":
                await expect(page.locator(".tour")).to_contain_text("you look on")
                await expect(begin).to_have_count(0)
            else:
                await begin.click()
                await expect(page.get_by_label("Folder", exact=True)).to_be_in_viewport()
            await show(where, "work", entries("text-thinking"))
            await expect(page.locator(".tour")).to_have_count(0)
            await expect(page.locator(".session-head h1")).to_have_text("work")
