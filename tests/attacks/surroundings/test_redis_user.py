"""turnwire in a Redis that others use too: a user with the rights that are documented is enough, and reaches nothing else."""

import asyncio
import json
import re
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

import pytest
import yaml
from ports import free_ports
from redis.asyncio import Redis
from redis.exceptions import RedisError
from redis_topologies import Node, cluster, replicated, running
from websockets.asyncio.client import connect as open_websocket

from live import SCRIPT_THAT_ASKS, Frontend
from recordings import ROOT
from turnwire.client import connect
from turnwire.client.commands import AccessInvite, SessionCreate
from turnwire_process import DEADLINE, environment, lines_of, preloaded_turnwire

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]


def documented(*, fleet: bool = False, clustered: bool = False) -> str:
    """The user as docs/journal.md has it."""
    text = (ROOT / "docs" / "journal.md").read_text(encoding="utf-8")
    found = re.search(r"^    (user turnwire on .*)$", text, re.MULTILINE)
    assert found is not None
    rights = [found[1].replace(">PASSWORD", ">not-a-secret")]
    for is_wanted, sentence in (
        (fleet, r"fleet\]\(\S+\) also needs `([^`]+)`"),
        (clustered, r"A cluster also needs `([^`]+)`"),
    ):
        more = re.search(sentence, text)
        assert more is not None
        rights += [more[1].replace("\n", " ")] if is_wanted else []
    return " ".join(rights)


def in_compose() -> list[str]:
    """The users `hub` and `worker` of the compose file."""
    *_, command = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["redis"]["command"]
    found = re.findall(r"--user (hub|worker) (.*?)(?= --user |$)", command.replace('"', ""))
    return [f"user {name} {re.sub('>[^ ]*', '>not-a-secret', rights)}" for name, rights in found]


async def refused(port: int) -> list[object]:
    """What the server has refused, but for what the library tells it about itself."""
    async with Redis(port=port) as root:
        told = await root.execute_command("ACL", "LOG")  # type: ignore[no-untyped-call]  # as the library has it
    return [one for one in told if b"client|setinfo" not in one.values()]


async def test_the_documented_user_is_enough_and_reaches_nothing_of_others(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT_THAT_ASKS)
    agent = json.dumps(
        [sys.executable, "-m", "turnwire.scripted_agent", str(script), "--dialect-version", "2.1.330"]
    )
    (tmp_path / "turnwire.toml").write_text(f'agent = "asks"\n[agents]\nasks = {agent}\n')
    with TemporaryDirectory(prefix="redis-") as folder:
        (port,) = free_ports(1)
        acl = Path(folder) / "users.acl"
        acl.write_text(f"user default on nopass ~* &* +@all\n{documented()}\n")
        async with running(Node(Path(folder), port, "--aclfile", str(acl))):
            url = f"redis://turnwire:not-a-secret@127.0.0.1:{port}/0"
            env = environment(
                tmp_path / "home",
                TURNWIRE_PASS_ENV="PYTHONPATH",
                TURNWIRE_JOURNAL="redis",
                TURNWIRE_REDIS_URL=url,
            )
            async with preloaded_turnwire(tmp_path, "serve", env=env) as served:
                (made,) = await lines_of(tmp_path, env, "token", "create", "ann")
                key = made.decode()
                async with connect(served.base, key) as client:
                    mine = await Frontend(client, await client.create(workspace=str(tmp_path))).caught_up()
                    assert (await mine.turn("ls")).error is None
                    assert (await mine.turn("ls")).error is None
                    other = await client.create(workspace=str(tmp_path))
                    await client.delete_session(other)
                # the same tokens for all that use this Redis, at once
                address = served.base.replace("http", "ws", 1) + "/ws"
                async with open_websocket(
                    address, additional_headers={"Authorization": f"Bearer {key}"}, proxy=None
                ) as websocket:
                    (listed,) = await lines_of(tmp_path, env, "token", "list")
                    await lines_of(tmp_path, env, "token", "revoke", listed.split()[0].decode())
                    async with asyncio.timeout(DEADLINE):
                        await websocket.wait_closed()
                    assert websocket.close_code == 4401
            # what was tried is what is documented
            assert await refused(port) == []
            async with Redis(port=port) as root:
                kept = await root.hgetall("turnwire:tokens")
                assert not kept
            async with Redis.from_url(url) as user:
                for command in (
                    ("GET", "somebody-elses"),
                    ("KEYS", "*"),
                    ("FLUSHALL",),
                    ("CONFIG", "SET", "dir", "/tmp"),
                    ("SUBSCRIBE", "somebody-elses"),
                    ("EVAL", "return redis.call('GET', 'somebody-elses')", "0"),
                ):
                    with pytest.raises(RedisError, match=r"(?i)permission|ACL|can't access"):
                        await user.execute_command(*command)  # type: ignore[no-untyped-call]  # as above
    assert "not-a-secret" not in (tmp_path / "turnwire.log").read_text()


Topology = Callable[..., AbstractAsyncContextManager[tuple[str, list[int]]]]


@asynccontextmanager
async def one_server(place: Path, *options: str) -> AsyncIterator[tuple[str, list[int]]]:
    """A server, what stands before and after the user in its URL, and its port."""
    (port,) = free_ports(1)
    async with running(Node(place, port, *options)):
        yield f"redis://{{}}@127.0.0.1:{port}/0", [port]


@asynccontextmanager
async def a_cluster(place: Path, *options: str) -> AsyncIterator[tuple[str, list[int]]]:
    """The same of three nodes."""
    async with cluster(place, *options) as nodes:
        ports = [node.port for node in nodes]
        yield f"redis+cluster://{{}}@{','.join(f'127.0.0.1:{port}' for port in ports)}", ports


@asynccontextmanager
async def behind_a_sentinel(place: Path, *options: str) -> AsyncIterator[tuple[str, list[int]]]:
    """The same of a primary with a replica."""
    async with replicated(place, *options) as (primary, _, sentinel):
        yield f"redis+sentinel://{{}}@127.0.0.1:{sentinel.port}/turnwire", [primary.port]


@pytest.mark.parametrize(
    ("topology", "worker_user", "hub_user"),
    [
        (one_server, "turnwire", "turnwire"),
        (a_cluster, "turnwire", "turnwire"),
        (behind_a_sentinel, "turnwire", "turnwire"),
        (one_server, "worker", "hub"),
    ],
    ids=["one server", "a cluster", "behind a sentinel", "with users of hubs and workers"],
)
async def test_a_fleet_needs_no_more_than_is_documented(
    tmp_path: Path, topology: Topology, worker_user: str, hub_user: str
) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT_THAT_ASKS)
    agent = json.dumps(
        [sys.executable, "-m", "turnwire.scripted_agent", str(script), "--dialect-version", "2.1.330"]
    )
    worker, heir, hub = tmp_path / "worker", tmp_path / "heir", tmp_path / "hub"
    for folder in (worker, heir, hub):
        folder.mkdir()
        if folder is not hub:
            (folder / "turnwire.toml").write_text(
                f'agent = "asks"\nfrontend_workspaces = ["{worker}"]\n[agents]\nasks = {agent}\n'
            )
    with TemporaryDirectory(prefix="redis-") as place:
        acl = Path(place) / "users.acl"
        user = documented(fleet=True, clustered=topology is a_cluster)
        acl.write_text("\n".join(["user default on nopass ~* &* +@all", user, *in_compose(), ""]))
        async with topology(Path(place), "--aclfile", str(acl)) as (address, ports):
            at_worker, env = (
                environment(
                    tmp_path / "home",
                    TURNWIRE_PASS_ENV="PYTHONPATH",
                    TURNWIRE_JOURNAL=address.format(f"{user}:not-a-secret"),
                    **group,
                )
                for user, group in ((worker_user, {"TURNWIRE_WORKER_GROUP": "g"}), (hub_user, {}))
            )
            async with (
                preloaded_turnwire(worker, "serve", "--worker", "w1", env=at_worker) as former,
                preloaded_turnwire(heir, "serve", "--worker", "w2", env=at_worker),
                preloaded_turnwire(hub, "hub", env=env) as served,
                connect(served.url) as client,
            ):

                async def operate(*arguments: str) -> None:
                    await lines_of(tmp_path, env, "fleet", *arguments)

                create = SessionCreate(workspace=str(worker), worker="w1")
                mine = await Frontend(client, (await client.command(create)).session).caught_up()
                assert (await mine.turn("ls")).error is None
                await operate("take", mine.session, "w2")
                await operate("cordon", "w1")
                await operate("uncordon", "w1")
                await operate("drain", "w1")
                await former.ended()
                (there,) = await client.sessions()
                assert there.worker == "w2"
                await operate("forget", "w1")
                await operate("list")
                code = await client.command(AccessInvite())
                login = Request(
                    f"{served.base}/login", method="POST", headers={"Authorization": f"Bearer {code.code}"}
                )
                await asyncio.to_thread(lambda: urlopen(login, timeout=DEADLINE).close())
                await client.delete_session(mine.session)
                (made,) = await lines_of(tmp_path, env, "token", "create", "ann")
                async with connect(served.base, made.decode()) as ann:
                    assert await ann.sessions() == []
            await operate("restore")
            for port in ports:
                assert await refused(port) == []
