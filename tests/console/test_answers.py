"""What a dialog's buttons and fields become on the wire."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio
from msgspec.structs import replace
from playwright.async_api import Browser, Page, expect

from console_decisions import armed
from console_page import console, go_to
from console_states import HubHarness, empty_hub, entries, hub_harness, made, show
from turnwire.journal.base import Entry
from turnwire.normalize.claude.requests.options import options
from turnwire.normalize.common.option_effects import described
from turnwire.normalize.events import PermissionOption, PermissionRequest, PermissionResolved
from waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shown(browser: Browser) -> AsyncIterator[tuple[HubHarness, Page]]:
    """One hub and one page: each test looks at a session of its own."""
    async with hub_harness(host=empty_hub()) as where, console(browser, where.url) as page:
        yield where, page


Asked = Callable[..., Awaitable[tuple[HubHarness, Page]]]


@pytest.fixture
def asked(shown: tuple[HubHarness, Page]) -> Asked:
    """A session that waits for a human at some events, or at the first of a sort in a recording."""
    where, page = shown
    where.host.commands.clear()

    async def ask(events: str | list[Entry], up_to: str | None = None) -> tuple[HubHarness, Page]:
        session = f"asked-{len(where.host.summaries)}"
        waiting = entries(events, up_to=up_to) if isinstance(events, str) else events
        await show(where, session, waiting, state="waiting", pending=1)
        await go_to(page, f"#/s/{session}")
        await expect(page.locator(".session-head h1")).to_have_text(session.replace("-", " "))
        await expect(page.locator(".request")).to_be_visible()
        return where, page

    return ask


async def command(where: HubHarness) -> dict[str, object]:
    """The one command that was given, without its id and what is empty in it."""
    await until(lambda: len(where.host.commands) == 1)
    given, _ = where.host.commands[0]
    return {
        name: value
        for name, value in given.model_dump(exclude_defaults=True).items()
        if name not in {"id", "session", "pending_id", "type"}
    }


async def read_to_the_end(page: Page) -> None:
    """Wait until the end of what is asked has been in view: below the answers that are remembered it may be out of it."""
    await armed(page.locator("[data-option=allow_once]"))


async def test_always_in_this_project_names_the_option_that_says_so(asked: Asked) -> None:
    where, page = await asked("perm-allow-always", "permission_request")
    await read_to_the_end(page)
    await page.get_by_role("button", name="Always …").click()
    await page.get_by_label("in this project, for you alone").check()
    await expect(page.locator(".rules")).to_contain_text("written to .claude/settings.local.json")
    await page.get_by_role("button", name="Allow, and remember it").click()
    assert await command(where) == {"option_id": "allow_always:localSettings"}


async def test_an_answer_of_which_the_agent_says_nothing_is_told_as_that_and_given_as_it_is(
    asked: Asked,
) -> None:
    request = PermissionRequest(
        pending_id="p",
        permission_title="Fetch a page",
        permission_options=described(
            [
                PermissionOption(
                    option_id="proceed_always", name="Allow for this session", kind="allow_always"
                ),
                PermissionOption(option_id="allow_once", name="Allow", kind="allow_once"),
            ]
        ),
        action_type="network",
    )
    where, page = await asked(made([request]))
    await read_to_the_end(page)
    await page.get_by_role("button", name="Always …").click()
    await page.get_by_label(
        "Which calls, where and until when: the agent says only “Allow for this session”."
    ).check()
    await page.get_by_role("button", name="Allow, and remember it").click()
    assert await command(where) == {"option_id": "proceed_always"}


async def test_always_on_an_edit_says_once_that_all_edits_of_the_session_run_unasked(asked: Asked) -> None:
    request = PermissionRequest(
        pending_id="p",
        permission_title="Edit src/app.py",
        permission_options=options([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]),
        action_type="file_write",
    )
    where, page = await asked(made([request]))
    await read_to_the_end(page)
    await page.get_by_role("button", name="Always …").click()
    [choice] = await page.locator(".remember .choice").all()
    await expect(choice).to_have_text(
        "Allows without asking again until this session ends: every edit of a file in the session's folders, "
        "and commands such as mkdir, mv and rm there."
    )
    await choice.click()
    await expect(page.locator(".rules li")).to_have_count(1)
    await page.get_by_role("button", name="Allow, and remember it").click()
    assert await command(where) == {"option_id": "allow_always:mode:acceptEdits"}


async def test_an_input_edited_as_json_is_checked_before_it_is_sent(asked: Asked) -> None:
    where, page = await asked("plan-reject", "permission_request")
    await page.get_by_role("button", name="Edit input").click()
    field = page.get_by_role("textbox", name="Input as JSON")
    await field.fill("[1]")
    await page.get_by_role("button", name="Allow").first.click()
    await expect(page.locator(".request [role=alert]")).to_contain_text("must be a JSON object")
    assert where.host.commands == []
    await field.fill('{"plan": "Another plan"}')
    await page.get_by_role("button", name="Allow").first.click()
    assert (await command(where))["updated_input"] == {"plan": "Another plan"}


async def test_a_plan_is_approved_with_the_mode_to_go_on_in(asked: Asked) -> None:
    where, page = await asked("plan-reject", "permission_request")
    await page.get_by_label("Permissions while it is carried out:").select_option("acceptEdits")
    await page.get_by_label("I want this").check()
    await page.get_by_role("button", name="Allow").first.click()
    assert await command(where) == {"option_id": "allow_once", "mode": "acceptEdits"}


@pytest.mark.long
async def test_a_plan_is_rejected_with_what_should_be_different(asked: Asked) -> None:
    where, page = await asked("plan-reject", "permission_request")
    await page.get_by_label("What should be different?").fill("Smaller steps")
    await page.get_by_role("button", name="Deny").first.click()
    assert await command(where) == {"option_id": "reject_once", "message": "Smaller steps"}


async def test_questions_take_one_several_or_other_answers(asked: Asked) -> None:
    where, page = await asked("ask-denied", "question_request")
    answer = page.get_by_role("button", name="Answer", exact=True)
    await page.get_by_label("SQLite").check()
    await expect(answer).to_be_disabled()
    await page.get_by_label("Auth").check()
    await page.get_by_label("API").check()
    await page.get_by_label("Another answer").last.fill("Search")
    await answer.click()
    assert (await command(where))["answers"] == {
        "Which database?": "SQLite",
        "Which features?": "Auth, API, Search",
    }


async def test_a_form_of_an_mcp_server_is_filled_in(asked: Asked) -> None:
    where, page = await asked("mcp-elicitation", "question_request")
    await page.get_by_label("name", exact=True).fill("Ada")
    await page.get_by_role("button", name="Accept").click()
    assert (await command(where))["content"] == {"name": "Ada"}


@pytest.mark.long
async def test_a_form_can_be_declined(asked: Asked) -> None:
    where, page = await asked("mcp-elicitation", "question_request")
    await page.get_by_role("button", name="Deny").click()
    assert await command(where) == {"action": "decline"}


@pytest.mark.long
async def test_what_was_begun_in_a_dialog_is_kept_while_it_is_out_of_sight(asked: Asked) -> None:
    where, page = await asked("perm-allow-always", "permission_request")
    await page.get_by_label("A note for the agent").fill("half a sen")
    await show(where, "other", entries("tool-bash"))
    asking = await page.evaluate("location.hash")
    await go_to(page, "#/s/other")
    await expect(page.locator(".request")).to_have_count(0)
    await go_to(page, asking)
    await expect(page.get_by_label("A note for the agent")).to_have_value("half a sen")


@pytest.mark.long
async def test_a_notification_tells_of_a_request_while_the_page_is_hidden(browser: Browser) -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "asked", entries("tool-bash"))
        async with console(browser, where.url, permissions=["notifications"]) as page:
            await page.evaluate(
                """() => {
                  window.told = [];
                  window.Notification = class {
                    static permission = 'granted';
                    static requestPermission = async () => 'granted';
                    constructor(title, { body }) { document.body.dataset.told = window.told.push(body); }
                  };
                  Object.defineProperty(document, 'hidden', { get: () => true });
                }"""
            )
            await page.get_by_role("button", name="Notify me").click()
            request = entries("perm-allow-always", up_to="permission_request")[-1]
            await where.journal.append("asked", [request])
            await expect(page.locator(".request")).to_be_visible()
            await expect(page.locator("body")).to_have_attribute("data-told", "1")
            assert await page.evaluate("window.told") == ["May the agent run this command?"]
            await show(where, "elsewhere", entries("tool-bash"), state="running")
            await expect(page.locator(".session", has_text="elsewhere")).to_be_visible()
            where.host.summaries[-1] = replace(where.host.summaries[-1], state="idle")
            where.host.changed()
            await expect(page.locator("body")).to_have_attribute("data-told", "2")
            assert await page.evaluate("window.told[1]") == "has finished"
            await expect(page).to_have_title("(1) Waits for you — asked")
            answered = PermissionResolved(
                pending_id=pending_id(request.event), behavior="allow", by="somebody"
            )
            await where.journal.append("asked", made([answered]))
            await expect(page.locator(".request-over")).to_contain_text("by somebody")
            await expect(page).to_have_title("asked — turnwire")


def pending_id(event: bytes) -> str:
    """The id of a request, from its JSON."""
    return event.partition(b'"pending_id":"')[2].partition(b'"')[0].decode()
