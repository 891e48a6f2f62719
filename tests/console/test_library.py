"""Old conversations on a page: listed, searched, opened at what was found, renamed, exported; and what was used."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from pydantic import JsonValue

from console_decisions import at_rest
from console_page import console, go_to, violations
from console_states import HubHarness, empty_hub, entries, hub_harness, made, show
from turnwire.hub.wire.frames import AnyCommand
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    CompleteData,
    Cut,
    MessageChunk,
    TurnStarted,
    UserMessage,
)
from waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE = "<img src=x onerror=alert(1)> \u202egnp"


def conversation(name: str, folder: str, **more: JsonValue) -> JsonValue:
    """One as `library.list` gives it."""
    return {
        "id": name, "agent": "claude", "folder": folder, "title": f"About {name}", "named": False, "first_prompt": None,
        "began": "2026-01-01T00:00:00Z", "ended": "2026-01-02T00:00:00Z", "turns": 3, "cost_usd": 0.25, "cost_is_whole": True,
        "git_branch": "main", "model": "claude-opus", "version": "2.1.330", "bytes": 1000, "branches": 0, "running": False,
        "session": None, **more,
    }  # fmt: skip


def long_conversation() -> list[AgentEvent]:
    """Forty turns; what is sought stands in the tenth."""
    said: list[AgentEvent] = []
    for n in range(40):
        text = (
            "The violet window is shut."
            if n == 10
            else f"Nothing of it in answer {n}.\n\n" + "More words. " * 40
        )
        turn = f"turn-{n}"
        said += [
            TurnStarted(operation_id=turn, origin="user"),
            UserMessage(text=f"Question {n}", uuid=f"u{n}", operation_id=turn),
            MessageChunk(text=text, message_id=f"m{n}", block_index=0, operation_id=turn),
            Complete(
                operation_id=turn,
                data=CompleteData(outcome="completed", is_error=False, resume_token=f"r{n}"),
            ),
        ]
    return said


def spent(by: str, name: str, cost: float | None, tokens: int) -> JsonValue:
    """An entry as `library.usage` gives it."""
    return {
        "group": {by: name}, "answers": 3, "input_tokens": tokens, "output_tokens": 20, "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 50, "cost_usd": cost, "cost_is_whole": cost is not None,
    }  # fmt: skip


@asynccontextmanager
async def library() -> AsyncIterator[HubHarness]:
    """A hub with three old conversations."""
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "today", entries("text-thinking"))

        async def listed(command: AnyCommand) -> JsonValue:
            if command.model_dump()["before"]:
                return {"conversations": [conversation("oldest", "/srv/red")], "next": None, "complete": True}
            three = [
                conversation("c1", "/srv/red", running=True),
                conversation("c2", "/srv/blue", cost_is_whole=False),
                conversation("c3", "/srv/red", title=HOSTILE),
            ]
            return {"conversations": [*three], "next": "1:c3", "complete": False}

        async def hits(command: AnyCommand) -> JsonValue:
            snippet: JsonValue = [
                {"text": "The ", "hit": False},
                {"text": "violet", "hit": True},
                {"text": " window is shut.", "hit": False},
            ]
            hostile: JsonValue = [{"text": HOSTILE, "hit": True}]
            hit: dict[str, JsonValue] = {
                "source": "library", "id": "c1", "message": "a-line", "seq": None, "kind": "text", "title": "About c1",
                "folder": "/srv/red", "at": "2026-01-02T00:00:00Z", "snippet": snippet,
            }  # fmt: skip
            return {
                "hits": [hit, {**hit, "id": "c3", "title": HOSTILE, "snippet": hostile}],
                "complete": True,
            }

        async def opened(command: AnyCommand) -> JsonValue:
            await show(where, "opened", made(long_conversation()))
            return {"session": "opened"}

        async def used(command: AnyCommand) -> JsonValue:
            (by,) = command.model_dump()["by"]
            names = ["2026-01-01", "2026-01-04"] if by == "day" else ["one", HOSTILE]
            usage = [spent(by, names[0], 1.25, 4000), spent(by, names[1], None, 70_000)]
            return {"usage": [*usage], "complete": True}

        async def exported(command: AnyCommand) -> JsonValue:
            return {"name": "about-c1.md", "content": "# About c1"}

        async def renamed(command: AnyCommand) -> JsonValue:
            return None

        where.host.handlers = {
            "library.list": listed,
            "library.search": hits,
            "library.open": opened,
            "library.usage": used,
            "library.export": exported,
            "library.rename": renamed,
        }
        yield where


def commands(where: HubHarness, kind: str) -> list[dict[str, Any]]:
    """What the page asked for, of one kind."""
    return [command.model_dump() for command, _ in where.host.commands if command.type == kind]


async def visit(page: Page, name: str) -> None:
    """Go to a page by its address."""
    await expect(page.locator(".session-head h1")).to_be_attached()
    await go_to(page, f"#/{name}")


async def search(page: Page, words: str) -> None:
    """Search on the page of old conversations."""
    await page.get_by_label("Words in any conversation").fill(words)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="hits")).to_be_visible()


async def in_sight(page: Page, selector: str) -> bool:
    """Tell whether a part of the page is within the window."""
    found: bool = await page.locator(selector).evaluate(
        "node => { const at = node.getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight }"
    )
    return found


@pytest.mark.long
async def test_a_list_that_is_shown_changes_with_the_files_and_older_ones_stay(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "today", entries("text-thinking"))
        changed: asyncio.Queue[JsonValue] = asyncio.Queue()

        async def listed(command: AnyCommand) -> JsonValue:
            asked = command.model_dump()
            if asked["known"] is not None:
                return await changed.get()
            if asked["before"] is not None:
                older = conversation("c1", "/srv/red", ended="2026-01-01T00:00:00Z")
                return {"conversations": [older], "next": None, "complete": True, "version": "v0"}
            first = conversation("c2", "/srv/red")
            return {"conversations": [first], "next": "2:c2", "complete": True, "version": "v1"}

        where.host.handlers = {"library.list": listed}
        async with console(browser, where.url) as page:
            titles = page.locator(".kept .title")
            await visit(page, "history")
            await expect(titles).to_have_text(["About c2"])
            await page.get_by_role("button", name="Show older ones").click()
            await expect(titles).to_have_text(["About c2", "About c1"])
            new = conversation("c3", "/srv/red", ended="2026-01-03T00:00:00Z")
            changed.put_nowait({"conversations": [new], "next": "3:c3", "complete": True, "version": "v2"})
            await expect(titles).to_have_text(["About c3", "About c2", "About c1"])
            # nothing has changed: it is asked again, and nothing is drawn anew
            changed.put_nowait({"conversations": [], "next": None, "complete": True, "version": "v2"})
            await until(lambda: [one["known"] for one in commands(where, "library.list")].count("v2") == 2)
            await expect(titles).to_have_text(["About c3", "About c2", "About c1"])
            known = [one["known"] for one in commands(where, "library.list") if one["before"] is None]
            assert known == [None, "v1", "v2", "v2"]


@pytest.mark.long
async def test_what_a_search_finds_is_opened_scrolled_to_and_marked(browser: Browser) -> None:
    async with library() as where, console(browser, where.url) as page:
        await page.get_by_role("link", name="History").click()
        await expect(page.get_by_role("heading", name="History")).to_be_focused()
        await search(page, "violet")
        assert commands(where, "library.search")[-1]["text"] == "violet"
        await expect(page.locator("mark").first).to_have_text("violet")
        await expect(page.locator("mark").last).to_contain_text("⟨U+202E⟩")
        await page.get_by_role("button", name="About c1").click()
        found = page.locator(".row.found")
        await expect(found).to_contain_text("The violet window is shut.")
        await expect(found).to_be_focused()
        await expect(found).to_be_in_viewport()
        assert await in_sight(page, ".row.found")
        assert [one["conversation"] for one in commands(where, "library.open")] == ["c1"]
        await page.go_back()
        await expect(page.get_by_label("Words in any conversation")).to_have_value("violet")


@pytest.mark.long
async def test_conversations_are_listed_by_folder_renamed_and_exported(
    browser: Browser, tmp_path: Path
) -> None:
    async with library() as where, console(browser, where.url) as page:
        await visit(page, "history")
        await expect(page.locator(".library h2")).to_have_text(["red /srv", "blue /srv"])
        await expect(page.get_by_text("runs elsewhere")).to_have_count(1)
        await expect(page.get_by_text("still being read")).to_be_visible()
        await page.get_by_role("button", name="Show older ones").click()
        await expect(page.get_by_role("button", name="About oldest", exact=True)).to_be_visible()
        await page.get_by_role("button", name="Rename About c2").click()
        await page.get_by_label("Title").fill("A better name")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("button", name="A better name", exact=True)).to_be_visible()
        await expect(page.get_by_role("button", name="Rename A better name")).to_be_focused()
        await page.get_by_label("Replace secrets").check()
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Markdown of About c1").click()
        file = await download.value
        assert file.suggested_filename == "about-c1.md"
        await file.save_as(tmp_path / "about.md")
        assert await asyncio.to_thread((tmp_path / "about.md").read_text) == "# About c1"
        assert commands(where, "library.export")[0]["redact"] is True
        assert commands(where, "library.rename")[0]["title"] == "A better name"


@pytest.mark.long
async def test_who_may_only_look_is_offered_no_more(browser: Browser) -> None:
    async with (
        library() as where,
        console(browser, f"{where.base}/#token={where.hub.tokens.view}") as page,
    ):
        await visit(page, "history")
        await expect(page.locator(".kept .title").first).to_be_visible()
        await expect(page.locator("button.title")).to_have_count(0)
        await expect(page.get_by_role("button", name="Rename")).to_have_count(0)
        await expect(page.get_by_role("button", name="Markdown of About c1")).to_be_visible()
        await search(page, "violet")
        await expect(page.locator("button.title")).to_have_count(0)


@pytest.mark.long
@pytest.mark.node
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (360, "light")])
async def test_axe_finds_no_violation_in_history_search_and_usage(
    browser: Browser, width: int, scheme: Any
) -> None:
    async with library() as where, console(browser, where.url, width=width, scheme=scheme) as page:
        await visit(page, "history")
        await expect(page.locator(".kept").first).to_be_visible()
        found = await violations(page)
        await page.get_by_role("button", name="Rename About c2").click()
        found += await violations(page)
        await search(page, "violet")
        found += await violations(page)
        await visit(page, "usage")
        for group in ("day", "project"):
            await page.locator(".library select").first.select_option(group)
            await expect(page.locator(".plot svg")).to_be_visible()
            await expect(page.locator(".table tfoot")).to_contain_text("at least $1.25")
            found += await violations(page)
        assert found == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


ABLE = {
    "resume": True, "rewind": True, "fork": True, "interrupt": True, "withdraw": True, "set_model": True, "images": True,
}  # fmt: skip


@pytest.mark.long
async def test_from_a_message_one_branches_off_or_goes_back_to_before_it(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "fork", made(long_conversation()[:4]), abilities=ABLE)
        cut = Cut(
            text="The conversation goes on from an earlier message; 1 turn of it no longer counts.",
            reason="rewind",
            at="r1",
            void_turns=["turn-2"],
        )
        said = long_conversation()
        await show(where, "here", made([*said[:12], cut]), abilities=ABLE)

        async def forked(command: AnyCommand) -> JsonValue:
            return {"session": "fork"}

        where.host.handlers = {"session.fork": forked}
        async with console(browser, f"{where.url}&session=here") as page:
            await expect(page.locator(".boundary")).to_contain_text("1 turn of it no longer counts")
            await expect(page.locator(".voided .chip")).to_have_text("no longer counts")
            assert await violations(page) == []
            # Not at the first, before which there is nothing, nor at one that counts no more.
            await expect(page.locator(".from-here")).to_have_count(1)
            await page.get_by_text("From here …").click()
            await page.get_by_role("button", name="Go back to here").click()
            assert commands(where, "session.resume") == []
            await at_rest(page.get_by_role("button", name="Go back", exact=True))
            await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("Question 1")
            await expect(page.get_by_role("textbox", name="Prompt")).to_be_focused()
            assert [one["at"] for one in commands(where, "session.resume")] == ["r0"]
            await page.get_by_text("From here …").focus()
            await page.keyboard.press("Enter")
            assert await violations(page) == []
            await page.keyboard.press("Escape")
            await expect(page.get_by_text("From here …")).to_be_focused()
            await page.keyboard.press("Enter")
            await at_rest(page.get_by_role("button", name="Fork from here"))
            await expect(page.locator(".session-head h1")).to_have_text("fork")
            await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("Question 1")
            assert [one["at"] for one in commands(where, "session.fork")] == ["r0"]
