"""What reaches people who do not look at the page: pushed notifications, with answers in them; and a phone's way in."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Worker, expect
from push_service import CERTIFICATE, Subscriber, push_service

from agent_process import agent_command
from console_page import console, say, violations
from console_states import empty_hub, entries, hub_harness, show
from turnwire.hub.config import HubConfig
from turnwire_process import environment
from turnwire_process import preloaded_turnwire as turnwire

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long]

ASKS = """
fallback:
  steps:
    - tool: Bash
      input: {command: "{prompt}", description: "As told"}
      permission: true
      result: "ran"
      on_deny:
        - text: "Then I leave it."
    - text: "All is done."
"""


def subscribing(browser: Subscriber) -> str:
    """A browser without a push service of its own; what it would say."""
    said = {
        "endpoint": browser.endpoint,
        "keys": {"p256dh": browser.fields["p256dh"], "auth": browser.fields["auth"]},
    }
    return f"""
      let kept = null;
      const said = {json.dumps(said)};
      PushManager.prototype.getSubscription = async () => kept;
      PushManager.prototype.subscribe = async (options) => kept = {{
        endpoint: said.endpoint, options, toJSON: () => said, unsubscribe: async () => {{ kept = null; return true; }},
      }};"""


SHOWN = """async () => (await registration.getNotifications()).map(({ title, body, actions }) =>
  [title, body, ...(actions ?? []).map(({ action }) => action)])"""
EXPECT_WORK = """() => {
  const { waitUntil } = (self.browsers ??= { waitUntil: ExtendableEvent.prototype.waitUntil });
  self.worked = new Promise((tell) => {
    ExtendableEvent.prototype.waitUntil = function (work) {
      tell(work);
      if (this.isTrusted) waitUntil.call(this, work);
    };
  });
}"""
CLICK = """async (action) => {
  const [notification] = await registration.getNotifications();
  self.dispatchEvent(new NotificationEvent('notificationclick', { notification, action }));
  await self.worked;
}"""


async def deliver(page: Page, origin: str, message: dict[str, Any]) -> Worker:
    """Hand a message to an origin's service worker as a push service would; returns the worker once it has done its work."""
    (worker,) = page.context.service_workers
    devtools = await page.context.new_cdp_session(page)
    registration: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def told(event: dict[str, Any]) -> None:
        if event["registrations"] and not registration.done():
            registration.set_result(event["registrations"][-1]["registrationId"])

    devtools.on("ServiceWorker.workerRegistrationUpdated", told)
    await devtools.send("ServiceWorker.enable")
    await worker.evaluate(EXPECT_WORK)
    async with asyncio.timeout(60):
        push = {"origin": origin, "registrationId": await registration, "data": json.dumps(message)}
        await devtools.send("ServiceWorker.deliverPushMessage", push)
        await worker.evaluate("self.worked")
    await devtools.detach()
    return worker


async def shown(worker: Worker) -> Any:
    """What is shown, asked for once, when nothing is on its way: chromium forgets what is not displayed yet while somebody asks."""
    return await worker.evaluate(SHOWN)


async def click(worker: Worker, action: str) -> None:
    """Click in the one notification that is shown; returns once the worker has done its work."""
    await worker.evaluate(EXPECT_WORK)
    async with asyncio.timeout(60):
        await worker.evaluate(CLICK, action)


async def test_a_request_is_answered_from_its_notification_and_the_first_answer_counts(
    browser: Browser, tmp_path: Path
) -> None:
    folder = tmp_path / "greeting"
    folder.mkdir()
    (folder / "script.yaml").write_text(ASKS)
    async with push_service() as service:
        env = environment(
            tmp_path / "home",
            TURNWIRE_PASS_ENV="PYTHONPATH",
            TURNWIRE_PUSH_SERVICES=f"127.0.0.1:{service.port}",
            SSL_CERT_FILE=str(CERTIFICATE),
        )
        mine = service.subscriber("mine")
        run = ("run", "--", *agent_command(folder / "script.yaml"))
        async with turnwire(folder, *run, env=env) as served, console(browser, served.url) as page:
            await page.context.grant_permissions(["notifications"], origin=served.base)
            await page.context.add_init_script(subscribing(mine))
            await page.reload()
            bell = page.get_by_role("button", name="Notify me")
            await bell.click()
            await expect(bell).to_have_attribute("aria-pressed", "true")
            while await page.evaluate("localStorage.getItem('turnwire.notify')") != "push":
                await page.wait_for_timeout(20)
            (registered,) = await page.evaluate(
                "navigator.serviceWorker.getRegistrations().then(all => all.map(({ scope }) => scope))"
            )
            assert registered == f"{served.base}/push/"
            assert await page.evaluate("navigator.serviceWorker.controller") is None
            cached = (
                "caches.open('turnwire').then(cache => cache.keys()).then(all => all.map(({ url }) => url))"
            )
            assert await page.evaluate(cached) == [f"{served.base}/push/key"], "the key alone, and no page"
            await page.reload()
            await expect(bell).to_have_attribute("aria-pressed", "true")

            await say(page, "touch made.txt")
            message = mine.read((await service.next()).body)
            # A page that is looked at tells it by itself.
            worker = await deliver(page, served.base, message)
            assert await shown(worker) == []
            await page.goto("about:blank")
            worker = await deliver(page, served.base, message)
            (told,) = await shown(worker)
            assert told[1:] == ["asks: touch made.txt", "allow", "reject"]
            await click(worker, "allow")
            done = mine.read((await service.next()).body)
            assert done["body"] == "has finished"
            assert await shown(worker) == []

            # The same once more: somebody was faster.
            worker = await deliver(page, served.base, message)
            assert len(await shown(worker)) == 1
            await click(worker, "reject")
            (late,) = await shown(worker)
            assert late[1:] == ["Not answered: notification has already decided: it is allowed"]

            # And after a logout nothing of it opens anything.
            await page.goto(f"{served.base}/#/s/{served.session}")
            await expect(page.locator(".card.tool")).to_contain_text("touch made.txt")
            await expect(page.locator(".row", has_text="notification").first).to_be_visible()
            await page.context.clear_cookies()
            await worker.evaluate(
                "registration.getNotifications().then(all => all.forEach(one => one.close()))"
            )
            await page.goto("about:blank")
            worker = await deliver(page, served.base, message)
            assert len(await shown(worker)) == 1
            await click(worker, "allow")
            (out,) = await shown(worker)
            assert out[1] == "Not answered: this browser is logged out."


async def test_a_phone_is_let_in_by_a_code_once(browser: Browser) -> None:
    config = HubConfig(allowed_hosts=("turnwire.test",))
    async with hub_harness(config, host=empty_hub()) as where:
        await show(where, "work", entries("tool-bash"))
        url = where.url.replace("127.0.0.1", "turnwire.test")
        # Plain http by a name: browsers say what they then leave out.
        plain = ("The Cross-Origin-Opener-Policy header has been ignored",)
        async with console(browser, url, allowed=plain) as page:
            await expect(page.locator(".session-head")).to_be_visible()
            await page.keyboard.press("Control+k")
            await expect(page.get_by_label("Session or action")).to_be_focused()
            await page.keyboard.type("phone")
            await page.keyboard.press("Enter")
            dialog = page.get_by_role("dialog", name="Open on a phone")
            await expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
            assert await violations(page) == []
            link = dialog.get_by_label("Link")
            looking = await link.input_value()
            await dialog.get_by_label("It may").select_option("control")
            await expect(link).not_to_have_value(looking)
            await expect(link).not_to_have_value("")
            steering = await link.input_value()
            assert where.token not in looking + steering
        async with console(browser, looking, width=390, height=844, allowed=plain) as phone:
            await expect(phone.locator(".session-head h1")).to_have_text("work")
            await expect(phone.get_by_role("textbox", name="Prompt")).to_have_count(0)
        async with console(browser, steering, width=390, height=844, allowed=plain) as phone:
            await expect(phone.get_by_role("textbox", name="Prompt")).to_be_visible()
        async with console(browser, steering, allowed=(*plain, "Failed to load", "WebSocket")) as late:
            await expect(late.get_by_label("Access token")).to_be_visible()
        async with console(browser, where.url) as page:
            await expect(page.locator(".session-head")).to_be_visible()
            await page.keyboard.press("Control+k")
            await expect(page.get_by_label("Session or action")).to_be_focused()
            await page.keyboard.type("phone")
            await page.keyboard.press("Enter")
            await expect(page.get_by_text("which no other device reaches")).to_be_visible()
