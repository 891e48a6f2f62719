"""`turnwire run`, `turnwire agui` beside it, and AG-UI's own client: a turn that asks, an answer, a late joiner."""

import json
from pathlib import Path

import pytest

from live import preloaded_running, scripted_setup
from npm_workspace import run
from recordings import ROOT
from turnwire_process import preloaded_turnwire

DRIVE = ROOT / "tests" / "frontends" / "agui" / "drive.mjs"


@pytest.mark.long
@pytest.mark.node
async def test_a_page_of_ag_ui_prompts_allows_and_comes_back(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    async with (
        preloaded_running(tmp_path, scripted_setup(tmp_path, "2.1.330")) as (_, served),
        preloaded_turnwire(
            beside, "agui", "--connect", served.base, "--port", "0", stdout_lines=1, placed=False
        ) as agui,
    ):
        url = agui.url.replace("SESSION", served.session)
        printed = await run("node", DRIVE, url, served.token)
    first, second = map(json.loads, printed.splitlines())
    for found in (first, second):
        assert found["complaints"] == []
        assert found["interrupts"] == ["permission"]
        assert found["session"] == served.session
        assert found["messages"] == found["late"]
    assert [(each["role"], each.get("content")) for each in first["messages"]] == [
        ("user", "ls -l"),
        ("assistant", "I ask."),
        ("assistant", None),
        ("tool", "ran ls -l"),
        ("assistant", "That is all."),
    ]
    # the second client has come to a session that had a conversation
    assert len(second["messages"]) == 2 * len(first["messages"])
