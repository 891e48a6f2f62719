"""A session in a git worktree of its own: begun in the dialog, committed and merged step by step, each seen before it is done."""

import asyncio
import subprocess
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from agent_process import agent_command
from console_page import console, violations
from console_views import SIZES, Scheme, at_each_size
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


def made_repository(folder: Path) -> Path:
    """A repository with one commit, beside the settings of a hub that may make worktrees."""
    repository, script = folder / "shop", folder / "script.yaml"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    git(repository, "config", "user.name", "Ada")
    git(repository, "config", "user.email", "ada@example.org")
    (repository / "page.txt").write_text("one\ntwo\nthree\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "Begin")
    script.write_text("fallback: {steps: [{text: 'Done.'}]}")
    command = str(agent_command(script)).replace("'", '"')
    (folder / "turnwire.toml").write_text(
        f'agent = "scripted"\nworktrees = "{folder / "worktrees"}"\n[agents]\nscripted = {command}\n'
    )
    return repository


async def begun(page: Page, repository: Path) -> Path:
    """Begin a session in a worktree of its own, in the dialog; returns the worktree's folder."""
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
    return folder


async def test_changes_of_a_worktree_are_committed_and_merged_as_was_shown(
    browser: Browser, tmp_path: Path
) -> None:
    repository = made_repository(tmp_path)
    async with turnwire(tmp_path, "serve") as served, console(browser, served.url, width=1600) as page:
        folder = await begun(page, repository)
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
        await expect(page.locator(".worktree")).to_contain_text("1 commit of the base is missing")
        await step(page, "Rebase", "Rebase")
        await expect(page.locator(".worktree")).to_contain_text("0 commits of the base are missing")
        assert git(folder, "merge-base", "greet", "main") == git(repository, "rev-parse", "main")
        await step(page, "Push", "Push")
        await expect(page.get_by_text("all, to origin", exact=True)).to_be_visible()
        assert git(remote, "rev-parse", "greet") == git(folder, "rev-parse", "HEAD")
        await page.get_by_role("button", name="Discard …").click()
        await expect(page.locator(".step")).to_contain_text("close the session first")
        await expect(page.locator(".step")).to_contain_text("Keeps 1 file (1 byte) that git ignores below")
        await expect(page.locator(".step")).to_contain_text("built/page.js")
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


LONG_NAME = "src/components/deeply/nested/folders/for/no/reason/at/all/greeting_component.py"
PREVIEWED = {
    "Commit": "Commit",
    "Rebase": "Rebase",
    "Merge": "",
    "Push": "Push",
    "Pull request": "",
    "Discard": "",
}
"""The actions, and the button that confirms each; empty where there is none."""


async def test_what_can_become_of_a_worktree_is_well_shown_at_each_size(
    browser: Browser, tmp_path: Path
) -> None:
    repository, remote = made_repository(tmp_path), tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    git(repository, "remote", "add", "origin", str(remote))
    (repository / ".git" / "info" / "exclude").write_text("built/\n")
    wrong: list[str] = []
    async with turnwire(tmp_path, "serve") as served, console(browser, served.url, width=1440) as page:
        folder = await begun(page, repository)
        # Each has a commit that the other has not, on the same line, and there are files that are not committed.
        for where, word in ((folder, "Hello"), (repository, "Bye")):
            (where / "page.txt").write_text(f"one\n{word}\nthree\n")
            git(
                where,
                "commit",
                "-q",
                "-a",
                "-m",
                f"Say {word} to all who come into the shop for the first time",
            )
        for name in ("built/page.js", LONG_NAME, "notes.md"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("1\n")
        await page.keyboard.press("Alt+i")
        await page.get_by_role("tab", name="Worktree").click()
        await page.get_by_role("button", name="Look again").click()
        tab = page.locator(".worktree")
        await tab.get_by_text("2 files not committed").click()
        await expect(tab.locator(".files")).to_contain_text("greeting_component.py")
        wrong += await at_each_size(
            page, "worktree", SIZES, ["light", "dark"], ".worktree button, [role=tab]"
        )
        for name, confirm in PREVIEWED.items():
            await tab.get_by_role("button", name=f"{name} …", exact=True).click()
            step_ = page.locator(".step")
            if name == "Commit":
                await page.get_by_label("Message of the commit").fill("Add a greeting")
                await page.get_by_role("button", name="Show what it will do").click()
            await expect(step_.locator(".sentences, .wrong").first).to_be_visible()
            if confirm:
                await expect(step_.get_by_role("button", name=confirm, exact=True)).to_be_visible()
            schemes: list[Scheme] = ["light", "dark"] if name in {"Commit", "Discard"} else ["dark"]
            wrong += await at_each_size(page, f"worktree {name}", SIZES, schemes, ".worktree button")
            if name == "Commit":
                git(folder, "add", ".")
                git(folder, "commit", "-q", "-m", "Add a greeting")
    assert wrong == []
