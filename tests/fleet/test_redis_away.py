"""A fleet whose Redis is away: at the start, and later. Frontends are told within two seconds, and when it is over."""

import asyncio
import logging
import os
import shutil
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fleets import Fleet, Sessions, key
from plain_agent import program_of
from ports import free_ports
from redis.asyncio import Redis

from journals import RedisProcess
from turnwire.client import Client, connect
from turnwire.fleet.fleet_host import FleetHost
from turnwire.fleet.messages import encode
from turnwire.fleet.store import DirectoryEntry, FleetStore
from turnwire.fleet.timing import Timing
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.redis.journal import ANSWERED_S, LOOK_S, RedisJournal
from turnwire_process import DEADLINE, environment
from turnwire_process import preloaded_turnwire as turnwire
from waiting import until

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")


@pytest.fixture
def redis() -> Iterator[RedisProcess]:
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisProcess(Path(folder), "--appendonly", "yes", "--appendfsync", "always")
        yield server
        server.kill()


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(signal.SIGSTOP, marks=pytest.mark.long, id="stands still"),
        pytest.param(signal.SIGKILL, id="killed"),
    ],
)
async def test_a_hub_lists_sessions_in_trouble_while_redis_is_away_and_no_longer(
    redis: RedisProcess, fault: signal.Signals, caplog: pytest.LogCaptureFixture
) -> None:
    assert LOOK_S + ANSWERED_S < 2, "what is promised"
    redis.start()
    store, journal = FleetStore(redis.url), await RedisJournal.open(redis.url, reads_only=True)
    try:
        summary = SessionSummary(session="s", state="idle", last_seq=0, pending=0)
        await store.put(DirectoryEntry("s", "w", 1, encode(summary), None, None))
        host = FleetHost(store, journal, Timing(lease_s=30, pause_s=0.05))
        told = asyncio.Event()
        async with host.running():
            host.watch_sessions(told.set)
            assert [one.trouble for one in host.sessions()] == [None]
            os.kill(redis.pid, fault)
            async with asyncio.timeout(DEADLINE):
                while host.sessions()[0].trouble is None:
                    told.clear()
                    await told.wait()
                assert "Redis" in str(host.sessions()[0].trouble)
                if fault == signal.SIGSTOP:
                    os.kill(redis.pid, signal.SIGCONT)
                else:
                    redis.kill()
                    redis.start()
                while host.sessions()[0].trouble is not None:
                    told.clear()
                    await told.wait()
            assert host.trouble is None
        directory = [one for one in caplog.records if one.name == "turnwire.fleet.directory"]
        assert len(directory) <= 1, "one line for one fault"
    finally:
        await store.close()
        await journal.close()


async def test_a_worker_logs_once_that_redis_is_away_and_once_that_it_is_back(
    redis: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "turnwire.fleet.worker")
    redis.start()
    sessions = Sessions("a")
    away, back = "the fleet's Redis cannot be used at present", "the fleet's Redis can be used again"
    async with Fleet(redis.url, Timing(lease_s=30, beats=300, pause_s=0.01)).worker(sessions) as worker:
        for fault in (1, 2):
            redis.kill()
            sessions.there[f"a{fault}"] = 1
            sessions.changed()
            await until(lambda: len(worker._failing) == 3)
            redis.start()
            await until(lambda: not worker._failing)
            said = [one.message for one in caplog.records if one.message in {away, back}]
            assert said == [away, back] * fault


async def test_what_redis_refuses_is_logged_beside_a_redis_that_is_away(
    redis: RedisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    redis.start()
    sessions = Sessions("a")
    async with Fleet(redis.url, Timing(lease_s=30, beats=300, pause_s=0.01)).worker(sessions) as worker:
        async with Redis.from_url(redis.url) as client:
            await client.set(key("w", "orders"), "none of ours")
            await until(lambda: worker._failing)
            await client.delete(key("w", "orders"))
        await until(lambda: not worker._failing)
    (line,) = [one for one in caplog.records if "cannot be used at present" in one.message]
    # the second where the worker was just waiting for orders
    assert vars(line)["error"].startswith(("WRONGTYPE", "UNBLOCKED"))


TOKEN = "token-of-an-operator"


def got(url: str, token: str | None = None) -> tuple[int, str]:
    """Return status and text of a page; 0 where nobody listens yet."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=DEADLINE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


async def becomes(url: str, status: int) -> str:
    async with asyncio.timeout(DEADLINE):
        while True:
            found, text = await asyncio.to_thread(got, url)
            if found == status:
                return text
            await asyncio.sleep(0.05)


@pytest.mark.long
async def test_hub_and_worker_that_start_before_redis_wait_unready_and_serve_pages(
    tmp_path: Path, redis: RedisProcess
) -> None:
    hub, worker, work = (tmp_path / name for name in ("hub", "worker", "work"))
    for place in (hub, worker, work):
        place.mkdir()
    (tmp_path / "agent.py").write_text(program_of('def answers(text):\n    return ["echo: " + text]\n'))
    settings = f"journal = {redis.url!r}\nhistory = false\ntoken = {TOKEN!r}\n"
    (hub / "turnwire.toml").write_text(settings)
    (worker / "turnwire.toml").write_text(
        f"{settings}worker = 'w'\nagent = 'echo'\nfrontend_workspaces = [{str(work)!r}]\n[agents.echo]\nfamily = 'claude'\n"
        f"command = {[sys.executable, '-S', '-E', str(tmp_path / 'agent.py')]!r}\n"
    )
    ports = dict(zip((hub, worker), free_ports(2), strict=True))
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
        starting = {
            place: tasks.create_task(
                stack.enter_async_context(
                    turnwire(
                        place, command, "--port", str(ports[place]), "--state-dir", str(place / "state"),
                        env=environment(place / "home"), placed=False,
                    )
                )
            )
            for place, command in ((hub, "hub"), (worker, "serve"))
        }  # fmt: skip
        for place in (hub, worker):
            base = f"http://127.0.0.1:{ports[place]}"
            assert str(redis.socket) not in await becomes(f"{base}/readyz", 503)
            _, why = await asyncio.to_thread(got, f"{base}/readyz", TOKEN)
            assert f"waits for the Redis at {redis.socket}" in why
            assert "<html" in (await becomes(f"{base}/", 200)).lower()
            await becomes(f"{base}/healthz", 200)
            assert "not_ready" in await becomes(f"{base}/sessions", 503)
            assert not starting[place].done()
        redis.start()
        served = {place: await task for place, task in starting.items()}
        async with connect(f"{served[hub].base}/#token={TOKEN}") as client:
            await until(lambda: client.welcome and client.welcome.workers)
            assert await begun(client, work)
            for place in (hub, worker):
                await becomes(f"http://127.0.0.1:{ports[place]}/readyz", 200)
            # later it is the same, and frontends keep their connections
            connected = client.welcome
            await until(lambda: [one.trouble for one in client.known_sessions] == [None])
            redis.kill()
            await until(lambda: all(one.trouble and "Redis" in one.trouble for one in client.known_sessions))
            for place in (hub, worker):
                await becomes(f"{served[place].base}/readyz", 503)
                await becomes(f"{served[place].base}/", 200)
            redis.start()
            await until(lambda: [one.trouble for one in client.known_sessions] == [None])
            assert client.welcome is connected
        for place in (hub, worker):
            await becomes(f"{served[place].base}/readyz", 200)
            log = (place / "turnwire.log").read_text()
            assert log.count("the fleet's Redis cannot be used at present") == 1, "one line for one fault"


async def begun(client: Client, work: Path) -> str:
    """Begin a session; the worker may be a moment behind the hub."""
    return await client.create(workspace=str(work), prompt="hello")
