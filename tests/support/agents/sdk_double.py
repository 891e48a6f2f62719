"""A stand-in for a CLI that does what a scenario says, to the byte, and keeps what it was told.

It is a program of its own with nothing to import but the standard library: it starts in a few milliseconds, and hundreds of
them are started. Beside itself it writes `heard.jsonl`: its arguments, then each line of its stdin.
"""

import json
import sys
from pathlib import Path

PROGRAM = r'''
import json, os, signal, sys

if sys.argv[1:] in (["-v"], ["--version"]):
    sys.exit(print("2.1.330 (Claude Code)"))

heard = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "heard.jsonl"), "a")
heard.write(json.dumps({"argv": sys.argv[1:], "set": os.environ.get("SCENARIO")}) + "\n")
heard.flush()
out, waiting, answers, seen = sys.stdout.buffer, [], {}, set()


def write(data):
    out.write(data)
    out.flush()


def say(message):
    write(json.dumps(message).encode() + b"\n")


def hear():
    """Take one line; False at the end of the input."""
    line = sys.stdin.buffer.readline()
    if not line:
        return False
    heard.write(line.decode("utf-8", "backslashreplace").rstrip("\n") + "\n")
    heard.flush()
    try:
        message = json.loads(line)
    except ValueError:
        return True
    kind = message.get("type")
    if kind == "control_request":
        subtype = message["request"]["subtype"]
        told = PLAN["controls"].get(subtype, {})
        if told != "never":
            answer = {"request_id": message["request_id"]}
            if isinstance(told, str):
                answer.update(subtype="error", error=told)
            else:
                answer.update(subtype="success", response=told)
            say({"type": "control_response", "response": answer})
        seen.add(subtype)
        if subtype in PLAN["dies"]:
            end(PLAN["dies"][subtype])
    elif kind == "control_response":
        answers[message["response"].get("request_id")] = message["response"]
    elif kind == "user":
        waiting.append(message)
    return True


def end(how):
    heard.close()
    if how < 0:
        signal.signal(-how, signal.SIG_DFL) if how not in (-9, -19) else None
        os.kill(os.getpid(), -how)
        signal.pause()
    os._exit(how)


def step(kind, value):
    if kind == "say":
        say(value)
    elif kind == "raw":
        write(value.encode("utf-8", "surrogateescape"))
    elif kind == "bytes":
        write(bytes.fromhex(value))
    elif kind == "pieces":
        for piece in value:
            write(piece.encode())
    elif kind == "long":
        say({"type": "system", "subtype": "long", "session_id": "s", "uuid": "u", "text": "x" * value})
    elif kind == "many":
        for number in range(value):
            say({"type": "system", "subtype": "many", "session_id": "s", "uuid": "u", "number": number})
    elif kind == "stderr":
        sys.stderr.write(value)
        sys.stderr.flush()
    elif kind == "ask":
        say({"type": "control_request", "request_id": value["id"], "request": value["request"]})
    elif kind == "cancel":
        say({"type": "control_cancel_request", "request_id": value})
    elif kind in ("answer", "heard"):
        while value not in answers:
            if not hear():
                end(3)
        if kind == "heard":
            return
        text = json.dumps(answers[value], sort_keys=True)
        say({"type": "system", "subtype": "answered", "session_id": "s", "uuid": "u", "text": text})
    elif kind == "told":
        while value not in seen:
            if not hear():
                end(4)
    elif kind == "close":
        os.close(1)
    elif kind == "eof":
        while hear():
            pass
    elif kind == "end":
        end(value)


for turn in [PLAN["before"], *PLAN["turns"]]:
    if turn is not PLAN["before"]:
        while not waiting:
            if not hear():
                end(PLAN["at_eof"])
        waiting.pop(0)
    for one in turn:
        step(*one)
while hear():
    pass
end(PLAN["at_eof"])
'''


def put(path: Path, plan: object) -> Path:
    """Write the stand-in with its plan as a program; return its path."""
    text = (
        f"#!{sys.executable} -ES\nimport json as _json\nPLAN = _json.loads({json.dumps(plan)!r})\n{PROGRAM}"
    )
    path.write_text(text)
    path.chmod(0o755)
    return path
