"""An agent of the Agent Client Protocol behind a real turnwire: what a person with a frontend can do with it."""

import json
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import acp_agent
import pytest

from live import Frontend
from turnwire.client import CommandFailed, connect
from turnwire.client.events import (
    Complete,
    Notice,
    PermissionRequest,
    PermissionResolved,
    ProcessStatus,
    SessionInfo,
    TurnStarted,
    UserMessage,
)
from turnwire_process import Served, environment, turnwire

AGENT = str(Path(acp_agent.__file__))

CONFIGURATION = f"""
[agents.tester]
family = "acp"
command = ["{sys.executable}", "-I", "{AGENT}"]

[agents.bare]
family = "acp"
command = ["{sys.executable}", "-I", "{AGENT}", "bare", "session=bare-session"]

[agents.login]
family = "acp"
command = ["{sys.executable}", "-I", "{AGENT}", "login"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "turnwire.toml").write_text(CONFIGURATION, encoding="utf-8")
    return tmp_path


def _serving(folder: Path, *options: str) -> AbstractAsyncContextManager[Served]:
    return turnwire(
        folder,
        "run",
        *("--workspace", str(folder / "project"), "--agent", "tester", *options),
        env=environment(folder / "home"),
        preloaded=True,
    )


async def test_a_person_does_with_it_what_they_do_with_claude(folder: Path) -> None:
    async with _serving(folder, "--record") as served, connect(served.url) as client:
        run = Frontend(client, client.known_sessions[-1].session)
        end = await run.turn("text")
        assert (end.data.outcome, run.text()) == ("completed", "Hello. ")
        info = run.seen(SessionInfo)[-1]
        assert (info.version, info.model) == ("1.2.3", "small")

        await run.prompt("tool")
        asked = await run.until(PermissionRequest)
        assert [option.option_id for option in asked.permission_options] == ["once", "always", "no"]
        waiting = await run.prompt("never said")
        assert await client.withdraw(run.session, waiting)
        await run.respond(asked, "once")
        assert (await run.until(PermissionResolved)).by != "turnwire"
        assert (await run.until(Complete)).data.outcome == "completed"

        await run.prompt("tool wait")
        await run.until(PermissionRequest)
        await client.interrupt(run.session)
        assert (await run.until(Complete)).data.outcome == "interrupted"

        await client.set_model(run.session, "large")
        await client.set_permission_mode(run.session, "plan")
        for refused, code in (
            (client.set_model(run.session, "huge"), "refused_by_cli"),
            (client.set_permission_mode(run.session, "yolo"), "not_allowed"),
            (client.fork(run.session), "not_supported"),
            (client.resume(run.session, at="somewhere"), "invalid_params"),
            (client.control(run.session, {"subtype": "mcp_status"}), "refused_by_cli"),
        ):
            with pytest.raises(CommandFailed) as caught:
                await refused
            assert caught.value.code == code
        (summary,) = await client.sessions()
        assert summary.abilities is not None
        assert (summary.abilities.fork, summary.abilities.rewind, summary.abilities.resume) == (
            False,
            False,
            True,
        )
        assert summary.abilities.modes == ["ask", "plan", "code"]
        assert summary.cli_session_id == "agent-session-1"
        session = run.session

    # the sidecar lives anew, without a session of its own: to this agent all conversations have one name
    async with (
        turnwire(folder, "serve", env=environment(folder / "home"), preloaded=True, stdout_lines=1) as served,
        connect(served.url) as client,
    ):
        run = await Frontend(client, session).caught_up()
        assert len(run.seen(TurnStarted)) == 3
        said = len(run.seen(UserMessage))
        await client.resume(session)
        assert (await run.until(ProcessStatus, lambda event: event.state == "started")).resumed
        await run.turn("text")
        # what the agent told again of the past is no news
        assert len(run.seen(UserMessage)) == said + 1
        assert len(run.seen(TurnStarted)) == 4

    recorded = [
        json.loads(line)
        for file in folder.rglob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert any("session/prompt" in json.dumps(row) for row in recorded)


@pytest.mark.long
async def test_what_an_agent_cannot_do_is_said_to_who_asks_and_nothing_hangs(folder: Path) -> None:
    async with _serving(folder) as served, connect(served.url) as client:
        with pytest.raises(CommandFailed, match="needs a login first") as caught:
            await client.create(agent="login", prompt="text")
        assert caught.value.code == "refused_by_cli"
        bare = await client.create(agent="bare")
        run = Frontend(client, bare)
        await run.turn("text")
        await run.turn("text")
        with pytest.raises(CommandFailed, match="not_supported"):
            await client.retry(bare)
        assert (await run.turn("text")).data.outcome == "completed"
        await client.close_session(bare)
        with pytest.raises(CommandFailed, match="cannot go on with an earlier conversation"):
            await client.resume(bare)
        with pytest.raises(CommandFailed, match="cannot go on with an earlier conversation"):
            await run.prompt("text")
        told = await run.until(Notice, lambda event: event.kind == "initialize_failed")
        assert "cannot go on" in told.text
