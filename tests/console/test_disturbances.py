"""What disturbs a console: a connection that is cut, another session, a recording that is played."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from agent_process import agent_command
from console_page import LOST, Sidecar, console, say
from cut_line import line_to
from live import Frontend
from recordings import FIXTURES
from turnwire.client import connect
from turnwire.client.events import MessageChunk
from turnwire_process import preloaded_turnwire as turnwire

pytestmark = pytest.mark.asyncio(loop_scope="session")

COUNTS = """
turns:
  - steps:
      - text: "One."
      - wait: 0
        until: two
      - text: "Two."
      - wait: 0
        until: three
      - text: "Three."
fallback:
  steps:
    - text: "Echo of {prompt}."
"""


MOVING = """() => document.getAnimations()
  .filter(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().iterations === Infinity).length"""
"""How many things go on pulsing."""

COVERED = """() => {
  const { left, top, right, bottom } = document.querySelector('.stop').getBoundingClientRect();
  return document.elementFromPoint((left + right) / 2, (top + bottom) / 2).closest('.stop') === null;
}"""


async def test_a_cut_line_is_told_and_nothing_is_lost_or_said_twice_once_it_is_mended(
    browser: Browser, scripted: Sidecar, tmp_path: Path
) -> None:
    async with (
        scripted(COUNTS) as served,
        line_to(served.base) as (line, base),
        console(browser, f"{base}/#token={served.token}", allowed=(LOST,)) as page,
        connect(served.url) as client,
    ):
        meanwhile = Frontend(client, served.session)
        await page.emulate_media(reduced_motion="no-preference")
        await say(page, "Count")
        await expect(page.get_by_text("One.", exact=True)).to_be_visible()
        assert await page.evaluate(MOVING) > 0
        line.cut()
        await expect(page.locator(".connection")).to_contain_text("The connection is lost")
        await expect(page.get_by_text("One.", exact=True)).to_be_visible()
        assert await page.evaluate(MOVING) == 0
        (tmp_path / "greeting" / "two").touch()
        await meanwhile.until(MessageChunk, lambda chunk: "Two." in meanwhile.text())
        line.mend()
        await expect(page.get_by_text("Two.", exact=True)).to_be_visible()
        (tmp_path / "greeting" / "three").touch()
        await expect(page.get_by_text("Three.", exact=True)).to_be_visible()
        await expect(page.locator(".turn-end")).to_contain_text("completed")
        await expect(page.locator(".answer .prose")).to_have_text(["One.", "Two.", "Three."])
        await expect(page.locator(".connection")).to_have_count(0)


@pytest.mark.long
async def test_a_prompt_that_could_not_be_sent_stays_in_the_field(
    browser: Browser, scripted: Sidecar
) -> None:
    async with (
        scripted(COUNTS) as served,
        line_to(served.base) as (line, base),
        console(browser, f"{base}/#token={served.token}", allowed=(LOST,)) as page,
    ):
        field = page.get_by_role("textbox", name="Prompt")
        await expect(field).to_be_visible()
        await say(page, "Count")
        await expect(page.get_by_role("button", name="Stop")).to_be_visible()
        line.cut()
        await expect(page.locator(".connection")).to_be_visible()
        await say(page, "Do not lose this")
        await expect(page.get_by_role("alert")).to_contain_text("There is no connection")
        await expect(field).to_have_value("Do not lose this")
        for width, height in ((1440, 900), (1280, 720), (390, 844)):
            await page.set_viewport_size({"width": width, "height": height})
            assert not await page.evaluate(COVERED), width


@pytest.mark.long
async def test_sessions_are_started_and_switched_between(browser: Browser, tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("fallback: {steps: [{text: 'Echo of {prompt}.'}]}")
    (tmp_path / "turnwire.toml").write_text(
        f'agent = "scripted"\n[agents]\nscripted = {agent_command(script)!r}\n'.replace("'", '"')
    )
    for name in ("red", "blue"):
        (tmp_path / name).mkdir()
    async with turnwire(tmp_path, "serve") as served, console(browser, served.url) as page:
        sessions = page.get_by_role("navigation", name="Sessions").locator(".session")
        for name in ("red", "blue"):
            await page.locator(".sidebar").get_by_role("button", name="New session").click()
            await page.get_by_label("First prompt").fill(f"I am {name}")
            await page.get_by_label("Folder", exact=True).fill(str(tmp_path / name))
            await page.get_by_role("button", name="Start").click()
            await expect(page.locator(".session-head h1")).to_have_text(f"I am {name}")
            await expect(page.locator(".user-text")).to_have_text(f"I am {name}")
        await expect(sessions).to_have_count(2)
        await sessions.filter(has_text="red").click()
        await expect(page.locator(".user-text")).to_have_text("I am red")
        await expect(page.locator(".turn-end")).to_contain_text("completed")
        await page.go_back()
        await expect(page.locator(".user-text")).to_have_text("I am blue")


@pytest.mark.long
async def test_a_recording_is_played_paused_and_sought(browser: Browser, tmp_path: Path) -> None:
    recording = FIXTURES / "2.1.330" / "partial-messages"
    async with (
        turnwire(tmp_path, "replay", str(recording), "--serve", "--speed", "0.5", stdout_lines=1) as served,
        console(browser, served.url) as page,
    ):
        bar = page.get_by_role("group", name="Replay")
        await expect(bar).to_be_visible()
        await expect(page.locator(".composer")).to_have_count(0)
        await bar.get_by_role("button", name="Pause").click()
        await expect(bar.get_by_role("button", name="Play")).to_be_visible()
        await bar.get_by_label("Position").fill("1000")
        await expect(page.locator(".percent")).to_have_text("100 %")
        await expect(page.locator(".turn-end").first).to_contain_text("completed")
        # Nobody is there to be told anything, also at its end.
        await expect(page.locator(".session-head")).to_contain_text("ended")
        await page.keyboard.press("Alt+i")
        await page.get_by_role("tab", name="Session").click()
        offered = page.locator(".page").get_by_role(
            "button", name=re.compile("Resume|Fork|Retry|Close$|Delete|Rename")
        )
        await expect(page.get_by_role("button", name="Export as HTML")).to_be_visible()
        await expect(offered).to_have_count(0)
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("option", name="Changes")).to_be_visible()
        await expect(page.get_by_text("New session")).to_have_count(0)


DIES = """
turns:
  - steps:
      - tool: Task
        input: {prompt: "", description: "Build", subagent_type: builder}
        steps:
          - crash: SIGKILL
"""


@pytest.mark.long
async def test_a_crash_is_told_once_and_by_no_empty_box(browser: Browser, scripted: Sidecar) -> None:
    async with scripted(DIES) as served, console(browser, served.url) as page:
        await say(page, "Build it")
        conversation = page.locator(".scroller[aria-label=Conversation]")
        await expect(conversation.locator(".bar.bad")).to_have_text(
            "The agent's process ended by SIGKILL before the turn did."
        )
        await expect(conversation.locator(".card.tool .badge")).to_have_text("the agent exited")
        await expect(conversation.get_by_text("ended")).to_have_count(1)
        await conversation.locator(".card.tool .fold-head").click()
        await expect(conversation.locator(".card.tool .pane")).to_have_count(0)
        await expect(conversation.get_by_text("ended")).to_have_count(1)
        await expect(page.get_by_role("button", name="Resume")).to_be_visible()
