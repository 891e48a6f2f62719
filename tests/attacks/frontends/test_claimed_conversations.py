"""A principal whose own agent says that it has another's conversation, as Claude Code does in `init` and as an ACP agent does."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from kept_sessions import kept

from live import Frontend
from turnwire.client import Client, CommandFailed, connect
from turnwire.client import commands as ask
from turnwire_process import Served, environment, lines_of, preloaded_turnwire

pytestmark = pytest.mark.long

SECRET = "the-word-of-bob"
OLD = "conversation-of-bob"

CLAUDE = """
import json, sys
resumed = [a.partition("=")[2] for a in sys.argv if a.startswith("--resume=")]
if "--version" in sys.argv or "-v" in sys.argv:
    print("2.1.330 (Claude Code)"); sys.exit()
def say(**line):
    print(json.dumps(line), flush=True)
for row in sys.stdin:
    row = json.loads(row)
    if row["type"] == "control_request":
        say(type="control_response", response={"subtype": "success", "request_id": row["request_id"], "response": {}})
    if row["type"] != "user":
        continue
    content = row["message"]["content"]
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    claimed = text.split()[-1]
    say(type="system", subtype="init", session_id=claimed, cwd=".", tools=[], mcp_servers=[], model="m",
        permissionMode="default", slash_commands=[], apiKeySource="none", uuid="u-1")
    said = f"I resume {resumed}" if resumed else "I begin"
    say(type="assistant", session_id=claimed, parent_tool_use_id=None, uuid="u-2",
        message={"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                 "content": [{"type": "text", "text": said}], "usage": {"input_tokens": 1, "output_tokens": 1}})
    say(type="result", subtype="success", is_error=False, duration_ms=1, duration_api_ms=1, num_turns=1, result="x",
        session_id=claimed, total_cost_usd=0.0, usage={"input_tokens": 1, "output_tokens": 1}, uuid="u-3")
"""

ACP = """
import json, sys
def say(**row):
    print(json.dumps({"jsonrpc": "2.0", **row}), flush=True)
claimed = open("claims").read()
for row in sys.stdin:
    row = json.loads(row)
    method, number = row.get("method"), row.get("id")
    if method == "initialize":
        say(id=number, result={"protocolVersion": 1, "agentCapabilities": {"loadSession": True}, "authMethods": []})
    elif method in ("session/new", "session/load"):
        claimed = claimed if method == "session/new" else row["params"]["sessionId"]
        said = "I begin" if method == "session/new" else f"I resume {claimed}"
        say(id=number, result={"sessionId": claimed} if method == "session/new" else {})
    elif method == "session/prompt":
        say(method="session/update", params={"sessionId": claimed, "update": {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": said}}})
        say(id=number, result={"stopReason": "end_turn"})
    elif number is not None and method:
        say(id=number, error={"code": -32601, "message": "no"})
"""


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[Served, dict[str, str]]]:
    """`turnwire serve` with two agents that name any conversation as theirs, and one of bob's in the same folder."""
    for name, source in (("claude", CLAUDE), ("acp", ACP)):
        (folder / f"{name}.py").write_text(source)
    (folder / "turnwire.toml").write_text(
        'agent = "liar"\n[agents.liar]\n'
        f"command = {json.dumps([sys.executable, str(folder / 'claude.py')])}\n"
        '[agents.acp-liar]\nfamily = "acp"\n'
        f"command = {json.dumps([sys.executable, str(folder / 'acp.py')])}\n"
    )
    work = folder / "work"
    work.mkdir()
    (work / "claims").write_text(OLD)
    project = folder / "home" / ".claude" / "projects" / "project"
    project.mkdir(parents=True)
    old = kept("2.1.330", "denied").file.read_bytes().replace(b"/workspace/project", str(work).encode())
    (project / f"{OLD}.jsonl").write_bytes(old)
    env = environment(folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
    async with preloaded_turnwire(folder, "serve", env=env) as served:
        yield served, env


async def token(folder: Path, env: dict[str, str], name: str) -> str:
    """The token of one who may see their own sessions."""
    place = ("--state-dir", str(folder / "state"))
    (made,) = await lines_of(folder, env, "token", "create", name, *place, "--sessions", "own")
    return made.decode()


async def refused(client: Client, command: ask.AnyCommand) -> str:
    """The code with which a command is refused."""
    with pytest.raises(CommandFailed) as caught:
        await client.command(command)
    return caught.value.code


@pytest.mark.parametrize("agent", ["liar", "acp-liar"])
async def test_an_agent_that_claims_anothers_conversation_opens_it_to_nobody(
    agent: str, tmp_path: Path
) -> None:
    async with serving(tmp_path) as (served, env):
        ann, bob = [await token(tmp_path, env, name) for name in ("ann", "bob")]
        work = str(tmp_path / "work")
        async with (
            connect(served.url) as boss,
            connect(served.base, ann) as client,
            connect(served.base, bob) as victim,
        ):
            bobs = await Frontend(victim, await victim.create(workspace=work, agent="liar")).caught_up()
            await bobs.turn(f"{SECRET} of-bob")
            mine = await Frontend(client, await client.create(workspace=work, agent=agent)).caught_up()
            await mine.turn(f"claim {OLD}")
            (shown,) = await client.sessions()
            assert shown.cli_session_id == OLD
            # it is in nothing that she is told
            for question in (ask.LibraryList(), ask.LibrarySearch(text="Touch"), ask.LibraryUsage()):
                assert OLD not in str(await client.command(question)), question
            for command in (
                ask.LibraryList(conversation=OLD),
                ask.LibraryExport(conversation=OLD),
                ask.LibraryRename(conversation=OLD, title="mine"),
                ask.LibraryOpen(conversation=OLD),
                ask.SessionCreate(resume=OLD),
            ):
                assert await refused(client, command) == "unknown_conversation", command
            # nor does her agent go on with it
            await client.close_session(mine.session)
            assert await refused(client, ask.SessionResume(session=mine.session)) == "not_allowed"
            assert (
                await refused(client, ask.Prompt(session=mine.session, text="what was said?"))
                == "not_allowed"
            )
            if agent == "liar":
                assert await refused(client, ask.SessionFork(session=mine.session)) == "not_allowed"
            # and the claim hides nothing from who may see all
            listed = await boss.command(ask.LibraryList(conversation=OLD))
            assert [one.session for one in listed.conversations] == [None]
            found = await boss.command(ask.LibrarySearch(text="Touch"))
            assert (await boss.command(ask.LibraryExport(conversation=OLD))).content
            assert OLD in str(found)
            # deleting the session leaves the conversation
            await client.command(ask.SessionDelete(session=mine.session))
            assert (await boss.command(ask.LibraryList(conversation=OLD))).conversations
            # of another's running session neither; while whoever has it goes on with it
            if agent == "liar":
                second = await Frontend(client, await client.create(workspace=work)).caught_up()
                await second.turn("claim of-bob")
                await client.close_session(second.session)
                assert await refused(client, ask.SessionResume(session=second.session)) == "not_allowed"
                await victim.close_session(bobs.session)
                await bobs.turn("again of-bob")
                assert "I resume ['of-bob']" in bobs.text()


async def test_a_session_of_who_sees_all_is_not_believed_once_another_has_steered_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as (served, env):
        place = ("--state-dir", str(tmp_path / "state"))
        scope = ("--sessions", f"folder:{tmp_path / 'elsewhere'}")
        (made,) = await lines_of(tmp_path, env, "token", "create", "eve", *place, *scope)
        (tmp_path / "elsewhere").mkdir()
        async with connect(served.url) as boss, connect(served.base, made.decode()) as eve:
            shared = await Frontend(
                boss, await boss.create(workspace=str(tmp_path / "elsewhere"))
            ).caught_up()
            await shared.turn("mine new")
            await boss.close_session(shared.session)
            await shared.turn("mine new")
            assert "I resume ['new']" in shared.text()
            await eve.prompt(shared.session, f"claim {OLD}")
            await shared.turn()
            await boss.close_session(shared.session)
            assert await refused(eve, ask.SessionResume(session=shared.session)) == "not_allowed"
            assert await refused(boss, ask.SessionResume(session=shared.session)) == "not_allowed"


async def test_nor_does_it_open_the_conversation_of_another_session_of_whoever_began_it(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as (served, env):
        place = ("--state-dir", str(tmp_path / "state"))
        scope = ("--sessions", f"folder:{tmp_path / 'elsewhere'}")
        (made,) = await lines_of(tmp_path, env, "token", "create", "eve", *place, *scope)
        (tmp_path / "elsewhere").mkdir()
        async with connect(served.url) as boss, connect(served.base, made.decode()) as eve:
            private = await Frontend(boss, await boss.create(workspace=str(tmp_path / "work"))).caught_up()
            await private.turn(f"{SECRET} private")
            shared = await Frontend(
                boss, await boss.create(workspace=str(tmp_path / "elsewhere"))
            ).caught_up()
            await shared.turn("mine new")
            await eve.prompt(shared.session, "claim private")
            await shared.turn()
            await boss.close_session(shared.session)
            assert await refused(eve, ask.SessionResume(session=shared.session)) == "not_allowed"
            assert await refused(eve, ask.SessionFork(session=shared.session)) == "not_allowed"
            await boss.close_session(private.session)
            await private.turn("again private")
            assert "I resume ['private']" in private.text()
