"""Agents of the Agent Client Protocol that are after files outside, ask without end, talk nonsense and die, behind a real turnwire."""

import json
import sys
from collections import Counter
from pathlib import Path

import acp_agent
import pytest

from live import Frontend
from turnwire.client import connect
from turnwire.client.events import (
    Complete,
    Notice,
    PermissionCancelled,
    PermissionRequest,
    PermissionResolved,
    ProcessStatus,
    TurnStarted,
)
from turnwire_process import environment, turnwire

pytestmark = pytest.mark.long

CONFIGURATION = f"""
max_pending = 8

[agents.tester]
family = "acp"
command = ["{sys.executable}", "-I", "{acp_agent.__file__}"]
client_files = "write"
client_terminals = true

[agents.beside]
family = "acp"
command = ["{sys.executable}", "-I", "{acp_agent.__file__}", "session=another"]
"""


def _folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "turnwire.toml").write_text(CONFIGURATION, encoding="utf-8")
    return tmp_path


def _command(folder: Path) -> tuple[str, ...]:
    return ("run", "--workspace", str(folder / "project"), "--agent", "tester")


async def test_an_agent_gets_no_file_and_no_folder_outside_of_the_workspace(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    project, secret = folder / "project", folder / "secret.txt"
    secret.write_text("the secret", encoding="utf-8")
    (project / "link.txt").symlink_to(secret)
    (project / "out").symlink_to(folder)
    spelled = [
        str(secret),
        f"{project}/../secret.txt",
        f"{project}/link.txt",
        f"{project}/out/secret.txt",
        f"{project}/a\\u0000/../../secret.txt",
        f"//{str(secret).lstrip('/')}",
        "secret.txt",
        "/proc/self/environ",
    ]
    async with (
        turnwire(folder, *_command(folder), env=environment(folder / "home"), preloaded=True) as served,
        connect(served.url) as client,
    ):
        run = Frontend(client, client.known_sessions[-1].session)
        words = [
            *(f'ask fs/read_text_file {{"path":"{path}"}}' for path in spelled),
            *(f'ask fs/write_text_file {{"path":"{path}","content":"mine"}}' for path in spelled),
            f'ask terminal/create {{"command":"ls","cwd":"{project}/out"}}',
        ]
        assert (await run.turn(" ".join(words))).data.outcome == "completed"
        assert run.text().count('"error"') == len(words)
        assert "the secret" not in run.text()
        assert secret.read_text(encoding="utf-8") == "the secret"
        # inside, it is served
        inside = json.dumps({"path": f"{project}/a.txt", "content": "x"}, separators=(",", ":"))
        await run.turn(f"ask fs/write_text_file {inside}")
        assert (project / "a.txt").read_text(encoding="utf-8") == "x"


async def test_whatever_an_agent_does_each_turn_and_each_request_has_one_end(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    async with (
        turnwire(folder, *_command(folder), env=environment(folder / "home"), preloaded=True) as served,
        connect(served.url) as client,
    ):
        beside = Frontend(client, await client.create(agent="beside"))
        run = Frontend(client, client.known_sessions[0].session)
        await run.prompt("ask-flood 500")
        await run.until(Notice, lambda event: event.kind == "too_many_requests")
        assert len(run.seen(PermissionRequest)) == 8
        await client.interrupt(run.session)
        for word in ("garbage", "twice", "flood", "refuse", "leave-open", "die"):
            await run.prompt(word)
        # what waited when it died is taken back
        await run.until(ProcessStatus, lambda event: event.state == "exited")
        assert (await beside.turn("text")).data.outcome == "completed"
        # and the next prompt has another agent, with the same conversation
        assert (await run.turn("text")).data.outcome == "completed"
        assert [event.operation_id for event in run.seen(TurnStarted)] == [
            event.operation_id for event in run.seen(Complete)
        ]
        resolved = run.seen(PermissionResolved)
        # what is refused at once is told by its end alone
        unasked = [event.pending_id for event in resolved if event.unasked]
        ended = [event.pending_id for event in resolved if not event.unasked]
        ended += [event.pending_id for event in run.seen(PermissionCancelled)]
        assert Counter(event.pending_id for event in run.seen(PermissionRequest)) == Counter(ended)
        assert unasked
        assert len({*ended, *unasked}) == len(ended) + len(unasked) == 500
