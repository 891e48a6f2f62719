"""A fleet of processes: frontends come to a hub, sessions run at a worker, and Redis is between them."""

import asyncio
import re
import shutil
import signal
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from plain_agent import program_of

from journals import RedisProcess
from turnwire.client import BEGINNING, Client, CommandFailed, connect
from turnwire.client import commands as do
from turnwire.client import events as ev
from turnwire.client.frames import EventFrame
from turnwire_process import DEADLINE, Served, environment, lines_of
from turnwire_process import preloaded_turnwire as turnwire
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
                turnwire(worker, "serve", env=env[worker]) as working,
                turnwire(hub, "hub", env=env[hub]) as served,
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


SLOW = """
def answers(text):
    yield "begun: " + text
    time.sleep(2 if text == "slow" else 0)
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


@pytest.mark.long
@pytest.mark.parametrize("stopped", [True, False], ids=["of one that stands still", "of one that works"])
@pytest.mark.parametrize("by", ["frame", "command"])
async def test_an_admin_takes_a_session_in_a_turn_and_its_former_worker_is_heard_no_more(
    tmp_path: Path, stopped: bool, by: str
) -> None:
    hub, former, heir, work = (tmp_path / name for name in ("hub", "former", "heir", "work"))
    for place in (hub, former, heir, work):
        place.mkdir()
    (tmp_path / "agent.py").write_text(program_of(SLOW))
    command = [sys.executable, "-S", "-E", str(tmp_path / "agent.py")]
    with TemporaryDirectory(prefix="redis-") as folder:
        redis = RedisProcess(Path(folder), "--appendonly", "yes", "--appendfsync", "always")
        redis.start()
        try:
            settings = f"journal = {redis.url!r}\nhistory = false\n"
            (hub / "turnwire.toml").write_text(settings)
            for place in (former, heir):
                (place / "turnwire.toml").write_text(
                    f"{settings}worker = {place.name!r}\nworker_group = 'g'\nagent = 'slow'\n"
                    f"frontend_workspaces = [{str(work)!r}]\n"
                    f"[agents.slow]\nfamily = 'claude'\ncommand = {command!r}\n"
                )
            env = {place: environment(tmp_path / "home" / place.name) for place in (hub, former, heir)}
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
                create = do.SessionCreate(workspace=str(work), prompt="first", worker="former")
                session = (await client.command(create)).session
                await log_of(client, session, 1)
                await client.prompt(session, "slow")
                async with asyncio.timeout(DEADLINE):
                    async for frame in client.follow(session, BEGINNING):
                        if (
                            isinstance(frame, EventFrame)
                            and getattr(frame.event, "text", "") == "begun: slow"
                        ):
                            break
                take = do.FleetTake(session=session, worker="heir")
                with pytest.raises(CommandFailed, match="admin"):
                    await client.command(take)
                if stopped:
                    old.process.send_signal(signal.SIGSTOP)
                if by == "frame":
                    await admin.command(take, timeout=DEADLINE)
                else:
                    (done,) = await lines_of(
                        hub, env[hub], "fleet", "take", session, "heir", "--journal", redis.url,
                        "--wait", str(DEADLINE),
                    )  # fmt: skip
                    assert done.decode() == f"the session {session} is the worker heir's"
                await client.prompt(session, "third")
                await log_of(client, session, 3)
                (listed,) = await client.sessions()
                assert (listed.worker, listed.trouble) == ("heir", None)
                if stopped:
                    old.process.send_signal(signal.SIGCONT)
                told = former / "turnwire.log"
                await until(lambda: "it is the log of heir in its life 2" in told.read_text(), DEADLINE)
                # the agent of the former owner ends; the heir has one of its own
                await until(lambda: len(running(command)) == 1, DEADLINE)
                await client.prompt(session, "fourth")
                log = await log_of(client, session, 4)
                assert [one.seq for one in log] == list(range(1, len(log) + 1))
                said = [one.event.text for one in log if isinstance(one.event, ev.MessageChunk)]
                assert said == [
                    "begun: first", "done: first", "begun: slow", "begun: third", "done: third", "begun: fourth", "done: fourth",
                ]  # fmt: skip
                turns = [one.event for one in log if isinstance(one.event, ev.TurnStarted | ev.Complete)]
                assert [isinstance(one, ev.Complete) for one in turns] == [False, True] * 4
                ends = [one.data.outcome for one in turns if isinstance(one, ev.Complete)]
                assert ends == ["completed", "process_exited", "completed", "completed"]
        finally:
            redis.kill()
