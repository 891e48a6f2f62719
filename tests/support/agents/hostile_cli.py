"""A CLI that answers `initialize` and then, at the first prompt, does what a test tells it in a few lines of Python."""

import sys
import textwrap
from pathlib import Path

_HOSTILE = """
import json, os, sys, time

def write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

def say(**message):
    write(json.dumps(message).encode() + b"\\n")

def heard():
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)

def answer_to(request_id):
    while True:
        message = heard()
        response = message.get("response", {})
        if message["type"] == "control_response" and response.get("request_id") == request_id:
            return response

def end(text="done"):
    say(type="result", subtype="success", is_error=False, result=text, session_id="s", num_turns=1)

while True:
    message = heard()
    if message["type"] == "control_request":
        done = {"subtype": "success", "request_id": message["request_id"], "response": {"commands": []}}
        say(type="control_response", response=done)
    elif message["type"] == "user":
        say(type="system", subtype="init", session_id="s", model="m", cwd=os.getcwd(), tools=[])
        PROMPT = message["message"]["content"]
        attack()
"""


def hostile_cli(folder: Path, attack: str) -> tuple[str, ...]:
    """The argv of a CLI whose answer to each prompt is this code; it has write, say, heard, answer_to and end."""
    path = folder / "hostile.py"
    body = textwrap.indent(textwrap.dedent(attack), "    ")
    path.write_text(f"def attack():\n{body}\n{_HOSTILE}", encoding="utf-8")
    return sys.executable, str(path)
