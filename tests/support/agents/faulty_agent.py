"""An agent of Claude Code's protocol for the conformance kit, begun in milliseconds: it does as told, but for the faults that it is given."""

import sys
from collections.abc import Iterable
from pathlib import Path

_PROGRAM = """
import json, os, re, subprocess, sys

FAULTS = frozenset({faults!r})
SESSION = "cli-%d" % os.getpid() if "has another id when resumed" in FAULTS else "cli-1"
SAY = re.compile(r"Reply with exactly this word and nothing else: ([\\w-]+)")
RUN = re.compile(r"Run exactly this shell command with your shell tool, once, and nothing else: (.+)")
RESUMED = any(word.startswith("--resume=") for word in sys.argv)
number = 0
dazed = False

def say(**message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()

def heard():
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "control_request":
            answer(message["request_id"], message["request"]["subtype"])
        return message
    sys.exit(0)

def answer(request_id, subtype):
    if subtype in ("initialize", "interrupt") or "does what nobody knows" in FAULTS:
        done = {{"subtype": "success", "request_id": request_id, "response": {{"commands": []}}}}
    else:
        done = {{"subtype": "error", "request_id": request_id, "error": "unknown request " + subtype}}
    say(type="control_response", response=done)

def tell(role, block, **more):
    global number
    number += 1
    inner = {{"id": "m%d-%d" % (os.getpid(), number), "role": role, "content": [block]}}
    say(type=role, session_id=SESSION, uuid="u%d-%d" % (os.getpid(), number), message=inner, **more)

def end(**more):
    result = {{"subtype": "success", "is_error": False, "result": "done", "session_id": SESSION, "num_turns": 1, **more}}
    say(type="result", **result)

def leave(call, command):
    if "asks nobody" in FAULTS:
        return True
    say(type="control_request", request_id="r" + call, request={{
        "subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": call, "input": {{"command": command}}}})
    while True:
        message = heard()
        response = message.get("response", {{}})
        if message["type"] == "control_response" and response["request_id"] == "r" + call:
            return response["response"]["behavior"] == "allow"

def run(call, command):
    global dazed
    if "tells no call" not in FAULTS:
        tell("assistant", {{"type": "tool_use", "id": call, "name": "Bash", "input": {{"command": command}}}})
    if not leave(call, command):
        said, failed = "It was refused.", True
        if "runs what is refused" in FAULTS:
            subprocess.run(command, shell=True)
    elif "sleep" in command:
        child = subprocess.Popen(["sleep", command.split()[-1]], stdout=subprocess.DEVNULL)
        while heard().get("request", {{}}).get("subtype") != "interrupt":
            pass
        child.kill()
        child.wait()
        dazed = "is dazed by an interrupt" in FAULTS
        tell("user", {{"type": "tool_result", "tool_use_id": call, "content": "Interrupted.", "is_error": True}})
        return end() if "ends an interrupted turn as any other" in FAULTS else end(subtype="error_during_execution", is_error=True)
    elif "runs nothing" in FAULTS:
        said, failed = "", False
    else:
        done = subprocess.run(command, shell=True, capture_output=True, text=True)
        said, failed = done.stdout, done.returncode != 0
        said = "Exit code %d\\n%s" % (done.returncode, said) if failed else said
    if "tells no call" not in FAULTS:
        result = {{"type": "tool_result", "tool_use_id": call, "content": said, "is_error": failed}}
        tell("user", result, tool_use_result=said)
    end()

while True:
    message = heard()
    if message["type"] != "user":
        continue
    content = message["message"]["content"]
    prompt = content if isinstance(content, str) else "".join(part["text"] for part in content)
    say(type="system", subtype="init", session_id=SESSION, model="m", cwd=os.getcwd(), tools=[])
    wanted = RUN.search(prompt)
    if "writes what is no message" in FAULTS:
        sys.stdout.write("this is no message\\n")
    if wanted:
        run("c%d-%d" % (os.getpid(), number), wanted[1].strip())
        continue
    if dazed or ("fails at odd characters" in FAULTS and "\x1b" in prompt):
        dazed = False
        end(subtype="error_during_execution", is_error=True, errors=["I cannot."])
        continue
    words = " ".join(SAY.findall(prompt))
    if "reads no large prompts" in FAULTS and len(prompt) > 10000:
        words = "What?"
    if "forgets when resumed" in FAULTS and RESUMED:
        words = "Who are you?"
    for _ in range(2 if "says everything twice" in FAULTS else 1):
        tell("assistant", {{"type": "text", "text": words}})
    end()
"""


def faulty_agent(folder: Path, faults: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the command of the agent with some of the faults that its program names; none without any."""
    path = folder / "faulty.py"
    path.write_text(_PROGRAM.format(faults=sorted(faults)), encoding="utf-8")
    return sys.executable, "-I", "-S", str(path)
