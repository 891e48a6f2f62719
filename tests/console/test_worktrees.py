"""A session in a git worktree of its own: begun in the dialog, committed and merged step by step, each seen before it is done."""

import asyncio
import subprocess
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from agent_process import agent_command
from console_page import console, violations
from turnwire_process import preloaded_turnwire as turnwire

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return what it says."""
    done = subprocess.run(
        ["git", *IDENTITY, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


async def step(page: Page, name: str, confirm: str) -> None:
    """Choose an action, read what it would do, and confirm it."""
    await page.locator(".worktree").get_by_role("button", name=f"{name} …", exact=True).click()
    confirmed = page.locator(".step").get_by_role("button", name=confirm, exact=True)
    if name == "Commit":
        await page.get_by_label("Message of the commit").fill("Add a greeting")
        await page.get_by_role("button", name="Show what it will do").click()
    await expect(confirmed).to_be_visible()
    await expect(page.locator(".step .sentences").first).to_be_visible()
    # All of it is in sight: what moves decides nothing for another second.
    await page.locator(".inspector-body").evaluate("node => node.scrollTo(0, node.scrollHeight)")
    await expect(confirmed).to_be_enabled()
    # Not by the mouse, for which the browser may scroll: what moves decides nothing for another second.
    await confirmed.evaluate("node => node.click()")


async def test_changes_of_a_worktree_are_committed_and_merged_as_was_shown(
    browser: Browser, tmp_path: Path
) -> None:
    repository, place = tmp_path / "shop", tmp_path / "worktrees"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    git(repository, "config", "user.name", "Ada")
    git(repository, "config", "user.email", "ada@example.org")
    (repository / "page.txt").write_text("one\ntwo\nthree\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "Begin")
    script = tmp_path / "script.yaml"
    script.write_text("fallback: {steps: [{text: 'Done.'}]}")
    command = str(agent_command(script)).replace("'", '"')
    (tmp_path / "turnwire.toml").write_text(
        f'agent = "scripted"\nworktrees = "{place}"\n[agents]\nscripted = {command}\n'
    )
    async with turnwire(tmp_path, "serve") as served, console(browser, served.url, width=1600) as page:
        await page.locator(".sidebar").get_by_role("button", name="New session").click()
        await page.get_by_label("First prompt").fill("Greet people")
        await page.get_by_role("button", name="Browse folders").click()
        await page.get_by_role("button", name="shop", exact=True).click()
        await expect(page.get_by_label("Folder", exact=True)).to_have_value(str(repository))
        await page.get_by_label("In a new git worktree").check()
        await page.get_by_label("Branch").fill("greet")
        assert await violations(page) == []
        await page.get_by_role("button", name="Start").click()
        await expect(page.locator(".session-head .branch")).to_have_text("greet")
        await expect(page.locator(".turn-end")).to_contain_text("completed")

        (folder,) = [
            Path(line.removeprefix("worktree "))
            for line in git(repository, "worktree", "list", "--porcelain").splitlines()
            if line.startswith("worktree ") and not line.endswith("/shop")
        ]
        await asyncio.to_thread((folder / "page.txt").write_text, "one\nHello\nthree\n")
        await page.keyboard.press("Alt+i")
        await page.get_by_role("tab", name="Worktree").click()
        await page.get_by_role("button", name="Look again").click()
        await expect(page.locator(".worktree")).to_contain_text("1 file not committed")
        assert await violations(page) == []
        await step(page, "Commit", "Commit")
        await expect(page.locator(".worktree")).to_contain_text("1 commit that the base does not have")
        assert git(folder, "log", "-1", "--format=%s") == "Add a greeting"
        await step(page, "Merge", "Merge")
        await expect(page.locator(".worktree")).to_contain_text("0 commits that the base does not have")
        assert git(repository, "show", "main:page.txt") == "one\nHello\nthree"

        # What was written since is taken back, and can be written again.
        await asyncio.to_thread((folder / "page.txt").write_text, "one\nBye\nthree\n")
        await page.get_by_role("tab", name="Changes").click()
        await page.get_by_label("Changes of").select_option("git")
        await page.locator(".file .fold-head").click()
        await page.get_by_role("button", name="Revert the file …").click()
        sure = page.get_by_role("button", name="Revert the file", exact=True)
        await sure.scroll_into_view_if_needed()
        await expect(sure).to_be_enabled()
        await sure.evaluate("node => node.click()")
        await expect(page.locator(".changes")).to_contain_text("were reverted")
        assert (folder / "page.txt").read_text() == "one\nHello\nthree\n"
        restore = await page.locator(".changes code").inner_text()
        await asyncio.to_thread(subprocess.run, restore, shell=True, cwd=folder, check=True)
        assert (folder / "page.txt").read_text() == "one\nBye\nthree\n"

        # Rebased upon what the base has since, pushed, and discarded at the end: git's own view after each.
        git(folder, "commit", "-q", "-a", "-m", "Say goodbye")
        (repository / "other.txt").write_text("other\n")
        git(repository, "add", "other.txt")
        git(repository, "commit", "-q", "-m", "Add another file")
        remote = tmp_path / "remote.git"
        git(tmp_path, "init", "-q", "--bare", str(remote))
        git(repository, "remote", "add", "origin", str(remote))
        (repository / ".git" / "info" / "exclude").write_text("built/\n")
        (folder / "built").mkdir()
        (folder / "built" / "page.js").write_text("1")
        await page.get_by_role("tab", name="Worktree").click()
        await page.get_by_role("button", name="Look again").click()
        await expect(page.locator(".worktree")).to_contain_text("1 commit of the base are missing")
        await step(page, "Rebase", "Rebase")
        await expect(page.locator(".worktree")).to_contain_text("0 commits of the base are missing")
        assert git(folder, "merge-base", "greet", "main") == git(repository, "rev-parse", "main")
        await step(page, "Push", "Push")
        await expect(page.get_by_text("all, to origin", exact=True)).to_be_visible()
        assert git(remote, "rev-parse", "greet") == git(folder, "rev-parse", "HEAD")
        await page.get_by_role("button", name="Discard …").click()
        await expect(page.locator(".step")).to_contain_text("close the session first")
        await expect(page.locator(".step")).to_contain_text("Files that git ignores are not kept: built/")
        await page.get_by_role("button", name="Discard …").click()
        await page.get_by_role("tab", name="Session").click()
        close = page.locator(".inspector").get_by_role("button", name="Close", exact=True)
        await close.scroll_into_view_if_needed()
        await expect(close).to_be_enabled()
        await close.evaluate("node => node.click()")
        await expect(page.get_by_role("button", name="Resume").first).to_be_visible()
        await page.get_by_role("tab", name="Worktree").click()
        await step(page, "Discard", "Discard the worktree")
        await expect(page.locator(".inspector")).to_contain_text("is gone")
        assert not folder.exists()
        assert git(repository, "branch", "--list", "greet") == ""
        kept = git(
            repository, "for-each-ref", "--format=%(objectname)", "refs/turnwire/discarded"
        ).splitlines()
        assert git(remote, "rev-parse", "greet") in kept
