"""A step of a CI job: give one prompt to an agent, keep the transcript as an artifact, and fail the job when the turn fails.

python examples/ci_turn.py TRANSCRIPT PROMPT [OPTIONS OF TURNWIRE RUNNER]

The transcript has one event (docs/events.md) a line, also of a turn that fails. The exit code is 0 only for a turn that has completed.
"""

import json
import subprocess
import sys
from pathlib import Path


def main(transcript: Path, prompt: str, options: list[str]) -> int:
    """Run the prompt; return the exit code."""
    message = {"type": "user", "message": {"role": "user", "content": prompt}}
    params = {"model": "default", "message": message, "rate_limit_max_retries": 3}
    run = {"type": "run", "id": "ci", "params": params}
    runner = subprocess.Popen(
        [sys.executable, "-m", "turnwire", "runner", "--normalized", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert runner.stdin is not None
    assert runner.stdout is not None
    runner.stdin.write(json.dumps(run) + "\n")
    runner.stdin.close()
    outcome, reason = "no end", "the runner has ended before the turn"
    with transcript.open("w", encoding="utf-8") as artifact:
        for line in runner.stdout:
            match json.loads(line):
                case {"type": "event", "event": event}:
                    artifact.write(json.dumps(event) + "\n")
                    if event["type"] == "complete":
                        outcome, reason = event["data"]["outcome"], event.get("error") or ""
                case {"type": "end", "status": "error", "error": error}:
                    outcome, reason = "error", error
                case _:
                    pass
    if runner.wait() == 0 and outcome == "completed":
        return 0
    print(f"The turn has failed ({outcome}): {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
