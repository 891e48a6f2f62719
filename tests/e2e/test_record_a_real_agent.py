"""`turnwire record` of a real agent, offline, as CONTRIBUTING has a new version recorded; and the verdict on it."""

import subprocess
from pathlib import Path

import pytest
from real_agents import GEMINI
from scripted_models import Say, scripted_models

from recordings import ROOT
from turnwire.sidecar.checks.conform.recording import judge
from turnwire_process import TURNWIRE, environment

pytestmark = [pytest.mark.long, pytest.mark.node]

PATIENCE = 120.0


def test_a_recording_of_gemini_is_read_whole(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with scripted_models() as models:
        models.answers += [[GEMINI.write(project / "made.txt", "made\n")], [Say("It is made.")]]
        given = GEMINI.prepare(tmp_path / "home", models.url)
        program = GEMINI.command()[0]
        words = ("-p", "Make it.", "--output-format", "stream-json", "--approval-mode", "yolo")
        done = subprocess.run(
            [*TURNWIRE, "record", program, "--out", "new", "--workspace", str(project), "--", *words],
            cwd=tmp_path,
            env=environment(tmp_path / "home", PYTHONPATH=str(ROOT), **given),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert b"--- made.txt (5 bytes)\nmade\n" in (tmp_path / "new" / "files-after.txt").read_bytes()
    assert {
        finding.check: finding.verdict for finding in judge(tmp_path / "new") if finding.verdict != "held"
    } == {}
