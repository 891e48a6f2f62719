"""The source of an agent that speaks Claude Code's protocol and needs nothing but Python's own modules: begun in milliseconds, in large numbers."""

_PROGRAM = """
import json, os, sys, time

{answers}

def say(**message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()

# A conversation has an id of its own, and a CLI that resumes it says the same one.
given = [word for one in sys.argv for word in one.split("=", 1)]
resumed = given[given.index("--resume") + 1] if "--resume" in given else None
session = resumed if resumed and "--fork-session" not in sys.argv else "cli-" + os.urandom(8).hex()
number = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "control_request":
        done = {{"subtype": "success", "request_id": message["request_id"], "response": {{"commands": []}}}}
        say(type="control_response", response=done)
    elif message["type"] == "user":
        content = message["message"]["content"]
        parts = answers(content if isinstance(content, str) else content[0]["text"])
        say(type="system", subtype="init", session_id=session, model="m", cwd=os.getcwd(), tools=[])
        for text in parts:
            number += 1
            block = {{"type": "text", "text": text}}
            inner = {{"id": "m%d-%d" % (os.getpid(), number), "type": "message", "role": "assistant", "content": [block], "model": "m"}}
            say(type="assistant", session_id=session, message=inner)
        say(type="result", subtype="success", is_error=False, result="done", session_id=session, num_turns=1)
"""


def program_of(answers: str) -> str:
    """Return the program of an agent; `answers` is the source of a function of that name, from a prompt to texts, one a message."""
    return _PROGRAM.format(answers=answers.strip())
