"""A server that the agent has started next door, on another port: it is sent the console's cookie, and that opens nothing."""

import asyncio
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from websockets.asyncio.client import connect as open_websocket
from websockets.typing import Origin, Subprotocol

from console_page import chromium, console
from turnwire_process import DEADLINE, turnwire

PAGE = b"""<!doctype html><script>
window.tried = (async hub => {
  const attempts = {};
  for (const [name, url] of Object.entries({ sessions: hub + '/sessions', login: hub + '/login' })) {
    try {
      const reply = await fetch(url, { method: name === 'login' ? 'POST' : 'GET', credentials: 'include' });
      attempts[name] = reply.status;
    } catch (error) { attempts[name] = 'refused'; }
  }
  attempts.socket = await new Promise(done => {
    const socket = new WebSocket(hub.replace('http', 'ws') + '/ws', ['turnwire.v1']);
    socket.onopen = () => done('open');
    socket.onclose = () => done('closed');
  });
  attempts.stored = JSON.stringify({ ...localStorage });
  return attempts;
})(location.hash.slice(1));
</script>"""


@contextmanager
def dev_server() -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Serve a page on loopback that tries to get into the hub, and note the headers of each request."""
    seen: list[dict[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(dict(self.headers.items()))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1], seen
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.long
async def test_the_cookie_that_a_neighbouring_port_is_sent_opens_nothing(tmp_path: Path) -> None:
    async with turnwire(tmp_path, "run", "--agent", "demo") as served, chromium() as browser:
        await _visit(browser, served.url, served.base)


async def _visit(browser: Browser, url: str, base: str) -> None:
    with dev_server() as (port, seen):
        async with console(browser, url) as page:
            await expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()
            other = await page.context.new_page()
            await other.goto(f"http://127.0.0.1:{port}/#{base}")
            attempts = await other.evaluate("window.tried")
            assert attempts == {"sessions": "refused", "login": "refused", "socket": "closed", "stored": "{}"}
            # the console goes on: it has both halves, also in a new tab and after a reload
            await page.reload()
            await expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()
    cookies = {head.get("Cookie", "") for head in seen}
    stolen = next(cookie for cookie in cookies if "turnwire-" in cookie)
    # what the server does with it: every header as the console's own page would have it
    host = base.removeprefix("http://")
    for headers in ({"Cookie": stolen}, {"Cookie": stolen, "X-Turnwire-Key": stolen.rpartition(".")[2]}):
        async with open_websocket(
            f"ws://{host}/ws",
            additional_headers=headers,
            origin=Origin(base),
            subprotocols=[Subprotocol("turnwire.v1")],
            proxy=None,
        ) as websocket:
            await websocket.send(json.dumps({"type": "hello", "id": "h", "name": "thief"}))
            async with asyncio.timeout(DEADLINE):
                await websocket.wait_closed()
            assert websocket.close_code == 4401
