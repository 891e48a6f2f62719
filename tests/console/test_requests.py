"""Requests are docked above the prompt: all of what decides is in sight, and nobody answers one by accident."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from console_decisions import in_sight, own_clock, pass_the_second
from console_page import console
from console_states import HubHarness, empty_hub, entries, hub_harness, made, show
from turnwire.normalize.events import (
    AgentEvent,
    PermissionOption,
    PermissionRequest,
    PermissionResolved,
    QuestionRequest,
)
from turnwire.normalize.payloads import ModifyFilePayload, ShellExecPayload, ShowPlanPayload
from turnwire.normalize.payloads.files import ModifyFile, Mutation
from turnwire.normalize.payloads.work import Choice, Question, ShellExec, ShowPlan
from waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

OPTIONS = [
    PermissionOption(option_id="allow_once", name="Allow", kind="allow_once"),
    PermissionOption(option_id="reject_once", name="Reject", kind="reject_once"),
    PermissionOption(option_id="reject_and_stop", name="Reject and stop", kind="reject_once"),
    PermissionOption(option_id="allow_always:session", name="Always allow it", kind="allow_always"),
    PermissionOption(option_id="allow_always:userSettings", name="Always, everywhere", kind="allow_always"),
]


def command(pending_id: str, text: str = "rm -rf build") -> PermissionRequest:
    """May the agent run a command?"""
    return PermissionRequest(
        pending_id=pending_id,
        permission_title=text,
        permission_options=OPTIONS,
        action_type="command",
        normalized=ShellExecPayload(shell_exec=ShellExec(command=text)),
        tool_input={"command": text},
    )


def allowed(pending_id: str) -> PermissionResolved:
    """Somebody else has allowed it."""
    return PermissionResolved(pending_id=pending_id, behavior="allow")


@asynccontextmanager
async def session(
    browser: Browser, *requests: AgentEvent, width: int = 1280, height: int = 720
) -> AsyncIterator[tuple[HubHarness, Page]]:
    """A session with a conversation behind it, in which these requests wait."""
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "asked", [*entries("tool-bash"), *made(requests)], workspace="/home/ada/greeting")
        touched: dict[str, Any] = {"has_touch": True, "is_mobile": True} if width < 500 else {}
        async with console(browser, where.url, width=width, height=height, **touched) as page:
            await expect(page.locator(".row").first).to_be_visible()
            yield where, page


WORDS = ("1. also 4 and 5", "e2e 1 2 3", "123456", "e 1", "yes 1")
FIELDS = (".composer textarea", ".events input[type=search]", ".request input.message")


async def test_typing_while_a_request_arrives_never_answers_it(browser: Browser) -> None:
    chance = random.Random(17)
    async with session(browser) as (where, page):
        await page.keyboard.press("Alt+i")
        await page.get_by_role("tab", name="Events").click()
        for round_ in range(9):
            field = page.locator(FIELDS[round_ % 3])
            words = chance.choice(WORDS)
            # Who writes what to tell the agent has a request before them; for all others it is the first that comes.
            waiting = [f"w{round_}"] if round_ % 3 == 2 else []
            await where.journal.append("asked", made(map(command, waiting)))
            await field.fill("")
            await field.focus()
            arrives = chance.randrange(len(words))
            await page.keyboard.type(words[:arrives], delay=chance.choice((0, 3, 20)))
            asked = [*waiting, f"r{round_}"]
            await where.journal.append("asked", made(map(command, asked[-1:])))
            await page.wait_for_timeout(chance.choice((0, 5, 40, 450)))
            await page.keyboard.type(words[arrives:], delay=chance.choice((0, 3, 20)))
            if waiting:
                await expect(page.locator(".place")).to_contain_text("of 2")
            await expect(page.locator(f".request[data-pending={asked[0]}]")).to_be_visible()
            await expect(field).to_have_value(words)
            await expect(field).to_be_focused()
            await where.journal.append("asked", made(map(allowed, asked)))
            await expect(page.locator(".request")).to_have_count(0)
        sent = [given.type for given, _ in where.host.commands]
        assert "permission.respond" not in sent


async def test_a_request_takes_the_focus_from_nothing_that_can_be_written_in(browser: Browser) -> None:
    async with session(browser) as (where, page):
        await page.get_by_role("button", name="Inspector", exact=True).click()
        await page.get_by_role("tab", name="Events").click()
        fields = (*FIELDS[:2], ".events select")
        for number, selector in enumerate(fields):
            # Nobody has typed lately: that it can be written in is what keeps the focus there.
            await page.locator(selector).first.focus()
            await where.journal.append("asked", made([command(f"r{number}")]))
            await expect(page.locator(f".request[data-pending=r{number}]")).to_be_visible()
            await expect(page.locator(selector).first).to_be_focused()
            await where.journal.append("asked", made([allowed(f"r{number}")]))
            await expect(page.locator(".request")).to_have_count(0)
            await expect(page.locator(selector).first).to_be_focused()


REST = "window.rest(450)"
"""As long as nobody may have typed before a key answers, and a little longer."""


@pytest.mark.long
async def test_a_key_answers_once_a_person_has_given_the_dialog_the_focus_for_a_while(
    browser: Browser,
) -> None:
    async with session(browser) as (where, page):
        await own_clock(page)
        await where.journal.append("asked", made([command("a"), command("b")]))
        form = page.locator(".request-form")
        await expect(form).to_be_visible()
        await page.keyboard.press("Alt+r")
        await expect(form).to_be_focused()
        await page.evaluate(
            """() => {
              const form = document.querySelector('.request-form');
              const press = key => form.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
              for (const key of ['x', '1', '2', 'e']) press(key);  // A sentence goes on.
            }"""
        )
        await pass_the_second(page)
        await expect(page.locator("[data-option=reject_once]")).to_be_enabled()
        assert where.host.commands == []
        await expect(page.get_by_role("textbox", name="Command")).to_have_count(0)

        await page.evaluate(REST)
        await page.keyboard.press("4")  # It stands for a button that is not shown.
        await page.evaluate(REST)
        await page.get_by_role("button", name="Edit input").focus()
        await page.evaluate(REST)
        await page.keyboard.press("1")  # A button has the focus, not the dialog.
        assert where.host.commands == []

        await page.keyboard.press("Alt+r")
        await expect(form).to_be_focused()
        await page.evaluate(REST)
        await page.keyboard.press("e")
        field = page.get_by_role("textbox", name="Command")
        await expect(field).to_be_focused()
        await page.keyboard.press("End")
        await page.keyboard.type(" 12")
        await pass_the_second(page)
        await expect(page.locator("[data-option=allow_once]")).to_be_enabled()
        await page.keyboard.press("Control+Enter")
        await until(lambda: len(where.host.commands) == 1)
        assert where.host.commands[0][0].model_dump()["updated_input"] == {"command": "rm -rf build 12"}

        await where.journal.append("asked", made([PermissionResolved(pending_id="a", behavior="allow")]))
        await expect(page.locator(".request[data-pending=b]")).to_be_visible()
        # Beside the next one, where no key decides.
        await expect(page.locator(".dock")).to_be_focused()
        await page.keyboard.press("Alt+r")
        await expect(form).to_be_focused()
        await pass_the_second(page)
        await expect(page.locator("[data-option=reject_once]")).to_be_enabled()
        await page.keyboard.press("2")
        await until(lambda: len(where.host.commands) == 2)
        assert where.host.commands[1][0].model_dump()["option_id"] == "reject_once"
        await where.journal.append("asked", made([PermissionResolved(pending_id="b", behavior="deny")]))
        await expect(page.get_by_role("textbox", name="Prompt")).to_be_focused()


@pytest.mark.long
async def test_a_reason_cut_short_by_somebody_elses_answer_is_not_sent_as_a_prompt(browser: Browser) -> None:
    async with session(browser, command("a")) as (where, page):
        await page.locator(".request input.message").fill("becau")
        await where.journal.append("asked", made([PermissionResolved(pending_id="a", behavior="allow")]))
        await expect(page.locator(".request")).to_have_count(0)
        await expect(page.locator(".scroller[aria-label=Conversation]")).to_be_focused()
        await page.keyboard.type("se 1")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("")
        assert where.host.commands == []


PATH = "/home/ada/greeting/src/components/deeply/nested/folders/for/no/reason/at/all/greeting_component.py"
LONG: list[AgentEvent] = [
    PermissionRequest(
        pending_id="write",
        permission_title=f"Write {PATH}",
        permission_options=OPTIONS,
        action_type="file_write",
        tool_name="Write",
        normalized=ModifyFilePayload(
            modify_file=ModifyFile(
                file_path=PATH,
                mutations=[Mutation(type="create", content="".join(f"line {n}\n" for n in range(10_000)))],
            )
        ),
        tool_input={"file_path": PATH},
    ),
    PermissionRequest(
        pending_id="plan",
        permission_title="ExitPlanMode",
        permission_options=OPTIONS[:2],
        action_type="other",
        tool_name="ExitPlanMode",
        normalized=ShowPlanPayload(
            show_plan=ShowPlan(
                operation="exit", plan="# The plan\n\n" + "".join(f"{n}. step\n" for n in range(400))
            )
        ),
    ),
    QuestionRequest(
        pending_id="questions",
        kind="ask_user",
        questions=[
            Question(
                question=f"Question {n}?",
                multi_select=False,
                options=[Choice(label=f"{n}{letter}", description="Some words") for letter in "abcd"],
            )
            for n in range(1, 5)
        ],
    ),
]


@pytest.mark.parametrize(("width", "height"), [pytest.param(1280, 720, marks=pytest.mark.long), (390, 844)])
async def test_what_decides_a_request_is_in_sight_however_long_the_request_is(
    browser: Browser, width: int, height: int
) -> None:
    async with session(browser, *LONG, width=width, height=height) as (_, page):
        dock = page.locator(".request")
        body = dock.locator(".request-body")
        next_one = page.get_by_role("button", name="The next request")

        async def from_its_beginning() -> None:
            assert await body.evaluate("node => [node.scrollTop, node.scrollHeight > node.clientHeight]") == [
                0,
                True,
            ]
            assert await body.evaluate("node => node.clientHeight") > 90
            await in_sight(page, page.get_by_role("textbox", name="Prompt"))

        await expect(page.locator(".place")).to_have_text("1 of 3")
        await in_sight(page, dock.locator("h2"), dock.locator(".path .name"), next_one)
        await expect(dock.locator(".path .name")).to_have_text("greeting_component.py")
        assert await dock.locator(".path .name").evaluate("node => node.scrollWidth <= node.clientWidth")
        for name in ("Allow", "Deny"):
            await in_sight(page, dock.get_by_role("button", name=name, exact=False).first)
        await from_its_beginning()
        await body.evaluate("node => node.scrollTo(0, 5000)")
        await in_sight(page, dock.locator("h2"), dock.get_by_role("button", name="Allow").first)

        await next_one.click()
        await expect(dock.locator("h2")).to_have_text("The agent’s plan waits for your approval")
        await in_sight(page, dock.locator("h2"), dock.get_by_role("heading", name="The plan", exact=True))
        await in_sight(page, dock.get_by_role("button", name="Allow").first)
        await from_its_beginning()

        await next_one.click()
        await expect(page.locator(".place")).to_have_text("3 of 3")
        await in_sight(page, dock.locator("legend").first, dock.get_by_role("button", name="Answer"))
        await from_its_beginning()

        await page.locator(".scroller[aria-label=Conversation]").evaluate("node => node.scrollTo(0, 0)")
        await in_sight(page, dock.locator("h2"), dock.get_by_role("button", name="Answer"))


WORD = "unbroken" * 60
TALL: list[AgentEvent] = [
    command("tall", f"rm -rf /srv/{'a/rather/long/path/' * 9}\n" + "echo line\n" * 200),
    QuestionRequest(
        pending_id="wide",
        kind="ask_user",
        questions=[
            Question(
                question=f"{WORD}?",
                multi_select=False,
                options=[Choice(label=WORD, description=WORD), Choice(label="b")],
            )
        ],
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(("width", "height"), [(640, 400), (320, 568)])
async def test_what_decides_a_request_is_in_sight_at_twice_the_size_and_on_small_phones(
    browser: Browser, width: int, height: int
) -> None:
    async with session(browser, *TALL, width=width, height=height) as (_, page):
        dock = page.locator(".request")
        await expect(page.locator(".place")).to_have_text("1 of 2")
        for option in ("allow_once", "reject_once", "reject_and_stop"):
            await in_sight(page, dock.locator(f"[data-option={option}]"))
        await in_sight(page, dock.locator("h2"), page.get_by_role("textbox", name="Prompt"))
        assert await dock.locator(".request-body").evaluate("node => node.clientHeight") >= 40

        await page.get_by_role("button", name="The next request").click()
        await in_sight(page, dock.get_by_role("button", name="Answer"), dock.locator("h2"))
        assert await dock.locator(".request-body").evaluate("node => node.scrollWidth <= node.clientWidth")


NAMES = "Allow and " + "say much about it, so that the rest is out of sight, " * 60
TALKATIVE = PermissionRequest(
    pending_id="talkative",
    permission_title="touch made.txt",
    permission_options=[
        PermissionOption(option_id="long", name=NAMES, kind="allow_once"),
        PermissionOption(option_id="word", name="x" * 3000, kind="allow_once"),
        *(
            PermissionOption(option_id=f"one {n}", name=f"Allow, number {n}", kind="allow_once")
            for n in range(60)
        ),
        PermissionOption(option_id="no", name="Reject", kind="reject_once"),
    ],
    action_type="command",
    normalized=ShellExecPayload(shell_exec=ShellExec(command="touch made.txt")),
    tool_input={"command": "touch made.txt"},
)


@pytest.mark.parametrize(("width", "height"), [pytest.param(1280, 720, marks=pytest.mark.long), (390, 844)])
async def test_an_agent_cannot_talk_the_refusal_out_of_sight(
    browser: Browser, width: int, height: int
) -> None:
    async with session(browser, TALKATIVE, width=width, height=height) as (where, page):
        dock = page.locator(".request")
        await in_sight(page, dock.locator("h2"), dock.locator("input.message"), dock.locator(".code"))
        await in_sight(page, page.get_by_role("textbox", name="Prompt"))
        refusal = dock.locator("[data-option=no]")
        await in_sight(page, dock.locator("[data-option=long]"), refusal)
        await dock.locator("[data-option='one 59']").scroll_into_view_if_needed()
        await in_sight(
            page, dock.locator("[data-option='one 59']"), dock.locator("h2"), dock.locator(".code")
        )
        assert await dock.evaluate(
            "node => [...node.querySelectorAll('*')].every(one => one.scrollWidth <= innerWidth)"
        )
        await refusal.scroll_into_view_if_needed()
        await expect(refusal).to_be_enabled()
        await refusal.click()
        await until(lambda: len(where.host.commands) == 1)
        assert where.host.commands[0][0].model_dump()["option_id"] == "no"


CUT_AT = "node => [getComputedStyle(node).direction, getComputedStyle(node).textOverflow]"


@pytest.mark.long
async def test_folder_and_agent_are_in_sight(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        folder = "/srv/" + "a-long-way-down/" * 20 + "greeting"
        await show(
            where,
            "one",
            entries("text-thinking", up_to="turn_started"),
            agent="an-agent-with-a-long-name-of-mine",
            title="T" * 200,
            workspace=folder,
        )
        async with console(browser, where.url) as page:
            for width in (1280, 390):
                await page.set_viewport_size({"width": width, "height": 800})
                head = page.locator(".session-head")
                await in_sight(
                    page,
                    head.get_by_text("an-agent-with-a-long-name-of-mine", exact=True),
                    head.locator(".path .name"),
                )
                assert await head.locator(".path .name").evaluate(
                    "name => name.scrollWidth <= name.clientWidth"
                )
                assert await head.locator(".path .folder").evaluate(CUT_AT) == ["rtl", "ellipsis"]
                assert await page.evaluate("document.documentElement.scrollWidth") <= width
