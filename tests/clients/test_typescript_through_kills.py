"""The TypeScript client, in node and in chromium, follows a session whose sidecar is killed again and again."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from agent_process import agent_command
from console_page import chromium
from cut_line import Line, line_to, port_of
from recordings import ROOT
from turnwire.client import connect
from turnwire.client.events import Complete
from turnwire.client.frames import EventFrame
from turnwire_process import DEADLINE, Served, environment
from turnwire_process import preloaded_turnwire as turnwire

TOKEN = "a-token-that-outlives-the-sidecar-it-opens"
CLIENT = ROOT / "clients" / "typescript"
SCRIPT = """
turns: []
fallback:
  steps:
    - flood: 400
      rate: 800
      size: 20
"""

Received = Callable[[], list[object]]
"""What the client printed up to now: a sequence number, or a gap."""

pytestmark = pytest.mark.node


def sidecar(folder: Path) -> dict[str, str]:
    """Configure a sidecar with the scripted agent, and return its environment."""
    script = folder / "flood.yaml"
    script.write_text(SCRIPT)
    command = json.dumps(agent_command(script))
    (folder / "turnwire.toml").write_text(f'agent = "scripted"\n[agents]\nscripted = {command}\n')
    return environment(folder / "home", TURNWIRE_TOKEN=TOKEN)


@asynccontextmanager
async def in_node(base: str, session: str) -> AsyncIterator[Received]:
    """The client in node."""
    received: list[object] = []
    process = await asyncio.create_subprocess_exec(
        "node", CLIENT / "test" / "follow_live.mjs", base.replace("http", "ws", 1) + "/ws", TOKEN, session,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip

    async def read() -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            batch = json.loads(line)
            received.extend(batch if isinstance(batch, list) else [batch])

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(read())
        yield lambda: received
        process.terminate()
        await process.wait()


@asynccontextmanager
async def in_chromium(base: str, session: str) -> AsyncIterator[Received]:
    """The client in a page of the hub; the page gets the client's files, which no hub serves, from the test."""
    received: list[object] = []

    def take(batch: list[object]) -> None:
        received.extend(batch)

    async with chromium() as browser:
        page = await browser.new_page()
        await page.expose_function("print", take)
        await page.route(
            "**/client/*.js", lambda route: route.fulfill(path=CLIENT / "dist" / Path(route.request.url).name)
        )
        await page.goto(f"{base}/favicon.svg")
        await page.evaluate(
            """async ([token, session]) => {
              const { Client } = await import('/client/index.js');
              const url = location.origin.replace('http', 'ws') + '/ws';
              const client = new Client({ url, token, backoff: { first: 20, most: 200 } });
              client.follow(session, {
                onEvents: (events) => window.print(events.map(({ seq }) => seq)),
                onGap: (gap) => window.print([{ gap }]),
              });
            }""",
            [TOKEN, session],
        )
        yield lambda: received


async def until(received: Received, last: int) -> None:
    """Wait until the client has got an event."""
    async with asyncio.timeout(DEADLINE):
        while max(seqs(received())) < last:  # noqa: ASYNC110 - the client is another process and announces nothing
            await asyncio.sleep(0.01)


def seqs(received: list[object]) -> list[int]:
    """The numbers alone."""
    return [one for one in received if isinstance(one, int)] or [0]


async def last_number(served: Served, session: str) -> int:
    """The newest number of the session's log."""
    async with connect(served.url, token=TOKEN) as client:
        (summary,) = [one for one in client.known_sessions if one.session == session]
        return summary.last_seq


async def completed(served: Served, session: str, *, turns: int) -> None:
    """Wait until so many turns have ended, in one life of the sidecar or another."""
    ended = 0
    async with connect(served.url, token=TOKEN) as client, asyncio.timeout(DEADLINE):
        async for frame in client.follow(session):
            ended += isinstance(frame, EventFrame) and isinstance(frame.event, Complete)
            if ended == turns:
                return


async def begin(served: Served, session: str | None) -> str:
    """Start the session, or go on with it, and send a prompt."""
    async with connect(served.url, token=TOKEN) as client:
        if session is None:
            session = await client.create(title="flood")
        else:
            await client.resume(session)
        await client.prompt(session, "flood")
        return session


async def killed(folder: Path, line: Line, env: dict[str, str], session: str, received: Received) -> None:
    """One life of a sidecar: it is killed while events come."""
    async with turnwire(folder, "serve", env=env, stdout_lines=1) as served:
        line.mend(port_of(served.base))
        before = max(seqs(received()))
        await begin(served, session)
        await until(received, before + 100)
        await served.kill()


@pytest.mark.long
@pytest.mark.parametrize("runtime", [in_node, pytest.param(in_chromium, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "kills", [2, pytest.param(100 if "TURNWIRE_EXPLORE" in os.environ else 25, marks=pytest.mark.long)]
)
async def test_no_event_is_lost_or_given_twice_through_kills_of_the_sidecar(
    tmp_path: Path, runtime: Callable[[str, str], AbstractAsyncContextManager[Received]], kills: int
) -> None:
    env = sidecar(tmp_path)
    async with turnwire(tmp_path, "serve", env=env, stdout_lines=1) as served:
        session = await begin(served, None)
        async with line_to(served.base) as (line, base), runtime(base, session) as received:
            await until(received, 50)
            await served.kill()
            for _ in range(kills - 1):
                await killed(tmp_path, line, env, session, received)
            async with turnwire(tmp_path, "serve", env=env, stdout_lines=1) as last:
                line.mend(port_of(last.base))
                await begin(last, session)
                await completed(last, session, turns=kills + 1)
                end = await last_number(last, session)
                await until(received, end)
                assert received() == list(range(1, end + 1))
