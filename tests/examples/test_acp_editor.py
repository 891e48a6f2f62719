"""The example of an editor shows what a turn has: text, plan, permission, the change, and how it ended."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from acp_editor import SCRIPT, within
from recordings import ROOT
from turnwire_process import TURNWIRE, environment


@pytest.mark.long
async def test_it_shows_the_plan_the_question_and_the_change(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(SCRIPT)
    argv = [sys.executable, "-m", "turnwire.scripted_agent", str(tmp_path / "script.yaml")]
    (tmp_path / "turnwire.toml").write_text(f"[agents]\nscripted = {json.dumps(argv)}\n")
    env = environment(
        tmp_path / "home",
        TURNWIRE_PASS_ENV="PYTHONPATH",
        TURNWIRE_CONFIG=str(tmp_path / "turnwire.toml"),
        TURNWIRE_STATE_DIR=str(tmp_path / "state"),
        TURNWIRE_PORT="0",
    )
    picture = tmp_path / "editor.svg"
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            str(ROOT / "examples" / "acp_editor.py"),
            "--yes",
            "--svg",
            str(picture),
            "change it",
            "--",
        ),
        *("env", *(f"{name}={value}" for name, value in env.items())),
        *(*TURNWIRE, "acp", "--agent", "scripted"),
        cwd=tmp_path,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    shown, complaints = await within(process.communicate())
    assert process.returncode == 0, complaints.decode()
    for words in (
        "I look at the file.",
        "I change it.",
        "Change it",
        "may it?",
        "-a",
        "+b",
        "Changed.",
        "end_turn",
    ):
        assert words in shown.decode(), words
    assert picture.read_text().startswith("<svg")
