"""Somebody has a principal's token, and wants to see, steer or be more than it says; or has none, and says to be somebody."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp
import pytest
from kept_sessions import kept
from websockets.asyncio.client import connect as open_websocket

from live import SCRIPT_THAT_ASKS, Frontend
from turnwire.client import Client, CommandFailed, connect
from turnwire.client import commands as ask
from turnwire.client.events import PermissionRequest, PermissionResolved
from turnwire_process import DEADLINE, TURNWIRE, Served, environment, files_of, lines_of, preloaded_turnwire

pytestmark = pytest.mark.long

SECRET = "the-word-of-bob"


@asynccontextmanager
async def serving(tmp_path: Path, **variables: str) -> AsyncIterator[tuple[Served, dict[str, str]]]:
    """`turnwire serve` with an agent that asks, and two conversations of its user's own."""
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT_THAT_ASKS)
    agent = json.dumps(
        [sys.executable, "-m", "turnwire.scripted_agent", str(script), "--dialect-version", "2.1.330"]
    )
    (tmp_path / "turnwire.toml").write_text(f'agent = "asks"\n[agents]\nasks = {agent}\n')
    project = tmp_path / "home" / ".claude" / "projects" / "project"
    project.mkdir(parents=True)
    source = kept("2.1.330", "denied").file
    for folder in ("ann", "bob"):
        (tmp_path / folder).mkdir()
        own = source.read_bytes().replace(b"/workspace/project", str(tmp_path / folder).encode())
        (project / f"conversation-of-{folder}.jsonl").write_bytes(own)
    env = environment(tmp_path / "home", TURNWIRE_PASS_ENV="PYTHONPATH", **variables)
    async with preloaded_turnwire(tmp_path, "serve", env=env) as served:
        yield served, env


async def token(tmp_path: Path, env: dict[str, str], name: str, *options: str) -> str:
    (made,) = await lines_of(
        tmp_path, env, "token", "create", name, "--state-dir", str(tmp_path / "state"), *options
    )
    return made.decode()


async def code_of(asked: Awaitable[object]) -> str:
    with pytest.raises(CommandFailed) as refused:
        await asked
    return refused.value.code


async def begun(client: Client, folder: Path, word: str) -> Frontend:
    """A session that has said a word."""
    mine = await Frontend(client, await client.create(workspace=str(folder), title=word)).caught_up()
    await mine.turn(f"echo {word}")
    return mine


async def http(served: Served, path: str, *headers: str) -> tuple[int, bytes]:
    port = int(served.base.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *headers]
    writer.write("\r\n".join([*head, "", ""]).encode())
    async with asyncio.timeout(DEADLINE):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split(b" ", 2)[1]), answer


async def test_no_way_leads_to_a_session_that_a_principal_may_not_see(tmp_path: Path) -> None:
    async with serving(tmp_path) as (served, env):
        ann = await token(tmp_path, env, "ann")
        eve = await token(tmp_path, env, "eve", "--role", "view", "--sessions", f"folder:{tmp_path / 'ann'}")
        async with connect(served.url) as boss, connect(served.base, ann) as client:
            bobs = await begun(boss, tmp_path / "bob", SECRET)
            mine = await begun(client, tmp_path / "ann", "the-word-of-ann")
            other = bobs.session
            assert [one.owner for one in await boss.sessions()] == [None, "ann"]
            assert [one.session for one in await client.sessions()] == [mine.session]
            assert [one.session for one in client.known_sessions] == [mine.session]
            for command in (
                ask.Subscribe(session=other),
                ask.PayloadGet(session=other, seq=1),
                ask.EventsGet(session=other),
                ask.Prompt(session=other, text="x"),
                ask.Interrupt(session=other),
                ask.SessionFork(session=other),
                ask.SessionResume(session=other),
                ask.SessionRetry(session=other),
                ask.SessionRename(session=other, title="x"),
                ask.SessionClose(session=other),
                ask.SessionDelete(session=other),
                ask.Control(session=other, request={"subtype": "status"}),
                ask.LibraryExport(conversation=f"live:{other}"),
            ):
                assert await code_of(client.command(command)) == "unknown_session", command
            # the library: ann has her own sessions, eve what was said in ann's folder
            async with connect(served.base, eve) as viewer:
                found = [str(await one.command(ask.LibrarySearch(text="word"))) for one in (client, viewer)]
                everything = str(await boss.command(ask.LibrarySearch(text="word")))
                assert SECRET in everything
                assert all(SECRET not in one and "the-word-of-ann" in one for one in found)
                listed = [str(await one.command(ask.LibraryList())) for one in (client, viewer, boss)]
                assert ["conversation-of-bob" in one for one in listed] == [False, False, True]
                assert ["conversation-of-ann" in one for one in listed] == [False, True, True]
                used = [
                    str(await one.command(ask.LibraryUsage(by=["project"]))) for one in (client, viewer, boss)
                ]
                assert [str(tmp_path / "bob") in one for one in used] == [False, False, True]
                assert [one.session for one in await viewer.sessions()] == [mine.session]
                for one in (client, viewer):
                    for name in ("conversation-of-bob", "conversation-of-b"):
                        assert (
                            await code_of(one.command(ask.LibraryExport(conversation=name)))
                            == "unknown_conversation"
                        )
                for opening in (
                    ask.LibraryOpen(conversation="conversation-of-bob"),
                    ask.LibraryRename(conversation="conversation-of-bob", title="x"),
                    ask.SessionCreate(resume="conversation-of-bob"),
                ):
                    assert await code_of(client.command(opening)) == "unknown_conversation"
            # plain HTTP and event streams
            bearer = f"Authorization: Bearer {ann}"
            status, said = await http(served, "/sessions", bearer)
            assert (status, other.encode() in said, mine.session.encode() in said) == (200, False, True)
            assert (await http(served, f"/sessions/{other}/events", bearer))[0] == 404
            assert (await http(served, "/metrics", bearer))[0] == 403
            await through_agui(tmp_path, served, ann, other, mine.session)
            await through_ai_sdk(tmp_path, served, ann, other, mine.session)
            await through_mcp(tmp_path, env, f"{served.base}/#token={ann}", other, mine.session)
            await through_acp(tmp_path, {**env, "TURNWIRE_TOKEN": ann}, served, other, mine.session)
            assert SECRET not in str(mine.events)
            (last,) = [one.last_seq for one in await boss.sessions() if one.session == other]
            assert len(bobs.events) == last


async def through_agui(tmp_path: Path, served: Served, ann: str, other: str, own: str) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    async with preloaded_turnwire(
        beside, "agui", "--connect", served.base, "--port", "0", stdout_lines=1, placed=False
    ) as agui:
        port = int(agui.base.rpartition("/agui")[0].rpartition(":")[2])
        body = json.dumps({"threadId": "t", "runId": "r", "messages": []}).encode()
        answers = []
        for session in (other, "none-such", own):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(
                f"POST /agui/{session} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {ann}\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                + body
            )
            async with asyncio.timeout(DEADLINE):
                answers.append((await reader.read()).replace(session.encode(), b"SESSION"))
            writer.close()
        assert answers[0].rpartition(b"\r\n\r\n")[2] == answers[1].rpartition(b"\r\n\r\n")[2]
        assert b"RUN_FINISHED" not in answers[0]
        assert b"RUN_FINISHED" in answers[2]


async def through_ai_sdk(tmp_path: Path, served: Served, ann: str, other: str, own: str) -> None:
    beside = tmp_path / "usechat"
    beside.mkdir()
    async with (
        preloaded_turnwire(
            beside, "usechat", "--connect", served.base, "--port", "0", stdout_lines=1, placed=False
        ) as door,
        httpx2.AsyncClient(
            base_url=door.base.rpartition("/ai")[0],
            headers={"Authorization": f"Bearer {ann}"},
            timeout=DEADLINE,
        ) as http,
    ):
        said = {"id": "x", "role": "user", "parts": [{"type": "text", "text": "x"}]}

        async def answers(session: str) -> list[tuple[int, str]]:
            prompt = {"id": session, "trigger": "submit-message", "messages": [said]}
            replies = [
                await http.post("/ai", json=prompt),
                await http.get(f"/ai/{session}/messages"),
                await http.get(f"/ai/{session}/stream"),
                await http.post(f"/ai/{session}/stop"),
                await http.post(f"/ai/{session}/answer", json={"id": "q", "answers": {}}),
            ]
            return [(reply.status_code, reply.text.replace(session, "SESSION")) for reply in replies]

        refused = await answers(other)
        assert refused == await answers("none-such")
        assert {status for status, _ in refused} == {404}
        assert "the-word-of-ann" in (await http.get(f"/ai/{own}/messages")).text


async def through_mcp(tmp_path: Path, env: dict[str, str], url: str, other: str, own: str) -> None:
    server = mcp.StdioServerParameters(
        command=TURNWIRE[0],
        args=[*TURNWIRE[1:], "mcp", "--decide", "--connect", url],
        env=env,
        cwd=str(tmp_path),
    )
    async with asyncio.timeout(DEADLINE), mcp.Client(mcp.stdio_client(server)) as client:

        async def answers(session: str) -> list[str]:
            found = []
            for tool, given in (
                ("prompt", {"text": "x", "seconds": 1}),
                ("wait", {"seconds": 1}),
                ("interrupt", {}),
                ("decide", {"request": "p", "option": "allow_once"}),
                ("answer_question", {"request": "q", "answers": {"a": "b"}}),
            ):
                result: Any = await client.call_tool(tool, {"session": session, **given})
                assert result.is_error, tool
                found.append(result.content[0].text.replace(session, "SESSION"))
            for what in ("transcript", "changes"):
                with pytest.raises(mcp.MCPError) as refused:
                    await client.read_resource(f"turnwire://sessions/{session}/{what}")
                found.append(str(refused.value).replace(session, "SESSION"))
            return found

        assert await answers(other) == await answers("none-such")
        listed = str(await client.call_tool("list_sessions", {}))
        assert (other in listed, own in listed) == (False, True)
        told = str(await client.read_resource(f"turnwire://sessions/{own}/transcript"))
        assert "the-word-of-ann" in told


async def through_acp(tmp_path: Path, env: dict[str, str], served: Served, other: str, own: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        "acp",
        "--connect",
        served.base,
        cwd=tmp_path,
        env=env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None

    async def call(number: int, method: str, **params: Any) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        row = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(row).encode() + b"\n")
        async with asyncio.timeout(DEADLINE):
            while True:
                answer: dict[str, Any] = json.loads(await process.stdout.readline())
                if answer.get("id") == number and "method" not in answer:
                    return answer

    try:
        await call(1, "initialize", protocolVersion=1, clientCapabilities={})
        listed = await call(2, "session/list")
        assert other not in str(listed)
        assert own in str(listed)
        loads = [
            await call(number, "session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
            for number, session in enumerate((other, "none-such"), 3)
        ]
        assert all("error" in one for one in loads), loads
        assert str(loads[0]["error"]).replace(other, "") == str(loads[1]["error"]).replace("none-such", "")
    finally:
        process.stdin.close()
        async with asyncio.timeout(DEADLINE):
            await process.wait()


async def test_who_answered_stands_in_the_audit_and_nobody_can_be_somebody_else(tmp_path: Path) -> None:
    async with serving(tmp_path) as (served, env):
        ann = await token(tmp_path, env, "ann")
        eve = await token(tmp_path, env, "eve", "--sessions", "all")
        async with connect(served.base, ann, name="eve") as client:
            mine = await Frontend(
                client, await client.create(workspace=str(tmp_path / "ann"), policy="supervised")
            ).caught_up()
            address = served.base.replace("http", "ws", 1) + "/ws"
            async with open_websocket(
                address, additional_headers={"Authorization": f"Bearer {eve}"}, proxy=None
            ) as websocket:

                async def said(**command: str) -> dict[str, Any]:
                    await websocket.send(json.dumps({"id": "1", **command}))
                    while (frame := json.loads(await websocket.recv()))["type"] != "reply":
                        pass
                    assert isinstance(frame, dict)
                    return frame

                for name in ("ann", "frontend-1", "user:ann", "USER:ann"):
                    reply = await said(type="hello", name=name)
                    assert reply.get("result", {}).get("name") in {None, "user:eve"}
                assert (await said(type="hello", token=ann))["error"]["code"] == "forbidden"
                await mine.prompt("ls")
                request = await mine.until(PermissionRequest)
                answer = {"session": mine.session, "pending_id": request.pending_id}
                assert (await said(type="permission.respond", option_id="allow_once", **answer))["ok"]
            resolved = await mine.until(PermissionResolved)
            assert resolved.by == "user:eve"
            await mine.turn()
            await mine.turn("ls")
    rows = [json.loads(row) for row in (tmp_path / "state" / "audit.jsonl").read_text().splitlines()]
    by = [row["by"] for row in rows if row["what"] == "decided" and row.get("option_id") == "allow_once"]
    assert by == ["user:eve", "user:ann"]


async def test_a_token_that_is_over_opens_and_commands_nothing_and_is_nowhere_in_clear(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as (served, env):
        place = ("--state-dir", str(tmp_path / "state"))
        ann, bob = [await token(tmp_path, env, name) for name in ("ann", "bob")]
        file = tmp_path / "state" / "tokens.json"
        assert file.stat().st_mode & 0o777 == 0o600
        files = files_of(tmp_path / "state")
        assert file in files
        assert not [path for path, kept in files.items() if ann.encode() in kept]
        address = served.base.replace("http", "ws", 1) + "/ws"

        def opened(key: str) -> open_websocket:
            return open_websocket(address, additional_headers={"Authorization": f"Bearer {key}"}, proxy=None)

        async with opened(ann) as lost, opened(bob) as kept_open:
            for websocket in (lost, kept_open):
                await websocket.recv()
            listed = await lines_of(tmp_path, env, "token", "list", *place)
            assert [line.split()[1] for line in listed] == [b"ann", b"bob"]
            assert ann.encode() not in b"".join(listed)
            await lines_of(tmp_path, env, "token", "revoke", "ann", *place)
            async with asyncio.timeout(DEADLINE):
                await lost.wait_closed()
            assert lost.close_code == 4401
            assert (await http(served, "/sessions", f"Authorization: Bearer {ann}"))[0] == 401
            await kept_open.send(json.dumps({"type": "session.list", "id": "1"}))
            assert json.loads(await kept_open.recv())["ok"]
            # a file that others could have written or read lets nobody in
            file.chmod(0o644)
            async with asyncio.timeout(DEADLINE):
                await kept_open.wait_closed()
        assert (await http(served, "/sessions", f"Authorization: Bearer {bob}"))[0] == 401
        assert (await http(served, "/sessions", f"Authorization: Bearer {served.token}"))[0] == 200
    assert ann not in (tmp_path / "turnwire.log").read_text()


async def test_a_proxys_word_counts_from_that_proxy_alone(tmp_path: Path) -> None:
    proxied = {"TURNWIRE_PROXY_USER_HEADER": "X-Auth-Request-User"}
    async with serving(tmp_path, TURNWIRE_TRUSTED_PROXIES="192.0.2.7", **proxied) as (served, _):
        for more in ([], ["X-Forwarded-For: 192.0.2.7"], [f"Authorization: Bearer {served.token}"]):
            status, said = await http(served, "/sessions", "X-Auth-Request-User: boss", *more)
            assert (status, b"not_by_proxy" in said) == (403, True)
