"""A shell in the browser: typing, its size, its end, a flood, hostile output, and who gets none."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from console_page import LOST, Sidecar, console, violations
from waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

DONE = "fallback: {steps: [{text: 'Done.'}]}"

OUTSIDE = """() => {
  const box = document.querySelector('.shell-terminal').getBoundingClientRect();
  return [...document.querySelectorAll('.shell-terminal *')]
    .filter(node => node.checkVisibility())
    .map(node => node.getBoundingClientRect())
    .filter(({ width, height }) => width > 0 && height > 0)
    .filter(({ left, top }) => left > box.right || top > box.bottom).length;
}"""

HOSTILE = (
    r"\033]0;TITLE\007"  # a title
    r"\033]8;;https://attacker.example/\007click here\033]8;;\007"  # a link
    r"\033]52;c;aGFja2Vk\007"  # the clipboard
    r"\033[8;500;500t\033[3;0;0t\033[5t"  # sizes and places of the window
    r"\033[9999;9999H<img src=x onerror=alert(1)>"  # a place that is not there, and HTML
    r"\033]1337;File=inline=1:AAAA\007\033P+q544e\033\\"  # an image, a request
    r"\033(0\033[?1049h\033#8\033[?1049l\033(B"  # another character set, the other screen
    r"\xe2\x80\xaemr -fr /\n"  # from right to left
)


async def opened(page: Page) -> None:
    await page.get_by_role("button", name="Inspector", exact=True).click()
    await page.get_by_role("tab", name="Shell").click()
    await page.get_by_role("button", name="Open a shell here").click()
    await expect(page.get_by_role("button", name="End the shell")).to_be_visible()
    await expect(page.locator(".shell-terminal textarea")).to_be_focused()


async def typed(page: Page, text: str) -> None:
    await page.keyboard.type(text)
    await page.keyboard.press("Enter")


async def says(page: Page, pattern: str) -> None:
    """Wait until a pattern stands in the terminal."""
    await expect(page.locator(".shell-terminal .xterm-rows")).to_contain_text(re.compile(pattern))


def memory(pid: int) -> int:
    """KiB that a process has in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])  # type: ignore[index]  # every process has some


def shells_below(folder: Path) -> list[str]:
    """The processes whose working directory is a folder."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if (one / "cwd").readlink() == folder:
                found.append((one / "comm").read_text().strip())
        except OSError:
            continue
    return found


async def test_a_shell_is_typed_into_resized_ended_and_opened_again(
    browser: Browser, scripted: Sidecar, tmp_path: Path
) -> None:
    async with scripted(DONE) as served, console(browser, served.url, width=1600) as page:
        await opened(page)
        await typed(page, "echo hi-$((20 + 22)) in $(basename $PWD)")
        await says(page, "hi-42 in greeting")
        await typed(page, "env | grep -c TURNWIRE; stty size")
        await says(page, r"0\s*\d+ \d+")
        await typed(page, "clear; stty size | sed 's/^/size /'")
        before = await size(page)
        assert await violations(page) == []
        await page.set_viewport_size({"width": 1200, "height": 700})
        await expect(page.locator(".shell-terminal")).to_be_visible()
        await page.wait_for_function("document.querySelector('.shell-terminal').clientWidth > 0")
        await typed(page, "clear; stty size | sed 's/^/size /'")
        await page.wait_for_function(
            "before => { const found = /size (\\d+) (\\d+)/.exec(document.querySelector('.shell-terminal .xterm-rows').textContent);"
            " return found && `${found[1]} ${found[2]}` !== before }",
            arg=before,
        )
        # it goes on while another tab is shown, and stands there again
        await typed(page, "echo kep't'")
        await says(page, "kept")
        await page.get_by_role("tab", name="Turn").click()
        await page.get_by_role("tab", name="Shell").click()
        await says(page, "kept")
        # the keyboard finds its way out
        await expect(page.locator(".shell-terminal textarea")).to_be_focused()
        await page.keyboard.press("Alt+c")
        await expect(page.get_by_role("textbox", name="Prompt")).to_be_focused()
        await page.locator(".shell-terminal").click()
        await page.emulate_media(color_scheme="dark")
        assert await violations(page) == []
        # colours of any kind are drawn, by means that the page's policy allows
        await typed(
            page, r"clear; printf '\033[38;2;12;200;90mtrue\033[48;5;200mground\033[0m'; echo -n do'ne'"
        )
        await says(page, "done")
        coloured = page.locator(".shell-terminal .xterm-rows span", has_text=re.compile("^true$"))
        assert await coloured.evaluate("node => node.style.color") != ""
        await typed(page, "exit 3")
        await expect(page.get_by_text("The shell has ended with exit code 3.")).to_be_visible()
        await page.get_by_role("button", name="Open a shell here").click()
        await typed(page, "echo agai'n'")
        await says(page, "again")
        await page.get_by_role("button", name="End the shell").click()
        await expect(page.get_by_text(re.compile("The shell has ended"))).to_be_visible()
        assert "sh" not in shells_below(tmp_path / "greeting")


async def size(page: Page) -> str:
    await says(page, r"size \d+ \d+")
    text = await page.locator(".shell-terminal .xterm-rows").text_content()
    found = re.search(r"size (\d+ \d+)", text or "")
    assert found
    return found[1]


async def test_a_flood_is_drawn_at_the_pace_of_the_page_and_grows_no_memory(
    browser: Browser, scripted: Sidecar
) -> None:
    async with scripted(DONE) as served, console(browser, served.url, width=1600) as page:
        await opened(page)
        await typed(page, "echo begin'ning'")
        await says(page, "beginning")
        await typed(page, "yes " + "flood-" * 10)
        await says(page, "flood-flood-")
        pid = served.process.pid
        before = memory(pid)
        # the page sleeps: nothing is drawn, so the shell waits
        await page.evaluate(
            "() => { const end = performance.now() + 3000; while (performance.now() < end); }"
        )
        frames = await page.evaluate("performance.memory?.usedJSHeapSize ?? 0")
        await page.evaluate(
            "() => { const end = performance.now() + 3000; while (performance.now() < end); }"
        )
        assert memory(pid) - before < 16 * 1024
        assert await page.evaluate("performance.memory?.usedJSHeapSize ?? 0") - frames < 64 << 20
        await page.keyboard.press("Control+c")
        await typed(page, "clear; echo qui'et'")
        await says(page, "quiet")


async def test_hostile_output_stays_in_its_box_and_reaches_nothing(
    browser: Browser, scripted: Sidecar
) -> None:
    async with scripted(DONE) as served, console(browser, served.url, width=1600) as page:
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        await opened(page)
        title = await page.title()
        await typed(page, f"clear; printf '{HOSTILE}'; echo aft'er'")
        await says(page, "after")
        link = page.locator(".shell-terminal").get_by_text("click here")
        if await link.count():
            await link.first.click()
        assert await page.evaluate(OUTSIDE) == 0
        assert await page.title() == title
        assert dialogs == []
        assert await page.locator(".shell-terminal img").count() == 0
        assert len(page.context.pages) == 1
        viewport = await page.evaluate("[innerWidth, innerHeight]")
        assert viewport == [1600, 800]
        await typed(page, "clear; echo st'ill' here")
        await says(page, "still here")


async def test_who_watches_has_no_shell_and_a_closed_session_or_connection_ends_it(
    browser: Browser, scripted: Sidecar, tmp_path: Path
) -> None:
    folder = tmp_path / "greeting"
    async with scripted(DONE) as served:
        async with console(browser, served.view_url, width=1600) as page:
            await page.get_by_role("button", name="Inspector", exact=True).click()
            await expect(page.get_by_role("tab", name="Changes")).to_be_visible()
            await expect(page.get_by_role("tab", name="Shell")).to_have_count(0)
        async with console(browser, served.url, width=1600, allowed=(LOST,)) as page:
            await opened(page)
            await typed(page, "trap '' HUP; sleep 1000")
            await started(folder, "sleep")
            await page.reload()
            await ended(folder, "sleep")
            await opened(page)
            await typed(page, "sleep 1000")
            await started(folder, "sleep")
            await page.get_by_role("tab", name="Session").click()
            await page.get_by_role("button", name="Close", exact=True).click()
            await ended(folder, "sleep")
            await page.get_by_role("tab", name="Shell").click()
            await expect(page.get_by_text(re.compile("The shell has ended"))).to_be_visible()
            await page.get_by_role("button", name="Open a shell here").click()
            await expect(page.get_by_text(re.compile("start it first"))).to_be_visible()


async def started(folder: Path, program: str) -> None:
    await until(lambda: program in shells_below(folder))


async def ended(folder: Path, program: str) -> None:
    await until(lambda: program not in shells_below(folder))
