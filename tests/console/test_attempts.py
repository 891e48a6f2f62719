"""Attempts to have somebody decide by accident: pointers and keys that are held, a page that moves, words in an odd order."""

from contextlib import suppress
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from console_decisions import OPTIONS, armed, command, given, own_clock, pass_the_second, session
from console_page import console
from console_states import empty_hub, entries, hub_harness, made, show
from turnwire.normalize.events import (
    AvailableCommands,
    Command,
    PermissionOption,
    PermissionRequest,
    PermissionResolved,
    QuestionRequest,
    RememberedRule,
    SessionMode,
)
from turnwire.normalize.payloads import ModifyFilePayload
from turnwire.normalize.payloads.files import ModifyFile, Mutation
from waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]


async def at(page: Page, selector: str) -> tuple[float, float]:
    box = await page.locator(selector).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def test_a_button_that_is_held_while_another_request_comes_decides_neither(browser: Browser) -> None:
    async with session(browser, command("a"), command("b", "rm -rf build")) as (where, page):
        await armed(page.locator("[data-option=allow_once]"))
        await page.mouse.move(*await at(page, "[data-option=allow_once]"))
        await page.mouse.down()
        await where.journal.append("asked", made([PermissionResolved(pending_id="a", behavior="deny")]))
        await expect(page.locator(".request[data-pending=b]")).to_be_visible()
        await armed(page.locator("[data-option=allow_once]"))
        await page.mouse.up()
        assert given(where) == []


async def test_a_window_that_changes_its_size_unarms_what_it_moves(browser: Browser) -> None:
    async with session(browser, command("a")) as (where, page):
        allow = page.locator("[data-option=allow_once]")
        await armed(allow)
        await own_clock(page)
        await page.set_viewport_size({"width": 1000, "height": 700})
        # the click comes before any look at where the button is now
        await allow.evaluate("node => node.click()")
        assert given(where) == []
        await pass_the_second(page)
        await armed(allow)
        await allow.click()
        await until(lambda: len(given(where)) == 1)


async def test_two_fingers_that_move_what_is_seen_unarm_a_button(browser: Browser) -> None:
    async with session(browser, command("a"), width=390, height=844) as (where, page):
        allow = page.locator("[data-option=allow_once]")
        await armed(allow)
        await own_clock(page)
        chromium = await page.context.new_cdp_session(page)
        await chromium.send("Emulation.setPageScaleFactor", {"pageScaleFactor": 2})
        await page.wait_for_function("() => visualViewport.scale === 2")
        await allow.evaluate("node => node.click()")
        assert given(where) == []
        await pass_the_second(page)
        await armed(allow)


async def test_a_key_that_is_held_in_the_prompt_answers_nothing(browser: Browser) -> None:
    async with session(browser) as (where, page):
        await page.get_by_role("textbox", name="Prompt").fill("go on")
        await page.keyboard.down("Enter")
        await where.journal.append("asked", made([command("a"), command("b", "rm -rf build")]))
        await armed(page.locator("[data-option=allow_once]"))
        for _ in range(20):
            await page.keyboard.down("Enter")
        await page.get_by_role("textbox", name="Prompt").blur()
        await page.locator("[data-option=allow_once]").focus()
        for _ in range(20):
            await page.keyboard.down("Enter")
        await page.keyboard.up("Enter")
        assert [one["type"] for one in given(where)] == ["prompt"]


async def test_the_key_that_takes_a_completion_sends_nothing_while_it_is_held(browser: Browser) -> None:
    commands = AvailableCommands(available_commands=[Command(name="compact", description="Less")])
    async with session(browser) as (where, page):
        await where.journal.append("asked", made([commands]))
        await page.get_by_role("textbox", name="Prompt").press_sequentially("/com")
        await expect(page.get_by_role("option", name="/compact")).to_be_visible()
        for _ in range(3):
            await page.keyboard.down("Enter")
        await page.keyboard.up("Enter")
        await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("/compact ")
        assert given(where) == []
        await page.keyboard.press("Enter")
        await until(lambda: len(given(where)) == 1)


@pytest.mark.parametrize("width", [390, 1440])
async def test_a_double_click_on_new_session_begins_none(browser: Browser, width: int) -> None:
    async with session(browser, width=width) as (where, page):
        if width < 820:
            await page.get_by_role("button", name="Sessions", exact=True).click()
        await page.get_by_role("button", name="New session").click()
        x, y = await at(page, ".new-session .primary")
        await page.get_by_role("button", name="Cancel").click()
        await page.get_by_role("button", name="New session").dblclick()
        await expect(page.locator(".new-session")).to_be_visible()
        assert given(where) == []
        # where Start stands nothing else begins a session; it takes no click in its first moments
        while not given(where):
            await page.mouse.click(x, y)
            with suppress(TimeoutError):
                await until(lambda: bool(given(where)), 2)
            x, y = await at(page, ".new-session .primary") if not given(where) else (x, y)
        assert len(given(where)) == 1


WORDS = "rm -rf אב / גד # א"
PLACES = """node => {
  const seen = [];
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  for (let text; (text = walker.nextNode()); )
    for (const [character, name] of [['אב'[0], 1], ['/', 2], ['גד'[0], 3], ['#', 4]]) {
      const index = text.data.indexOf(character);
      if (index < 0 || seen.some(([other]) => other === name)) continue;
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + 1);
      seen.push([name, range.getBoundingClientRect().left]);
    }
  return seen.sort(([, one], [, other]) => one - other).map(([name]) => name);
}"""


def change(path: str, *mutations: Mutation) -> ModifyFilePayload:
    return ModifyFilePayload(modify_file=ModifyFile(file_path=path, mutations=list(mutations)))


def ask(
    title: str = "Do it", options: list[PermissionOption] | None = None, **more: Any
) -> PermissionRequest:
    return PermissionRequest(
        pending_id="a",
        permission_title=title,
        permission_options=options or OPTIONS[:1],
        action_type=more.pop("action_type", "other"),
        **more,
    )


IN_ORDER = {
    ".request-body .code": ask(tool_input={"line": WORDS}),
    ".request-body .diff .added .line": ask(
        normalized=change("a.sh", Mutation(type="edit", old_content="x", new_content=WORDS))
    ),
    ".request-body .code-lines, .request-body .code, .request-body .diff": ask(
        normalized=change("a.ipynb", Mutation(type="edit", cell_id="c", new_content=WORDS))
    ),
    ".request .asked p": ask(WORDS),
    ".request .asked .wrong code": ask(blocked_path=WORDS),
}


@pytest.mark.parametrize("where_it_stands", IN_ORDER)
async def test_words_from_right_to_left_move_nothing_wherever_they_stand(
    browser: Browser, where_it_stands: str
) -> None:
    async with session(browser, IN_ORDER[where_it_stands]) as (_, page):
        shown = page.locator(where_it_stands).first
        await expect(shown).to_contain_text("#")
        assert await shown.evaluate(PLACES) == [1, 2, 3, 4]


async def test_words_from_right_to_left_move_nothing_in_a_rule(browser: Browser) -> None:
    rule = PermissionOption(
        option_id="allow_always:session",
        name="Always",
        kind="allow_always",
        destination="session",
        effect=WORDS,
        remembers=[RememberedRule(rule=WORDS, destination="session")],
    )
    async with session(browser, ask(options=[OPTIONS[0], rule])) as (_, page):
        await page.get_by_role("button", name="Always …").click()
        await page.locator(".remember .choice").click()
        for place in (".remember .choice span", ".rules code"):
            assert await page.locator(place).first.evaluate(PLACES) == [1, 2, 3, 4]


HIDING = "\u200e\u061c\xad\u180e\u2800\u3164\ufe0f\U000e0041\u202e"


async def test_the_titles_of_the_page_and_of_its_sessions_hide_nothing(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "odd", entries("tool-bash"), title=f"a{HIDING}b")
        async with console(browser, where.url) as page:
            spelt = "a" + "".join(f"⟨U+{ord(one):04X}⟩" for one in HIDING) + "b"
            await expect(page).to_have_title(f"{spelt} — turnwire")
            await expect(page.locator(".session-head h1")).to_have_text(spelt)
            await expect(page.locator(".session .title, .session").first).to_contain_text(spelt)
            await page.keyboard.press("Control+k")
            await expect(page.locator("#palette li").first).to_contain_text(spelt)


async def test_the_head_warns_of_a_policy_that_asks_nobody_and_invents_no_mode(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "loose", made([command("a")]), policy="autonomous")
        await show(where, "strict", made([command("a")]), policy="supervised")
        async with console(browser, f"{where.url}&session=loose") as page:
            await expect(page.locator(".policy-in-force .badge.bad")).to_have_text("Approve everything")
            await expect(page.locator(".mode-in-force")).to_have_text("Mode not told")
            await expect(page.locator(".mode-picker summary")).to_have_text("Mode not told")
            await where.journal.append("loose", made([SessionMode(current_mode_id="default")]))
            await expect(page.locator(".mode-in-force")).to_have_text("Ask")
            # what the agent would ask is approved all the same
            await expect(page.locator(".policy-in-force .badge.bad")).to_be_visible()
        async with console(browser, f"{where.url}&session=strict") as page:
            await expect(page.locator(".mode-in-force")).to_have_text("Mode not told")
            await expect(page.locator(".policy-in-force")).to_have_count(0)


async def test_a_form_is_accepted_once_its_end_was_in_view(browser: Browser) -> None:
    field = {"type": "string", "default": "yes"}
    asked = QuestionRequest(
        pending_id="q",
        kind="elicitation",
        message="A few things",
        requested_schema={"type": "object", "properties": {f"field {n}": field for n in range(40)}},
    )
    async with session(browser, asked) as (where, page):
        accept = page.get_by_role("button", name="Accept")
        await armed(page.get_by_role("button", name="Deny"))
        await expect(page.locator(".unseen")).to_be_visible()
        await expect(accept).to_be_disabled()
        await page.get_by_label("field 0", exact=True).press("Enter")
        assert given(where) == []
        await page.get_by_role("button", name="Go to the end").click()
        await armed(accept)
        await accept.click()
        await until(lambda: len(given(where)) == 1)


LONG_WORDS = "https://example.org/" + "a" * 300


@pytest.mark.parametrize(("width", "height"), [(390, 844), (320, 568), (1024, 768)])
async def test_a_long_title_takes_no_button_out_of_sight(browser: Browser, width: int, height: int) -> None:
    request = ask(
        f"Fetch {LONG_WORDS}",
        options=[*OPTIONS],
        tool_input={"url": LONG_WORDS, "prompt": "what " * 60},
        blocked_path="/srv/" + "b" * 400,
    )
    async with session(browser, request, width=width, height=height) as (_, page):
        body = page.locator(".request-body")
        await expect(body).to_contain_text(LONG_WORDS)
        await expect(body).to_contain_text("/srv/" + "b" * 400)
        for option in ("allow_once", "reject_once"):
            whole = """node => {
              const { left, top, right, bottom } = node.getBoundingClientRect();
              const points = [[left + 3, top + 3], [right - 3, bottom - 3]];
              return points.every(([x, y]) => node.contains(document.elementFromPoint(x, y)));
            }"""
            assert await page.locator(f"[data-option={option}]").evaluate(whole), option
        assert await body.evaluate("node => node.clientHeight") >= 40
