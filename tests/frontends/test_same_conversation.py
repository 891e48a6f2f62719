"""One conversation says the same at every door: in native frames, ACP, AG-UI and the AI SDK, read by their official parsers, and
in `<turnwire-session>`, drawn by the views that it uses and read from the document.
"""

from pathlib import Path

import msgspec
import pytest
from said import Said, Session, differences, native

from recordings import ROOT
from turnwire.client import events as ev

GOLDENS = ROOT / "tests" / "normalize"
read = msgspec.json.Decoder(ev.AgentEvent).decode


def recorded() -> dict[str, Session]:
    return {
        str(path.relative_to(GOLDENS)): [read(line) for line in path.read_bytes().splitlines()]
        for path in sorted(GOLDENS.glob("**/goldens/**/*.jsonl"))
        if path.stem != "two-sessions"  # one connection of an agent, and no one conversation
    }


@pytest.mark.long
@pytest.mark.node
async def test_every_recording_says_the_same_at_every_door(tmp_path: Path) -> None:
    sessions = recorded()
    whole = [native(session) for session in sessions.values()]
    assert len(sessions) > 500
    assert all(any(getattr(said, what) for said in whole) for what in vars(Said()))
    wrong = await differences(tmp_path, sessions)
    assert wrong == [], "\n".join(wrong)
