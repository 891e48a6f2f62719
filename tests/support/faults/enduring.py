"""What a frontend has seen after very many disconnections, or very many kills of the sidecar, and what very many sessions leave."""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from events_seen import Seen, journaled
from soaking import TOKEN, Follower

from agent_process import agent_command
from cut_line import port_of
from journals import RedisProcess
from live import Frontend, descendants
from recordings import ROOT
from turnwire.client import Client, CommandFailed, connect
from turnwire.client.events import Complete
from turnwire.client.frames import EventFrame
from turnwire.journal.base import Journal
from turnwire.journal.redis.journal import RedisJournal
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire_process import Served, environment, turnwire
from turnwire_process import preloaded_turnwire as preloaded
from waiting import until

FLOOD = """
fallback:
  steps:
    - flood: 300
      rate: 600
      size: 20
    - tool: Bash
      input: {command: "make test", description: "Run the tests"}
      result: "2 passed"
      structured: {stdout: "2 passed", stderr: ""}
"""
ECHO = "fallback: {steps: [{text: 'You said: {prompt}'}]}"


@dataclass
class Seeing:
    """What frontends saw of one session through a number of faults."""

    faults: int = 0
    events: int = 0
    """In the journal."""
    turns: int = 0
    gaps: int = 0
    differing: list[str] = field(default_factory=list)
    """Frontends that saw anything else than the journal."""


def configure(folder: Path, script: str, **settings: object) -> dict[str, str]:
    """Configure a sidecar with the scripted agent, and return its environment."""
    (folder / "script.yaml").write_text(script)
    (folder / "work").mkdir(exist_ok=True)
    options = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    (folder / "turnwire.toml").write_text(
        f"token = {TOKEN!r}\nagent = 'scripted'\nhistory = false\npush = false\n{options}"
        f"frontend_workspaces = [{str(folder / 'work')!r}]\n"
        f"[agents]\nscripted = {json.dumps(agent_command(folder / 'script.yaml'))}\n"
    )
    return environment(folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH")


@asynccontextmanager
async def frontends_of(base: str, session: str, count: int) -> AsyncIterator[list[Follower]]:
    """So many frontends of a session, each on a line of its own."""
    followers = [Follower(base, session, answers=None) for _ in range(count)]
    tasks = [asyncio.create_task(follower.follow()) for follower in followers]
    try:
        yield followers
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def all_seen(followers: list[Follower], last: int) -> None:
    """Wait until all have seen the last event; who has not is found by the comparison."""
    with suppress(TimeoutError):
        await until(lambda: all(len(one.seen) >= last for one in followers), 300)


async def compared(followers: list[Follower], whole: Seen, seeing: Seeing) -> None:
    """Note whether each has seen all of it, and nothing else."""
    seeing.events = len(whole)
    seeing.gaps = sum(follower.gaps for follower in followers)
    if [seq for seq, _ in whole] != list(range(1, len(whole) + 1)):
        seeing.differing.append("the journal's numbers")
    for number, follower in enumerate(followers):
        if follower.seen != whole:
            begins = "a beginning" if follower.seen == whole[: len(follower.seen)] else "something else"
            seeing.differing.append(f"frontend {number}: {begins}, {len(follower.seen)} of {len(whole)}")


async def disconnected(folder: Path, times: int, *, frontends: int = 5, seed: int = 1) -> Seeing:
    """Cut random frontends off so often while turns run."""
    chance = random.Random(seed)
    seeing = Seeing()
    env = configure(folder, FLOOD)
    async with (
        preloaded(folder, "serve", env=env, stdout_lines=1) as served,
        connect(served.base, TOKEN, timeout=60) as client,
    ):
        session = await client.create(workspace=str(folder / "work"))
        over = asyncio.Event()
        async with frontends_of(served.base, session, frontends) as followers:
            speaking = asyncio.create_task(_speak(client, session, over, seeing))
            while seeing.faults < times:
                await asyncio.sleep(chance.uniform(0, 0.2))
                await _cut(chance, followers, seeing)
            over.set()
            await speaking
            await client.close_session(session)
            (summary,) = await client.sessions()
            await all_seen(followers, summary.last_seq)
    async with AsyncExitStack() as stack:
        journal = await SqliteJournal.open(folder / "state" / "journal.sqlite3")
        stack.push_async_callback(journal.close)
        await compared(followers, await journaled(journal, session), seeing)
    return seeing


async def _cut(chance: random.Random, followers: list[Follower], seeing: Seeing) -> None:
    """Cut one off that has a connection; some at once again, some only once they have seen more."""
    follower = chance.choice(followers)
    line = follower.line
    if line is None or not line.up or not line.writers:
        return
    seeing.faults += 1
    line.cut()
    if chance.random() < 0.3:
        asyncio.get_running_loop().call_later(chance.uniform(0, 1), line.mend)
    else:
        line.mend()


async def _speak(client: Client, session: str, over: asyncio.Event, seeing: Seeing) -> None:
    """Have one turn after the other."""
    frontend = Frontend(client, session)
    while not over.is_set():
        await frontend.turn("go on")
        seeing.turns += 1


async def killed(folder: Path, times: int, *, redis: bool, frontends: int = 4, seed: int = 1) -> Seeing:
    """Kill the sidecar so often, at any moment of its life; its frontends come back to the next one."""
    chance = random.Random(seed)
    seeing = Seeing()
    async with AsyncExitStack() as stack:
        server = None
        if redis:
            server = RedisProcess(folder, "--appendonly", "yes", "--appendfsync", "always")
            server.start()
            stack.callback(server.kill)
        env = configure(folder, FLOOD, **({"journal": server.url} if server else {}))
        start = partial(preloaded, folder, "serve", env=env, stdout_lines=1)
        async with start() as served:
            async with connect(served.base, TOKEN, timeout=60) as client:
                session = await client.create(workspace=str(folder / "work"))
            followers = await stack.enter_async_context(frontends_of(served.base, session, frontends))
            await until(lambda: all(follower.line is not None for follower in followers))
            await _killed_in_a_turn(served, session, chance, seeing)
        for _ in range(times - 1):
            async with start() as served:
                _lead(followers, served)
                await _killed_in_a_turn(served, session, chance, seeing)
        async with start() as served:
            _lead(followers, served)
            async with connect(served.base, TOKEN, timeout=60) as client:
                await _resumed(client, session)
                await Frontend(client, session).turn("the last")
                await client.close_session(session)
                (summary,) = await client.sessions()
            await all_seen(followers, summary.last_seq)
        journal: Journal
        if server is None:
            journal = await SqliteJournal.open(folder / "state" / "journal.sqlite3")
        else:
            journal = await RedisJournal.open(server.url, reads_only=True)
        stack.push_async_callback(journal.close)
        await compared(followers, await journaled(journal, session), seeing)
    return seeing


def _lead(followers: list[Follower], served: Served) -> None:
    """Lead all lines to this sidecar."""
    for follower in followers:
        assert follower.line is not None
        follower.line.mend(port_of(served.base))


async def _resumed(client: Client, session: str) -> None:
    with suppress(CommandFailed):  # it may run, where it was not the agent's turn
        await client.resume(session)


async def _killed_in_a_turn(served: Served, session: str, chance: random.Random, seeing: Seeing) -> None:
    """Begin a turn, and kill the sidecar at any moment of it; now and then before."""
    if chance.random() < 0.8:
        async with connect(served.base, TOKEN, timeout=60) as client:
            await _resumed(client, session)
            await client.prompt(session, "go on")
            seeing.turns += 1
            await asyncio.sleep(chance.uniform(0, 0.7))
    else:
        await asyncio.sleep(chance.uniform(0, 0.3))
    seeing.faults += 1
    await served.kill()


@dataclass(frozen=True)
class Left:
    """What a sidecar holds at a time."""

    rss: int
    descriptors: int
    threads: int
    tasks: int
    objects: int
    processes: int
    files: int
    """In its state directory."""
    cpu_s: float


async def sessions_leave(
    folder: Path,
    count: int,
    *,
    at_once: int = 5,
    every: int = 50,
    tell: Callable[[Left], None] = lambda _: None,
) -> list[Left]:
    """Create so many sessions, each with a turn and a frontend, close and delete them; what is held after each so many of them.

    The first is what is held before, once `at_once` sessions were there: what is imported or opened once is not of a session.
    """
    env = configure(folder, ECHO)
    told = folder / "held"
    counted = (sys.executable, str(ROOT / "tests" / "support" / "faults" / "counted_sidecar.py"), str(told))
    held: list[Left] = []
    async with turnwire(folder, "serve", env=env, stdout_lines=1, prefix=counted) as served:

        async def look() -> None:
            await until(lambda: len(descendants(served.process.pid)) <= (held[0].processes if held else 1))
            told.unlink(missing_ok=True)
            served.process.send_signal(signal.SIGUSR1)
            await until(told.exists)
            files = sum(len(names) for _, _, names in os.walk(folder / "state"))
            held.append(
                Left(
                    **json.loads(told.read_text()),
                    processes=len(descendants(served.process.pid)),
                    files=files,
                )
            )
            tell(held[-1])

        async with connect(served.base, TOKEN, timeout=60) as client:
            done = 0
            while done < count + at_once:
                await asyncio.gather(*[_one_session(folder, served, client) for _ in range(at_once)])
                done += at_once
                if done == at_once or (done - at_once) % every == 0:
                    await until(lambda: not client.known_sessions)
                    await look()
    return held


async def _one_session(folder: Path, served: Served, client: Client) -> None:
    session = await client.create(workspace=str(folder / "work"))
    async with connect(served.base, TOKEN, timeout=60) as other:
        following = other.follow(session)
        await client.prompt(session, "hello")
        async with asyncio.timeout(60):
            async for received in following:
                if isinstance(received, EventFrame) and isinstance(received.event, Complete):
                    break
    await client.close_session(session)
    await client.delete_session(session)
