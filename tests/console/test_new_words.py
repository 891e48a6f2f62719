"""A word that a newer hub adds to the schema is shown as it is: nothing disappears, and nothing looks as if it had gone well."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from console_page import console, go_to
from console_states import empty_hub, hub_harness, show
from recordings import ROOT
from turnwire.hub.schema import document
from turnwire.journal.base import Entry
from turnwire.normalize.events import Cut, History, ProcessStatus, SandboxDenied, TurnStarted, to_json

pytestmark = pytest.mark.asyncio(loop_scope="session")

WORD = "a_new_word"
GOLDENS = sorted((ROOT / "tests" / "normalize" / "goldens").rglob("*.jsonl")) + sorted(
    (ROOT / "tests" / "normalize" / "acp" / "goldens").rglob("*.jsonl")
)

OF_SIDECARS = (
    TurnStarted(operation_id="turn-1", origin="user"),
    Cut(text="Went back", reason="rewind", void_turns=[]),
    History(state="began", text="Said before"),
    ProcessStatus(state="started"),
    SandboxDenied(kind="host", target="example.org:443", reason="nobody allowed it"),
)
"""Events that no recording gives."""


def enums() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield each field of the events' schema that takes one of several words: its type, its name, the words."""
    definitions: Any = document("events")["$defs"]
    for name, definition in definitions.items():
        for field, schema in definition.get("properties", {}).items():
            for words in [schema.get("enum"), *(one.get("enum") for one in schema.get("anyOf", ()))]:
                if words:
                    yield name, field, frozenset(word for word in words if isinstance(word, str))


def with_new_word(value: Any, field: str, words: frozenset[str]) -> tuple[Any, int]:
    """Return a JSON value with the field's words replaced, and how many there were."""
    if isinstance(value, dict):
        found, made = 0, {}
        for key, inner in value.items():
            if key == field and isinstance(inner, str) and inner in words:
                made[key], found = WORD, found + 1
            else:
                made[key], more = with_new_word(inner, field, words)
                found += more
        return made, found
    if isinstance(value, list):
        parts = [with_new_word(inner, field, words) for inner in value]
        return [part for part, _ in parts], sum(more for _, more in parts)
    return value, 0


def sessions() -> Iterator[tuple[str, list[Entry]]]:
    """Yield a conversation for each field, in which all of its words are new."""
    read = [[json.loads(line) for line in path.read_bytes().splitlines()] for path in GOLDENS]
    read.append([json.loads(to_json(event)) for event in OF_SIDECARS])
    for name, field, words in enums():
        for events in read:
            changed = [with_new_word(event, field, words) for event in events]
            if any(more for _, more in changed):
                yield f"{name}-{field}", [Entry(json.dumps(event).encode()) for event, _ in changed]
                break
        else:
            raise AssertionError(f"no recording has {name}.{field}")


@pytest.mark.long
async def test_every_field_with_a_new_word_is_shown(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        shown = list(sessions())
        assert len(shown) > 20
        for name, events in shown:
            await show(where, name, events)
        # the page fails the test when anything in it throws
        async with console(browser, where.url) as page:
            for name, _ in shown:
                await go_to(page, f"#/s/{name}")
                await expect(page.locator(".session-head h1")).to_have_text(name.replace("-", " "))
                await expect(page.locator(".row").first).to_be_visible()
                await expect(page.locator(".broken")).to_have_count(0)


async def test_a_new_status_and_a_new_outcome_are_told_and_not_green(browser: Browser) -> None:
    shown = dict(sessions())
    async with hub_harness(host=empty_hub()) as where:
        for name in ("ToolUpdate-tool_status", "CompleteData-outcome", "PermissionRequest-action_type"):
            await show(where, name, shown[name])
        async with console(browser, where.url) as page:
            await go_to(page, "#/s/ToolUpdate-tool_status")
            await expect(page.locator(".card.tool .badge", has_text=WORD).first).to_be_visible()
            await expect(page.locator(".card.tool.good")).to_have_count(0)
            await go_to(page, "#/s/CompleteData-outcome")
            await expect(page.locator(".turn-end", has_text=WORD).first).to_be_visible()
            await expect(page.locator(".turn-end.good")).to_have_count(0)


async def test_a_row_that_cannot_be_drawn_takes_nothing_with_it(browser: Browser) -> None:
    events = [
        {"type": "message_chunk", "message_id": "m", "block_index": 0, "text": "before"},
        # a payload whose parts are not what they say they are
        {"type": "tool_call", "tool_call_id": "c", "tool_name": "X", "tool_title": "X", "tool_status": "running",
         "normalized": {"kind": "modify_file", "renderer": "x", "modify_file": {"file_path": "a", "mutations": 7}}},
        {"type": "message_chunk", "message_id": "n", "block_index": 0, "text": "after"},
    ]  # fmt: skip
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "odd", [Entry(json.dumps(event).encode()) for event in events])
        async with console(browser, where.url, allowed=("TypeError",)) as page:
            for words in ("before", "after"):
                await expect(page.get_by_text(words, exact=True)).to_be_visible()
            await expect(page.locator(".broken")).to_contain_text("This page cannot show this event")
            await page.get_by_role("button", name="Open event 2").click()
            await expect(page.locator(".inspector")).to_contain_text("modify_file")
            await expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()


@pytest.mark.long
async def test_a_request_that_cannot_be_drawn_leaves_the_prompt_and_the_way_to_its_event(
    browser: Browser,
) -> None:
    request = {
        "type": "permission_request", "pending_id": "p", "permission_title": "X", "action_type": "file_write",
        "permission_options": [{"option_id": "yes", "name": "Allow", "kind": "allow_once"}],
        "normalized": {"kind": "modify_file", "renderer": "x", "modify_file": {"file_path": "a", "mutations": 7}},
    }  # fmt: skip
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "odd", [Entry(json.dumps(request).encode())])
        async with console(browser, where.url, allowed=("TypeError",)) as page:
            await expect(page.locator(".dock .broken")).to_contain_text("This page cannot show this request")
            await page.get_by_role("button", name="Open event 1").click()
            await expect(page.locator(".inspector")).to_contain_text("modify_file")
            await expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()


OWN = ("a_new_word", "constructor", "__proto__")
"""Words that no table has, and words that every object of JavaScript has a member for."""


@pytest.mark.parametrize("word", OWN)
@pytest.mark.long
async def test_a_word_that_objects_have_a_member_for_is_no_success_either(
    browser: Browser, word: str
) -> None:
    shown = dict(sessions())
    names = (
        "ToolUpdate-tool_status",
        "CompleteData-outcome",
        "PermissionResolved-behavior",
        "ProcessStatus-state",
    )
    async with hub_harness(host=empty_hub()) as where:
        for name in names:
            said = [Entry(entry.event.replace(WORD.encode(), word.encode())) for entry in shown[name]]
            await show(where, name, said)
        async with console(browser, where.url) as page:
            places = (".card.tool .badge", ".turn-end", ".request-over .verb", ".bar")
            for name, place in zip(names, places, strict=True):
                await go_to(page, f"#/s/{name}")
                told = page.locator(place, has_text=word).first
                await expect(told).to_be_visible()
                own = "node => node.closest('.badge, .turn-end, .request-over, .bar').className"
                assert "good" not in await told.evaluate(own)
                await expect(page.locator(".broken")).to_have_count(0)
            await expect(page.get_by_text("process ended")).to_have_count(0)


@pytest.mark.long
async def test_a_session_in_a_state_that_is_not_known_is_not_idle(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(
            where, "odd", [Entry(to_json(History(state="began", text="Said before")))], state="stopping"
        )
        async with console(browser, where.url) as page:
            await expect(page.locator(".session-head .badge").first).to_have_text("stopping")
            await expect(page.locator(".session-head .badge.good")).to_have_count(0)
