"""A CLI that leaves processes behind: `python leaving_agent.py PIDS WAY…` speaks Claude's dialect and starts them at its first prompt.

Each WAY is one word of LEFT. Their pids are written to the file PIDS. The agent says "last words" and exits with code 3;
with the word `stays` it lives on, with `chatters` what it leaves writes to its stdout without end.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

SLEEPS = "import time; time.sleep(600)"
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
CHATTERS = """
import os, time
while True:
    os.write(1, b'{"type":"system","subtype":"chatter"}\\n')
    time.sleep(0.001)
"""
DAEMON = """
import os, sys, time
os.setsid()
if os.fork():
    os._exit(0)
sys.stdout.write(str(os.getpid()))
sys.stdout.flush()
os.dup2(os.open(os.devnull, os.O_RDWR), 1)
time.sleep(600)
"""
CHAIN = """
import os, time
os.setsid()
print("runs", flush=True)
end = time.monotonic() + 60
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    open(PIDS + ".chain", "w").write(str(os.getpid()))
"""
"""Each one starts the next and goes, so that whoever looks for it finds one that is no more."""


def say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def permission_outcome(way: str, pids: Path) -> list[int]:
    """Start what stays behind, none of it with an environment by which it could be known."""
    match way:
        case "holder":
            return [_start(SLEEPS, holds=True)]
        case "chatters":
            return [_start(CHATTERS, holds=True)]
        case "deaf":
            return [_start(DEAF, waits=True)]
        case "daemon":
            argv = [sys.executable, "-I", "-S", "-c", DAEMON]
            done = subprocess.run(argv, env={}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
            return [int(done.stdout)]
        case "chain":
            _start(f"PIDS = {str(pids)!r}\n{CHAIN}", waits=True)
            return []
        case "program":
            # what the test has put there, which exits once it runs
            subprocess.run(
                [f"{pids}.program"], env={}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True
            )
            return []
        case _:
            return []


def _start(program: str, *, holds: bool = False, waits: bool = False) -> int:
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program],
        env={},
        start_new_session="setsid" not in program,
        stdin=subprocess.DEVNULL,
        stdout=None if holds else subprocess.PIPE,
        stderr=None if holds else subprocess.DEVNULL,
    )
    if waits:
        assert child.stdout is not None
        child.stdout.readline()
    return child.pid


def main(pids: Path, ways: list[str]) -> int:
    if "--version" in ways:
        sys.stdout.write("2.1.330 (Claude Code)\n")
        return 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "control_request":
            answer = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            say({"type": "control_response", "response": answer})
        elif message["type"] == "user":
            left = [pid for way in ways for pid in permission_outcome(way, pids)]
            Path(f"{pids}.new").write_text(json.dumps([os.getpid(), *left]))
            Path(f"{pids}.new").rename(pids)
            words = {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "last words"}]}
            say({"type": "assistant", "session_id": "s", "uuid": "u", "message": words})
            if "stays" not in ways:
                return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
