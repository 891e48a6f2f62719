"""One suite, every backend."""

import asyncio
import shutil
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from redis_topologies import cluster

from journals import ArchiveOpener, MemoryOpener, RedisOpener, RedisProcess, SqliteOpener
from turnwire.journal.base import Journal
from turnwire.testing.journal_contract import FakeClock, Opener


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisProcess]:
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed; `make system` does it")
    # A path of a socket may have about a hundred characters.
    with TemporaryDirectory(prefix="redis-") as folder:
        server = RedisProcess(Path(folder))
        server.start()
        yield server
        server.kill()


@pytest.fixture(scope="session")
def redis_cluster() -> Iterator[str]:
    """The URL of a cluster of three."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed; `make system` does it")
    with TemporaryDirectory(prefix="redis-") as folder, asyncio.Runner() as runner:
        running = cluster(Path(folder))
        nodes = runner.run(running.__aenter__())
        try:
            yield f"redis+cluster://127.0.0.1:{nodes[0].port}"
        finally:
            runner.run(running.__aexit__(None, None, None))


@pytest.fixture(
    params=["memory", "sqlite", "redis", "archive", pytest.param("cluster", marks=pytest.mark.long)]
)
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    match request.param:
        case "memory":
            return MemoryOpener()
        case "sqlite":
            return SqliteOpener(tmp_path / "journal.db")
        case "cluster":
            return RedisOpener(request.getfixturevalue("redis_cluster"), f"{uuid.uuid4().hex}:")
        case "archive":
            archiving: RedisProcess = request.getfixturevalue("redis_server")
            return ArchiveOpener(archiving.url, f"{uuid.uuid4().hex}:", tmp_path / "archive")
        case _:
            server: RedisProcess = request.getfixturevalue("redis_server")
            return RedisOpener(server.url, f"{uuid.uuid4().hex}:")


@pytest.fixture
async def journal(opener: Opener, clock: FakeClock) -> AsyncIterator[Journal]:
    journal = await opener(clock=clock)
    yield journal
    await journal.close()
