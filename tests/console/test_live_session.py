"""A person at the console, a live sidecar and the scripted agent: whole turns, dialogs, and what disturbs them."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from console_page import Sidecar, console, say, screenshot
from turnwire.client import connect
from turnwire.client.events import TurnStarted
from turnwire.client.frames import EventFrame
from turnwire.tracing.export.trace_ids import IdSequence
from turnwire_process import environment
from turnwire_process import preloaded_turnwire as turnwire

ECHO = """
fallback:
  steps:
    - text: "Echo of {prompt}."
"""

pytestmark = pytest.mark.asyncio(loop_scope="session")

ASKS = """
turns:
  - steps:
      - text: "I make the file."
      - tool: Bash
        input: {command: "touch made.txt", description: "Make a file"}
        permission: true
        result: "made"
        on_deny:
          - text: "Then I leave it."
      - text: "All is done."
"""

SLOW = """
turns:
  - steps:
      - text: "I think about it for long."
      - hang: true
  - steps:
      - text: "The second prompt said {prompt}."
fallback:
  steps:
    - text: "Echo of {prompt}."
"""


async def test_a_whole_turn_of_the_demo_is_shown_from_prompt_to_result(
    browser: Browser, tmp_path: Path, update_goldens: bool
) -> None:
    folder = tmp_path / "greeting"
    folder.mkdir()

    async def picture(name: str) -> None:
        await page.evaluate(
            "for (const node of document.querySelectorAll('.session-head .folder bdi')) node.firstChild.data = '/home/ada'"
        )
        await screenshot(page, name, keep=update_goldens, folder=tmp_path)

    async with (
        turnwire(folder, "run", "--agent", "demo") as served,
        console(browser, served.url) as page,
    ):
        await expect(page.locator(".session-head")).to_contain_text("scripted")
        await say(page, "Make the greeting friendlier")
        request = page.locator(".request")
        title = request.locator("header h2")
        await expect(title).to_have_text("May the agent run this command?")
        await expect(page).to_have_title("(1) Waits for you — Make the greeting friendlier")
        await picture("permission")
        await request.get_by_role("button", name="Allow", exact=False).first.click()
        await expect(title).to_have_text("The agent has a question")
        await picture("question")
        await request.get_by_label("Friendly").check()
        await request.get_by_role("button", name="Answer").click()
        await expect(title).to_have_text("The agent’s plan waits for your approval")
        await picture("plan")
        await request.get_by_role("button", name="Allow").click()
        await expect(
            page.locator(".answer", has_text="That is the end of the scripted turn.")
        ).to_be_visible()
        await expect(page.locator(".session-head")).to_contain_text("idle")
        await expect(page.locator(".session-head .meter")).to_be_visible()
        await expect(page.locator(".turn-end")).to_contain_text("completed")
        await expect(page.locator(".turn-end")).to_contain_text("1 file changed")
        await expect(page).to_have_title("Make the greeting friendlier — turnwire")
        await picture("conversation")
        await page.keyboard.press("Alt+i")
        await expect(page.locator(".spans li").first).to_be_visible()
        await picture("inspector")
        await page.locator(".spans .span.tool").first.click()
        await expect(page.get_by_role("heading", name="Line it came from")).to_be_visible()
        await expect(page.locator(".detail .pane").last).to_contain_text("tool_use")
        await picture("raw-line")
        await page.get_by_role("tab", name="Changes").click()
        await page.locator(".file .fold-head").first.click()
        await expect(page.locator(".file .diff")).to_be_visible()
        await picture("changes")


@pytest.mark.long
async def test_an_edited_command_is_what_the_agent_is_told_to_run(
    browser: Browser, scripted: Sidecar
) -> None:
    async with scripted(ASKS) as served, console(browser, served.url) as page:
        await say(page, "Make it")
        request = page.locator(".request")
        await request.get_by_role("button", name="Edit input").click()
        await request.get_by_role("textbox", name="Command").fill("touch made.txt other.txt")
        await expect(request.locator("[data-option=allow_once]")).to_be_enabled()
        await page.keyboard.press("Control+Enter")
        over = page.locator(".request-over")
        await expect(over).to_contain_text("Allowed")
        await expect(over).to_contain_text("by you")
        await over.get_by_text("Input as edited").click()
        await expect(over).to_contain_text("touch made.txt other.txt")
        card = page.locator(".card.tool")
        await expect(card).to_have_class(re.compile(r"\bgood\b"))
        await expect(card.locator(".fold-head .subject").first).to_have_text("touch made.txt other.txt")
        await expect(card).to_contain_text("edited before it ran")
        await expect(page.get_by_text("All is done.", exact=True)).to_be_visible()


@pytest.mark.long
async def test_of_a_very_long_prompt_the_direction_of_each_line_is_not_looked_for(
    browser: Browser, scripted: Sidecar
) -> None:
    async with (
        scripted(ECHO) as served,
        console(browser, f"{served.base}/#token={served.token}") as page,
    ):
        field = page.get_by_role("textbox", name="Prompt")
        await expect(field).to_have_attribute("dir", "auto")
        await field.focus()
        await page.keyboard.insert_text("word " * 20_000)
        await expect(field).not_to_have_attribute("dir", "auto")
        await field.fill("short")
        await expect(field).to_have_attribute("dir", "auto")


@pytest.mark.long
async def test_a_denial_carries_what_was_written_to_the_agent(browser: Browser, scripted: Sidecar) -> None:
    async with scripted(ASKS) as served, console(browser, served.url) as page:
        await say(page, "Make it")
        request = page.locator(".request")
        await request.get_by_label("A note for the agent").fill("Use another name")
        await request.get_by_role("button", name="Deny").first.click()
        await expect(page.locator(".request-over")).to_contain_text("Denied")
        await expect(page.locator(".request-over")).to_contain_text("Use another name")
        await expect(page.get_by_text("Then I leave it.", exact=True)).to_be_visible()
        await expect(page.locator(".card.tool")).to_contain_text("denied")


async def test_a_reload_in_the_middle_keeps_the_conversation_and_its_open_request(
    browser: Browser, scripted: Sidecar
) -> None:
    async with scripted(ASKS) as served, console(browser, served.url) as page:
        await say(page, "Make it")
        await expect(page.locator(".request")).to_be_visible()
        await page.reload()
        await expect(page.get_by_text("I make the file.", exact=True)).to_be_visible()
        await expect(page.locator(".request")).to_be_visible()
        assert "token" not in page.url
        await page.locator(".request").get_by_role("button", name="Allow").first.click()
        await expect(page.get_by_text("All is done.", exact=True)).to_be_visible()
        assert await page.get_by_text("I make the file.", exact=True).count() == 1


@pytest.mark.long
async def test_an_answer_in_one_tab_closes_the_dialog_in_the_other(
    browser: Browser, scripted: Sidecar
) -> None:
    async with (
        scripted(ASKS) as served,
        console(browser, served.url) as one,
        console(browser, served.url) as other,
    ):
        await say(one, "Make it")
        await expect(other.locator(".request")).to_be_visible()
        await one.locator(".request").get_by_role("button", name="Allow").first.click()
        await expect(other.locator(".request")).to_have_count(0)
        await expect(other.locator(".request-over")).to_contain_text("by another browser")
        await expect(one.locator(".request-over")).to_contain_text("by you")
        await expect(other.get_by_text("All is done.", exact=True)).to_be_visible()


@pytest.mark.long
async def test_who_may_only_watch_sees_all_and_steers_nothing(browser: Browser, scripted: Sidecar) -> None:
    async with (
        scripted(ASKS) as served,
        console(browser, served.url) as one,
        console(browser, served.view_url) as watcher,
    ):
        await say(one, "Make it")
        await expect(watcher.locator(".request")).to_contain_text("You may watch this session")
        await expect(watcher.locator(".composer")).to_contain_text("You are watching")
        assert await watcher.locator(".request-form").count() == 0


@pytest.mark.long
async def test_a_wrong_token_ends_at_the_door_and_a_right_one_opens_it(
    browser: Browser, scripted: Sidecar
) -> None:
    async with (
        scripted(ASKS) as served,
        # The refused login is told in the browser's own words, too.
        console(
            browser, f"{served.base}/#token=wrong-token-wrong-token", allowed=("Failed to load resource",)
        ) as page,
    ):
        await page.get_by_label("Access token").fill(served.token)
        await page.get_by_role("button", name="Open").click()
        await expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()


@pytest.mark.long
async def test_a_running_turn_can_be_stopped(browser: Browser, scripted: Sidecar) -> None:
    async with scripted(SLOW) as served, console(browser, served.url) as page:
        await say(page, "Think")
        await expect(page.get_by_text("I think about it for long.", exact=True)).to_be_visible()
        await page.get_by_role("button", name="Stop").click()
        await expect(page.locator(".turn-end")).to_contain_text("interrupted")


@pytest.mark.long
async def test_a_prompt_sent_while_the_agent_works_waits_in_sight_until_it_is_served(
    browser: Browser, scripted: Sidecar
) -> None:
    async with scripted(SLOW) as served, console(browser, served.url) as page:
        await say(page, "Think")
        await expect(page.get_by_text("I think about it for long.", exact=True)).to_be_visible()
        await page.get_by_label("When it is heard").select_option("later")
        await say(page, "to be heard later")
        queue = page.get_by_role("list", name="Waiting prompts")
        await expect(queue.get_by_role("listitem")).to_have_text(["waitsto be heard later"])
        await page.get_by_role("button", name="Stop").click()
        await page.get_by_role("button", name="Stop, and go on with what waits").click()
        await expect(
            page.get_by_text("The second prompt said to be heard later.", exact=True)
        ).to_be_visible()
        await expect(queue).to_have_count(0)


@pytest.mark.long
async def test_text_that_streams_moves_nothing_that_stands_above_it(
    browser: Browser, scripted: Sidecar
) -> None:
    words = "The quick brown fox jumps over the lazy dog. " * 40
    script = f'turns:\n  - steps:\n      - thinking: "{words}"\n        pace: 0.005\n      - text: "{words}"\n        pace: 0.005\n'
    async with scripted(script) as served, console(browser, served.url) as page:
        await say(page, "Tell me")
        said = page.locator(".user-text")
        await expect(said).to_be_visible()
        await page.evaluate(WATCH_JUMPS)
        await expect(page.locator(".turn-end")).to_contain_text("completed")
        assert await page.evaluate("window.jumps") == []


WATCH_JUMPS = """
  window.jumps = [];
  const known = new Map();
  const look = () => {
    // Growing at the end may scroll the whole list, but must not change the distance between rows above it.
    const rows = [...document.querySelectorAll('.item')];
    for (let i = 0; i + 2 < rows.length; i++) {
      const seq = rows[i].querySelector('[data-seq]')?.dataset.seq;
      const next = rows[i + 1].getBoundingClientRect().top - rows[i].getBoundingClientRect().top;
      if (known.has(seq) && Math.abs(known.get(seq) - next) > 1) window.jumps.push([seq, known.get(seq), next]);
      known.set(seq, next);
    }
    requestAnimationFrame(look);
  };
  look();
"""


@pytest.mark.long
async def test_an_image_that_is_pasted_is_shown_sent_and_part_of_the_prompt(
    browser: Browser, scripted: Sidecar
) -> None:
    async with scripted(SLOW) as served, console(browser, served.url) as page:
        await paste_image(page)
        await expect(page.get_by_role("list", name="Attached files").get_by_role("listitem")).to_have_count(1)
        await say(page, "What is this?")
        await expect(page.locator(".said img")).to_be_visible()
        assert await page.locator(".said img").evaluate("image => image.complete && image.naturalWidth") == 2


async def paste_image(page: Page) -> None:
    """Put a picture of two by two pixels on the clipboard's event, as pasting does."""
    await page.get_by_role("textbox", name="Prompt").focus()
    await page.evaluate(
        """async () => {
          const canvas = new OffscreenCanvas(2, 2);
          canvas.getContext('2d').fillRect(0, 0, 2, 2);
          const file = new File([await canvas.convertToBlob()], 'dot.png', { type: 'image/png' });
          const data = new DataTransfer();
          data.items.add(file);
          document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
        }"""
    )


@pytest.mark.long
async def test_what_was_written_before_comes_back_with_the_arrow_keys(
    browser: Browser, scripted: Sidecar
) -> None:
    async with (
        scripted("fallback:\n  steps:\n    - text: '{prompt}!'\nturns: []\n") as served,
        console(browser, served.url) as page,
    ):
        for text in ("first", "second"):
            await say(page, text)
            await expect(page.get_by_text(f"{text}!", exact=True)).to_be_visible()
        field = page.get_by_role("textbox", name="Prompt")
        await field.press("ArrowUp")
        await expect(field).to_have_value("second")
        await field.press("Home")
        await field.press("ArrowUp")
        await expect(field).to_have_value("first")


@pytest.mark.long
async def test_slash_commands_are_completed(browser: Browser, tmp_path: Path) -> None:
    async with turnwire(tmp_path, "run", "--agent", "demo") as served, console(browser, served.url) as page:
        await page.get_by_role("textbox", name="Prompt").press_sequentially("/com")
        options = page.get_by_role("listbox", name="Commands").get_by_role("option")
        await expect(options).to_have_count(1)
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("/compact ")


@pytest.mark.long
async def test_a_turn_links_to_its_trace(browser: Browser, tmp_path: Path) -> None:
    env = environment(tmp_path / "home", TURNWIRE_TRACE_URL="http://127.0.0.1:9/trace/{trace_id}")
    async with (
        turnwire(tmp_path, "run", "--agent", "demo", env=env) as served,
        console(browser, served.url) as page,
        connect(served.url) as client,
    ):
        await say(page, "/help")
        await expect(page.locator(".turn-end")).to_contain_text("completed")
        await page.keyboard.press("Alt+i")
        link = page.get_by_role("link", name="Trace of this turn")
        await expect(link).to_be_visible()

        session = client.known_sessions[0].session
        line = ""
        async for frame in client.follow(session):
            if isinstance(frame, EventFrame):
                line = (await client.payload(session, frame.seq)).raw or line
                if isinstance(frame.event, TurnStarted):
                    break
        expected = IdSequence(b"\0".join([session.encode(), b"turn-1", line.encode()])).trace_id
        await expect(link).to_have_attribute("href", f"http://127.0.0.1:9/trace/{expected:032x}")
