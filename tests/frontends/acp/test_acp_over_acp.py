"""An editor before an agent that speaks ACP itself: what the agent offers is what the editor is offered."""

import asyncio
import json
import sys
from pathlib import Path

import acp_agent

from acp_editor import FORMS, editing, within
from live import Frontend
from turnwire.client import connect
from turnwire.client.events import Complete, ToolCall
from turnwire_process import environment, turnwire
from waiting import until


async def test_an_agent_of_the_same_protocol_is_shown_whole(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    agent = json.dumps([sys.executable, "-I", str(Path(acp_agent.__file__))])
    (tmp_path / "turnwire.toml").write_text(f'[agents.tester]\nfamily = "acp"\ncommand = {agent}\n')
    options = ("run", "--workspace", str(tmp_path / "project"), "--agent", "tester")
    async with (
        turnwire(tmp_path, *options, env=environment(tmp_path / "home"), preloaded=True) as served,
        connect(served.url) as client,
        connect(served.url) as other,
        editing(client) as harness,
    ):
        session = client.known_sessions[-1].session
        # what the agent offers is in the list a moment after it has greeted
        await until(lambda: (can := client.known_sessions[-1].abilities) is not None and can.modes)
        native = Frontend(other, session)
        await harness.open(FORMS)
        loaded = await within(harness.agent.load_session(cwd="/", session_id=session, mcp_servers=[]))
        assert loaded.modes is not None
        assert [mode.id for mode in loaded.modes.available_modes] == ["ask", "plan", "code"]
        assert (await harness.prompt(session, "text")).stop_reason == "end_turn"
        calling = asyncio.create_task(harness.prompt(session, "tool"))
        asked = await harness.editor.next_asked()
        assert asked.options == ["once", "always", "no"]
        asked.choose("once")
        assert (await within(calling)).stop_reason == "end_turn"
        waiting = asyncio.create_task(harness.prompt(session, "tool"))
        asked = await harness.editor.next_asked()
        await harness.agent.cancel(session_id=session)
        asked.choose(None)
        assert (await within(waiting)).stop_reason == "cancelled"
        for _ in range(3):
            await native.until(Complete)
        assert harness.editor.text() == native.text()
        assert set(harness.editor.calls()) == {event.tool_call_id for event in native.seen(ToolCall)}
