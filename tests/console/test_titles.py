"""A session is called the same wherever a person meets it: by its first prompt, then as its agent calls it."""

import json
import sys
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from acp_editor import editing, within
from console_page import console, go_to, say
from turnwire.client import connect
from turnwire_process import environment
from turnwire_process import preloaded_turnwire as turnwire

pytestmark = pytest.mark.asyncio(loop_scope="session")

AGENT = """
import json, sys

def write(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def update(kind, **told):
    write(method="session/update", params={"sessionId": "c", "update": {"sessionUpdate": kind, **told}})

for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        write(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
    elif asked.get("method") == "session/new":
        write(id=asked["id"], result={"sessionId": "c"})
    elif asked.get("method") == "session/prompt":
        said = asked["params"]["prompt"][0]["text"]
        update("agent_message_chunk", content={"type": "text", "text": "Heard: " + said})
        if said == "name it":
            update("session_info_update", title="Violet windows")
        write(id=asked["id"], result={"stopReason": "end_turn"})
"""


async def is_called(page: Page, url: str, session: str, title: str, word: str) -> None:
    """Look at all places that name a session."""
    await expect(page.locator("nav.sidebar a.session .title")).to_have_text([title])
    await expect(page).to_have_title(f"{title} — turnwire")
    await go_to(page, "#/history")
    await page.get_by_label("Words in any conversation").fill(word)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name=title).first).to_be_visible()
    await go_to(page, f"#/s/{session}")
    await expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.get_by_label("Session or action").fill(title)
    await expect(page.locator("#palette li .title").first).to_have_text(title)
    await page.keyboard.press("Enter")  # it goes there
    await expect(page.locator("#palette")).to_have_count(0)
    async with connect(url) as client, editing(client) as editor:
        await editor.open()
        (listed,) = (await within(editor.agent.list_sessions())).sessions
        assert (listed.session_id, listed.title) == (session, title)
        assert listed.updated_at is not None


@pytest.mark.long
async def test_a_session_has_one_title_in_the_console_and_in_editors(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    program = tmp_path / "agent.py"
    program.write_text(AGENT)
    config = tmp_path / "turnwire.toml"
    config.write_text(
        f'[agents.titled]\ncommand = {json.dumps([sys.executable, str(program)])}\nfamily = "acp"\n'
    )
    env = environment(tmp_path / "home")
    arguments = ("run", "--agent", "titled", "--workspace", str(tmp_path / "folder"), "--config", str(config))
    async with turnwire(tmp_path, *arguments, env=env) as served, console(browser, served.url) as page:
        async with connect(served.url) as client:
            (session,) = (known.session for known in client.known_sessions)
        await say(page, "paint the green door")
        await expect(page.locator(".answer", has_text="Heard: paint")).to_be_visible()
        await expect(page.locator(".session-head")).to_contain_text("idle")
        await is_called(page, served.url, session, "paint the green door", "green")
        await say(page, "name it")
        await expect(page.locator(".answer", has_text="Heard: name it")).to_be_visible()
        await expect(page.locator(".session-head")).to_contain_text("idle")
        await is_called(page, served.url, session, "Violet windows", "Heard")
