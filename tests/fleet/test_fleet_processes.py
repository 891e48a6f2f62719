"""A fleet of processes: frontends come to a hub, sessions run at a worker, and Redis is between them."""

import asyncio
import json
import re
import shutil
import signal
import sys
import urllib.request
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from plain_agent import program_of

from journals import RedisProcess
from turnwire.client import BEGINNING, Client, CommandFailed, connect
from turnwire.client import commands as do
from turnwire.client import events as ev
from turnwire.client.frames import EventFrame
from turnwire_process import DEADLINE, Served, environment, lines_of, preloaded_turnwire
from turnwire_process import turnwire as any_turnwire
from waiting import until

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")


async def answered(client: Client, session: str) -> list[str]:
    """Follow a session to the end of a turn; return what its agent said."""
    said: list[str] = []
    async with asyncio.timeout(DEADLINE):
        async for frame in client.follow(session, BEGINNING):
            match frame:
                case EventFrame(event=ev.MessageChunk(text=text)):
                    said.append(text)
                case EventFrame(event=ev.Complete()):
                    return said
                case _:
                    pass
    raise AssertionError("the log ended")


async def measured(served: Served) -> set[str]:
    """Return the names of the series at a process's /metrics."""
    request = urllib.request.Request(
        f"{served.base}/metrics", headers={"Authorization": f"Bearer {served.token}"}
    )

    def text() -> str:
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            return str(answer.read().decode())

    lines = (await asyncio.to_thread(text)).splitlines()
    return {re.split("[{ ]", line)[0] for line in lines if line and line[0] != "#"}


async def test_a_frontend_of_a_hub_has_a_session_at_a_worker_and_both_end_well(tmp_path: Path) -> None:
    hub, worker, work = (tmp_path / name for name in ("hub", "worker", "work"))
    for place in (hub, worker, work):
        place.mkdir()
    (tmp_path / "agent.py").write_text(program_of('def answers(text):\n    return ["echo: " + text]\n'))
    command = [sys.executable, "-S", "-E", str(tmp_path / "agent.py")]
    with TemporaryDirectory(prefix="redis-") as folder:
        redis = RedisProcess(Path(folder), "--appendonly", "yes", "--appendfsync", "always")
        redis.start()
        try:
            settings = f"journal = {redis.url!r}\nhistory = false\n"
            (hub / "turnwire.toml").write_text(settings)
            (worker / "turnwire.toml").write_text(
                f"{settings}worker = 'w'\nagent = 'echo'\nfrontend_workspaces = [{str(work)!r}]\n"
                f"[agents.echo]\nfamily = 'claude'\ncommand = {command!r}\n"
            )
            env = {place: environment(place / "home") for place in (hub, worker)}
            async with (
                preloaded_turnwire(worker, "serve", env=env[worker]) as working,
                preloaded_turnwire(hub, "hub", env=env[hub]) as served,
                connect(served.url) as client,
            ):
                session = await client.create(workspace=str(work), prompt="hello")
                assert await answered(client, session) == ["echo: hello"]
                (summary,) = await client.sessions()
                assert (summary.session, summary.worker) == (session, "w")
                at_hub, at_worker = await measured(served), await measured(working)
                own = {"turnwire_fleet_lease_age_seconds", "turnwire_fleet_orders", "turnwire_sessions"}
                assert own <= at_worker - at_hub
                assert "turnwire_fleet_command_duration_seconds_count" in at_hub - at_worker
                # of its own connection each
                assert "turnwire_fleet_redis_round_trip_seconds" in at_hub & at_worker
        finally:
            redis.kill()


WAITS = """
def answers(text):
    yield "begun: " + text
    while text == "slow" and not os.path.exists("go-on"):
        time.sleep(0.02)
    yield "done: " + text
"""


def running(command: list[str]) -> list[int]:
    """Processes that run a command of a test."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (place / "cmdline").read_bytes().startswith("\0".join(command).encode()):
                found.append(int(place.name))
    return found


async def log_of(client: Client, session: str, completes: int) -> list[EventFrame]:
    """Follow a session until so many turns are over; return its log."""
    found: list[EventFrame] = []
    async with asyncio.timeout(DEADLINE):
        async for frame in client.follow(session, BEGINNING):
            if isinstance(frame, EventFrame):
                found.append(frame)
                completes -= isinstance(frame.event, ev.Complete)
            if not completes:
                break
    return found


CLOCK = """
import time
from pathlib import Path

_ahead = Path(__file__).with_name("ahead")
_time, _time_ns = time.time, time.time_ns
time.time = lambda: _time() + int(_ahead.read_text())
time.time_ns = lambda: _time_ns() + int(_ahead.read_text()) * 10**9
"""
"""What Python runs before turnwire, so that its wall clock is as far ahead as a file says at the time."""


def set_clock(place: Path, ahead_s: int) -> None:
    """Set the wall clock of a member of a fleet, which may run."""
    (place / "clock").mkdir(exist_ok=True)
    (place / "clock" / "new").write_text(str(ahead_s))
    (place / "clock" / "new").rename(place / "clock" / "ahead")


@dataclass
class Fleet:
    """Two workers of a group, a hub, and a frontend of each role that matters."""

    former: Served
    client: Client
    admin: Client
    work: Path
    command: list[str]
    """The command of an agent."""
    operated: Callable[..., Coroutine[Any, Any, list[bytes]]]
    """Runs `turnwire fleet` with arguments and returns the lines that it prints."""


@asynccontextmanager
async def fleet_of(
    tmp_path: Path, answers: str, *settings: str, clocks: Mapping[str, int] | None = None
) -> AsyncIterator[Fleet]:
    """Run a fleet whose agents answer so; the settings are those of all members. `clocks`: how many seconds whose clock is ahead."""
    hub, former, heir, work = (tmp_path / name for name in ("hub", "former", "heir", "work"))
    for place in (hub, former, heir, work):
        place.mkdir()
    (tmp_path / "agent.py").write_text(program_of(answers))
    command = [sys.executable, "-S", "-E", str(tmp_path / "agent.py")]
    with TemporaryDirectory(prefix="redis-") as folder:
        redis = RedisProcess(Path(folder), "--appendonly", "yes", "--appendfsync", "always")
        redis.start()
        try:
            common = f"journal = {redis.url!r}\nhistory = false\n"
            own = "".join(f"{one}\n" for one in settings)
            (hub / "turnwire.toml").write_text(common + own)
            for place in (former, heir):
                (place / "turnwire.toml").write_text(
                    f"{common}{own}worker = {place.name!r}\nworker_group = 'g'\nagent = 'slow'\n"
                    f"frontend_workspaces = [{str(work)!r}]\n"
                    f"[agents.slow]\nfamily = 'claude'\ncommand = {command!r}\n"
                )
            env = {place: environment(tmp_path / "home" / place.name) for place in (hub, former, heir)}
            # A process that is forked does not run what sets its clock.
            turnwire = partial(any_turnwire, preloaded=clocks is None)
            if clocks is not None:
                for place, variables in env.items():
                    set_clock(place, clocks[place.name])
                    (place / "clock" / "sitecustomize.py").write_text(CLOCK)
                    variables["PYTHONPATH"] = f"{place / 'clock'}:{variables['PYTHONPATH']}"
            created = await lines_of(
                hub, {**env[hub], "TURNWIRE_CONFIG": str(hub / "turnwire.toml")},
                *("token", "create", "ops", "--role", "admin", "--state-dir", str(hub / "state")),
            )  # fmt: skip
            (token,) = [word for line in created for word in line.decode().split() if word.startswith("twp-")]
            async with (
                turnwire(former, "serve", env=env[former]) as old,
                turnwire(heir, "serve", env=env[heir]),
                turnwire(hub, "hub", env=env[hub]) as served,
                connect(served.url) as client,
                connect(f"{served.base}/#token={token}") as admin,
            ):

                async def operated(*arguments: str) -> list[bytes]:
                    return await lines_of(hub, env[hub], "fleet", *arguments, "--journal", redis.url)

                yield Fleet(old, client, admin, work, command, operated)
        finally:
            redis.kill()


async def opened(fleet: Fleet) -> str:
    """Begin a session at the former worker with one turn that is over and one that is open."""
    create = do.SessionCreate(workspace=str(fleet.work), prompt="first", worker="former")
    session = (await fleet.client.command(create)).session
    await log_of(fleet.client, session, 1)
    await fleet.client.prompt(session, "slow")
    async with asyncio.timeout(DEADLINE):
        async for frame in fleet.client.follow(session, BEGINNING):
            if isinstance(frame, EventFrame) and getattr(frame.event, "text", "") == "begun: slow":
                return session
    raise AssertionError("the log ended")


@pytest.mark.long
@pytest.mark.parametrize("stopped", [True, False], ids=["of one that stands still", "of one that works"])
@pytest.mark.parametrize("by", ["frame", "command"])
async def test_an_admin_takes_a_session_in_a_turn_and_its_former_worker_is_heard_no_more(
    tmp_path: Path, stopped: bool, by: str
) -> None:
    async with fleet_of(tmp_path, WAITS) as fleet:
        session = await opened(fleet)
        take = do.FleetTake(session=session, worker="heir")
        with pytest.raises(CommandFailed, match="admin"):
            await fleet.client.command(take)
        if stopped:
            fleet.former.process.send_signal(signal.SIGSTOP)
        if by == "frame":
            await fleet.admin.command(take, timeout=DEADLINE)
        else:
            (done,) = await fleet.operated("take", session, "heir", "--wait", str(DEADLINE))
            assert done.decode() == f"the session {session} is the worker heir's"
        (fleet.work / "go-on").touch()
        await fleet.client.prompt(session, "third")
        await log_of(fleet.client, session, 3)
        (summary,) = await fleet.client.sessions()
        assert (summary.worker, summary.trouble) == ("heir", None)
        if stopped:
            fleet.former.process.send_signal(signal.SIGCONT)
        told = tmp_path / "former" / "turnwire.log"
        await until(lambda: "it is the log of heir in its life 2" in told.read_text(), DEADLINE)
        # the agent of the former owner ends; the heir has one of its own
        await until(lambda: len(running(fleet.command)) == 1, DEADLINE)
        await fleet.client.prompt(session, "fourth")
        log = await log_of(fleet.client, session, 4)
        assert [one.seq for one in log] == list(range(1, len(log) + 1))
        said = [one.event.text for one in log if isinstance(one.event, ev.MessageChunk)]
        assert said == [
            "begun: first", "done: first", "begun: slow", "begun: third", "done: third", "begun: fourth", "done: fourth",
        ]  # fmt: skip
        turns = [one.event for one in log if isinstance(one.event, ev.TurnStarted | ev.Complete)]
        assert [isinstance(one, ev.Complete) for one in turns] == [False, True] * 4
        ends = [one.data.outcome for one in turns if isinstance(one, ev.Complete)]
        assert ends == ["completed", "process_exited", "completed", "completed"]


async def owned(fleet: Fleet, session: str, worker: str) -> None:
    """Wait until a hub lists a session as a worker's."""
    async with asyncio.timeout(DEADLINE):
        while worker not in {one.worker for one in await fleet.client.sessions() if one.session == session}:  # noqa: ASYNC110 - asked of a process
            await asyncio.sleep(0.05)


async def listed(fleet: Fleet, worker: str, state: str) -> None:
    """Wait until `turnwire fleet list` shows a worker in a state."""
    async with asyncio.timeout(DEADLINE):
        while True:
            told = json.loads(b"".join(await fleet.operated("list", "--json")))
            if state in {one["state"] for one in told["workers"] if one["worker"] == worker}:
                return


def whole(log: list[EventFrame], *prompts: str) -> None:
    """Check that a log has no hole, and of each prompt its answer and one end, in order."""
    assert [one.seq for one in log] == list(range(1, len(log) + 1))
    said = [one.event.text for one in log if isinstance(one.event, ev.MessageChunk)]
    assert said == [f"{kind}: {prompt}" for prompt in prompts for kind in ("begun", "done")]
    turns = [one.event for one in log if isinstance(one.event, ev.TurnStarted | ev.Complete)]
    assert [isinstance(one, ev.Complete) for one in turns] == [False, True] * len(prompts)
    assert {one.data.outcome for one in turns if isinstance(one, ev.Complete)} == {"completed"}


@pytest.mark.long
async def test_a_worker_that_an_operator_drains_ends_its_turns_and_hands_its_sessions_over(
    tmp_path: Path,
) -> None:
    settings = (f"stop_timeout_s = {4 * DEADLINE}", f"fleet_drain_s = {DEADLINE}")
    async with fleet_of(tmp_path, WAITS, *settings) as fleet:
        client = fleet.client
        create = do.SessionCreate(workspace=str(fleet.work), prompt="first", worker="former")
        idle = (await client.command(create)).session
        await log_of(client, idle, 1)
        session = await opened(fleet)
        accepted: dict[str, list[str]] = {idle: ["first"], session: ["first", "slow"]}
        refused: dict[str, list[str]] = {idle: [], session: []}
        is_over = asyncio.Event()

        async def prompt_on(name: str) -> None:
            for number in count():
                try:
                    await client.prompt(name, f"{number}")
                except CommandFailed as error:
                    refused[name].append(error.code)
                    # More of them in a second than one principal may send are refused for that.
                    await asyncio.sleep(0.05)
                else:
                    accepted[name].append(f"{number}")
                    await log_of(client, name, len(accepted[name]))
                    if is_over.is_set():
                        return

        async with asyncio.timeout(3 * DEADLINE), asyncio.TaskGroup() as tasks:
            draining = tasks.create_task(fleet.operated("drain", "former", "--wait", str(2 * DEADLINE)))
            await owned(fleet, idle, "heir")
            for name in (idle, session):
                tasks.create_task(prompt_on(name))
            await until(lambda: len(accepted[idle]) >= 4 and len(refused[session]) >= 4, DEADLINE)
            with pytest.raises(CommandFailed) as failed:
                await client.command(do.SessionCreate(workspace=str(fleet.work), worker="former"))
            assert failed.value.code == "no_worker"
            assert not draining.done()
            assert accepted[session] == ["first", "slow"]
            (fleet.work / "go-on").touch()
            assert await draining == [b"the worker former has ended"]
            is_over.set()
        await fleet.former.ended()
        assert refused[idle] == []
        assert set(refused[session]) == {"unreachable"}
        for name in (idle, session):
            await owned(fleet, name, "heir")
            whole(await log_of(client, name, len(accepted[name])), *accepted[name])


@pytest.mark.long
async def test_a_session_that_is_taken_from_a_worker_that_drains_has_one_owner_and_the_drain_ends(
    tmp_path: Path,
) -> None:
    settings = (f"stop_timeout_s = {4 * DEADLINE}", f"fleet_drain_s = {DEADLINE}")
    async with fleet_of(tmp_path, WAITS, *settings) as fleet:
        session = await opened(fleet)
        async with asyncio.timeout(3 * DEADLINE), asyncio.TaskGroup() as tasks:
            draining = tasks.create_task(fleet.operated("drain", "former", "--wait", str(2 * DEADLINE)))
            await listed(fleet, "former", "draining")
            (done,) = await fleet.operated("take", session, "heir", "--wait", str(DEADLINE))
            assert done.decode() == f"the session {session} is the worker heir's"
            # the turn that was open never ends by itself, and holds the drain up no more
            assert await draining == [b"the worker former has ended"]
        await fleet.former.ended()
        await fleet.client.prompt(session, "third")
        log = await log_of(fleet.client, session, 3)
        assert [one.seq for one in log] == list(range(1, len(log) + 1))
        ends = [one.event.data.outcome for one in log if isinstance(one.event, ev.Complete)]
        assert ends == ["completed", "process_exited", "completed"]
        await owned(fleet, session, "heir")


@pytest.mark.long
async def test_a_worker_that_stood_still_past_its_lease_goes_on_with_the_turn_that_was_open(
    tmp_path: Path,
) -> None:
    async with fleet_of(tmp_path, WAITS, "fleet_lease_s = 8") as fleet:
        session = await opened(fleet)
        process = fleet.former.process
        process.send_signal(signal.SIGSTOP)
        try:
            await listed(fleet, "former", "gone")
            (fleet.work / "go-on").touch()
        finally:
            process.send_signal(signal.SIGCONT)
        await log_of(fleet.client, session, 2)
        async with asyncio.timeout(DEADLINE):
            # Its events may come before its lease. A prompt in between goes to the other worker.
            while "unreachable" in {one.state for one in await fleet.client.sessions()}:  # noqa: ASYNC110 - asked of a process
                await asyncio.sleep(0.05)
        await fleet.client.prompt(session, "third")
        whole(await log_of(fleet.client, session, 3), "first", "slow", "third")
        await owned(fleet, session, "former")


@pytest.mark.long
async def test_a_session_that_was_taken_from_an_idle_worker_is_left_there_and_taken_back(
    tmp_path: Path,
) -> None:
    async with fleet_of(tmp_path, WAITS) as fleet:
        create = do.SessionCreate(workspace=str(fleet.work), prompt="first", worker="former")
        session = (await fleet.client.command(create)).session
        await log_of(fleet.client, session, 1)
        prompts = ["first"]
        for worker in ("heir", "former", "heir", "former"):
            (done,) = await fleet.operated("take", session, worker, "--wait", str(DEADLINE))
            assert done.decode() == f"the session {session} is the worker {worker}'s"
            await owned(fleet, session, worker)
        # the agent that waited at the first owner ends, though nobody writes into its session
        await until(lambda: running(fleet.command) == [], DEADLINE)
        for worker in ("heir", "former"):
            await fleet.client.prompt(session, f"before {worker}")
            prompts.append(f"before {worker}")
            await log_of(fleet.client, session, len(prompts))
            (done,) = await fleet.operated("take", session, worker, "--wait", str(DEADLINE))
        await fleet.client.prompt(session, "last")
        prompts.append("last")
        whole(await log_of(fleet.client, session, len(prompts)), *prompts)
        await owned(fleet, session, "former")
        await until(lambda: len(running(fleet.command)) == 1, DEADLINE)


@pytest.mark.long
async def test_a_session_moves_to_a_worker_as_soon_as_it_is_uncordoned(tmp_path: Path) -> None:
    async with fleet_of(tmp_path, WAITS) as fleet:
        create = do.SessionCreate(workspace=str(fleet.work), prompt="first", worker="former")
        session = (await fleet.client.command(create)).session
        await log_of(fleet.client, session, 1)
        await fleet.operated("cordon", "heir")
        await listed(fleet, "heir", "cordoned")
        with pytest.raises(CommandFailed) as failed:
            await fleet.client.command(do.SessionMove(session=session))
        assert failed.value.code == "no_worker"
        await fleet.operated("uncordon", "heir")
        moved = await fleet.client.command(do.SessionMove(session=session))
        assert moved.worker == "heir"


LEASE_S = 3


async def said_once(client: Client, session: str, text: str) -> None:
    """Send a prompt under one id until it is known to be done: a busy machine may miss a lease."""
    name = str(uuid.uuid4())
    async with asyncio.timeout(DEADLINE):
        while True:
            try:
                await client.command(do.Prompt(session=session, text=text), command_id=name)
            except CommandFailed as error:
                assert error.code == "unreachable"  # noqa: PT017 - any other ends the test
                await asyncio.sleep(0.1)
            else:
                return


@pytest.mark.long
async def test_a_worker_that_stood_still_for_many_leases_writes_nothing_into_what_was_taken_from_it(
    tmp_path: Path,
) -> None:
    async with fleet_of(tmp_path, WAITS, f"fleet_lease_s = {LEASE_S}") as fleet:
        client = fleet.client
        create = do.SessionCreate(workspace=str(fleet.work), prompt="first", worker="former")
        idle = (await client.command(create)).session
        await log_of(client, idle, 1)
        session = await opened(fleet)
        said: dict[str, list[str]] = {idle: ["first"], session: ["third"]}
        process = fleet.former.process
        process.send_signal(signal.SIGSTOP)
        try:
            async with asyncio.timeout(DEADLINE):
                while {one.state for one in await client.sessions()} != {"unreachable"}:  # noqa: ASYNC110 - asked of a process
                    await asyncio.sleep(0.05)
            await said_once(client, idle, "second")
            await said_once(client, session, "third")
            said[idle].append("second")
            for number in range(4, 9):
                # It stands still for a lease more.
                await asyncio.sleep(LEASE_S)
                for name, completes in ((idle, len(said[idle])), (session, len(said[session]) + 2)):
                    await log_of(client, name, completes)
                    await said_once(client, name, f"{number}")
                    said[name].append(f"{number}")
            # what the agent of the open turn says now waits for the worker that stands still
            (fleet.work / "go-on").touch()
        finally:
            process.send_signal(signal.SIGCONT)
        # its agents end, and those of the other worker go on
        await until(lambda: len(running(fleet.command)) == 2, DEADLINE)
        told = (tmp_path / "former" / "turnwire.log").read_text
        await until(lambda: told().count("another worker took the session") == 2, DEADLINE)
        for name in (idle, session):
            await said_once(client, name, "last")
            said[name].append("last")
            await owned(fleet, name, "heir")
        whole(await log_of(client, idle, len(said[idle])), *said[idle])
        log = await log_of(client, session, len(said[session]) + 2)
        assert [one.seq for one in log] == list(range(1, len(log) + 1))
        texts = [one.event.text for one in log if isinstance(one.event, ev.MessageChunk)]
        assert texts == [
            "begun: first", "done: first", "begun: slow",
            *(f"{kind}: {prompt}" for prompt in said[session] for kind in ("begun", "done")),
        ]  # fmt: skip
        ends = [one.event.data.outcome for one in log if isinstance(one.event, ev.Complete)]
        assert ends == ["completed", "process_exited"] + ["completed"] * len(said[session])
        # the worker that woke up serves
        again = (await client.command(create)).session
        whole(await log_of(client, again, 1), "first")


@pytest.mark.long
async def test_clocks_that_are_hours_apart_and_jump_lose_double_and_reorder_nothing(tmp_path: Path) -> None:
    hour, day = 3600, 86_400
    clocks = {"hub": 5 * hour, "former": -2 * hour, "heir": 3 * hour}
    async with fleet_of(tmp_path, WAITS, f"fleet_lease_s = {LEASE_S}", clocks=clocks) as fleet:
        create = do.SessionCreate(workspace=str(fleet.work), prompt="first", worker="former")
        session = (await fleet.client.command(create)).session
        said = ["first"]

        async def say(text: str) -> None:
            await log_of(fleet.client, session, len(said))
            await fleet.client.prompt(session, text)
            said.append(text)

        for ahead_s in (40 * day, -40 * day, -2 * hour):
            set_clock(tmp_path / "former", ahead_s)
            await say(f"former {ahead_s}")
        for ahead_s in (-400 * day, 0):
            set_clock(tmp_path / "hub", ahead_s)
            await say(f"hub {ahead_s}")
        for worker in ("heir", "former", "heir"):
            await log_of(fleet.client, session, len(said))
            moved = await fleet.client.command(do.SessionMove(session=session, worker=worker))
            assert moved.worker == worker
            await say(f"moved to {worker}")
            set_clock(tmp_path / worker, -3 * day if worker == "heir" else 9 * day)
            await say(f"jumped at {worker}")
        await log_of(fleet.client, session, len(said))
        await fleet.operated("take", session, "former", "--wait", str(DEADLINE))
        await say("taken")
        log = await log_of(fleet.client, session, len(said))
        whole(log, *said)
        assert [one.ts for one in log] == sorted(one.ts for one in log)
        await owned(fleet, session, "former")
