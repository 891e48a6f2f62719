"""Somebody has a control token, and tries to get beyond what the operator has set; and to be taken for a policy."""

import json
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect as open_websocket

from live import SCRIPT_THAT_ASKS, Frontend, running, scripted_setup
from turnwire.client import CommandFailed, connect
from turnwire.client.commands import AgentOptions
from turnwire.client.events import PermissionRequest
from turnwire_process import environment, turnwire

pytestmark = pytest.mark.long


async def refusal(asked: Awaitable[object]) -> str:
    with pytest.raises(CommandFailed) as refused:
        await asked
    assert refused.value.code == "not_allowed", str(refused.value)
    return str(refused.value)


async def test_nothing_looser_than_the_operator_has_set_is_to_be_had(tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    ran = tmp_path / "ran"
    program: dict[str, Any] = {"command": "touch", "args": [str(ran)]}
    hooks: dict[str, Any] = {
        "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": f"touch {ran}"}]}]}
    }
    async with running(tmp_path, scripted_setup(tmp_path, "2.1.330"), "--policy", "supervised") as (mine, _):
        client, session = mine.client, mine.session
        refused: dict[str, list[Awaitable[object]]] = {
            "frontend_policy": [
                client.create(policy="autonomous"),
                client.create(policy="plan"),
                client.create(permission_mode="bypassPermissions"),
                client.set_permission_mode(session, "bypassPermissions"),
                client.control(session, {"subtype": "set_permission_mode", "mode": "bypassPermissions"}),
            ],
            "frontend_workspaces": [
                client.create(workspace=str(outside)),
                client.create(workspace="/"),
                client.create(options=AgentOptions(add_dirs=["/etc"])),
            ],
            "frontend_env": [
                client.create(env={name: "x"})
                for name in ("BASH_ENV", "GIT_SSH_COMMAND", "HOME", "ANTHROPIC_BASE_URL", "NODE_OPTIONS")
            ],
            "frontend_options": [
                client.create(mcp_servers={"mine": program}),
                client.create(options=AgentOptions(settings=hooks)),
                client.create(options=AgentOptions(settings={"apiKeyHelper": f"touch {ran}"})),
                client.create(options=AgentOptions(plugins=[str(outside)])),
                client.create(options=AgentOptions(allowed_tools=["Bash"])),
                client.create(agent="claude"),
                client.control(session, {"subtype": "mcp_set_servers", "servers": {"mine": program}}),
                client.control(session, {"subtype": "apply_flag_settings", "settings": hooks}),
                client.control(session, {"subtype": "start_shell_task", "command": f"touch {ran}"}),
                client.control(session, {"subtype": "read_file", "path": "/etc/passwd"}),
            ],
        }
        for setting, attempts in refused.items():
            for attempt in attempts:
                assert setting in await refusal(attempt)
        assert [one.session for one in await client.sessions()] == [session]
        assert not ran.exists()
        await mine.prompt("ls")
        request = await mine.until(PermissionRequest)
        assert "frontend_policy" in await refusal(
            client.respond(session, request.pending_id, "allow_once", mode="bypassPermissions")
        )
        assert "frontend_policy" in await refusal(
            client.respond(session, request.pending_id, "allow_always:mode:bypassPermissions")
        )
        await client.respond(session, request.pending_id, "allow_once", mode="acceptEdits")


async def test_what_was_allowed_by_looser_settings_is_not_woken_under_stricter_ones(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT_THAT_ASKS)
    agent = json.dumps(
        [sys.executable, "-m", "turnwire.scripted_agent", str(script), "--dialect-version", "2.1.330"]
    )
    (tmp_path / "turnwire.toml").write_text(f'agent = "asks"\n[agents]\nasks = {agent}\n')
    env = environment(tmp_path / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
    async with (
        turnwire(tmp_path, "serve", "--policy", "autonomous", env=env) as served,
        connect(served.url) as client,
    ):
        loose = await Frontend(client, await client.create(workspace=str(tmp_path))).caught_up()
        await loose.turn("ls")
    async with (
        turnwire(tmp_path, "serve", "--policy", "supervised", env=env) as served,
        connect(served.url) as client,
    ):
        for attempt in (
            client.prompt(loose.session, "again"),
            client.resume(loose.session),
            client.fork(loose.session),
        ):
            assert "frontend_policy" in await refusal(attempt)


async def test_no_frontend_decides_in_the_name_of_a_policy(tmp_path: Path) -> None:
    async with running(tmp_path, scripted_setup(tmp_path, "2.1.330"), "--policy", "supervised") as (
        mine,
        served,
    ):
        address = served.base.replace("http", "ws", 1) + "/ws"
        headers = {"Authorization": f"Bearer {served.token}"}
        async with open_websocket(address, additional_headers=headers, proxy=None) as websocket:
            await websocket.recv()
            for name in (
                "policy:supervised",
                "Remembered",
                "frontend-1",
                "a\nb",
                "\u202epolicy",
                "x" * 10_000,
            ):
                await websocket.send(json.dumps({"type": "hello", "id": name[:9], "name": name}))
                while (reply := json.loads(await websocket.recv()))["type"] != "reply":
                    pass
                assert (reply["error"]["code"], reply["error"]["field"]) == ("invalid_params", "name")
            await mine.prompt("ls")
            request = await mine.until(PermissionRequest)
            answer = {"session": mine.session, "pending_id": request.pending_id, "option_id": "allow_once"}
            await websocket.send(json.dumps({"type": "permission.respond", "id": "1", **answer}))
            await mine.turn()
    rows = [json.loads(row) for row in (tmp_path / "state" / "audit.jsonl").read_text().splitlines()]
    by = [row["by"] for row in rows if row["what"] == "decided" and row.get("option_id") == "allow_once"]
    assert len(by) == 1
    assert by[0].startswith("frontend-")
