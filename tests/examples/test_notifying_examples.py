"""The examples that tell people of an agent that waits: one that says so, and one that takes the answer from a chat."""

import asyncio
import hashlib
import hmac
import json
import os
import queue
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from live import preloaded_running, scripted_setup
from recordings import ROOT
from turnwire.client.events import Complete, PermissionRequest, PermissionResolved
from turnwire_process import DEADLINE, lines_of

SECRET = "0123456789abcdef0123456789abcdef"


@asynccontextmanager
async def example(name: str, *arguments: str, **variables: str) -> AsyncIterator[asyncio.StreamReader]:
    """Run an example; what it prints after its first line, which says that it is there."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "clients" / "python"), **variables}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(ROOT / "examples" / name), *arguments),
        env=env,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        process.kill()
        await process.wait()


async def line(printed: asyncio.StreamReader) -> str:
    async with asyncio.timeout(DEADLINE):
        return (await printed.readline()).decode().strip()


async def until(printed: asyncio.StreamReader, words: str) -> str:
    while words not in (said := await line(printed)):
        assert said, "it has ended"
    return said


@pytest.mark.long
async def test_somebody_is_told_that_an_agent_waits(tmp_path: Path) -> None:
    async with example("webhook_notify.py", "0", TURNWIRE_WEBHOOK_SECRET=SECRET) as printed:
        url = (await line(printed)).removeprefix("listening on ")
        (tmp_path / "turnwire.toml").write_text(
            f'[[webhooks]]\nurl = "{url}"\nsecret_env = "TURNWIRE_WEBHOOK_SECRET_DESK"\n'
        )
        setup = scripted_setup(tmp_path, "2.1.330")
        async with preloaded_running(tmp_path, setup, TURNWIRE_WEBHOOK_SECRET_DESK=SECRET) as (
            frontend,
            served,
        ):
            await frontend.turn("ls")
            await until(printed, "An agent asks for leave: ls")
            await until(printed, "A turn is over: completed")
            await served.kill()
        forged = HTTPConnection("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]))
        forged.request(
            "POST", "/", b"{}", {"webhook-id": "x", "webhook-timestamp": "1", "webhook-signature": "v1,x"}
        )
        assert forged.getresponse().status == 401
        forged.close()
        assert SECRET not in (tmp_path / "turnwire.log").read_text()


@contextmanager
def chat() -> Iterator[tuple[str, "queue.Queue[dict[str, Any]]"]]:
    """A chat's incoming webhook, and what was posted to it."""
    posted: queue.Queue[dict[str, Any]] = queue.Queue()

    class Incoming(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Incoming)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", posted
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def click(port: int, value: str, secret: str) -> tuple[int, str]:
    """Click a button, as the chat tells the bot."""
    body = urlencode({"payload": json.dumps({"user": {"name": "ada"}, "actions": [{"value": value}]})})
    now = str(int(time.time()))
    signature = "v0=" + hmac.new(secret.encode(), f"v0:{now}:{body}".encode(), hashlib.sha256).hexdigest()
    connection = HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
    headers = {"x-slack-request-timestamp": now, "x-slack-signature": signature}
    connection.request("POST", "/", body, headers)
    answer = connection.getresponse()
    said = answer.status, answer.read().decode()
    connection.close()
    return said


@pytest.mark.long
async def test_people_in_a_chat_answer_an_agent(tmp_path: Path) -> None:
    with chat() as (incoming, posted):
        setup = scripted_setup(tmp_path, "2.1.330")
        async with preloaded_running(tmp_path, setup) as (frontend, served):
            await frontend.prompt("ls")
            asked = await frontend.until(PermissionRequest)
            place = ("--state-dir", str(tmp_path / "state"))
            (own,) = await lines_of(
                tmp_path, setup.env, "token", "create", "chat", *place, "--sessions", "all"
            )
            url = f"{served.base}/#token={own.decode()}"
            async with example("chat_bot.py", url, incoming, SIGNING_SECRET=SECRET) as printed:
                port = int((await line(printed)).rpartition(" ")[2])
                shown = await asyncio.to_thread(posted.get, timeout=DEADLINE)
                assert shown["text"] == asked.permission_title
                buttons = shown["blocks"][1]["elements"]
                allow = next(each["value"] for each in buttons if each["action_id"] == "allow_once")
                assert await asyncio.to_thread(click, port, allow, "another secret") == (
                    401,
                    "not signed by the chat",
                )
                assert await asyncio.to_thread(click, port, allow, SECRET) == (200, "allow_once by ada")
                resolved = await frontend.until(PermissionResolved)
                assert (resolved.behavior, resolved.by) == ("allow", "user:chat")
                await frontend.until(Complete)
                told = [(await asyncio.to_thread(posted.get, timeout=DEADLINE))["text"] for _ in range(2)]
                assert told == ["Bash: allow by user:chat", "The turn is over: completed"]
