"""A prompt whose reply was lost with the line: it is said once, and the field shows no more of it once it has arrived."""

import json
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser, WebSocketRoute, expect

from console_page import LOST, Sidecar, console, say
from cut_line import line_to
from live import Frontend
from turnwire.client import connect
from turnwire.client.events import UserMessage

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

SCRIPT = "fallback: {steps: [{text: 'Echo of {prompt}.'}]}"


@dataclass
class Deafness:
    """What of a hub's frames does not reach the page."""

    after_prompt: bool = False
    """All, from when the page has sent a prompt."""
    of_events: bool = False
    """The log."""
    has_prompted: bool = False

    def route(self, socket: WebSocketRoute) -> None:
        """Stand between a page and its hub."""
        hub = socket.connect_to_server()
        self.has_prompted = False

        def out(text: str | bytes) -> None:
            self.has_prompted = self.has_prompted or json.loads(text)["type"] == "prompt"
            hub.send(text)

        def back(text: str | bytes) -> None:
            is_event = json.loads(text)["type"] in {"event", "events"}
            if not (self.has_prompted and self.after_prompt) and not (is_event and self.of_events):
                socket.send(text)

        socket.on_message(out)
        hub.on_message(back)


async def test_a_prompt_whose_reply_was_lost_is_said_once(browser: Browser, scripted: Sidecar) -> None:
    deaf = Deafness()
    async with (
        scripted(SCRIPT) as served,
        line_to(served.base) as (line, base),
        console(browser, f"{base}/#token={served.token}&session={served.session}", allowed=(LOST,)) as page,
        connect(served.url) as client,
    ):
        outside = Frontend(client, served.session)
        field = page.get_by_role("textbox", name="Prompt")
        await expect(page).to_have_url(f"{base}/#/s/{served.session}")
        await page.route_web_socket("**/ws*", deaf.route)
        await page.reload()
        await expect(field).to_be_visible()

        # It has arrived, and the line is cut before the page hears of it.
        deaf.after_prompt = True
        await say(page, "First")
        await outside.until(UserMessage, lambda message: message.text == "First")
        line.cut()
        await expect(field).to_have_value("First")
        deaf.after_prompt = False
        line.mend()
        await expect(page.locator(".said")).to_have_text(["First"])
        await expect(field).to_have_value("")
        await expect(page.get_by_text("Echo of First.", exact=True)).to_be_visible()

        # It is sent again before the page has read in the log that it has arrived.
        deaf.after_prompt = deaf.of_events = True
        await say(page, "Second")
        await outside.until(UserMessage, lambda message: message.text == "Second")
        line.cut()
        await expect(field).to_have_value("Second")
        deaf.after_prompt = False
        line.mend()
        await expect(page.locator(".connection")).to_have_count(0)
        await page.get_by_role("button", name="Send").click()
        await expect(field).to_have_value("")
        await say(page, "Third")
        await outside.until(UserMessage, lambda message: message.text == "Third")
        assert [message.text for message in outside.seen(UserMessage)] == ["First", "Second", "Third"]
        deaf.of_events = False
        await page.reload()
        await expect(page.locator(".said")).to_have_text(["First", "Second", "Third"])
        await expect(page.locator(".answer .prose")).to_have_text(
            ["Echo of First.", "Echo of Second.", "Echo of Third."]
        )
