"""A bot that lets people answer an agent from a chat: posts what waits with buttons, and takes the clicks.

    SIGNING_SECRET=… python examples/chat_bot.py TURNWIRE_URL CHAT_WEBHOOK_URL [PORT]

The messages are Slack's: an incoming webhook with blocks, and a signed interaction to this bot's address. A bot for Discord or
Mattermost differs in `message` and `clicked` alone. Who is in the channel can allow what the agent asks: choose the channel.
"""

import asyncio
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from turnwire.client import Client, CommandFailed, EventFrame, connect
from turnwire.client.events import Complete, PermissionRequest, PermissionResolved

LARGEST = 1 << 20
"""Bytes of a request."""

OLDEST_S = 300
"""Seconds that a click may be old."""


def message(session: str, asked: PermissionRequest) -> dict[str, Any]:
    """Return what the chat shows: the title, the details, a button for each option."""
    details = json.dumps(asked.action_details or {}, ensure_ascii=False)[:1500]
    effects = "\n".join(f"{option.name[:75]}: {option.effect}" for option in asked.permission_options)
    buttons = [
        {
            "type": "button",
            "text": {"type": "plain_text", "text": option.name[:75]},
            "action_id": option.option_id,
            "value": json.dumps([session, asked.pending_id, option.option_id]),
        }
        for option in asked.permission_options
    ]
    return {
        "text": asked.permission_title,
        "blocks": [
            {
                "type": "section",
                "text": {
                    "type": "plain_text",
                    "text": f"{asked.permission_title[:500]}\n{details}\n{effects}"[:3000],
                },
            },
            {"type": "actions", "elements": buttons},
        ],
    }


def clicked(body: bytes, headers: Mapping[str, str], secret: str, now: float) -> tuple[str, list[str]] | None:
    """Return who clicked, and the button's value; None when the chat has not signed this lately."""
    sent = headers.get("x-slack-request-timestamp", "")
    if not sent.isdigit() or abs(now - int(sent)) > OLDEST_S:
        return None
    right = "v0=" + hmac.new(secret.encode(), f"v0:{sent}:".encode() + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(right.encode(), headers.get("x-slack-signature", "").encode()):
        return None
    payload = json.loads(parse_qs(body.decode())["payload"][0])
    return str(payload["user"]["name"]), json.loads(payload["actions"][0]["value"])


def post(url: str, said: Mapping[str, Any]) -> None:
    """Post a message to the chat; a chat that is away is no reason to end."""
    request = urllib.request.Request(url, json.dumps(said).encode(), {"content-type": "application/json"})
    try:
        urllib.request.urlopen(request, timeout=10).close()
    except OSError as error:
        print(f"the chat does not answer: {type(error).__name__}", file=sys.stderr, flush=True)


async def follow(client: Client, session: str, chat: str) -> None:
    """Post what waits in a session, and what became of it; the session's past is nobody's business any more."""
    waiting: dict[str, PermissionRequest] = {}
    live = False
    async for received in client.follow(session):
        match received:
            case EventFrame(event=PermissionRequest() as asked):
                waiting[asked.pending_id] = asked
                if live:
                    await asyncio.to_thread(post, chat, message(session, asked))
            case EventFrame(event=PermissionResolved() as resolved):
                waiting.pop(resolved.pending_id, None)
                if live:
                    by = resolved.by or "the agent's own rules"
                    await asyncio.to_thread(
                        post, chat, {"text": f"{resolved.tool_name}: {resolved.behavior} by {by}"}
                    )
            case EventFrame(event=Complete() as done) if live:
                await asyncio.to_thread(post, chat, {"text": f"The turn is over: {done.data.outcome}"})
            case EventFrame():
                pass
            case _ if not live:
                live = True
                for asked in waiting.values():
                    await asyncio.to_thread(post, chat, message(session, asked))
            case _:
                pass


async def answer(client: Client, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take one click; what is not the chat's is refused."""
    try:
        async with asyncio.timeout(10):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
            body = await reader.readexactly(min(int(headers.get("content-length", "0")), LARGEST))
        click = clicked(body, headers, os.environ["SIGNING_SECRET"], time.time())
        status, said = "401 Unauthorized", "not signed by the chat"
        if click is not None:
            who, (session, pending, option) = click
            status, said = "200 OK", f"{option} by {who}"
            try:
                await client.respond(session, pending, option)
            except CommandFailed as refused:
                said = refused.message
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(said.encode())}\r\n\r\n{said}".encode())
        await writer.drain()
    except (OSError, EOFError, ValueError, KeyError, TimeoutError, asyncio.LimitOverrunError):
        pass  # not a click
    finally:
        writer.close()


async def main(url: str, chat: str, port: int) -> None:
    """Follow all sessions there are, and listen for clicks."""
    async with connect(url, name="chat") as client:
        server = await asyncio.start_server(lambda *streams: answer(client, *streams), "127.0.0.1", port)
        print(f"listening on port {server.sockets[0].getsockname()[1]}", flush=True)
        async with server, asyncio.TaskGroup() as tasks:
            followed: set[str] = set()
            while True:
                for summary in client.known_sessions:
                    if summary.session not in followed:
                        followed.add(summary.session)
                        tasks.create_task(follow(client, summary.session, chat))
                await asyncio.sleep(1)


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0))
    except KeyboardInterrupt:
        pass
