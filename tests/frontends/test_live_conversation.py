"""One live conversation at all doors at once: led by a page on AG-UI, watched by an editor, a page on the AI SDK, an assistant and
`<turnwire-session>`, with the demo agent and with the real Claude Code (offline).
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp
import pytest
from acp import schema
from element_page import built, site
from playwright.async_api import expect
from said import Said, called, differences, joined, native, of_agui, take_parts, take_update, within_turns

from acp_editor import EditorHarness, started
from console_page import WAIT_MS, chromium
from live import Frontend, real_setup, running
from npm_workspace import run
from recordings import ROOT
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client import connect
from turnwire.client.events import AgentPlan, Complete, PermissionRequest, QuestionRequest
from turnwire_process import DEADLINE, TURNWIRE, Served, environment, preloaded_turnwire, turnwire

pytestmark = [pytest.mark.long, pytest.mark.node]

HERE = ROOT / "tests" / "frontends"
OPTIONS = [{"label": "SQLite", "description": "A file"}, {"label": "Postgres", "description": "A server"}]
QUESTIONS = [{"question": "Which store?", "header": "Store", "options": OPTIONS, "multiSelect": False}]
TURN = plan(
    [text("I plan it."), tool_use("ExitPlanMode", plan="# Plan\n\n1. Write out.txt\n2. Look at it\n")],
    [tool_use("AskUserQuestion", questions=QUESTIONS)],
    [text("SQLite it is."), tool_use("Write", file_path="out.txt", content="out\n")],
    [tool_use("Bash", command="cat out.txt; exit 3", description="Look")],
    [text("All is done.")],
)
PAGE = """<!doctype html><title>t</title><script type="module" src="turnwire-session.js"></script>
<turnwire-session url="{base}" session="{session}" token="{token}" style="height: 7800px"></turnwire-session>
<script>seqs = []; document.querySelector("turnwire-session").addEventListener("turnwire-event", ({{ detail }}) => seqs.push(detail.seq))</script>"""
OPEN = """async () => {
  const root = document.querySelector("turnwire-session").shadowRoot;
  for (let head; (head = root.querySelector(".row .fold-head[aria-expanded=false]")); ) {
    head.click();
    await new Promise(requestAnimationFrame);
  }
}"""


@dataclass
class Stage:
    """A session that has said nothing yet, at a hub that lets the pages of a site in."""

    mine: Frontend
    served: Served
    origin: str
    pages: dict[str, tuple[str, bytes, str]]


@asynccontextmanager
async def demo(folder: Path) -> AsyncIterator[tuple[Stage, str]]:
    pages: dict[str, tuple[str, bytes, str]] = {}
    project = folder / "project"
    project.mkdir()
    async with (
        site(pages) as origin,
        turnwire(
            folder, "run", "--agent", "demo", "--workspace", str(project), "--allowed-origin", origin,
            env=environment(folder / "home"),
        ) as served,
        connect(served.url) as client,
    ):  # fmt: skip
        yield Stage(Frontend(client, served.session), served, origin, pages), "Make it friendlier"


@asynccontextmanager
async def claude(folder: Path) -> AsyncIterator[tuple[Stage, str]]:
    pages: dict[str, tuple[str, bytes, str]] = {}
    with scripted_messages_api() as api:
        setup = real_setup(folder, api, str)
        async with (
            site(pages) as origin,
            running(folder, setup, "--policy", "supervised", "--allowed-origin", origin) as (mine, served),
        ):
            yield Stage(mine, served, origin, pages), TURN


@asynccontextmanager
async def door(name: str, folder: Path, served: Served) -> AsyncIterator[str]:
    """The origin of a door for pages."""
    beside = folder / name
    beside.mkdir()
    async with preloaded_turnwire(
        beside, name, "--connect", served.url, "--port", "0", stdout_lines=1, placed=False
    ) as serving:
        yield re.findall(r"http://[\d.:]+", serving.base)[0]


def of_editor(harness: EditorHarness) -> Said:
    said = Said()
    for update in harness.editor.updates:
        take_update(said, update)
    return said


def without(said: Said, *names: str) -> dict[str, Any]:
    return {name: what for name, what in vars(said).items() if name not in names}


@pytest.mark.parametrize("agent", [demo, claude])
async def test_a_live_conversation_says_the_same_at_every_door(agent: Any, tmp_path: Path) -> None:
    script = await built(tmp_path / "element")
    async with (
        agent(tmp_path) as (stage, prompt),
        door("agui", tmp_path, stage.served) as agui,
        door("usechat", tmp_path, stage.served) as usechat,
        started(tmp_path, "--connect", stage.served.url, env=environment(tmp_path / "editor")) as editor,
        chromium() as browser,
    ):
        mine, served = stage.mine, stage.served
        page = await browser.new_page(viewport={"width": 1000, "height": 8000})
        stage.pages["/turnwire-session.js"] = ("text/javascript", script, "")
        shown = PAGE.format(base=served.base, session=mine.session, token=served.token)
        stage.pages["/"] = ("text/html", shown.encode(), "")
        await page.goto(f"{stage.origin}/")
        await expect(page.locator("turnwire-session textarea")).to_be_visible(timeout=WAIT_MS)
        await editor.load(mine.session, schema.ClientCapabilities(field_meta={"terminal_output": True}))

        steered = await run(
            "node", HERE / "agui" / "steer.mjs", f"{agui}/agui/{mine.session}", served.token, prompt
        )
        await mine.until(Complete)
        events = mine.events
        whole = native(events)
        assert all(vars(whole).values()), "the conversation has all there is to compare"

        # the encoders and the official parsers, and the element's views
        assert await differences(tmp_path, {"live": events}) == []

        # a page on AG-UI, which has led it
        line = json.loads(steered)
        assert line["complaints"] == []
        by_agui = native(events, subagents=True)
        by_agui.calls = called(events)
        assert vars(of_agui(line)) == vars(by_agui)

        # an editor, which was asked the same
        await editor.editor.until(lambda: of_editor(editor).text == whole.text)
        assert without(of_editor(editor), "asked", "plan") == without(whole, "asked", "plan")
        asked = [one for one in events if isinstance(one, PermissionRequest | QuestionRequest)]
        await editor.editor.until(lambda: len(editor.editor.taken_back) == len(asked))
        everything = json.dumps(editor.editor.updates, ensure_ascii=False)
        for planned in (one for one in events if isinstance(one, AgentPlan)):
            assert json.dumps(planned.plan_content, ensure_ascii=False)[1:-1] in everything

        # a page on the AI SDK that comes later
        messages = json.loads(
            await run(
                "node",
                HERE / "ai_sdk" / "validate.mjs",
                f"{usechat}/ai/{mine.session}/messages",
                served.token,
            )
        )
        by_ai_sdk, plans = Said(), dict[str, list[str]]()
        for message in messages:
            if message["role"] == "assistant":
                take_parts(by_ai_sdk, message["parts"], plans)
        assert vars(by_ai_sdk) == vars(native([event for turn in within_turns(events) for event in turn]))

        # an assistant that reads it
        stdio = mcp.StdioServerParameters(
            command=TURNWIRE[0],
            args=[*TURNWIRE[1:], "mcp", "--connect", served.url],
            env=environment(tmp_path / "assistant"),
            cwd=str(tmp_path),
        )
        async with asyncio.timeout(DEADLINE), mcp.Client(mcp.stdio_client(stdio)) as client:
            read: Any = await client.read_resource(f"turnwire://sessions/{mine.session}/transcript")
        transcript = read.contents[0].text
        told = re.findall(r"^(?:> )*\*\*.+\*\*(?: \((\w+)\))?$", transcript, re.MULTILINE)
        assert len(told) == len(whole.calls)
        assert len([one for one in told if one]) == list(whole.statuses.values()).count("error")
        assert set(re.findall(r"\w+", whole.plan[0])) <= set(re.findall(r"\w+", transcript))

        # the element
        await expect(page.locator("turnwire-session .turn-end")).to_be_visible(timeout=WAIT_MS)
        await page.evaluate(OPEN)
        cards = page.locator("turnwire-session article.card.tool")
        drawn = await cards.all_inner_texts()
        failed = page.locator("turnwire-session article.card.tool.bad")
        assert await failed.count() == list(whole.statuses.values()).count("error")
        codes = {int(code) for card in drawn for code in re.findall(r"\bexit (\d+)\b", card)}
        assert codes == {code for code in whole.exits.values() if code}
        inner = joined([await page.locator("turnwire-session .transcript").inner_text()])
        for word in re.findall(r"\w+", " ".join([*whole.plan, *mine.text().split()])):
            assert word in inner, word
        assert await page.locator("turnwire-session .request-over").count() == len(asked)
        seqs = [seq for seq in await page.evaluate("seqs") if seq <= mine.seqs[-1]]
        assert seqs
        assert seqs == mine.seqs[mine.seqs.index(seqs[0]) :]
