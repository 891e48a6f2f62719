"""The example of a CI job: it fails when the turn fails, and leaves the transcript either way."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_process import agent_command
from recordings import ROOT
from turnwire_process import environment

SCRIPT = """
turns:
  - match: fail
    steps: [{text: "I try."}, {crash: 3}]
  - steps: [{text: "Done."}]
"""


@pytest.mark.long
@pytest.mark.parametrize(("prompt", "code", "said"), [("work", 0, "Done."), ("fail", 1, "I try.")])
def test_the_job_fails_with_the_turn_and_keeps_the_transcript(
    prompt: str, code: int, said: str, tmp_path: Path
) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT)
    transcript = tmp_path / "transcript.jsonl"
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "ci_turn.py", transcript, prompt, "--", *agent_command(script)],
        cwd=tmp_path,
        env=environment(tmp_path / "home", TURNWIRE_PASS_ENV="PYTHONPATH"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "The turn has failed" in done.stderr) == (code, code == 1), done.stderr
    events = [json.loads(line) for line in transcript.read_text().splitlines()]
    assert said in "".join(one["text"] for one in events if one["type"] == "message_chunk")
