"""A real sidecar under random use and random faults for as long as wanted, what it holds meanwhile, and whether anything was lost.

Each slot has one session after the other. A session has frontends that come, go, stall, are stopped and are cut off; its agent is
killed, it is interrupted, closed and resumed; in the end what each frontend has seen is compared, and it is deleted. The sessions
that are there when all is over are compared with the file of the journal.
"""

import asyncio
import json
import os
import random
import signal
import socket
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from events_seen import Seen, digest, journaled
from websockets.frames import Frame, Opcode

from agent_process import agent_command
from cut_line import Line, line_to
from live import descendants, gone
from recordings import ROOT
from turnwire.client import BEGINNING, Backoff, Client, CommandFailed, Gap, TurnwireError, connect
from turnwire.client.events import PermissionRequest
from turnwire.client.frames import EventFrame
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire_process import environment, turnwire
from waiting import until

TOKEN = "control-token-of-the-soak"
FIRST_S, MOST_S = 0.05, 1.0
"""How long a frontend that was cut off waits before it comes again."""

SCRIPT = """
turns:
  - match: "^talk"
    steps:
      - thinking: "Let me see what was asked: {prompt}"
      - text: "You said {prompt}, and this is what I say to it, in some words more than are needed."
        chunk: 7
        pace: 0.01
  - match: "^tool"
    steps:
      - tool: Bash
        input: {command: "make test", description: "Run the tests"}
        seconds: 0.3
        result: "2 passed"
        structured: {stdout: "2 passed", stderr: ""}
      - text: "They pass."
  - match: "^ask"
    steps:
      - tool: Bash
        input: {command: "make install", description: "Install"}
        permission: true
        result: "done"
        structured: {stdout: "done", stderr: ""}
        on_deny:
          - text: "Then not."
      - text: "That was it."
  - match: "^flood"
    steps:
      - flood: 300
        rate: 400
        size: 30
  - match: "^large"
    steps:
      - huge: 300000
  - match: "^garbage"
    steps:
      - raw: "this is not JSON"
      - raw: {type: brand_new_type, note: "a line of a type nobody knows"}
      - raw: '{"type":"assistant","message":'
      - text: "I talked nonsense and go on."
  - match: "^die"
    steps:
      - text: "I end in the middle."
      - crash: SIGKILL
  - match: "^hang"
    steps:
      - hang: true
"""
PROMPTS = ("talk", "tool", "ask", "flood", "large", "garbage", "die", "hang")
WEIGHTS = (6, 5, 4, 3, 1, 1, 1, 1)

UPGRADE = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: turnwire.v1, turnwire.token.{token}\r\n\r\n"
)


@dataclass(frozen=True)
class Size:
    """How much of everything."""

    seconds: float = 1800
    sessions: int = 5
    """Slots: sessions at a time."""
    frontends: int = 2
    """Of each session, beside one in a process of its own and one that does not read, which come and go."""
    session_s: tuple[float, float] = (60, 180)
    """How long a session lives."""
    step_s: tuple[float, float] = (1.0, 6.0)
    """From one thing that happens to a session to the next."""
    stalls_s: tuple[float, float] = (1, 40)
    """How long a frontend does not read, or is stopped."""
    sample_every_s: float = 30
    tries: frozenset[str] = frozenset()
    """Faults that have to be tried: until then it goes on, as a machine may stand still for all of the time."""
    compares: int = 0
    """Logs of frontends that have to be compared, in the same way."""


@dataclass(frozen=True)
class Sample:
    """What the sidecar holds at a time."""

    at_s: float
    rss: int
    """Bytes."""
    descriptors: int
    threads: int
    tasks: int
    """asyncio's."""
    objects: int
    """Known to the garbage collector."""
    processes: int
    """Below the sidecar: agents and their supervisors."""
    cpu_s: float
    """Used by the sidecar."""
    sessions: int
    events: int
    """Of all sessions up to now, as far as their frontends have seen them."""

    def __str__(self) -> str:
        return (
            f"{self.at_s:6.0f} s  rss {self.rss / 1e6:6.1f} MB  descriptors {self.descriptors:3}  threads {self.threads:2}  tasks {self.tasks:3}"
            f"  objects {self.objects:7}  processes {self.processes:2}  cpu {self.cpu_s:6.1f} s  sessions {self.sessions:2}  events {self.events}"
        )


@dataclass
class Outcome:
    """What came of it."""

    faults: Counter[str] = field(default_factory=Counter)
    prompts: Counter[str] = field(default_factory=Counter)
    """By what was answered: ok, or a code."""
    samples: list[Sample] = field(default_factory=list)
    before: Sample | None = None
    """When no session had been."""
    rest: Sample | None = None
    """When all sessions were deleted and all frontends gone."""
    compared: int = 0
    """Logs of frontends that were compared with what there was."""
    differing: list[str] = field(default_factory=list)
    """Frontends that saw anything else."""
    gaps: int = 0
    events: int = 0
    left: list[int] = field(default_factory=list)
    """Processes that were there after the sidecar's end."""

    def drift(self, name: str) -> tuple[float, float]:
        """The median of something held, in the first and in the last third; the first two samples are left out as warm-up."""
        values = [getattr(sample, name) for sample in self.samples[2:]]
        third = max(1, len(values) // 3)
        return statistics.median(values[:third]), statistics.median(values[-third:])


class Follower:
    """A frontend in this process, on a line that can be cut, that reads or does not."""

    def __init__(self, base: str, session: str, *, answers: random.Random | None) -> None:
        self._base = base
        self.session = session
        self._answers = answers
        self.seen: Seen = []
        self.gaps = 0
        self.reads = asyncio.Event()
        self.reads.set()
        self.line: Line | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def follow(self) -> None:
        """See all there is until cancelled, or until the session is gone."""
        async with (
            line_to(self._base) as (line, address),
            connect(address, TOKEN, backoff=Backoff(first=FIRST_S, most=MOST_S), timeout=60) as client,
        ):
            self.line = line
            with suppress(TurnwireError):
                async for received in client.follow(self.session, BEGINNING, held=64):
                    if isinstance(received, EventFrame):
                        self.seen.append((received.seq, digest(received)))
                        if isinstance(received.event, PermissionRequest) and self._answers is not None:
                            self._answer(client, received.event)
                    elif isinstance(received, Gap):
                        self.gaps += 1
                    await self.reads.wait()

    def _answer(self, client: Client, request: PermissionRequest) -> None:
        assert self._answers is not None
        options = [option.option_id for option in request.permission_options if option.kind != "allow_always"]
        if not options or self._answers.random() < 0.2:
            return

        async def answer(option: str) -> None:
            with suppress(TurnwireError):  # it may be void by now
                await client.respond(self.session, request.pending_id, option)

        task = asyncio.create_task(answer(self._answers.choice(options)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Soak:
    """One run."""

    def __init__(
        self, folder: Path, size: Size, seed: int, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        self._folder = folder
        self._size = size
        self._chance = random.Random(seed)
        self._tell = tell
        self._outcome = Outcome()
        self._over = asyncio.Event()
        self._living: dict[str, list[Follower]] = {}
        self._kept: dict[str, list[Seen]] = {}
        """What frontends saw of the sessions that were there at the end."""

    async def run(self) -> Outcome:
        """Begin, go on for as long as it should, come to rest, and compare."""
        script = self._folder / "script.yaml"
        script.write_text(SCRIPT)
        workspace = self._folder / "work"
        workspace.mkdir()
        (self._folder / "turnwire.toml").write_text(
            f"token = {TOKEN!r}\nagent = 'scripted'\nhistory = false\npush = false\nmax_processes = 100\n"
            f"frontend_workspaces = [{str(workspace)!r}]\n[agents]\nscripted = {json.dumps(agent_command(script))}\n"
        )
        env = environment(self._folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
        counted = (
            sys.executable,
            str(ROOT / "tests" / "support" / "faults" / "counted_sidecar.py"),
            str(self._told),
        )
        async with turnwire(self._folder, "serve", env=env, stdout_lines=1, prefix=counted) as served:
            self._began = time.monotonic()
            self._served = served
            async with connect(served.base, TOKEN, timeout=60) as leading:
                self._leading = leading
                self._outcome.before = await self._sample()
                self._tell(f"before: {self._outcome.before}")
                async with asyncio.TaskGroup() as tasks:
                    watch = tasks.create_task(self._watch())
                    slots = [tasks.create_task(self._slot(number)) for number in range(self._size.sessions)]
                    await asyncio.wait(slots, timeout=self._size.seconds, return_when=asyncio.FIRST_EXCEPTION)
                    await until(lambda: self._has_tried or any(slot.done() for slot in slots), 300)
                    self._over.set()
                    await asyncio.gather(*slots)
                    watch.cancel()
            await self._rest()
            self._tell(f"rest:   {self._outcome.rest}")
            below = descendants(served.process.pid)
        await self._compare_with_the_file()
        with suppress(TimeoutError):
            await gone(below)
        self._outcome.left = [pid for pid in below if Path(f"/proc/{pid}").exists()]
        return self._outcome

    @property
    def _told(self) -> Path:
        return self._folder / "held"

    async def _sample(self) -> Sample:
        self._told.unlink(missing_ok=True)
        self._served.process.send_signal(signal.SIGUSR1)
        await until(self._told.exists)
        told = json.loads(self._told.read_text())
        living = sum(max((len(each.seen) for each in some), default=0) for some in self._living.values())
        return Sample(
            at_s=time.monotonic() - self._began,
            processes=len(descendants(self._served.process.pid)),
            sessions=len(self._living),
            events=self._outcome.events + living,
            **told,
        )

    async def _rest(self) -> None:
        """Look until no more is held than before, or long enough."""
        before = self._outcome.before
        assert before is not None
        for _ in range(20):
            await asyncio.sleep(min(10, self._size.sample_every_s))
            rest = self._outcome.rest = await self._sample()
            if (
                rest.tasks <= before.tasks
                and rest.descriptors <= before.descriptors
                and rest.processes <= before.processes
            ):
                return

    @property
    def _has_tried(self) -> bool:
        return (
            all(self._outcome.faults[fault] for fault in self._size.tries)
            and self._outcome.compared >= self._size.compares
        )

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._size.sample_every_s)
            sample = await self._sample()
            self._outcome.samples.append(sample)
            self._tell(f"{sample}  faults {self._outcome.faults.total()}")

    async def _slot(self, number: int) -> None:
        chance = random.Random(self._chance.random())
        while not self._over.is_set():
            session = await self._leading.create(workspace=str(self._folder / "work"), title=f"slot {number}")
            await _Life(self, session, chance).live()

    async def compare(self, session: str, logs: list[Seen], *, keeps: bool) -> None:
        """Compare what frontends have seen with what one gets that follows now."""
        last = max(
            summary.last_seq for summary in await self._leading.sessions() if summary.session == session
        )
        whole: Seen = []
        newest = ""
        async with connect(self._served.base, TOKEN, timeout=60) as client:
            following = client.follow(session, BEGINNING)
            async with asyncio.timeout(120):
                while len(whole) < last:
                    received = await anext(following)
                    if isinstance(received, EventFrame):
                        whole.append((received.seq, digest(received)))
                        newest = received.event.type
                    elif isinstance(received, Gap):
                        self._outcome.gaps += 1
        if [seq for seq, _ in whole] != list(range(1, last + 1)):
            self._outcome.differing.append(
                f"{session}: numbers {whole[:1]} to {whole[-1:]}, {len(whole)} of {last}"
            )
        for number, seen in enumerate(logs):
            if seen != whole:
                begins = "a beginning" if seen == whole[: len(seen)] else "something else"
                self._outcome.differing.append(
                    f"frontend {number} of {session}: {begins}, {len(seen)} of {len(whole)}, the last {newest}"
                )
        self._outcome.compared += len(logs)
        self._outcome.events += len(whole)
        if keeps:
            self._kept[session] = [*logs, whole]

    async def _compare_with_the_file(self) -> None:
        journal = await SqliteJournal.open(self._folder / "state" / "journal.sqlite3")
        try:
            for session, logs in self._kept.items():
                whole = await journaled(journal, session)
                for number, seen in enumerate(logs):
                    # the journal has what came after the frontends had left, too: nothing, as the session was closed
                    if seen != whole:
                        self._outcome.differing.append(
                            f"frontend {number} of {session} and the file: {len(seen)} of {len(whole)}"
                        )
        finally:
            await journal.close()


class _Life:
    """One session, from its creation to its end."""

    def __init__(self, soak: Soak, session: str, chance: random.Random) -> None:
        self._soak = soak
        self._session = session
        self._chance = chance
        self._size = soak._size
        self._leading = soak._leading
        self._faults = soak._outcome.faults
        self._followers: list[Follower] = []
        self._following: list[asyncio.Task[None]] = []
        self._others: set[asyncio.Task[None]] = set()
        self._logs: list[Seen] = []
        """What frontends in processes of their own have seen."""

    async def live(self) -> None:
        """Live, and be compared."""
        soak, size, chance = self._soak, self._size, self._chance
        self._soak._living[self._session] = self._followers
        self._come()
        end = time.monotonic() + chance.uniform(*size.session_s)
        steps = [
            (self._prompt, 16),
            (self._cut, 3),
            (self._stall, 2),
            (self._kill_agent, 2),
            (self._interrupt, 2),
            (self._close, 1),
            (self._come, 1),
            (self._process_of_its_own, 1),
            (self._never_read, 1),
        ]
        while time.monotonic() < end and not soak._over.is_set():
            (step,) = chance.choices([step for step, _ in steps], [weight for _, weight in steps])
            done = step()
            if done is not None:
                await done
            with suppress(TimeoutError):
                async with asyncio.timeout(chance.uniform(*size.step_s)):
                    await soak._over.wait()
        await self._settle()

    async def _settle(self) -> None:
        """Close the session, let every frontend see its end, and compare."""
        await asyncio.gather(*self._others)
        for follower in self._followers:
            follower.reads.set()
            if follower.line is not None:
                follower.line.mend()
        await self._leading.close_session(self._session)
        last = await self._last()
        with suppress(TimeoutError):  # who has not seen all is found by the comparison
            await until(lambda: all(len(one.seen) >= last for one in self._followers), 120)
        for task in self._following:
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)
        self._soak._outcome.gaps += sum(follower.gaps for follower in self._followers)
        keeps = self._soak._over.is_set()
        logs = [follower.seen for follower in self._followers] + self._logs
        await self._soak.compare(self._session, logs, keeps=keeps)
        del self._soak._living[self._session]
        if not keeps:
            self._faults["delete"] += 1
            await self._leading.delete_session(self._session)

    async def _last(self) -> int:
        """The number of the last event of a closed session: that of its end may be readable a moment after the reply."""
        last = -1
        while True:
            (now,) = [one.last_seq for one in await self._leading.sessions() if one.session == self._session]
            if now == last:
                return last
            last = now
            await asyncio.sleep(1)

    def _come(self) -> None:
        """Let frontends come until there are as many as there should be, or one more."""
        for _ in range(max(1, self._size.frontends - len(self._followers))):
            if len(self._followers) > self._size.frontends:
                return
            answers = self._chance if not self._followers else None
            follower = Follower(self._soak._served.base, self._session, answers=answers)
            self._followers.append(follower)
            self._following.append(asyncio.create_task(follower.follow()))

    async def _prompt(self) -> None:
        (text,) = self._chance.choices(PROMPTS, WEIGHTS)
        try:
            await self._leading.prompt(self._session, text)
        except CommandFailed as refused:
            self._soak._outcome.prompts[refused.code] += 1
            await self._resume()
        else:
            self._soak._outcome.prompts["ok"] += 1

    async def _resume(self) -> None:
        with suppress(CommandFailed):
            await self._leading.resume(self._session)
            self._faults["resume"] += 1

    async def _interrupt(self) -> None:
        with suppress(CommandFailed):
            await self._leading.interrupt(self._session)
            self._faults["interrupt"] += 1

    async def _close(self) -> None:
        await self._leading.close_session(self._session)
        self._faults["close"] += 1
        await self._resume()

    def _kill_agent(self) -> None:
        """Kill any session's agent."""
        wanted = str(self._soak._folder / "script.yaml").encode()
        agents = []
        for pid in descendants(self._soak._served.process.pid):
            with suppress(OSError):
                arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                # a supervisor has the agent's command among its own arguments
                if wanted in arguments and b"turnwire.scripted_agent" in arguments[:3]:
                    agents.append(pid)
        if agents:
            with suppress(ProcessLookupError):
                os.kill(self._chance.choice(agents), signal.SIGKILL)
                self._faults["agent killed"] += 1

    def _cut(self) -> None:
        follower = self._chance.choice(self._followers)
        if follower.line is None:
            return
        self._faults["connection cut"] += 1
        line, pause = follower.line, self._chance.choice([0, 0.2, 3])
        line.cut()
        self._later(pause, line.mend)

    def _stall(self) -> None:
        follower = self._chance.choice(self._followers)
        self._faults["frontend stalled"] += 1
        follower.reads.clear()
        self._later(self._chance.uniform(*self._size.stalls_s), follower.reads.set)

    def _later(self, seconds: float, do: Callable[[], None]) -> None:
        async def wait() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._soak._over.wait()
            do()

        self._beside(wait())

    def _beside(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)

    def _process_of_its_own(self) -> None:
        self._beside(self._stopped_frontend())

    async def _stopped_frontend(self) -> None:
        """A frontend in a process of its own is stopped, goes on, and in the end is compared as all are."""
        self._faults["frontend stopped"] += 1
        file = self._soak._folder / f"seen-{self._faults['frontend stopped']}"
        helpers = os.pathsep.join(str(ROOT / part) for part in ("", "tests/support/faults", "clients/python"))
        frontend = await asyncio.create_subprocess_exec(
            sys.executable,
            str(ROOT / "tests" / "support" / "faults" / "following_frontend.py"),
            f"{self._soak._served.base}/#token={TOKEN}",
            self._session,
            str(file),
            env={**os.environ, "PYTHONPATH": helpers},
        )
        try:
            await until(lambda: file.exists() and file.stat().st_size, 60)
            frontend.send_signal(signal.SIGSTOP)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._chance.uniform(*self._size.stalls_s)):
                    await self._soak._over.wait()
            frontend.send_signal(signal.SIGCONT)
            (last,) = [one.last_seq for one in await self._leading.sessions() if one.session == self._session]
            with suppress(TimeoutError):
                await until(lambda: len(_lines(file)) >= last, 60)
        finally:
            frontend.kill()
            await frontend.wait()
        seen = _lines(file)
        file.unlink()
        # it has left before the session's end, so it has a beginning of what the first frontend has seen
        with suppress(TimeoutError):
            await until(lambda: len(self._followers[0].seen) >= len(seen), 60)
        self._soak._outcome.compared += 1
        if seen != self._followers[0].seen[: len(seen)] or len(seen) < last:
            self._soak._outcome.differing.append(
                f"a stopped frontend of {self._session}: {len(seen)} of {last}"
            )

    def _never_read(self) -> None:
        self._beside(self._deaf_frontend())

    async def _deaf_frontend(self) -> None:
        """A frontend subscribes and reads nothing."""
        self._faults["frontend that does not read"] += 1
        address = urlsplit(self._soak._served.base)
        loop = asyncio.get_running_loop()
        with socket.socket() as peer:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.setblocking(False)
            await loop.sock_connect(peer, (address.hostname, address.port))
            await loop.sock_sendall(peer, UPGRADE.format(token=TOKEN).encode())
            subscribe = json.dumps({"type": "subscribe", "id": "1", "session": self._session}).encode()
            await loop.sock_sendall(peer, Frame(Opcode.TEXT, subscribe).serialize(mask=True))
            with suppress(TimeoutError):
                async with asyncio.timeout(2 * self._chance.uniform(*self._size.stalls_s)):
                    await self._soak._over.wait()


def _lines(file: Path) -> Seen:
    """What a frontend in a process of its own has written, without a torn last line."""
    return [
        (int(seq), int(check))
        for seq, _, check in (line.partition(" ") for line in file.read_text().split("\n")[:-1])
    ]
