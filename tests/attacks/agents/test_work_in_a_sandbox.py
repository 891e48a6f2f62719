"""Codex works in turnwire's sandbox though it can make none of its own there; what it plants is told, and keys of others are not there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from real_agents import CODEX
from scripted_models import Say, scripted_models

from live import Frontend
from turnwire.client import commands as ask
from turnwire.client import connect
from turnwire.client.events import Complete, Notice, PermissionRequest, ToolUpdate
from turnwire_process import environment, turnwire

pytestmark = [
    pytest.mark.long,
    pytest.mark.node,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's"),
]


async def test_codex_runs_a_command_that_was_allowed_and_its_plant_is_set_aside(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    subprocess.run(["git", "init", "-q", project], check=True)
    with scripted_models() as models:
        given = CODEX.prepare(home, models.url)
        (home / ".gitconfig").write_text("[user]\nname = Ada Person\nemail = ada@example.org\n")
        address = models.url.removeprefix("http://").partition("/")[0]
        env = "".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items())
        (tmp_path / "turnwire.toml").write_text(
            f'sandbox = "network"\nsandbox_hosts = ["{address}"]\n[agents.codex]\n'
            f"command = {json.dumps(CODEX.command())}\n[agents.codex.env]\n{env}"
        )
        script = (
            "mkdir .opencode && echo evil >.opencode/plugin.js && echo made >made.txt && git add made.txt && "
            "git commit -qm made && git log --format=%an && env | grep -c AWS_SECRET; echo ended"
        )
        models.answers += [[CODEX.shell(script)], [Say("Done.")]]
        options = ("run", "--agent", "codex", "--workspace", str(project), "--policy", "supervised")
        outside = {**environment(home), "AWS_SECRET_ACCESS_KEY": "of-another-account"}
        async with turnwire(tmp_path, *options, env=outside) as served, connect(served.url) as client:
            frontend = Frontend(client, client.known_sessions[-1].session, 120.0)
            await frontend.prompt("Work.")
            asked = await frontend.until(
                PermissionRequest, lambda event: not event.pending_id.startswith("host-")
            )
            assert not (project / "made.txt").exists()
            await frontend.respond(asked, "accept")
            await frontend.until(Complete)
            said = json.dumps([str(one) for one in frontend.seen(ToolUpdate)])
            assert "Ada Person" in said
            assert "ended" in said
            assert (project / "made.txt").read_text() == "made\n"
            await client.command(ask.SessionClose(session=frontend.session))
            told = await frontend.until(Notice, lambda event: event.kind == "set_aside")
            assert ".opencode" in told.text
        assert "of-another-account" not in json.dumps(models.requests)
    assert not (project / ".opencode").exists()
    assert [one.name for one in project.glob(".opencode.from-sandbox-*/*")] == ["plugin.js"]
