"""What the Redis library lets out of itself that is none of its errors."""

import pytest
from redis.exceptions import RedisError

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
