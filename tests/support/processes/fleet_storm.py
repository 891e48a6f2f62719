"""A fleet of real processes whose members are killed at random, and what every frontend saw of it.

Agents write each prompt they get into a file of their own, so that effects are counted where they happen. Frontends reach hubs
through a port that gives each connection to any hub that listens, as a plain load balancer does.
"""

import asyncio
import json
import os
import random
import shutil
import sys
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from plain_agent import program_of
from ports import free_ports
from redis import Redis
from redis_topologies import Node, cluster, replicated

from journals import RedisProcess
from preloaded import Forked, forked
from turnwire._runtime.task_owner import TaskOwner
from turnwire.client import BEGINNING, CommandFailed, TurnwireError, commands, connect
from turnwire.client.client import Client
from turnwire.client.feed import Gap
from turnwire.client.frames import EventFrame
from turnwire.client.reading import read_frame
from turnwire.fleet.operating import Operator
from turnwire.journal.redis.journal import RedisJournal
from turnwire.normalize.events.envelope import Cursor
from turnwire_process import environment
from waiting import until

LEASE_S = 3.0
CONTROL, VIEW = "control-token-of-the-storm", "view-token-of-the-storm"

ECHO = """
said = os.open("said", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def answers(text):
    os.write(said, (text + "\\n").encode())
    return ["part %d of the answer to %s" % (part, text) for part in range(3)]
"""


@dataclass
class Member:
    """A hub or a worker: how to start it, and what runs."""

    name: str
    folder: Path
    arguments: list[str]
    config: Path
    process: Forked | None = None
    starts: int = 0

    async def start(self) -> None:
        """Start it; whether it comes up shows in what it serves."""
        self.folder.mkdir(exist_ok=True)
        self.starts += 1
        log = self.folder / f"log-{self.starts}"
        env = environment(self.folder / "home", TURNWIRE_CONFIG=str(self.config))
        self.process = await forked(self.arguments, cwd=self.folder, env=env, stderr=log)

    async def kill(self) -> None:
        """End it as a crash would."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            await process.wait()

    async def end(self) -> None:
        """End it well."""
        process, self.process = self.process, None
        if process is not None:
            process.terminate()
            async with asyncio.timeout(60):
                await process.wait()

    @property
    def log(self) -> str:
        """What its lives have logged."""
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("log-*")))


class Server(Protocol):
    """A redis-server that can be killed and started again."""

    def start(self) -> None:
        """Start it."""
        ...

    def kill(self) -> None:
        """Kill it, as a crash does."""
        ...


@asynccontextmanager
async def one_server(folder: Path) -> AsyncIterator[tuple[str, Sequence[Server]]]:
    """One Redis that has on its disk what it acknowledged, and its URL."""
    redis = RedisProcess(folder, "--appendonly", "yes", "--appendfsync", "always")
    redis.start()
    try:
        yield redis.url, [redis]
    finally:
        redis.kill()


@asynccontextmanager
async def three_nodes(folder: Path) -> AsyncIterator[tuple[str, Sequence[Server]]]:
    """A cluster of three nodes that have on their disks what they acknowledged, and its URL, which names all of them."""
    async with cluster(folder / "cluster") as nodes:
        yield f"redis+cluster://{','.join(f'127.0.0.1:{node.port}' for node in nodes)}", nodes


class Failing:
    """A primary and its replica that a sentinel watches: whichever leads is killed, and is back once the other one leads."""

    def __init__(self, primary: Node, replica: Node) -> None:
        self._leads, self._follows = primary, replica

    def kill(self) -> None:
        """Kill the one that leads, as a crash does."""
        self._leads.kill()

    def start(self) -> None:
        """Wait until the sentinel has made the other one the primary, and start the killed one again, which then follows it."""
        with Redis(port=self._follows.port) as client:
            while client.info("replication")["role"] != "master":
                time.sleep(0.05)  # a sentinel tells nobody of ours
        self._leads, self._follows = self._follows, self._leads
        self._follows.start()


@asynccontextmanager
async def watched_by_a_sentinel(folder: Path) -> AsyncIterator[tuple[str, Sequence[Server]]]:
    """A primary with a replica, both with what they acknowledged on their disks, and the URL of their sentinel."""
    async with replicated(folder / "nodes", "--appendonly", "yes", "--appendfsync", "always") as nodes:
        primary, replica, sentinel = nodes
        yield f"redis+sentinel://127.0.0.1:{sentinel.port}/turnwire", [Failing(primary, replica)]


TOPOLOGIES = {"one": one_server, "cluster": three_nodes, "sentinel": watched_by_a_sentinel}


class Balancer:
    """Gives each connection to any port that somebody listens on."""

    def __init__(self, ports: list[int], chance: random.Random) -> None:
        self._ports = ports
        self._chance = chance
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self) -> int:
        """Listen, and return the port."""
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Listen no more."""
        self._server.close()
        for writer in self._writers:
            writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for port in self._chance.sample(self._ports, len(self._ports)):
            try:
                far, near = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue
            self._writers |= {writer, near}
            await asyncio.gather(_copy(reader, near), _copy(far, writer))
            self._writers -= {writer, near}
            return
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


@dataclass
class Size:
    """How much of everything."""

    hubs: int = 2
    workers: int = 3
    sessions: int = 40
    frontends: int = 200
    seconds: float = 120
    between_s: tuple[float, float] = (1.0, 4.0)
    """Seconds from one kill to the next."""
    prompts_every_s: float = 2.0
    """Seconds between two prompts of a session."""
    redis_kills: float = 0.2
    """Which part of the kills is a redis-server's."""
    topology: Literal["one", "cluster", "sentinel"] = "one"
    """One Redis, a cluster of three nodes, or a primary with a replica, of which the one that leads is killed."""


@dataclass
class Outcome:
    """What came of it."""

    kills: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    """Prompts by what was answered in the end: ok, or a code."""
    repeated: int = 0
    """Prompts that were sent more than once."""
    twice: list[str] = field(default_factory=list)
    """Prompts that an agent got twice."""
    lost: list[str] = field(default_factory=list)
    """Prompts that were accepted, and neither reached an agent nor were said to be over."""
    differing: list[str] = field(default_factory=list)
    """Frontends that saw anything else than the journal."""
    orphans: list[int] = field(default_factory=list)
    """Agents that ran on when all had ended."""
    events: int = 0
    """In the journal."""
    gaps: int = 0
    """That frontends were told of."""
    brought_back: list[str] = field(default_factory=list)
    """Sessions that were deleted while their worker was gone, and were there again with it."""
    unfinished: list[str] = field(default_factory=list)
    """Turns that have not exactly one end."""
    restored: list[str] = field(default_factory=list)
    """Frontends that saw anything else than the journal after Redis was put back from a backup."""
    twin: str = ""
    """What a second worker of a name that is taken said."""
    adopted: int = 0
    """Sessions that went to another worker."""
    archived: int = 0
    """How often a quiet session's events went to a file."""


class Storm:
    """One run."""

    def __init__(self, folder: Path, size: Size, seed: int) -> None:
        self._folder = folder
        self._size = size
        self._chance = random.Random(seed)
        self._outcome = Outcome()
        self._seen: dict[tuple[int, str], list[EventFrame]] = defaultdict(list)
        self._accepted: dict[str, str] = {}
        """Text of a prompt to its UUID."""
        self._sent: dict[str, str] = {}
        """Text of a prompt to its session."""
        self._over = asyncio.Event()

    async def run(self) -> Outcome:
        """Begin, storm, come to rest, and compare."""
        async with AsyncExitStack() as stack:
            redis, servers = await stack.enter_async_context(TOPOLOGIES[self._size.topology](self._folder))
            members, ports = self._members(redis)
            for member in members:
                stack.push_async_callback(member.kill)
                await member.start()
            balancer = Balancer(ports, self._chance)
            url = f"http://127.0.0.1:{await balancer.start()}/#token={CONTROL}"
            stack.push_async_callback(balancer.stop)
            async with asyncio.TaskGroup() as tasks:
                done = asyncio.Event()
                leading = await stack.enter_async_context(connect(url, timeout=60))
                sessions = await self._begin_sessions(leading)
                followers = [
                    tasks.create_task(self._frontend(url, number, sessions[number % len(sessions)], done))
                    for number in range(self._size.frontends)
                ]
                speakers = [tasks.create_task(self._speak(url, session)) for session in sessions]
                service = tasks.create_task(_service(members, done))
                await self._storm(members, servers)
                self._over.set()
                await asyncio.gather(*speakers)
                await self._rest(leading, sessions)
                logs = await self._journaled(redis, sessions)
                await self._all_seen(logs)
                done.set()
                await asyncio.gather(*followers, service)
            self._compare(logs)
            if self._size.topology == "one":
                await self._restore(members, redis, servers[0], url, sessions)
            await self._begin_twin(members[-1])
            await self._delete_what_is_out_of_reach(leading, members[-1])
            for member in reversed(members):
                await member.end()
            self._outcome.adopted = sum(
                member.log.count("this worker takes over a session") for member in members
            )
            self._outcome.archived = sum(
                member.log.count("the events of a quiet session are in a file now") for member in members
            )
        self._outcome.orphans = _agents(self._folder)
        return self._outcome

    def _members(self, redis: str) -> tuple[list[Member], list[int]]:
        agent = self._folder / "agent.py"
        agent.write_text(program_of(ECHO))
        command = [sys.executable, "-S", "-E", str(agent)]
        config = self._folder / "turnwire.toml"
        config.write_text(
            f"token = {CONTROL!r}\nview_token = {VIEW!r}\nagent = 'echo'\njournal = {redis!r}\nfleet_lease_s = {LEASE_S}\n"
            f"frontend_workspaces = [{str(self._folder / 'work')!r}]\nlog_level = 'info'\nmax_processes = 200\n"
            f"history = false\nkeep_raw = false\nredis_replicas = {int(self._size.topology == 'sentinel')}\n"
            f"archive_after_s = 1\narchive_dir = {str(self._folder / 'archive')!r}\n[agents.echo]\nfamily = 'claude'\ncommand = {command!r}\n"
        )
        ports = free_ports(self._size.hubs)
        members = [
            Member(f"hub-{port}", self._folder / f"hub-{port}", ["hub", "--port", str(port)], config)
            for port in ports
        ]
        for number in range(self._size.workers):
            folder = self._folder / f"worker-{number}"
            # all but the last see each other's files
            own = config
            if number < self._size.workers - 1:
                own = self._folder / "grouped.toml"
                own.write_text(f"worker_group = 'g'\n{config.read_text()}")
            arguments = [
                "serve",
                "--worker",
                f"worker-{number}",
                "--port",
                "0",
                "--state-dir",
                str(folder / "state"),
            ]
            members.append(Member(f"worker-{number}", folder, arguments, own))
        for member in members[: self._size.hubs]:
            member.arguments += ["--state-dir", str(member.folder / "state")]
        return members, ports

    async def _begin_sessions(self, client: Client) -> list[str]:
        sessions: list[str] = []
        for number in range(self._size.sessions):
            workspace = self._folder / "work" / f"{number}"
            workspace.mkdir(parents=True)
            command = commands.SessionCreate(workspace=str(workspace))
            result: Any = await _insist(lambda command=command: client.command(command))  # type: ignore[misc]  # bound here
            sessions.append(result.session)
        return sessions

    async def _frontend(self, url: str, number: int, session: str, done: asyncio.Event) -> None:
        seen = self._seen[number, session]
        async with connect(url, timeout=60) as client:

            async def follow() -> None:
                after = BEGINNING
                while True:
                    following = client.follow(session, after)
                    try:
                        async for received in following:
                            after = following.next
                            if isinstance(received, EventFrame):
                                seen.append(received)
                            elif isinstance(received, Gap):
                                self._outcome.gaps += 1
                    except CommandFailed:
                        await asyncio.sleep(0.2)  # this hub has not heard of the session yet

            task = asyncio.create_task(follow())
            await done.wait()
            task.cancel()
            await asyncio.wait([task])

    async def _speak(self, url: str, session: str) -> None:
        number = 0
        async with connect(url, timeout=60) as client:
            while not self._over.is_set():
                number += 1
                await self._say(client, session, f"{session} prompt {number}", repeats=number % 2 == 0)
                pause = self._chance.uniform(0, 2 * self._size.prompts_every_s)
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._over.wait()

    async def _say(self, client: Client, session: str, text: str, *, repeats: bool) -> bool:
        """Say something; with `repeats`, again under its id until it is known what came of it."""
        self._sent[text] = session
        command, name = commands.Prompt(session=session, text=text), str(uuid.uuid4())
        tries = 0
        while True:
            tries += 1
            try:
                result: Any = await client.command(command, timeout=30, command_id=name if repeats else None)
            except CommandFailed as failed:
                code = failed.code
                is_settled = code not in {"journal_unavailable", "unreachable"} or "not known" in str(failed)
                if repeats and not is_settled and tries < 100:
                    await asyncio.sleep(0.3)
                    continue
            except TurnwireError as lost:
                code = type(lost).__name__
                if repeats and tries < 100:
                    await asyncio.sleep(0.3)
                    continue
            else:
                code = "ok"
                self._accepted[text] = result.prompt
            self._outcome.repeated += tries > 1
            self._outcome.answers[code] += 1
            return code == "ok"

    async def _storm(self, members: list[Member], servers: Sequence[Server]) -> None:
        until_s = asyncio.get_running_loop().time() + self._size.seconds
        # Each kind once, however little a slow machine comes to in the time; then at random.
        first = self._chance.sample(["redis", "hub", "worker", "drain"], 4)
        async with asyncio.TaskGroup() as tasks:
            while first or asyncio.get_running_loop().time() < until_s:
                await asyncio.sleep(self._chance.uniform(*self._size.between_s))
                is_redis = self._chance.random() < self._size.redis_kills
                kind = first.pop() if first else "redis" if is_redis else ""
                if kind == "redis":
                    self._outcome.kills["redis"] += 1
                    server = self._chance.choice(servers)
                    server.kill()
                    # One that starts meanwhile waits for it.
                    hubs = [one for one in members[: self._size.hubs] if one.process is not None]
                    for hub in hubs[:1]:
                        await hub.kill()
                        await hub.start()
                    await asyncio.sleep(self._chance.uniform(0, 1))
                    await asyncio.to_thread(server.start)
                    continue
                if kind == "drain":
                    # Its sessions go to another worker of the group, while they are spoken to.
                    grouped = members[self._size.hubs : -1]
                    if not (alive := [one for one in grouped if one.process is not None]):
                        first.insert(0, kind)
                        continue
                    self._outcome.kills[kind] += 1
                    drained = self._chance.choice(alive)
                    await drained.end()
                    tasks.create_task(self._begin_again(drained))
                    continue
                running = [one for one in members if one.process is not None]
                if len(running) < 2:
                    continue
                member = self._chance.choice([one for one in running if one.name.startswith(kind)] or running)
                self._outcome.kills[member.name.partition("-")[0]] += 1
                await member.kill()
                tasks.create_task(self._begin_again(member))

    async def _begin_again(self, member: Member) -> None:
        await asyncio.sleep(self._chance.uniform(0, 2 * LEASE_S))
        await member.start()

    async def _rest(self, client: Client, sessions: list[str]) -> None:
        """Wait until each session takes a last prompt and is idle."""
        await self._say_to_all(client, sessions, "last")

    async def _restore(
        self, members: list[Member], redis: str, server: Server, url: str, sessions: list[str]
    ) -> None:
        """Put Redis back from a backup, as docs/fleet.md says; frontends that stay connected then see what the journal has."""
        backup, data = self._folder / "backup", self._folder / "appendonlydir"
        server.kill()
        shutil.copytree(data, backup)
        await asyncio.to_thread(server.start)
        seen: dict[str, list[EventFrame]] = {session: [] for session in sessions}
        anew: set[str] = set()

        async def follow(client: Client, session: str) -> None:
            after = BEGINNING
            while True:
                following = client.follow(session, after)
                with suppress(CommandFailed):
                    async for received in following:
                        after = following.next
                        if isinstance(received, EventFrame):
                            seen[session].append(received)
                        elif isinstance(received, Gap):
                            assert received.restarted
                            anew.add(session)
                            seen[session].clear()
                await asyncio.sleep(0.2)  # this hub has not heard of the session yet

        async with connect(url, timeout=60) as client, TaskOwner() as tasks:
            for session in sessions:
                tasks.keep(f"follows {session}", follow(client, session))
            # What is said now is not in the backup, and its numbers are given again.
            await self._say_to_all(client, sessions, "void")
            said = await self._journaled(redis, sessions)
            await until(lambda: all(len(seen[one]) >= len(said[one]) for one in sessions))
            for member in reversed(members):
                await member.end()
            server.kill()
            shutil.rmtree(data)
            shutil.copytree(backup, data)
            await asyncio.to_thread(server.start)
            operator = Operator(redis)
            await operator.begin_epoch()
            await operator.close()
            for member in members:
                await member.start()
            await self._say_to_all(client, sessions, "restored")
            logs = await self._journaled(redis, sessions)
            with suppress(TimeoutError):  # who has not is found below
                await until(lambda: all(len(seen[one]) >= len(logs[one]) for one in sessions))
        self._outcome.restored = [
            f"{session}: {len(seen[session])} of {len(logs[session])}"
            for session in sessions
            if seen[session] != logs[session] or session not in anew
        ]
        self._count_ends(logs)

    async def _say_to_all(self, client: Client, sessions: list[str], text: str) -> None:
        """Say something to each session, again until it is done, and wait until all are idle."""
        for session in sessions:
            for number in range(200):
                if await self._say(client, session, f"{session} {text} {number}", repeats=True):
                    break
                await asyncio.sleep(0.3)
            else:
                raise AssertionError(f"{session} never came back")
        await until(
            lambda: all(one.state == "idle" for one in client.known_sessions if one.session in sessions)
        )

    async def _begin_twin(self, worker: Member) -> None:
        """Start a second worker of one name, with files of its own: it says whose the name is, and ends."""
        folder = self._folder / "twin"
        arguments = [*worker.arguments[:-1], str(folder / "state")]
        twin = Member("twin", folder, arguments, worker.config)
        await twin.start()
        assert twin.process is not None
        async with asyncio.timeout(60):
            assert await twin.process.wait() != 0
        twin.process = None
        self._outcome.twin = twin.log

    async def _delete_what_is_out_of_reach(self, client: Client, worker: Member) -> None:
        """Delete a session of a worker that nobody takes over, while it is gone; then let that worker come back."""
        session = next(one.session for one in client.known_sessions if one.worker == worker.name)
        await worker.kill()
        await _insist(lambda: client.command(commands.SessionDelete(session=session)))
        await worker.start()
        await until(lambda: "a session was deleted while this worker was away" in worker.log)
        await until(lambda: all(one.state != "unreachable" for one in client.known_sessions))
        self._outcome.brought_back = [
            one.session for one in await client.sessions() if one.session == session
        ]

    async def _journaled(self, url: str, sessions: list[str]) -> dict[str, list[EventFrame]]:
        journal = await RedisJournal.open(url, reads_only=True, archive_dir=self._folder / "archive")
        logs: dict[str, list[EventFrame]] = {}
        try:
            for session in sessions:
                cursor, log = Cursor("", 0), list[EventFrame]()
                while True:
                    page = await journal.read_after(session, cursor)
                    for envelope in page.envelopes:
                        head = {"type": "event", "session": session, "seq": envelope.seq, "ts": envelope.ts}
                        frame = read_frame(json.dumps(head | {"event": json.loads(envelope.event)}))
                        assert isinstance(frame, EventFrame)
                        log.append(frame)
                    cursor = page.cursor
                    if cursor.seq >= page.last:
                        break
                assert [frame.seq for frame in log] == list(range(1, len(log) + 1))
                logs[session] = log
        finally:
            await journal.close()
        self._outcome.events = sum(map(len, logs.values()))
        return logs

    async def _all_seen(self, logs: dict[str, list[EventFrame]]) -> None:
        with suppress(TimeoutError):  # who has not is found below
            await until(
                lambda: all(len(seen) >= len(logs[session]) for (_, session), seen in self._seen.items())
            )

    def _compare(self, logs: dict[str, list[EventFrame]]) -> None:
        outcome = self._outcome
        outcome.differing = [
            f"frontend {number} of {session}: {len(seen)} of {len(logs[session])}"
            for (number, session), seen in self._seen.items()
            if seen != logs[session]
        ]
        effects: Counter[str] = Counter()
        for said in (self._folder / "work").glob("*/said"):
            effects.update(said.read_text().splitlines())
        self._count_ends(logs)
        outcome.twice = [text for text, count in effects.items() if count > 1]
        over: set[str] = set()
        for log in logs.values():
            serving: dict[str | None, list[str]] = {}
            for frame in log:
                event: Any = frame.event
                if event.type == "withdrawn":
                    over.add(event.prompt)
                elif event.type == "turn_started":
                    serving[event.operation_id] = event.prompts or []
                elif event.type == "complete" and event.data.outcome == "process_exited":
                    over.update(serving.get(event.operation_id, ()))
        outcome.lost = [
            text for text, prompt in self._accepted.items() if not effects[text] and prompt not in over
        ]

    def _count_ends(self, logs: dict[str, list[EventFrame]]) -> None:
        for session, log in logs.items():
            begun: Counter[str | None] = Counter()
            ended: Counter[str | None] = Counter()
            for frame in log:
                event: Any = frame.event
                if event.type == "turn_started":
                    begun[event.operation_id] += 1
                elif event.type == "complete":
                    ended[event.operation_id] += 1
            self._outcome.unfinished += [
                f"{session} {turn}: begun {begun[turn]} times, ended {ended[turn]} times"
                for turn in begun | ended
                if begun[turn] != 1 or ended[turn] != 1
            ]


async def _service(members: list[Member], done: asyncio.Event) -> None:
    """Begin again those that found no Redis when they began, as a service manager does."""
    while not done.is_set():
        for member in members:
            if member.process is not None and member.process.returncode is not None:
                await member.start()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await done.wait()


async def _insist(work: Callable[[], Awaitable[Any]]) -> Any:
    """Do what a fleet that is just beginning refuses."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await work()
            except TurnwireError:
                await asyncio.sleep(0.1)


def _agents(folder: Path) -> list[int]:
    """The processes that run the agent of a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if str(folder / "agent.py").encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found
