"""`turnwire run` with agents that are not Claude Code: by a name, and by a command line with what it speaks."""

import sys
from pathlib import Path

import pytest

from live import Frontend
from turnwire.client import connect
from turnwire.client.events import PermissionRequest
from turnwire_process import environment
from turnwire_process import preloaded_turnwire as turnwire

SCRIPT = """
turns:
  - steps:
      - text: I ask.
      - {tool: Bash, input: {command: ls}, permission: true, result: app.py}
      - text: That is all.
"""


@pytest.mark.long
async def test_a_command_line_says_what_it_speaks_and_frontends_are_told_of_the_agent(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT)
    env = environment(tmp_path / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
    agent = (sys.executable, "-m", "turnwire.scripted_agent", str(script), "--family", "acp")
    async with (
        turnwire(tmp_path, "run", "--family", "acp", "--", *agent, env=env) as served,
        connect(served.url) as client,
    ):
        told = (await client.connected()).agents
        assert told is not None
        assert [(one.agent, one.family) for one in told] == [(Path(sys.executable).name, "acp")]
        assert "interrupts" in told[0].capabilities
        frontend = Frontend(client, served.session)
        assert (await frontend.turn("go")).data.outcome == "completed"
        assert frontend.text() == "I ask.That is all."
        assert [request.action_type for request in frontend.seen(PermissionRequest)] == ["command"]
