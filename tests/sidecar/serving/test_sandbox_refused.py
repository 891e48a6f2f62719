"""A session whose sandbox cannot be had is refused with what to do, and nothing is started."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from turnwire_process import environment

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's"),
]

PROMPT = {"type": "user", "message": {"role": "user", "content": "hello"}}
RUN = {"type": "run", "id": "1", "params": {"message": PROMPT, "model": "m", "rate_limit_max_retries": 0}}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["run", "--sandbox", "files", "--prompt", "hello", "--port", "0"], None),
        (["stdio"], PROMPT),
        (["runner"], RUN),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_missing_program_is_told_and_the_agent_is_not_started(
    command: list[str], said: dict[str, object] | None, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    marker = tmp_path / "work" / "started"
    agent = tmp_path / "agent"
    agent.write_text(f"#!/bin/sh\n: >{marker}\n")
    agent.chmod(0o755)
    config = tmp_path / "turnwire.toml"
    config.write_text(f'sandbox = "files"\nagent = "own"\n[agents.own]\ncommand = ["{agent}"]\n')
    done = subprocess.run(
        [sys.executable, "-m", "turnwire", *command, "--config", config],
        cwd=tmp_path / "work",
        env={**environment(tmp_path), "PATH": str(tmp_path)},
        input="" if said is None else json.dumps(said) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        "the sandbox 'files' cannot be had here: there is no program bwrap; install it: "
        in done.stdout + done.stderr
    )
    assert not marker.exists()
