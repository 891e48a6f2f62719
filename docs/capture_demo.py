"""Take pictures while the demo plays: the console's animation, phone and desk in both themes, and the terminal's animation.

    make pictures

The scripted agent plays, chromium looks; no account, no network. What the tests take (`--update-goldens`) it leaves alone.
"""

import asyncio
import io
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.async_api import Browser, Page, expect
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path[:0] = [*map(str, ROOT.glob("tests/support/**/")), str(ROOT / "clients" / "python")]

from tmux import Terminal, terminal  # noqa: E402 - as above

from console_page import chromium, console, say  # noqa: E402 - of the tests
from turnwire_process import TURNWIRE, turnwire  # noqa: E402 - as above

PROMPT = "Make the greeting friendlier"
EVERY_S = 0.2
"""Time between two frames of the animation."""
LONGEST_S = 1.6
"""How long a frame stands at most, that nobody waits for an agent that does."""
LAST_S = 4.0
DESK, PHONE = (1200, 750), (390, 844)
SHOWN = (840, 525)
"""Pixels of the animation."""
COLUMNS, ROWS = 100, 32
SCREEN = (860, 530)
"""Pixels of the terminal's animation."""


class Film:
    """Frames of a page or a terminal, each once, with how long it stands."""

    def __init__(self, take: Callable[[], Awaitable[bytes]], size: tuple[int, int]) -> None:
        """`take` returns a picture of what is seen now, in a format that Pillow reads; `size`: pixels of the animation."""
        self._take, self._size = take, size
        self._frames: list[tuple[bytes, float]] = []

    @asynccontextmanager
    async def rolling(self) -> AsyncIterator[None]:
        """Take frames until the context closes."""
        task = asyncio.create_task(self._roll())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _roll(self) -> None:
        while True:
            began = time.monotonic()
            self._frames.append((await self._take(), began))
            await asyncio.sleep(max(0.0, EVERY_S - (time.monotonic() - began)))

    def save(self, path: Path) -> None:
        """Write the animation; a picture that is the one before only makes that one stand longer."""
        pictures: list[Image.Image] = []
        stands: list[int] = []
        ends = [at for _, at in self._frames[1:]] + [self._frames[-1][1] + LAST_S]
        before = b""
        for (content, at), end in zip(self._frames, ends, strict=True):
            lasts = int(1000 * (end - at))
            if content == before:
                stands[-1] += lasts
                continue
            before = content
            pictures.append(
                Image.open(io.BytesIO(content)).convert("RGB").resize(self._size, Image.Resampling.LANCZOS)
            )
            stands.append(lasts)
        cut = [min(lasts, int(1000 * LONGEST_S)) for lasts in stands[:-1]] + [int(1000 * LAST_S)]
        pictures[0].save(
            path,
            save_all=True,
            append_images=pictures[1:],
            duration=cut,
            loop=0,
            quality=80,
            method=6,
            allow_mixed=True,
        )


WITHOUT_FOLDER = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('.session-head .folder { display: none }');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""
"""The folder above is one of this machine's temporary ones, and another each time."""


async def play(page: Page, *, pause_s: float = 0.0) -> None:
    """Play the demo to its end: allow, answer, approve."""
    request = page.locator(".request")
    title = request.locator("header h2")
    await say(page, PROMPT)
    for wanted, answer in (
        ("May the agent run this command?", "Allow"),
        ("The agent has a question", "Answer"),
        ("The agent’s plan waits for your approval", "Allow"),
    ):
        await expect(title).to_have_text(wanted)
        if answer == "Answer":
            await request.get_by_label("Friendly").check()
        await asyncio.sleep(pause_s)
        await request.get_by_role("button", name=answer).first.click()
    await expect(page.locator(".turn-end")).to_contain_text("completed")
    await asyncio.sleep(pause_s)


async def shown(
    browser: Browser, folder: Path, size: tuple[int, int], scheme: Any, names: tuple[str, str]
) -> None:
    """Take the demo's permission and its end, in a size and a theme."""
    options: dict[str, Any] = {"has_touch": True, "is_mobile": True} if size == PHONE else {}
    async with (
        turnwire(folder, "run", "--agent", "demo") as served,
        console(browser, served.url, width=size[0], height=size[1], scheme=scheme, **options) as page,
    ):
        await page.evaluate(WITHOUT_FOLDER)
        await say(page, PROMPT)
        await expect(page.locator("[data-option=allow_once]")).to_be_enabled()
        await page.screenshot(path=IMAGES / f"{names[0]}.png")
        await page.locator("[data-option=allow_once]").click()
        await expect(page.locator(".request header h2")).to_have_text("The agent has a question")
        await page.locator(".request").get_by_label("Friendly").check()
        await page.screenshot(path=IMAGES / f"{names[1]}.png")


async def in_terminal(browser: Browser, folder: Path) -> None:
    """Take the demo in a terminal: a prompt, a command that is allowed, a question that is answered."""
    attach = " ".join([*TURNWIRE, "attach", "--state-dir", str(folder / "state")])
    page = await browser.new_page(viewport={"width": SCREEN[0], "height": SCREEN[1]})
    async with (
        turnwire(folder, "run", "--agent", "demo"),
        terminal(folder, attach, width=COLUMNS, height=ROWS) as place,
    ):

        async def drawn() -> bytes:
            await page.set_content(as_page(await asyncio.to_thread(place.run, "capture-pane", "-e", "-p")))
            return await page.screenshot()

        film = Film(drawn, SCREEN)
        await place.sees("Say something")
        async with film.rolling():
            place.say(PROMPT)
            await asyncio.sleep(1)
            place.keys("Enter")
            await answered(place, "y or 1: Allow", "y")
            await answered(place, "How loud should the greeting be?", "1")
            await answered(place, "plan", "y")
            await place.sees("idle")
            await asyncio.sleep(1)
        film.save(IMAGES / "terminal.webp")
    await page.close()


async def answered(place: Terminal, words: str, key: str) -> None:
    """Wait for a request, look at it as a person does, and answer it."""
    await place.sees(words)
    await asyncio.sleep(1.2)
    place.keys("F2")
    await asyncio.sleep(1.5)
    place.keys(key)


def as_page(screen: str) -> str:
    """Return a terminal's screen, with its colours, as a web page."""
    console = Console(record=True, file=io.StringIO(), width=COLUMNS)
    console.print(Text.from_ansi(screen, no_wrap=True, overflow="crop"), crop=True)
    style = "margin: 8px; color: #d9d9d9; background: #121212; font: 14px/16px 'DejaVu Sans Mono', monospace"
    return console.export_html(
        theme=MONOKAI,
        inline_styles=True,
        code_format=f'<body style="{style}"><pre style="font: inherit; margin: 0">{{code}}</pre>',
    )


async def main() -> None:
    """Take all of them."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "greeting"
        folder.mkdir()
        async with chromium() as browser:
            async with (
                turnwire(folder, "run", "--agent", "demo") as served,
                console(browser, served.url, width=DESK[0], height=DESK[1]) as page,
            ):
                film = Film(page.screenshot, SHOWN)
                await expect(page.locator(".session-head")).to_be_visible()
                await page.evaluate(WITHOUT_FOLDER)
                async with film.rolling():
                    await play(page, pause_s=1.2)
                    await page.keyboard.press("Alt+i")
                    await page.get_by_role("tab", name="Changes").click()
                    await page.locator(".file .fold-head").first.click()
                    await expect(page.locator(".file .diff")).to_be_visible()
                    await asyncio.sleep(1)
                film.save(IMAGES / "demo.webp")
            await in_terminal(browser, folder)
            await shown(browser, folder, PHONE, "light", ("phone-permission", "phone-question"))
            await shown(browser, folder, PHONE, "dark", ("phone-permission-dark", "phone-question-dark"))
            await shown(browser, folder, (1280, 800), "dark", ("permission-dark", "question-dark"))


if __name__ == "__main__":
    asyncio.run(main())
