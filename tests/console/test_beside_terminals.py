"""One session of the real Claude Code in a page and two terminals at once, offline: what is done in one of them is seen in all."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect
from tmux import Terminal, terminal

from console_page import LOST, console, say
from live import real_setup
from scripted_messages_api import (
    ScriptedMessagesApi,
    Step,
    hang,
    pause,
    scripted_messages_api,
    text,
    tool_use,
)
from turnwire_process import TURNWIRE, Served, turnwire
from waiting import until

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

PATIENCE = 240.0


def colour(which: str) -> dict[str, object]:
    return tool_use(
        "AskUserQuestion",
        questions=[
            {
                "question": which,
                "header": "C",
                "multiSelect": False,
                "options": [{"label": label, "description": ""} for label in ("Red", "Blue")],
            }
        ],
    )


STEPS: dict[str, Sequence[Step]] = {
    "make one": [[tool_use("Bash", command="touch one")], [text("one-is-there")]],
    "make two": [[tool_use("Bash", command="touch two")], [text("two-is-there")]],
    "make three": [[tool_use("Bash", command="touch three")], [text("three-is-not-there")]],
    "paint the door": [[colour("Which colour for the door?")], [text("door-is-painted")]],
    "paint the roof": [[colour("Which colour for the roof?")], [text("roof-is-painted")]],
    "take your time": [[text("it-begins"), pause(), text("it-ends")]],
    "stay": [[text("it-stays"), hang()]],
}
"""What the model does at prompts; at others it says "ok: " and the prompt."""


def answer(prompt: str, results: int) -> Step:
    steps = STEPS.get(prompt.strip(), [[text(f"ok: {prompt[:50]}")]])
    return steps[min(results, len(steps) - 1)]


def results(api: ScriptedMessagesApi) -> list[str]:
    """The results of tools, as the model has them."""
    messages = max((one["messages"] for one in api.requests), key=len)
    blocks = [block for one in messages if isinstance(one["content"], list) for block in one["content"]]
    return [json.dumps(block) for block in blocks if block["type"] == "tool_result"]


@dataclass
class Side:
    """All that looks at the session."""

    api: ScriptedMessagesApi
    project: Path
    served: Served
    session: str
    attach: str
    page: Page
    terminals: dict[str, Terminal]
    again: Callable[[], Awaitable[None]]
    """Kills the sidecar, and starts another one in its place once everybody has noticed."""

    @property
    def small(self) -> Terminal:
        return self.terminals["small"]

    @property
    def large(self) -> Terminal:
        return self.terminals["large"]

    async def once(self, prompt: str, said: str) -> None:
        """Wait until a prompt and what is said to it are in each, and see that they are there once."""
        for place in self.terminals.values():
            await place.sees(f"> {prompt}", said)
            await place.until_gone("working")
            assert place.text().count(f"> {prompt}") == 1, place.text()
            assert place.text().count(said) == 1, place.text()
        await expect(row(self.page, prompt)).to_have_count(1)
        await expect(self.page.locator(".answer", has_text=said)).to_have_count(1)

    async def asked(self, words: str) -> None:
        """Wait until a request is open in each."""
        for place in self.terminals.values():
            await place.sees(words)
            await until(lambda: is_open(place), 90)  # noqa: B023 - it is over here
        await expect(self.page.locator(".request", has_text=words)).to_be_visible()

    async def closed(self, by_terminal: str, by_page: str) -> None:
        """Wait until the request is closed in each, and each says who decided."""
        for place in self.terminals.values():
            await place.sees(by_terminal)
            await until(lambda: not is_open(place), 90)  # noqa: B023 - it is over here
        await expect(self.page.locator(".request")).to_have_count(0)
        await expect(self.page.locator(".request-over").last).to_contain_text(by_page)

    async def look_alike(self) -> None:
        """Compare the screens with those of terminals and a page that are opened now."""
        async with AsyncExitStack() as stack:
            for name, place in self.terminals.items():
                width, height = SIZES[name]
                fresh = await stack.enter_async_context(
                    terminal(place.folder, self.attach, f"fresh-{name}", width=width, height=height)
                )
                try:
                    await until(lambda: said_in(place) == said_in(fresh), 90)  # noqa: B023 - it is over here
                except TimeoutError:
                    pytest.fail(f"the screens differ:\n{place.text()}\n{fresh.text()}")
            browser = self.page.context.browser
            assert browser is not None
            url = f"{self.served.base}/#token={self.served.token}&session={self.session}"
            other = await stack.enter_async_context(console(browser, url, height=6000))
            rows = other.locator(".row-user, .answer")
            await expect(rows).to_have_text(await self.page.locator(".row-user, .answer").all_text_contents())


SIZES = {"small": (80, 24), "large": (200, 50)}


def said_in(place: Terminal) -> list[str]:
    """Return the conversation on the screen, without the lines above and below it."""
    return place.text().rstrip("\n").split("\n")[1:-4]


def is_open(place: Terminal) -> bool:
    """Whether there is another box on the screen beside that of the prompt."""
    return place.text().count("╭") + place.text().count("┏") > 1


def row(page: Page, words: str) -> Locator:
    """What a human said with these words, on the page."""
    return page.locator(".row-user", has_text=words)


async def typed(place: Terminal, prompt: str) -> None:
    """Type a prompt, and Enter once it is in the field."""
    place.say(prompt)
    await place.sees(f"│ {prompt} ")
    place.keys("Enter")


async def decided(place: Terminal, key: str) -> None:
    """Press the key of an answer until the request is closed: it does not count before the request has stood for a second."""
    place.keys("F2")
    async with asyncio.timeout(PATIENCE):
        while is_open(place):
            place.keys(key)
            await asyncio.sleep(1.5)


@asynccontextmanager
async def beside(browser: Browser, folder: Path) -> AsyncIterator[Side]:
    project = folder / "project"
    project.mkdir()
    with scripted_messages_api() as api:
        api.model = answer
        setup = real_setup(folder, api, str)
        (folder / "turnwire.toml").write_text(
            f'agent = "claude"\n[agents.claude]\ncommand = {json.dumps(list(setup.argv))}\n'
        )
        env = {**setup.env, "TURNWIRE_STATE_DIR": str(folder / "state")}
        attach = " ".join([*TURNWIRE, "attach", "--state-dir", str(folder / "state")])
        async with AsyncExitStack() as stack:
            run = ("run", "--workspace", str(project))
            served = await stack.enter_async_context(turnwire(folder, *run, env=env))
            terminals: dict[str, Terminal] = {}
            for name, (width, height) in SIZES.items():
                place = terminals[name] = await stack.enter_async_context(
                    terminal(folder, attach, name, width=width, height=height)
                )
                # one after the other: the second is called terminal-2
                await place.sees("Say something", "idle")
            # a tall page: all rows are in it
            page = await stack.enter_async_context(console(browser, served.url, height=6000, allowed=(LOST,)))

            async def again() -> None:
                await side.served.kill()
                for place in side.terminals.values():
                    await place.sees("no connection")
                serve = ("serve", "--port", side.served.base.rpartition(":")[2])
                side.served = await stack.enter_async_context(turnwire(folder, *serve, placed=False, env=env))

            side = Side(api, project, served, served.session, attach, page, terminals, again)
            await expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()
            yield side


async def test_a_prompt_of_each_is_seen_once_in_all(browser: Browser, tmp_path: Path) -> None:
    async with beside(browser, tmp_path) as side:
        await typed(side.small, "said small")
        await side.once("said small", "ok: said small")
        await typed(side.large, "said large")
        await side.once("said large", "ok: said large")
        await say(side.page, "said beside")
        await side.once("said beside", "ok: said beside")
        await side.look_alike()


async def test_a_request_and_a_question_are_answered_in_one_and_closed_in_all(
    browser: Browser, tmp_path: Path
) -> None:
    async with beside(browser, tmp_path) as side:
        await say(side.page, "make one")
        await side.asked("touch one")
        await decided(side.small, "y")
        await side.closed("Allowed by terminal: touch one", "by terminal")
        await side.once("make one", "one-is-there")
        assert (side.project / "one").exists()

        await typed(side.large, "make two")
        await side.asked("touch two")
        await side.page.locator(".request").get_by_role("button", name="Allow").first.click()
        await side.closed("Allowed by a browser: touch two", "by you")
        await side.once("make two", "two-is-there")
        assert (side.project / "two").exists()

        await typed(side.small, "make three")
        await side.asked("touch three")
        await decided(side.large, "n")
        await side.closed("Denied by terminal-2: touch three", "by terminal-2")
        await side.once("make three", "three-is-not-there")
        assert not (side.project / "three").exists()

        await typed(side.small, "paint the door")
        await side.asked("Which colour for the door?")
        await decided(side.large, "2")
        await side.closed("Answered by terminal-2", "by terminal-2")
        await side.once("paint the door", "door-is-painted")

        await typed(side.small, "paint the roof")
        await side.asked("Which colour for the roof?")
        await side.page.locator(".request").get_by_label("Red").check()
        await side.page.get_by_role("button", name="Answer", exact=True).click()
        await side.closed("Answered by a browser", "by you")
        await side.once("paint the roof", "roof-is-painted")
        door, roof = results(side.api)[-2:]
        assert "Blue" in door
        assert "Red" not in door
        assert "Red" in roof
        assert "Blue" not in roof
        await side.look_alike()


async def test_a_prompt_that_waits_is_withdrawn_from_another_and_a_closed_terminal_is_not_missed(
    browser: Browser, tmp_path: Path
) -> None:
    async with beside(browser, tmp_path) as side:
        queue = side.page.get_by_role("list", name="Waiting prompts")
        await typed(side.small, "take your time")
        for place in side.terminals.values():
            await place.sees("it-begins", "working")
        await typed(side.large, "never said")
        await side.small.sees("1 waiting: never said ")
        await side.large.sees("1 waiting: never said ")
        await expect(queue.get_by_role("listitem")).to_contain_text(["never said"])
        await queue.get_by_role("button", name="Withdraw this prompt").click()
        await side.small.until_gone("waiting:")
        await side.large.until_gone("waiting:")
        await expect(queue).to_have_count(0)

        await side.page.get_by_label("When it is heard").select_option("later")
        await say(side.page, "not said either")
        await side.small.sees("1 waiting: not said either ")
        await side.large.sees("1 waiting: not said either ")
        side.small.keys("F6")
        await side.small.sees("│ not said either ")
        await side.large.until_gone("waiting:")
        await expect(queue).to_have_count(0)

        # its window is closed
        closed = side.terminals.pop("small")
        closed.run("set-option", "-s", "exit-empty", "off")  # its server is ended at the end of the test
        closed.run("kill-session")
        side.api.resume()
        await side.once("take your time", "it-ends")
        assert side.large.text().count("it-begins") == 1
        await typed(side.large, "said after it")
        await side.once("said after it", "ok: said after it")
        said = json.dumps([one["messages"] for one in side.api.requests])
        assert "never said" not in said
        assert "not said either" not in said
        await side.look_alike()


async def test_all_come_back_after_a_kill_of_the_hub_and_nothing_is_doubled_or_lost(
    browser: Browser, tmp_path: Path
) -> None:
    async with beside(browser, tmp_path) as side:
        await typed(side.small, "said before")
        await side.once("said before", "ok: said before")
        await say(side.page, "stay")
        for place in side.terminals.values():
            await place.sees("it-stays", "working")
        await expect(side.page.locator(".answer", has_text="it-stays")).to_be_visible()
        await side.again()
        for place in side.terminals.values():
            await place.until_gone("no connection")
        await side.once("said before", "ok: said before")
        await side.once("stay", "it-stays")
        await typed(side.large, "said after")
        await side.once("said after", "ok: said after")
        await say(side.page, "said beside")
        await side.once("said beside", "ok: said beside")
        await typed(side.small, "said at last")
        await side.once("said at last", "ok: said at last")
        await expect(side.page.locator(".row-user")).to_contain_text(
            ["said before", "stay", "said after", "said beside", "said at last"]
        )
        await side.look_alike()
