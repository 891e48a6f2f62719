"""A fleet of processes: frontends come to a hub, sessions run at a worker, and Redis is between them."""

import asyncio
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from plain_agent import program_of

from journals import RedisProcess
from turnwire.client import BEGINNING, Client, connect
from turnwire.client import events as ev
from turnwire.client.frames import EventFrame
from turnwire_process import DEADLINE, environment
from turnwire_process import preloaded_turnwire as turnwire

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
                turnwire(worker, "serve", env=env[worker]),
                turnwire(hub, "hub", env=env[hub]) as served,
                connect(served.url) as client,
            ):
                session = await client.create(workspace=str(work), prompt="hello")
                assert await answered(client, session) == ["echo: hello"]
                (summary,) = await client.sessions()
                assert (summary.session, summary.worker) == (session, "w")
        finally:
            redis.kill()
