"""The console on the real CLI, offline: its own permission dialogs, its own queue."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from console_decisions import at_rest
from console_page import console, go_to, say, violations
from live import real_setup
from real_cli import by_hand, real_cli, real_cli_environment
from scripted_messages_api import ScriptedMessagesApi, pause, plan, scripted_messages_api, text, tool_use
from turnwire_process import environment
from turnwire_process import preloaded_turnwire as turnwire
from waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="session")


@asynccontextmanager
async def real_session(browser: Browser, folder: Path, api: ScriptedMessagesApi) -> AsyncIterator[Page]:
    """The console of `turnwire run` on the real CLI in an empty project."""
    project = folder / "project"
    project.mkdir()
    own = real_cli_environment(folder / "home", api.url)
    names = ",".join(name for name in own if name not in {"HOME", "PATH", "LANG", "TZ", "SHELL"})
    env = environment(folder / "home", **own, TURNWIRE_PASS_ENV=names)
    async with (
        turnwire(folder, "run", "--workspace", str(project), "--", str(real_cli()), env=env) as served,
        console(browser, served.url) as page,
    ):
        yield page


@pytest.mark.long
async def test_a_command_edited_in_the_dialog_is_the_command_that_runs(
    browser: Browser, tmp_path: Path
) -> None:
    prompt = plan([tool_use("Bash", command="touch asked.txt", description="Make")], [text("It is made.")])
    with scripted_messages_api() as api:
        async with real_session(browser, tmp_path, api) as page:
            await say(page, prompt)
            request = page.locator(".request")
            await request.get_by_role("button", name="Edit input").click()
            await request.get_by_role("textbox", name="Command").fill("touch edited.txt")
            await request.get_by_role("button", name="Allow").first.click()
            await expect(page.locator(".answer", has_text="It is made.")).to_be_visible()
            await expect(page.locator(".request-over")).to_contain_text("Allowed")
            await expect(page.locator(".turn-end")).to_contain_text("completed")
            assert [path.name for path in (tmp_path / "project").glob("*.txt")] == ["edited.txt"]


@pytest.mark.long
async def test_a_question_of_the_real_cli_is_answered(browser: Browser, tmp_path: Path) -> None:
    question = {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cold"}],
    }
    prompt = plan([tool_use("AskUserQuestion", questions=[question])], [text("Thank you.")])
    with scripted_messages_api() as api:
        async with real_session(browser, tmp_path, api) as page:
            await say(page, prompt)
            await page.locator(".request").get_by_label("Blue").check()
            await page.get_by_role("button", name="Answer", exact=True).click()
            await expect(page.locator(".answer", has_text="Thank you.")).to_be_visible()
            results = [
                block
                for request in api.requests
                for message in request["messages"]
                if isinstance(message["content"], list)
                for block in message["content"]
                if block["type"] == "tool_result"
            ]
            assert "Blue" in str(results)


@pytest.mark.long
async def test_a_waiting_prompt_is_withdrawn_before_the_real_cli_serves_it(
    browser: Browser, tmp_path: Path
) -> None:
    with scripted_messages_api() as api:
        async with real_session(browser, tmp_path, api) as page:
            await say(page, plan([text("I begin."), pause(), text(" I end.")]))
            await expect(page.locator(".answer", has_text="I begin.")).to_be_visible()
            await page.get_by_label("When it is heard").select_option("later")
            await say(page, "never to be heard")
            queue = page.get_by_role("list", name="Waiting prompts")
            await expect(queue.get_by_role("listitem")).to_have_text(["waitsnever to be heard"])
            await queue.get_by_role("button", name="Withdraw this prompt").click()
            await expect(queue).to_have_count(0)
            api.resume()
            await expect(page.locator(".turn-end")).to_contain_text("completed")
            assert "never to be heard" not in str(api.requests)


def row(page: Page, words: str) -> Locator:
    """What a human said with these words, on the page."""
    return page.locator(".row-user", has_text=words)


@pytest.mark.long
async def test_a_conversation_begun_in_a_terminal_is_opened_gone_on_with_branched_off_and_gone_back_in(
    browser: Browser, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with scripted_messages_api() as api:
        window = plan([text("The violet window is shut.")], note="What of the window?")
        await by_hand(tmp_path, api.url, window, "And the door?")
        setup = real_setup(tmp_path, api, str)
        config = tmp_path / "turnwire.toml"
        config.write_text(f"[agents]\nclaude = {json.dumps(list(setup.argv))}\n")
        env = {**setup.env, "TURNWIRE_FRONTEND_WORKSPACES": str(project)}
        async with (
            turnwire(tmp_path, "serve", "--config", str(config), env=env) as served,
            console(browser, served.url) as page,
        ):
            await go_to(page, "#/history")
            await page.locator(".kept button.title").click()
            await expect(page.locator(".answer")).to_contain_text(
                ["The violet window is shut.", "ok: And the door?"]
            )
            await expect(page.get_by_text("was said before turnwire had")).to_be_visible()
            assert api.prompts()[-1].startswith("And the door?"), "opening asks no model anything"

            # it goes on, and the model knows what was said in the terminal
            await say(page, plan([text("It is open.")], note="And the roof?"))
            await expect(page.locator(".answer", has_text="It is open.")).to_be_visible()
            await expect(page.locator(".turn-end").last).to_contain_text("completed")
            assert "The violet window is shut." in json.dumps(api.requests[-1]["messages"])
            opened = await page.evaluate("location.hash")

            # a branch from before what was said in the terminal last
            await row(page, "And the door?").get_by_text("From here …").click()
            await at_rest(row(page, "And the door?").get_by_role("button", name="Fork from here"))
            await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("And the door?")
            assert await page.evaluate("location.hash") != opened
            await expect(page.locator(".answer")).to_contain_text(["The violet window is shut."])
            await say(page, plan([text("Another way.")], note="Or the floor?"))
            await expect(page.locator(".answer", has_text="Another way.")).to_be_visible()
            sent = json.dumps(api.requests[-1]["messages"])
            assert "The violet window is shut." in sent
            assert "And the door?" not in sent

            # and back in the one it was branched off: the cut is shown, what counts no more is marked
            await go_to(page, opened)
            await expect(page.locator(".answer", has_text="It is open.")).to_be_visible()
            await row(page, "And the door?").get_by_text("From here …").click()
            await row(page, "And the door?").get_by_role("button", name="Go back to here").click()
            await at_rest(row(page, "And the door?").get_by_role("button", name="Go back", exact=True))
            await expect(page.locator(".boundary", has_text="2 turns of it no longer count")).to_be_visible()
            await expect(page.locator(".voided .chip")).to_have_text(["no longer counts"] * 2)
            await expect(page.locator(".row-user.voided")).to_contain_text(["And the door?", "And the roof?"])
            await expect(page.get_by_role("textbox", name="Prompt")).to_have_value("And the door?")
            await say(page, plan([text("Once more.")], note="The cellar?"))
            await expect(page.locator(".answer", has_text="Once more.")).to_be_visible()
            sent = json.dumps(api.requests[-1]["messages"])
            assert "The violet window is shut." in sent
            assert "And the door?" not in sent
            assert "And the roof?" not in sent
            # once loaded anew it is the same
            await page.reload()
            await expect(page.locator(".boundary", has_text="2 turns of it no longer count")).to_be_visible()
            await expect(page.locator(".row-user.voided")).to_have_count(2)
            assert await violations(page) == []


@pytest.mark.long
async def test_a_double_tap_writes_no_rule_and_a_confirmed_one_is_written(
    browser: Browser, tmp_path: Path
) -> None:
    first = plan([tool_use("Bash", command="npm publish --dry", description="Publish")], [text("One.")])
    # the top of the repository, which is the folder of the test
    settings = tmp_path / ".claude" / "settings.local.json"
    with scripted_messages_api() as api:
        async with real_session(browser, tmp_path, api) as page:
            await say(page, first)
            await expect(page.locator("[data-option=allow_once]")).to_be_enabled()
            box = await page.get_by_role("button", name="Always …").bounding_box()
            assert box is not None
            for _ in range(2):
                await page.mouse.click(box["x"] + 8, box["y"] + 8)
                await page.wait_for_timeout(180)
            await expect(page.locator(".remember")).to_be_visible()
            assert not settings.exists()
            await page.get_by_label("in this project, for you alone").check()
            rules = page.locator(".rules")
            await expect(rules).to_contain_text("npm publish")
            await expect(rules).to_contain_text("written to .claude/settings.local.json")
            await page.get_by_role("button", name="Allow, and remember it").click()
            await expect(page.locator(".answer", has_text="One.")).to_be_visible()
            await until(settings.exists)
            assert "npm publish" in settings.read_text()
