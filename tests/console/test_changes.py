"""What differs in the workspace by git, comments on lines, and files mentioned in a prompt, on a page."""

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from agent_process import agent_command
from console_page import console, say, screenshot, violations
from turnwire_process import Served
from turnwire_process import preloaded_turnwire as turnwire

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

PROGRAM = "".join(
    f"def step_{number}(count: int) -> int:\n    return count + {number}\n\n\n" for number in range(8)
)
CHANGED = PROGRAM.replace("return count + 3", "return count * 3").replace("step_6(count", "step_six(count")
PLAN = "# A plan\\n\\n1. Rename the greeting\\n2. Test it\\n3. Tell everybody\\n"
SCRIPT = f"""
turns:
  - steps:
      - text: "I look first.\\n\\nThen I write the greeting anew, and test it."
      - tool: Edit
        input: {{file_path: src/steps.py, old_string: "return count + 3", new_string: "return count * 3"}}
        result: "done"
  - steps:
      - tool: ExitPlanMode
        input: {{plan: "{PLAN}"}}
        permission: true
        result: "approved"
        on_deny:
          - text: "I plan anew."
fallback:
  steps:
    - text: "Heard: {{prompt}}"
"""
HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.exe\nsecond line"


def git(folder: Path, *arguments: str) -> None:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null"}
    named = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    subprocess.run(["git", *named, *arguments], cwd=folder, env=env, check=True, capture_output=True)


def repository(folder: Path) -> None:
    """A workspace in which everything differs that can, and much of it."""
    (folder / "src").mkdir(parents=True)
    (folder / "pages").mkdir()
    git(folder, "init")
    (folder / "src" / "steps.py").write_text(PROGRAM)
    (folder / "pages" / "guide.md").write_text("# Guide\n" * 30)
    (folder / "src" / "long.txt").write_text("".join(f"line {number}\n" for number in range(5000)))
    (folder / "picture.png").write_bytes(b"\x89PNG\0\1")
    (folder / "gone.txt").write_text("It is gone.\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    (folder / "src" / "steps.py").write_text(CHANGED)
    (folder / "pages" / "guide.md").rename(folder / "pages" / "handbook.md")
    (folder / "src" / "long.txt").write_text("".join(f"line number {number}\n" for number in range(5000)))
    (folder / "picture.png").write_bytes(b"\x89PNG\0\2")
    (folder / "gone.txt").unlink()
    (folder / "notes for you.txt").write_text("Words.\n")
    (folder / HOSTILE.replace("/", "")).write_text("<script>alert(1)</script>\u202e\n")


@asynccontextmanager
async def changed(
    browser: Browser, folder: Path, **page_options: object
) -> AsyncIterator[tuple[Page, Served]]:
    """The page of a session in such a workspace."""
    workspace = folder / "greeting"
    repository(workspace)
    (folder / "script.yaml").write_text(SCRIPT)
    command = ("run", "--workspace", str(workspace), "--", *agent_command(folder / "script.yaml"))
    async with (
        turnwire(folder, *command) as served,
        console(browser, served.url, **page_options) as page,  # type: ignore[arg-type]
    ):
        yield page, served


async def open_changes(page: Page) -> None:
    await page.keyboard.press("Alt+i")
    await page.get_by_role("tab", name="Changes").click()


async def look_by_git(page: Page) -> None:
    await page.get_by_label("Changes of").select_option("git")
    await expect(page.locator(".file")).to_have_count(7)


async def test_changes_by_git_are_read_and_lines_of_them_commented_on_until_a_prompt_takes_them(
    browser: Browser, tmp_path: Path, update_goldens: bool
) -> None:
    async with changed(browser, tmp_path) as (page, _):
        await say(page, "Begin")
        await expect(page.locator(".turn-end")).to_contain_text("1 file changed")
        await open_changes(page)
        await expect(page.locator(".file")).to_have_count(1)
        await look_by_git(page)
        listed = page.locator(".changes")
        for said in (
            "was pages/guide.md",
            "binary",
            "deleted",
            "new, not in git",
            "⟨U+202E⟩gnp.exe⟨U+000A⟩second line",
        ):
            await expect(listed).to_contain_text(said)
        long = page.locator(".file", has_text="long.txt")
        await long.locator(".fold-head").click()
        await expect(long.locator("tr[data-at]")).to_have_count(300)
        await long.get_by_label("Viewed").click()
        await expect(page.get_by_role("status").filter(has_text="1 viewed")).to_be_visible()
        hostile = page.locator(".file", has_text="gnp.exe")
        await hostile.locator(".fold-head").click()
        await expect(hostile.locator(".diff")).to_contain_text("<script>alert(1)</script>⟨U+202E⟩")
        await hostile.locator(".fold-head").click()
        steps = page.locator(".file", has_text="steps.py")
        await steps.locator(".fold-head").click()
        line = steps.locator("tr.added", has_text="count * 3")
        await line.locator(".number").last.click()
        field = page.get_by_role("textbox", name="Comment on src/steps.py:14")
        await field.fill("Why times?")
        await page.evaluate(
            "for (const node of document.querySelectorAll('.session-head .folder bdi')) node.firstChild.data = '/home/ada'"
        )
        await screenshot(page, "comments", keep=update_goldens, folder=tmp_path)
        await page.keyboard.press("Control+Enter")
        await expect(steps.locator(".remark")).to_contain_text("Why times?")
        # by the keyboard alone
        await steps.locator(".diff").focus()
        await page.keyboard.press("c")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await page.keyboard.type("And this?")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator(".composer .gathered")).to_contain_text("2 comments")
        assert await violations(page) == []
        await page.reload()
        await expect(page.locator(".composer .gathered")).to_contain_text("2 comments")
        await open_changes(page)
        await look_by_git(page)
        await expect(page.get_by_role("status").filter(has_text="1 viewed")).to_be_visible()
        await page.keyboard.press("Alt+i")
        answer = page.locator(".answer", has_text="I look first.")
        await answer.hover()
        await answer.get_by_role("button", name="Comment").click()
        await answer.locator("tr", has_text="test it").locator(".number").last.click()
        await page.get_by_role("textbox", name="Comment on Your answer, line 3").fill("With what?")
        await answer.get_by_role("button", name="Comment", exact=True).click()
        await expect(page.locator(".composer .gathered")).to_contain_text("3 comments")
        await page.locator(".gathered .fold-head").click()
        await expect(page.locator(".gathered .remark")).to_have_count(3)
        await page.get_by_role("button", name="Send").click()
        # it is taken by the turn that asks for a plan
        prompt = page.locator(".user-text").last
        await expect(prompt).to_contain_text("src/steps.py:14\n> return count * 3\nWhy times?")
        await expect(prompt).to_contain_text(
            "Your answer, line 3\n> Then I write the greeting anew, and test it.\nWith what?"
        )
        await expect(page.locator(".composer .gathered")).to_have_count(0)
        # a plan is commented on where it waits, and the comments say why it is sent back
        dock = page.locator(".request")
        await dock.get_by_role("button", name="Comment").click()
        await dock.locator("tr", has_text="Tell everybody").locator(".number").last.click()
        await page.get_by_role("textbox", name="Comment on Your plan, line 5").fill("Nobody yet")
        await page.keyboard.press("Control+Enter")
        await expect(dock).to_contain_text("1 comment will go with a denial")
        await dock.get_by_role("button", name="Deny").first.click()
        await expect(page.locator(".request-over")).to_contain_text("Your plan, line 5")
        await expect(page.locator(".request-over")).to_contain_text("Nobody yet")
        await expect(page.get_by_text("I plan anew.", exact=True)).to_be_visible()


async def test_files_are_mentioned_by_a_part_of_their_name(browser: Browser, tmp_path: Path) -> None:
    async with changed(browser, tmp_path) as (page, _):
        field = page.get_by_role("textbox", name="Prompt")
        await field.fill("Look at @stp")
        await expect(page.locator(".completions li")).to_have_count(1)
        await page.keyboard.press("Enter")
        await expect(field).to_have_value("Look at @src/steps.py ")
        await page.keyboard.type("and @not")
        await expect(page.locator(".completions li")).to_contain_text("notes for you.txt")
        await page.keyboard.press("Tab")
        await expect(field).to_have_value('Look at @src/steps.py and @"notes for you.txt" ')
        await page.keyboard.press("Enter")
        await expect(page.locator(".user-text").first).to_contain_text('and @"notes for you.txt"')
        await page.keyboard.press("ArrowUp")
        await expect(field).to_have_value('Look at @src/steps.py and @"notes for you.txt" ')
