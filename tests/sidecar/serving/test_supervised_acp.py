"""What every frontend is told of an agent that does not ask, through `turnwire run --policy supervised`."""

import json
import sys
from pathlib import Path

import pytest

from recordings import ROOT
from turnwire.client import BEGINNING, CommandFailed, connect
from turnwire.client.events import Notice, ProcessStatus
from turnwire.client.frames import EventFrame
from turnwire_process import environment, turnwire

pytestmark = pytest.mark.long

AGENT = ROOT / "tests" / "support" / "agents" / "acp_agent.py"


def configure(folder: Path, *, accepted: bool) -> None:
    command = json.dumps([sys.executable, "-I", str(AGENT), "bare"])
    (folder / "turnwire.toml").write_text(
        f'accept_unasked = {json.dumps(accepted)}\n[agents.tried]\nfamily = "acp"\ncommand = {command}\n'
    )


@pytest.mark.parametrize("accepted", [False, True])
async def test_it_is_refused_with_the_way_out_and_told_where_it_was_accepted(
    tmp_path: Path, *, accepted: bool
) -> None:
    configure(tmp_path, accepted=accepted)
    words = ("run", "--agent", "tried", "--policy", "supervised")
    env = environment(tmp_path / "home")
    async with turnwire(tmp_path, *words, env=env) as served, connect(served.url) as client:
        session = client.known_sessions[-1].session
        if accepted:
            await client.prompt(session, "hello")
        else:
            with pytest.raises(CommandFailed, match=r"set accept_unasked = true"):
                await client.prompt(session, "hello")
            # the conversation that it has opened is empty, so the next agent begins another one
            async for frame in client.follow(session, BEGINNING):
                if (
                    isinstance(frame, EventFrame)
                    and isinstance(frame.event, ProcessStatus)
                    and frame.event.state == "exited"
                ):
                    break
            with pytest.raises(CommandFailed, match=r"set accept_unasked = true"):
                await client.prompt(session, "hello again")
        async for frame in client.follow(session, BEGINNING):
            if isinstance(frame, EventFrame) and isinstance(frame.event, Notice):
                notice = frame.event
                if notice.kind in ("asks_not_everything", "initialize_failed"):
                    break
        assert "never asks about anything" in notice.text
        assert (notice.kind, notice.level) == (
            "asks_not_everything" if accepted else "initialize_failed",
            "warning",
        )
        if accepted:
            (summary,) = [one for one in await client.sessions() if one.session == session]
            assert summary.abilities is not None
            assert summary.abilities.never_asks is not None
            assert summary.abilities.never_asks[0].startswith("anything")
