"""Principals at a fleet's hubs, all of it in a cluster: the same people everywhere, each with what it may see, and out everywhere at once."""

import asyncio
import json
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from redis_topologies import cluster
from websockets.asyncio.client import connect as open_websocket

from live import SCRIPT_THAT_ASKS, Frontend
from turnwire.client import CommandFailed, connect
from turnwire.client import commands as ask
from turnwire.client.events import PermissionRequest, PermissionResolved
from turnwire.hub.principals import Scope
from turnwire.sidecar.principals.kept import new_token
from turnwire.sidecar.principals.redis import RedisTokens
from turnwire_process import DEADLINE, environment, lines_of, preloaded_turnwire
from waiting import until

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]


async def made(url: str, name: str, scope: Scope) -> str:
    """A token, as `turnwire token create` makes it."""
    token, kept = new_token(name, "control", scope, now=time.time(), lasts_s=None)
    await asyncio.to_thread(RedisTokens(url).add, kept)
    return token


def logged_in(base: str, token: str) -> tuple[int, dict[str, str]]:
    """Show a token, or a code, for a login; return the status and the headers that prove it."""
    request = Request(f"{base}/login", method="POST", headers={"Authorization": f"Bearer {token}"})
    try:
        with urlopen(request, timeout=DEADLINE) as answer:
            cookie = str(answer.headers["Set-Cookie"]).partition(";")[0]
            return answer.status, {"Cookie": cookie, "X-Turnwire-Key": json.load(answer)["key"]}
    except HTTPError as refused:
        return refused.code, {}


def listed(base: str, proof: dict[str, str]) -> list[dict[str, object]]:
    """The sessions that a login shows."""
    with urlopen(Request(f"{base}/sessions", headers=proof), timeout=DEADLINE) as answer:
        rows: list[dict[str, object]] = json.load(answer)
        return rows


async def test_a_hub_shows_a_principal_its_own_sessions_alone_and_lets_it_go_at_once(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT_THAT_ASKS)
    agent = json.dumps(
        [sys.executable, "-m", "turnwire.scripted_agent", str(script), "--dialect-version", "2.1.330"]
    )
    worker, hub, other = (tmp_path / name for name in ("worker", "hub", "other"))
    for folder in (worker, hub, other):
        folder.mkdir()
    (worker / "turnwire.toml").write_text(f'agent = "asks"\n[agents]\nasks = {agent}\n')
    with TemporaryDirectory(prefix="redis-") as place:
        async with cluster(Path(place)) as nodes:
            url = f"redis+cluster://127.0.0.1:{nodes[0].port},127.0.0.1:{nodes[1].port}"
            token = "the-token-of-all-hubs"
            env = environment(
                tmp_path / "home",
                TURNWIRE_PASS_ENV="PYTHONPATH",
                TURNWIRE_JOURNAL=url,
                TURNWIRE_TOKEN=token,
            )
            ann, bob, lead = [
                await made(url, name, Scope(own=name != "lead", all=name == "lead"))
                for name in ("ann", "bob", "lead")
            ]
            async with (
                preloaded_turnwire(worker, "serve", "--worker", "w1", env=env),
                preloaded_turnwire(hub, "hub", env=env) as first,
                preloaded_turnwire(other, "hub", env=env) as second,
                connect(first.base, ann) as anns,
                connect(second.base, bob) as bobs,
                connect(second.base, token) as boss,
            ):
                session = await anns.create(workspace=str(worker), policy="supervised")
                mine = await Frontend(anns, session).caught_up()
                await until(lambda: [one.owner for one in boss.known_sessions] == ["ann"])
                assert await bobs.sessions() == []
                for command in (
                    ask.Subscribe(session=session),
                    ask.Prompt(session=session, text="x"),
                    ask.LibraryExport(conversation=f"live:{session}"),
                ):
                    with pytest.raises(CommandFailed, match="unknown_session"):
                        await bobs.command(command)
                # asked at one hub, answered at another by somebody else: the worker's audit has that one's name
                await mine.prompt("ls")
                request = await mine.until(PermissionRequest)
                async with connect(second.base, lead, name="ann") as leads:
                    await leads.respond(session, request.pending_id, "allow_once")
                assert (await mine.until(PermissionResolved)).by == "user:lead"
                await mine.turn()
                # what was said is found by who may see it, with the worker that has it
                found = await boss.command(ask.LibrarySearch(text="ls"))
                assert {(hit.id, hit.worker) for hit in found.hits} == {(session, "w1")}
                assert (await bobs.command(ask.LibrarySearch(text="ls"))).hits == []
                assert (await bobs.command(ask.LibraryList())).conversations == []
                # a phone that one hub invited reaches the other one, through whatever is in front of them: once, as who invited it
                told = await anns.command(ask.AccessInvite(role="view"))
                code = told.code
                status, cookie = await asyncio.to_thread(logged_in, second.base, code)
                assert status == 200
                assert (await asyncio.to_thread(logged_in, first.base, code))[0] == 401, "it was used"
                for served in (first, second):
                    rows = await asyncio.to_thread(listed, served.base, cookie)
                    assert [row["session"] for row in rows] == [session], "Ann's alone"
                # out at all hubs at once
                opened = []
                for served in (first, second):
                    address = served.base.replace("http", "ws", 1) + "/ws"
                    headers = {"Authorization": f"Bearer {bob}"}
                    opened.append(await open_websocket(address, additional_headers=headers, proxy=None))
                await lines_of(tmp_path, env, "token", "revoke", "bob")
                for websocket in opened:
                    async with asyncio.timeout(DEADLINE):
                        await websocket.wait_closed()
                    assert websocket.close_code == 4401
    rows = [json.loads(row) for row in (worker / "state" / "audit.jsonl").read_text().splitlines()]
    assert [row["by"] for row in rows if row["what"] == "decided" and row.get("option_id")] == ["user:lead"]
