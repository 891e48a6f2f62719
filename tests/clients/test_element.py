"""`<turnwire-session>` in pages of another origin, in chromium: under a strict policy, in a frame, and under attack."""

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from element_page import ELEMENT, PAGE, POLICY, built, site
from playwright.async_api import Browser, Frame, Locator, Page, expect

from console_decisions import PAUSES
from console_page import WAIT_MS, chromium
from live import Frontend, preloaded_running, running, scripted_setup
from turnwire.client.events import Complete, PermissionRequest, PermissionResolved
from turnwire_process import Served

pytestmark = [pytest.mark.long, pytest.mark.node]

AROUND = """<!doctype html><title>t</title><h1>Around</h1>
<iframe src="{inner}" width="700" height="560" referrerpolicy="no-referrer"></iframe>"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The element, built once for all tests here."""
    return asyncio.run(built(tmp_path_factory.mktemp("built")))


class Stage:
    """A session that asks, and a browser with pages that show it."""

    def __init__(self, browser: Browser, mine: Frontend, served: Served, inner: str, outer: str) -> None:
        self.browser, self.mine, self.served, self.inner, self.outer = browser, mine, served, inner, outer
        self.complaints: list[str] = []

    async def open(self, address: str) -> Page:
        page = await self.browser.new_page(viewport={"width": 900, "height": 760})
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        await page.goto(address)
        return page

    async def asked(self, prompt: str) -> PermissionRequest:
        await self.mine.prompt(prompt)
        return await self.mine.until(PermissionRequest)


@pytest.fixture
async def stage(tmp_path: Path, script: bytes) -> AsyncIterator[Stage]:
    inside: dict[str, tuple[str, bytes, str]] = {}
    around: dict[str, tuple[str, bytes, str]] = {}
    async with site(inside) as inner, site(around) as outer:
        setup = scripted_setup(tmp_path, "2.1.330")
        async with (
            running(tmp_path, setup, "--policy", "supervised", "--allowed-origin", inner) as (mine, served),
            chromium() as browser,
        ):
            policy = POLICY.format(hub=f"{served.base} {served.base.replace('http', 'ws', 1)}")
            inside["/turnwire-session.js"] = ("text/javascript", script, policy)
            view = served.view_url.partition("token=")[2]
            for name, token in (("/", served.token), ("/view", view)):
                page = PAGE.format(base=served.base, session=mine.session, token=token)
                inside[name] = ("text/html", page.encode(), policy)
            around["/"] = (
                "text/html",
                AROUND.format(inner=f"{inner}/").encode(),
                "frame-src *; style-src 'unsafe-inline'",
            )
            yield Stage(browser, mine, served, inner, outer)


def button(page: Page | Frame, option: str) -> Locator:
    return page.locator(f"turnwire-session [data-option={option}]")


async def armed(deciding: Locator) -> None:
    await expect(deciding).to_have_attribute("aria-disabled", "false")


async def framed(page: Page, inner: str) -> Frame:
    await page.wait_for_selector("iframe")
    while (frame := next((one for one in page.frames if one.url.startswith(inner)), None)) is None:
        await page.wait_for_event("framenavigated")
    return frame


async def test_it_shows_a_session_and_decides_under_a_strict_policy_and_in_a_frame(stage: Stage) -> None:
    mine = stage.mine
    page = await stage.open(f"{stage.inner}/")
    told = await page.evaluate_handle(
        "() => { const seen = []; document.querySelector('turnwire-session').addEventListener('turnwire-event', ({ detail }) =>"
        " seen.push(detail.event.type)); return seen; }"
    )
    # it tells events from when it is connected on
    await expect(page.locator("turnwire-session textarea")).to_be_visible()
    await stage.asked("ls")
    await expect(page.locator("turnwire-session")).to_contain_text("I ask.")
    allow = button(page, "allow_once")
    await armed(allow)
    await allow.click()
    resolved = await mine.until(PermissionResolved)
    assert (resolved.behavior, resolved.by) == ("allow", "page")
    await mine.until(Complete)
    await expect(page.locator("turnwire-session")).to_contain_text("That is all.")
    assert "permission_request" in await told.json_value()
    # the page around it keeps its own style
    assert await page.evaluate("getComputedStyle(document.querySelector('h1')).marginTop") != "0px"
    outside = await stage.open(f"{stage.outer}/")
    frame = await framed(outside, stage.inner)
    await stage.asked("touch x")
    deny = button(frame, "reject_once")
    await armed(deny)
    await deny.click()
    assert (await mine.until(PermissionResolved)).behavior == "deny"
    assert stage.complaints == []


async def test_a_wrong_address_is_said_and_a_token_given_before_the_script_counts(
    tmp_path: Path, script: bytes
) -> None:
    setup = scripted_setup(tmp_path, "2.1.330")
    pages: dict[str, tuple[str, bytes, str]] = {"/turnwire-session.js": ("text/javascript", script, "")}
    async with (
        site(pages) as origin,
        running(tmp_path, setup, "--allowed-origin", origin) as (mine, served),
        chromium() as browser,
    ):
        bare = (
            f'<!doctype html><turnwire-session url="127.0.0.1:1" session="{mine.session}"></turnwire-session>'
        )
        pages["/"] = ("text/html", bare.encode(), "")
        page = await browser.new_page()
        page.set_default_timeout(WAIT_MS)
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        await page.goto(f"{origin}/")
        # before the script is there
        await page.evaluate(
            "token => { const shown = document.querySelector('turnwire-session'); shown.token = () => token; window.states = [];"
            " shown.addEventListener('turnwire-state', ({ detail }) => states.push([detail.state, detail.reason])); }",
            served.token,
        )
        await page.add_script_tag(url="/turnwire-session.js", type="module")
        shown = page.locator("turnwire-session")
        await expect(shown).to_contain_text('"127.0.0.1:1" is no address of a hub: give http://HOST:PORT')
        assert (await page.evaluate("states"))[0][0] == "failed"
        await shown.evaluate("(shown, url) => shown.setAttribute('url', url)", served.base)
        await expect(shown.locator("textarea")).to_be_visible()
        await shown.evaluate("shown => { shown.token = 'wrong'; }")
        await expect(shown).to_contain_text("This is not a token of this hub.")
        assert wrong == []


README = (ELEMENT / "README.md").read_text()


async def test_the_snippet_of_its_page_shows_a_session_as_it_is_written(
    tmp_path: Path, script: bytes
) -> None:
    (snippet,) = re.findall(r"```html\n(.*?)```", README, re.DOTALL)
    pages: dict[str, tuple[str, bytes, str]] = {"/turnwire-session.js": ("text/javascript", script, "")}
    async with site(pages) as origin:
        setup = scripted_setup(tmp_path, "2.1.330")
        async with (
            preloaded_running(tmp_path, setup, "--allowed-origin", origin) as (mine, served),
            chromium() as browser,
        ):
            for written, own in (
                ("http://127.0.0.1:8790", served.base),
                ("s-…", mine.session),
                ('token="…"', f'token="{served.token}"'),
            ):
                assert snippet.count(written) == 1
                snippet = snippet.replace(written, own)
            pages["/"] = ("text/html", snippet.encode(), "")
            page = await browser.new_page()
            await page.goto(f"{origin}/")
            await mine.turn("ls")
            await expect(page.locator("turnwire-session")).to_contain_text("That is all.", timeout=WAIT_MS)


def test_its_page_says_how_large_it_is(script: bytes) -> None:
    said = re.findall(r"one file of (\d+) kB, (\d+) kB compressed", README)
    found = [len(script) / 1000, len(gzip.compress(script)) / 1000]
    assert [int(kilobytes) for kilobytes in said[0]] == pytest.approx(found, rel=0.03), (
        f"write: one file of {found[0]:.0f} kB, {found[1]:.0f} kB compressed"
    )


HOLDS = {
    "a layer that clicks pass through": "const layer = document.createElement('div'); layer.id = 'a'; layer.style.cssText ="
    " 'position:fixed;inset:0;background:#fff;pointer-events:none'; document.body.append(layer)",
    "almost no opacity": "document.querySelector(WHAT).style.opacity = '0.01'",
    "a frame that is tiny": "document.querySelector(WHAT).style.cssText = 'width:120px;height:60px'",
    "a filter": "document.querySelector(WHAT).style.filter = 'opacity(0)'",
}
RELEASES = "document.querySelector('#a')?.remove(); document.querySelector(WHAT).style.cssText = ''"


async def test_what_cannot_be_seen_decides_nothing(stage: Stage) -> None:
    page = await stage.open(f"{stage.inner}/")
    outside = await stage.open(f"{stage.outer}/")
    await stage.asked("ls")
    for around, inside, what in (
        (page, page, "turnwire-session"),
        (outside, await framed(outside, stage.inner), "iframe"),
    ):
        await around.bring_to_front()
        deciding = button(inside, "allow_once")
        for name, hold in HOLDS.items():
            await armed(deciding)
            await around.evaluate(hold.replace("WHAT", repr(what)))
            await expect(deciding, name).to_have_attribute("aria-disabled", "true")
            await deciding.evaluate("(node) => node.click()")
            await around.evaluate(RELEASES.replace("WHAT", repr(what)))
    assert not any(isinstance(one, PermissionResolved) for one in stage.mine.events), "nothing was decided"


async def test_who_may_only_watch_has_nothing_to_decide_with(stage: Stage) -> None:
    page = await stage.open(f"{stage.inner}/view")
    await stage.asked("ls")
    await expect(page.locator("turnwire-session")).to_contain_text("may watch this session")
    assert await page.locator("turnwire-session [data-option]").count() == 0
    assert await page.locator("turnwire-session textarea").count() == 0
    # a page of another origin is not let in at all
    other = await stage.open(f"{stage.outer}/")
    reached = await other.evaluate(
        "(url) => new Promise((done) => { const one = new WebSocket(url); one.onopen = () => done(true); one.onerror = () => done(false); })",
        f"{stage.served.base.replace('http', 'ws', 1)}/ws",
    )
    assert reached is False


HOST_KEYS = """() => {
  window.keys = '';
  document.addEventListener('keydown', (event) => { window.keys += event.key; });
}"""
FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at?.id || at?.className || at?.tagName;
}"""


async def test_it_takes_no_focus_from_the_page_around_it_and_loses_none_of_its_own(stage: Stage) -> None:
    page = await stage.open(f"{stage.inner}/")
    await page.evaluate(HOST_KEYS)
    await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<input id=own>')")
    shown = page.locator("turnwire-session")
    await expect(shown.locator("textarea")).to_be_visible()
    # nothing has the focus when a request arrives: the page's own shortcuts stay the page's
    request = await stage.asked("ls")
    await armed(button(page, "allow_once"))
    assert await page.evaluate(FOCUSED) == "BODY"
    await page.keyboard.type("1 fix")
    assert await page.evaluate("keys") == "1 fix"
    # a click into the dialog, away from all that can be pressed, leaves them the page's, too
    await shown.locator(".request-form").focus()
    assert await page.evaluate(FOCUSED) == "request-form"
    await page.evaluate(PAUSES)
    await page.keyboard.type("1e")
    assert await page.evaluate("keys") == "1 fix1e"
    await expect(shown.locator(".edit")).to_have_count(0)
    await expect(shown.get_by_text("Keyboard:")).to_be_hidden()
    # a field of the page has it when the request goes
    await page.locator("#own").focus()
    await stage.mine.respond(request)
    assert (await stage.mine.until(PermissionResolved)).by != "page"
    await stage.mine.until(Complete)
    await expect(shown.locator(".request")).to_have_count(0)
    assert await page.evaluate(FOCUSED) == "own"
    # what a person does within keeps the keyboard within
    await stage.asked("ls")
    await armed(button(page, "allow_once"))
    assert await page.evaluate(FOCUSED) == "own"
    always = shown.get_by_role("button", name="Always …")
    await always.press("Enter")
    assert await page.evaluate(FOCUSED) == "request-body"
    back = shown.get_by_role("button", name="Back", exact=True)
    await back.press("Enter")
    assert await page.evaluate(FOCUSED) == "request-body"
    await armed(button(page, "reject_once"))
    await button(page, "reject_once").press("Enter")
    assert (await stage.mine.until(PermissionResolved)).behavior == "deny"
    await expect(shown.locator("textarea")).to_be_focused()
    assert stage.complaints == []
