"""The files of the workspace in the inspector: folders, a text with its numbers, an image, and what is refused."""

import base64
import os
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from console_page import Sidecar, console, violations

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_files_are_found_and_read_and_a_link_out_of_the_folder_is_refused(
    browser: Browser, scripted: Sidecar, tmp_path: Path
) -> None:
    async with scripted("fallback: {steps: [{text: 'Done.'}]}") as served:
        folder = tmp_path / "greeting"
        (folder / "src").mkdir()
        (folder / "src" / "main.py").write_text("def hello():\n    return 1\n")
        (folder / "logo.png").write_bytes(PNG)
        (folder / "program").write_bytes(b"\x7fELF\0")
        (folder / "out").symlink_to("/etc/passwd")
        os.mkfifo(folder / "pipe")
        async with console(browser, served.url, width=1600) as page:
            await page.get_by_role("button", name="Inspector", exact=True).click()
            await page.get_by_role("tab", name="Files").click()
            files = page.locator(".workspace-files")
            await files.get_by_role("button", name="src").click()
            assert await violations(page) == []
            await files.get_by_role("button", name="main.py").click()
            await expect(files.locator("td.line")).to_have_text(["def hello():", "    return 1"])
            await expect(files.locator(".hljs-keyword").first).to_have_text("def")
            assert await violations(page) == []
            back = files.get_by_role("button", name="All files")
            await expect(back).to_be_focused()
            await page.keyboard.press("Enter")
            await expect(files.get_by_role("button", name="main.py")).to_be_focused()
            for name, said in (("program", "A binary file"), ("out", "leads out of it")):
                await files.get_by_role("button", name=name).click()
                await expect(files.locator(".viewer")).to_contain_text(said)
                await back.click()
            await files.get_by_role("button", name="logo.png").click()
            await expect(files.get_by_role("img", name="Image, image/png")).to_be_visible()
        async with console(browser, served.url, width=320) as page:
            await page.emulate_media(color_scheme="dark")
            await page.get_by_role("button", name="Inspector", exact=True).click()
            await page.get_by_role("tab", name="Files").click()
            await page.get_by_role("button", name="script.yaml").click()
            await expect(page.locator(".viewer td.line").first).to_be_visible()
            assert await violations(page) == []
            assert await page.evaluate("document.documentElement.scrollWidth") <= 320
        async with console(browser, served.view_url, width=1600) as page:
            await page.get_by_role("button", name="Inspector", exact=True).click()
            await expect(page.get_by_role("tab", name="Changes")).to_be_visible()
            await expect(page.get_by_role("tab", name="Files")).to_have_count(0)
