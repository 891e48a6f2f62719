"""What the Redis library lets out of itself that is none of its errors."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from ports import free_ports
from redis.exceptions import RedisError
from redis_topologies import Node, replicated, running

from turnwire.journal.redis.connection import ANSWER_S, connect


@pytest.mark.parametrize(
    ("url", "client", "pipeline"),
    [
        ("redis://127.0.0.1:1", "client.Redis", "client.Pipeline"),
        ("redis+sentinel://127.0.0.1:1/name", "client.Redis", "client.Pipeline"),
        ("redis+cluster://127.0.0.1:1", "cluster.RedisCluster", "cluster.ClusterPipeline"),
    ],
)
@pytest.mark.parametrize(
    "failure",
    [
        # uvloop's word for a socket that the server has closed just now
        RuntimeError("the socket is closed"),
        # the library's for one that its cluster's client has closed for another task
        AttributeError("'NoneType' object has no attribute 'writelines'"),
    ],
)
async def test_a_connection_that_was_cut_as_something_was_written_is_the_server_s_failure_and_nobody_s_bug(
    url: str, client: str, pipeline: str, failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut(*_: object, **__: object) -> None:
        raise failure

    connection = connect(url)
    try:
        monkeypatch.setattr(f"redis.asyncio.{client}.execute_command", cut)
        monkeypatch.setattr(f"redis.asyncio.{pipeline}.execute", cut)
        for asked in (connection.redis.get("a"), connection.redis.pipeline(transaction=False).execute()):
            with pytest.raises(RedisError, match=r"closed|NoneType"):
                await asked
    finally:
        monkeypatch.undo()
        await connection.close()


@pytest.mark.parametrize(
    "kind", ["redis://127.0.0.1:1", "unix:///nowhere", "redis+sentinel://127.0.0.1:1/name"]
)
@pytest.mark.parametrize(("said", "answer_s"), [("", ANSWER_S), ("?socket_timeout=0.5", 0.5)])
async def test_a_read_that_waits_for_something_new_is_over_before_an_answer_is_given_up(
    kind: str, said: str, answer_s: float
) -> None:
    connection = connect(kind + said)
    try:
        assert connection.redis.connection_pool.connection_kwargs["socket_timeout"] == answer_s
        assert connection.longest_wait_ms(60_000) == answer_s * 500
        assert connection.longest_wait_ms(100) == 100
    finally:
        await connection.close()


@asynccontextmanager
async def server_of(kind: str, folder: Path) -> AsyncIterator[tuple[Node, str]]:
    """A server that is reached in one of the three ways, and its URL."""
    if kind == "sentinel":
        async with replicated(folder) as (primary, _, sentinel):
            yield primary, f"redis+sentinel://127.0.0.1:{sentinel.port}/turnwire"
        return
    port, bus = free_ports(2)
    options = ["--cluster-enabled", "yes", "--cluster-port", str(bus)] if kind == "cluster" else []
    node = Node(folder, port, *options)
    async with running(node):
        if options:
            await node.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            await node.until(b"cluster_state:ok", "CLUSTER", "INFO")
        yield node, f"redis{'+cluster' if options else ''}://127.0.0.1:{port}"


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
@pytest.mark.parametrize(
    "kind",
    [
        "server",
        pytest.param("cluster", marks=pytest.mark.long),
        pytest.param("sentinel", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("most", ["", "&max_connections=4"])
async def test_commands_that_exceed_the_connections_wait_their_turn_and_not_for_ever(
    kind: str, most: str, tmp_path: Path
) -> None:
    async with server_of(kind, tmp_path) as (node, url):
        connection = connect(f"{url}?socket_timeout=30{most}")
        redis = connection.redis
        hasty = connect(f"{url}?socket_timeout=0.4{most}")
        try:
            await redis.set("n", 0)
            async with redis.pubsub() as channel:
                await channel.subscribe("a")
                pipelines = [redis.pipeline(transaction=False) for _ in range(200)]
                for pipeline in pipelines:
                    pipeline.incr("n")
                await asyncio.gather(
                    *(redis.incr("n") for _ in range(400)), *(one.execute() for one in pipelines)
                )
                assert await redis.get("n") == b"600"
                own = await redis.client_list(_type="normal") if kind == "server" else []
                assert len(own) <= (3 if most else 64)
                if kind == "cluster":
                    return  # its client tries for long, each command for itself
                # Of a server that stands still each has an answer at last, and the places are free again.
                os.kill(node.pid, signal.SIGSTOP)
                try:
                    async with asyncio.timeout(30):
                        told = await asyncio.gather(
                            *(hasty.redis.get("n") for _ in range(400)), return_exceptions=True
                        )
                finally:
                    os.kill(node.pid, signal.SIGCONT)
                assert all(isinstance(one, RedisError) for one in told)
                assert await hasty.redis.get("n") == b"600"
        finally:
            await connection.close()
            await hasty.close()
