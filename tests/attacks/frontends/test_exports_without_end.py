"""Frontends that may only watch ask for large exports, and leave: what they may cost the others."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket

from live import Frontend
from turnwire.client import commands as ask
from turnwire.client import connect
from turnwire_process import DEADLINE, Served, environment, turnwire

pytestmark = pytest.mark.long

MIB = 1 << 20
SIZE = 18 * MIB
NAME = "0f9c41d2-3f7e-4b7c-9a54-2d6d8b6a0001"
CONNECTIONS = 4
EXPORTS = 100


def write_conversation(path: Path, folder: Path) -> None:
    """Write a conversation of Claude Code's whose words are so many bytes."""
    path.parent.mkdir(parents=True)
    words = "all work and no play makes a long conversation " * 400
    lines: list[dict[str, object]] = []
    size, parent = 0, None
    while size < SIZE:
        number = len(lines)
        text = f"{number} {words}"
        size += len(text)
        identity = f"00000000-0000-4000-8000-{number:012d}"
        is_user = number % 2 == 0
        message: dict[str, object] = {"role": "user", "content": text}
        if not is_user:
            usage = {"input_tokens": 1, "output_tokens": 1}
            content = [{"type": "text", "text": text}]
            message = {
                "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": content,
                "stop_reason": "end_turn", "usage": usage,
            }  # fmt: skip
        lines.append(
            {
                "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": str(folder),
                "sessionId": NAME, "version": "2.1.330", "gitBranch": "", "type": "user" if is_user else "assistant",
                "message": message, "uuid": identity,
                "timestamp": f"2026-01-01T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
            }
        )  # fmt: skip
        parent = identity
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def peak(served: Served) -> int:
    """Bytes that the process has held at most."""
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) << 10


class Viewer:
    """A connection of the role view that counts what is answered."""

    def __init__(self, websocket: ClientConnection) -> None:
        self.websocket = websocket
        self.answered = 0
        self.first = asyncio.Event()

    async def asks(self, count: int) -> None:
        for number in range(count):
            command = {"type": "library.export", "id": str(number), "conversation": NAME, "format": "html"}
            await self.websocket.send(json.dumps(command))

    async def counts(self) -> None:
        async for frame in self.websocket:
            if len(frame) > SIZE:
                self.answered += 1
                self.first.set()


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Served]:
    """`turnwire run` beside a conversation of 18 MB."""
    script = folder / "script.yaml"
    script.write_text("fallback: {steps: [{text: 'echo: {prompt}'}]}")
    write_conversation(folder / "home" / ".claude" / "projects" / "project" / f"{NAME}.jsonl", folder)
    env = environment(folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
    argv = (sys.executable, "-m", "turnwire.scripted_agent", str(script))
    async with turnwire(folder, "run", "--", *argv, env=env) as served:
        yield served


async def test_a_hundred_large_exports_hold_up_no_prompt_and_end_with_who_asked_for_them(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as served, connect(served.url) as client:
        mine = await Frontend(client, served.session).caught_up()
        await mine.turn("before")
        # once, so that what one export takes is in both figures
        await client.command(ask.LibraryExport(conversation=NAME, format="html"))
        before = peak(served)
        (token,) = re.findall(r"token=([^&]+)", served.view_url)
        address = served.base.replace("http", "ws", 1) + "/ws"
        viewers = [
            Viewer(
                await open_websocket(
                    address,
                    additional_headers={"Authorization": f"Bearer {token}"},
                    max_size=None,
                    proxy=None,
                )
            )
            for _ in range(CONNECTIONS)
        ]
        counting = [asyncio.create_task(viewer.counts()) for viewer in viewers]
        for viewer in viewers:
            await viewer.asks(EXPORTS // CONNECTIONS)
        async with asyncio.timeout(DEADLINE):
            await viewers[0].first.wait()
        # all of them are asked for, and few are done, when a prompt and its whole turn are
        await mine.turn("between")
        assert sum(viewer.answered for viewer in viewers) <= EXPORTS // 10
        # the own line of the role control is short
        await client.command(ask.LibrarySearch(text="nothing-of-this"))
        assert sum(viewer.answered for viewer in viewers) <= EXPORTS // 5
        for viewer in viewers:
            viewer.websocket.transport.abort()
        await asyncio.gather(*counting, return_exceptions=True)
        done = sum(viewer.answered for viewer in viewers)
        # what they asked for ends with them: another viewer is the first in the line
        async with connect(served.view_url) as another:
            async with asyncio.timeout(DEADLINE):
                answer = await another.command(ask.LibraryExport(conversation=NAME, format="html"))
        assert len(answer.content) > SIZE
        assert "echo: between" in mine.text()
        assert done <= EXPORTS // 4
        assert peak(served) - before < 6 * SIZE
