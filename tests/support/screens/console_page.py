"""Debian's chromium and firefox on the console: pages that fail the test when anything goes wrong in them."""

import asyncio
import functools
import os
import re
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright, expect

from recordings import ROOT
from turnwire.hub.schema import document
from turnwire_process import Served

Sidecar = Callable[..., AbstractAsyncContextManager[Served]]
"""Runs `turnwire run` on a script: the fixture `scripted`."""

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP turnwire.test 127.0.0.1",
)  # fmt: skip
WAIT_MS = 60_000
"""Milliseconds that any wait may take: far above what a slow machine needs."""

LOST = "WebSocket connection to"
"""How chromium's own message begins when a connection cannot be made; tests that cut the line expect it."""


def chromium_path() -> str:
    """Return the path of the browser; raises FileNotFoundError with what to do when there is none."""
    for name in ("chromium", "chromium-browser"):
        if (path := shutil.which(name)) is not None:
            return path
    raise FileNotFoundError("chromium is not installed: run `make system`")


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Run a headless browser."""
    expect.set_options(timeout=WAIT_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium_path(), headless=True, args=list(ARGUMENTS)
        )
        try:
            yield browser
        finally:
            await browser.close()


def firefox_path() -> str:
    """Return the path of Firefox; raises FileNotFoundError with what to do when there is none."""
    for name in ("firefox-esr", "firefox"):
        if (path := shutil.which(name)) is not None:
            return path
    raise FileNotFoundError("firefox-esr is not installed: run `make system`")


@asynccontextmanager
async def firefox(folder: Path, scheme: Literal["light", "dark"]) -> AsyncIterator[Browser]:
    """Run a headless Firefox with one theme and reduced motion, at home in an empty folder.

    The system's Firefox is driven over WebDriver BiDi. Its media features are preferences: see `firefox_wire`.
    """
    start, home = folder / "start", folder / "home"
    home.mkdir(parents=True)
    wire = Path(__file__).with_name("firefox_wire.py")
    start.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, str(wire), firefox_path()])} "$@"\n')
    start.chmod(0o755)
    expect.set_options(timeout=WAIT_MS)
    async with async_playwright() as playwright:
        browser = await playwright.firefox.launch(
            channel="moz-firefox",
            executable_path=start,
            headless=True,
            env={**os.environ, "HOME": str(home)},
            firefox_user_prefs={
                "ui.prefersReducedMotion": 1,
                "layout.css.prefers-color-scheme.content-override": ("dark", "light").index(scheme),
            },
        )
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Problems:
    """What a page complained of: exceptions, errors and warnings of the console, requests to anywhere else."""

    found: list[str] = field(default_factory=list)
    allowed: tuple[str, ...] = ()

    def note(self, text: str) -> None:
        if not text.startswith(self.allowed or ("\0",)):
            self.found.append(text)

    def message(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.note(message.text)


@asynccontextmanager
async def console(
    browser: Browser,
    url: str,
    *,
    width: int = 1280,
    height: int = 800,
    scheme: Literal["light", "dark"] = "light",
    allowed: tuple[str, ...] = (),
    **context_options: Any,
) -> AsyncIterator[Page]:
    """Open the console in a context of its own; fails when the page complained of anything not allowed."""
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce",
        timezone_id="UTC",
        **context_options,
    )
    context.set_default_timeout(WAIT_MS)
    problems = Problems(allowed=allowed)
    page = await context.new_page()
    watch(page, problems, url)
    try:
        await page.goto(url)
        yield page
        problems.found += await wire_words(page)
    finally:
        await context.close()
    assert problems.found == [], problems.found


def watch(page: Page, problems: Problems, url: str) -> None:
    """Note what goes wrong in a page, and every request that goes anywhere but to the hub."""
    base = url.partition("#")[0].rstrip("/")
    page.on("console", problems.message)
    page.on("pageerror", lambda error: problems.note(f"exception: {error}"))

    def request(address: str) -> None:
        if not address.startswith((base, base.replace("http", "ws", 1), "data:", "blob:")):
            problems.note(f"request to {address}")

    page.on("request", lambda made: request(made.url))
    page.on("websocket", lambda socket: request(socket.url))


async def violations(page: Page) -> list[str]:
    """Run axe in the page: the rules of WCAG 2.2 AA and the best practices."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text())
    found: dict[str, Any] = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return await wire_words(page) + [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]


BAD_TEXTS = (
    r"\bby console-",
    r"has already decided: \w+_",
    r"was not sent",
    r"\bsidecar\b",
    r"\bfrontends? may not\b",
    r"\bAsk nobody\b",
    r"Outside of what is allowed",
    r"started as process \d",
    r"resets (?:on )?1 January",
    r"Overloaded\W+unknown",
    r"\b(?:dontAsk|acceptEdits|bypassPermissions)\b",
    r"\b(?:five_hour|seven_day)\b",
)
"""Patterns of texts that no person should read; the names of the wire are added to them."""

FIND_TEXTS = """patterns => {
  // What agents, people and the log itself say is theirs.
  const quoted = '.inspector, .pane, .prose, .said, .subject, .answers, .queued-text, .remark, .kept, .quoted, .aside, .asides, .broken, h1, .title, code, textarea, option';
  const root = document.querySelector('#root');
  if (!root) return [];
  const texts = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(quoted)) texts.push(walker.currentNode.data);
  for (const node of root.querySelectorAll('[aria-label], [title], [placeholder]'))
    if (!node.closest(quoted)) for (const name of ['aria-label', 'title', 'placeholder']) texts.push(node.getAttribute(name) ?? '');
  return texts.filter(text => patterns.some(pattern => new RegExp(pattern).test(text))).map(text => `not for people: ${text}`);
}"""


def wire_names() -> Iterator[str]:
    """Yield the words of the wire that are no English: commands, and values such as `allow_once`."""
    events: Any = document("events")["$defs"]
    commands: Any = document("commands")["$defs"]
    for definition in [*events.values(), *commands.values()]:
        for schema in definition.get("properties", {}).values():
            for words in [schema.get("enum"), *(one.get("enum") for one in schema.get("anyOf", ()))]:
                yield from (word for word in words or () if isinstance(word, str) and "_" in word)
            if isinstance(name := schema.get("const"), str) and ("." in name or "_" in name):
                yield name


@functools.cache
def bad_texts() -> list[str]:
    """Return the patterns of all texts that no person should read."""
    return [*BAD_TEXTS, *(rf"\b{re.escape(name)}\b" for name in sorted(set(wire_names())))]


async def wire_words(page: Page) -> list[str]:
    """Return what the page says in words of the wire, or in texts that were found bad."""
    found: list[str] = await page.evaluate(FIND_TEXTS, bad_texts())
    return found


async def go_to(page: Page, address: str) -> None:
    """Go to a place of the console, as `#/s/SESSION`, once the page has logged in, which gives it its address."""
    await page.wait_for_url(lambda url: "token=" not in url)
    await page.evaluate("address => { location.hash = address }", address)


async def say(page: Page, text: str) -> None:
    """Write a prompt and send it."""
    await page.get_by_role("textbox", name="Prompt").fill(text)
    await page.get_by_role("button", name="Send").click()


async def screenshot(page: Page, name: str, *, keep: bool, folder: Path) -> None:
    """Take a picture of a state: into the documentation when pictures are made anew, else beside the test."""
    images = Path(__file__).resolve().parents[3] / "docs" / "images" if keep else folder
    await asyncio.to_thread(os.makedirs, images, exist_ok=True)
    await page.screenshot(path=images / f"{name}.png")
