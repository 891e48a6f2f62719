"""What a long session costs a browser: its first row, all of it, and the longest time the page does nothing else.

    python bench/bench_console.py [EVENTS] [--beside FOLDER] [--rounds N]

A hub on SQLite serves the console to headless chromium, N times; `--beside` is the `turnwire/hub/static` of another checkout, which is served
by turns with this one's, so that the machine's moods hit both. Times are from the start of the navigation, by the clock.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Browser, async_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.hub_setting import NoHost
from turnwire.hub.config import HubConfig
from turnwire.hub.hub import Hub
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.base import Entry
from turnwire.journal.sqlite.journal import SqliteJournal

SESSION = "long"
WATCH = """
  window.times = {};
  window.longest = 0;
  window.whole = new Promise(done => { window.done = done; });
  new MutationObserver(() => {
    const { times } = window;
    if (!times.first && document.querySelector('.row')) times.first = performance.now();
    if (times.first && !times.all && !document.querySelector('.leading')) {
      times.all = performance.now();
      window.done();
    }
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
  }).observe({ type: 'longtask', buffered: true });
"""
"""Notes when the first row is there, and when all are."""


def turn(number: int) -> list[Entry]:
    """Forty events: a prompt, a text in pieces, two calls."""
    call = {"tool_call_id": f"t{number}", "tool_name": "Bash", "tool_title": f"ls {number}"}
    shell = {
        "kind": "shell_exec",
        "renderer": "tool_execute",
        "shell_exec": {"command": f"ls -la {number}", "stdout": "total 1\n" * 20},
    }
    piece = {"type": "message_chunk", "message_id": f"m{number}", "block_index": 0, "is_delta": True}
    done = {"outcome": "completed", "is_error": False, "cost_usd": 0.01, "duration_ms": 900}
    events: list[dict[str, object]] = [
        {"type": "turn_started", "operation_id": f"turn-{number}", "origin": "user"},
        {
            "type": "user_message",
            "text": f"Prompt {number}: please look at the **code** and say what it does.",
        },
        *({**piece, "text": f"word {index} of `turn {number}`, "} for index in range(33)),
        {"type": "tool_call", **call, "tool_status": "running", "normalized": shell},
        {"type": "tool_update", **call, "tool_status": "complete", "normalized": shell},
        {
            "type": "tool_call",
            **call,
            "tool_call_id": f"u{number}",
            "tool_status": "running",
            "normalized": shell,
        },
        {
            "type": "tool_update",
            **call,
            "tool_call_id": f"u{number}",
            "tool_status": "complete",
            "normalized": shell,
        },
        {"type": "complete", "operation_id": f"turn-{number}", "data": done},
    ]
    return [Entry(json.dumps(event, separators=(",", ":")).encode()) for event in events]


async def fill(path: Path, count: int) -> None:
    """Write a log of so many events, whole turns."""
    journal = await SqliteJournal.open(path)
    for number in range(count // 40):
        await journal.append(SESSION, turn(number))
        if number % 20 == 0:
            await journal.flush()
    await journal.close()


class OneSession(NoHost):
    """Lists one session, with as many events as its log has."""

    def __init__(self, last: int) -> None:
        self._summary = SessionSummary(session=SESSION, state="idle", last_seq=last, pending=0)

    def sessions(self) -> Sequence[SessionSummary]:
        return [self._summary]


@asynccontextmanager
async def served(path: Path, static: Path | None) -> AsyncIterator[str]:
    """A hub that has just started, with nothing of the log in memory; gives its URL."""
    journal = await SqliteJournal.open(path)
    hub = Hub(journal, OneSession(journal.last(SESSION)), HubConfig(static=static))
    url = await hub.start()
    yield url
    await hub.stop()
    await journal.close()


async def look(browser: Browser, url: str) -> tuple[float, float, float]:
    """Open the page; returns milliseconds until the first row, until all are there, and of the longest task."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        page = await context.new_page()
        await page.add_init_script(WATCH)
        await page.goto(url)
        times = await page.evaluate(
            "window.whole.then(() => [window.times.first, window.times.all, window.longest])"
        )
        return times[0], times[1], times[2]
    finally:
        await context.close()


async def measure(path: Path, pages: dict[str, Path | None], rounds: int) -> None:
    """Print the figures of each page, by turns, and how they compare."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in pages}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        for _ in range(rounds):
            for name, static in pages.items():
                async with served(path, static) as url:
                    found[name].append(await look(browser, url))
        await browser.close()
    print(
        f"{'page':>8} {'first row ms':>24} {'all there ms':>24} {'longest task ms':>24}   (median, least to most)"
    )
    for name, times in found.items():
        columns = [
            f"{statistics.median(one):.0f} ({min(one):.0f} to {max(one):.0f})"
            for one in zip(*times, strict=True)
        ]
        print(f"{name:>8} " + " ".join(f"{column:>24}" for column in columns))
    if len(found) == 2:
        one, other = found.values()
        ratios = [
            statistics.median(a[i] / b[i] for a, b in zip(one, other, strict=True) if b[i]) for i in range(3)
        ]
        print(f"{'ratio':>8} " + " ".join(f"{ratio:>24.2f}" for ratio in ratios) + "   (median of pairs)")


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("events", type=int, nargs="?", default=50_000)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    pages: dict[str, Path | None] = {"here": None}
    if given.beside is not None:
        pages["beside"] = given.beside
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        await fill(path, given.events)
        await measure(path, pages, given.rounds)


if __name__ == "__main__":
    asyncio.run(main())
