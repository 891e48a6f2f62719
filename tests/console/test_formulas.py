"""Formulas, diagrams and images of answers on a page; hostile ones among them."""

import pytest
from playwright.async_api import Browser, expect

from console_page import console, go_to, violations
from console_states import empty_hub, hub_harness, made, show
from turnwire.normalize.events import AgentEvent, MessageChunk, UserMessage
from turnwire.normalize.payloads.files import ContentPart

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANSWER = r"""The area is $\pi r^2$, and it costs $5 to $10.

$$
\sum_{k=1}^{n} k = \frac{n(n+1)}{2}
$$

Then \(a_1 < b_1\), written as `$x^2$`.

```mermaid
graph TD; A-->B
```
"""
HOSTILE = r"""$\href{javascript:alert(1)}{x^2}$ $\class{veil}{x_1}$ $\includegraphics{https://elsewhere.invalid/x.png}$

$\label{root} x_2 \tag{1}$ $\kern-2000em x_3$ $\rule{5000em}{5000em}_4$ $\unknown{x}$

$\def\a{\a\a}\a_5$ $\def\b{\c\c\c\c\c\c\c\c}\def\c{\d\d\d\d\d\d\d\d}\def\d{xxxxxxxxxxxxxxxxx}\b^6$

$x^{<img src=x onerror=alert(1)>}$ $\text{<script>alert(1)</script>}_7$
"""
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.mark.long
async def test_formulas_are_set_once_there_are_some_and_hostile_ones_do_nothing(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "plain", made([MessageChunk(text="No formula for $5.", message_id="m")]))
        said: list[AgentEvent] = [
            UserMessage(
                text="See",
                uuid="u",
                parts=[ContentPart(type="image", media_type="image/png", base64=PIXEL)],
            ),
            MessageChunk(text=ANSWER, message_id="m"),
            MessageChunk(text=HOSTILE, message_id="n"),
        ]
        asked: list[str] = []
        async with console(browser, f"{where.url}") as page:
            page.on("request", lambda request: asked.append(request.url))
            await go_to(page, "#/s/plain")
            await expect(page.locator(".answer")).to_contain_text("No formula for $5.")
            assert [url for url in asked if url.endswith("/math.js")] == []
            await show(where, "formulas", made(said))
            await page.locator(".sidebar").get_by_text("formulas").click()
            answer = page.locator(".answer").first
            await expect(answer.locator("math")).to_have_count(3)
            await expect(answer).to_contain_text("it costs $5 to $10")
            await expect(answer.locator("code", has_text="$x^2$")).to_be_visible()
            await expect(answer).to_contain_text("A diagram, as Mermaid has it written:")
            await expect(answer.locator("pre")).to_contain_text("graph TD; A-->B")
            hostile = page.locator(".answer").nth(1)
            await expect(hostile.locator("math").last).to_be_visible()
            await expect(hostile.locator("code", has_text="def")).to_be_visible()
            assert await hostile.locator("[href], [id], [class~=veil], img, script").count() == 0
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert await violations(page) == []
            enlarge = page.get_by_role("button", name="Enlarge the image")
            await enlarge.click()
            zoom = page.get_by_role("dialog", name="Image")
            await expect(zoom).to_be_visible()
            await page.keyboard.press("Escape")
            await expect(zoom).to_have_count(0)
            await expect(enlarge).to_be_focused()
