"""An app server for tests, which speaks as `codex app-server` does: a prompt is a JSON list of steps, and each turn plays its own.

Steps: {"line": …} writes a line; {"ask": …} writes a request and says the answer to it; {"until": METHOD} waits for a request of the
client, {"after": METHOD} unless it has come; {"large": SIZE} asks with a long line; {"take": true} takes in what was steered; {"echo": true} says the parameters of the turn; {"refuse": WORDS} refuses the turn; {"hold": METHOD}
answers the prompt only once that request has come; {"exit": CODE}; {"end": STATUS} ends the turn. In a line, THREAD and TURN stand for the
names of both.
Arguments: NAME=WORDS refuses a method, or an approval policy, with these words.
"""

import json
import sys
from collections.abc import Generator
from typing import Any

REFUSED = dict(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)


class Server:
    """One process."""

    def __init__(self) -> None:
        self.thread = "thread-1"
        self.turns = 0
        self.requests = 0
        self.said = 0
        self.playing: Generator[tuple[str, Any], Any, None] | None = None
        self.waits: tuple[str, Any] | None = None
        self.opening: dict[str, Any] = {}
        self.others: list[dict[str, Any]] = []
        self.steered: list[dict[str, Any]] = []

    def write(self, value: Any) -> None:
        """Write a line."""
        text = json.dumps(value).replace("THREAD", self.thread).replace("TURN", f"turn-{self.turns}")
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def tell(self, method: str, **params: Any) -> None:
        """Write a notification of the thread."""
        self.write({"method": method, "params": {"threadId": self.thread, **params}})

    def say(self, text: str) -> None:
        """Say a whole message."""
        self.said += 1
        self.tell("item/completed", item={"type": "agentMessage", "id": f"m{self.said}", "text": text})

    def heard(self, message: dict[str, Any]) -> None:
        """Take a line of the client."""
        method, name, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method is None:
            self.go_on(("answer", name), message)
            return
        if name is None:
            return
        refused = REFUSED.get(method) or REFUSED.get(str(params.get("approvalPolicy")))
        if refused is not None:
            self.write({"id": name, "error": {"code": -32600, "message": refused}})
        elif method == "turn/start":
            self.turns += 1
            self.playing, self.waits = self.play(name, params), None
            self.go_on(None, None)
        else:
            self.write({"id": name, "result": self.result(method, params)})
            self.go_on(("method", method), params)

    def result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """What a request is answered with."""
        match method:
            case "initialize":
                return {"userAgent": "turnwire/0.169.0 (Debian 12; x86_64) dumb"}
            case "thread/start" | "thread/resume" | "thread/fork":
                self.opening = {"method": method, **params}
                if method == "thread/resume":
                    self.thread = params["threadId"]
                thread = {"id": self.thread, "cwd": params["cwd"], "cliVersion": "0.169.0"}
                return {"thread": thread, "cwd": params["cwd"], "model": "m-1"}
            case "turn/steer":
                self.steered.append(params)
                return {"turnId": params["expectedTurnId"]}
            case "thread/backgroundTerminals/list":
                return {"data": [{"itemId": "c", "processId": "7"}, {"itemId": "other", "processId": "8"}]}
            case _:
                self.others.append({"method": method, **params})
                return {}

    def go_on(self, came: tuple[str, Any] | None, message: Any) -> None:
        """Let the turn go on that waits for what came; None begins it."""
        if self.playing is not None and self.waits == came:
            self.waits = None
            try:
                self.waits = self.playing.send(message)
            except StopIteration:
                self.playing = None

    def play(self, name: int, params: dict[str, Any]) -> Generator[tuple[str, Any], Any, None]:
        """Play the steps of a prompt; yields what it waits for."""
        steps = json.loads(params["input"][-1]["text"])
        started = {"id": name, "result": {"turn": {"id": "TURN", "status": "inProgress"}}}
        if steps and "refuse" in steps[0]:
            self.write({"id": name, "error": {"code": -32600, "message": steps[0]["refuse"]}})
            return
        if steps and "hold" in steps[0]:
            yield ("method", steps[0]["hold"])
        self.write(started)
        self.tell("turn/started", turn={"id": "TURN"})
        item = {
            "type": "userMessage",
            "id": f"u{self.turns}",
            "clientId": params["clientUserMessageId"],
            "content": params["input"],
        }
        self.tell("item/started", item=item)
        status = "completed"
        for step in steps:
            if "line" in step:
                self.write(step["line"])
            elif "ask" in step:
                self.requests += 1
                self.write({"id": self.requests, **step["ask"]})
                answer = yield ("answer", self.requests)
                self.say(json.dumps(answer))
            elif "large" in step:
                self.requests += 1
                words = {"threadId": "THREAD", "words": "x" * step["large"]}
                self.write({"method": "item/tool/requestUserInput", "id": self.requests, "params": words})
                answer = yield ("answer", self.requests)
                self.say(json.dumps(answer))
            elif "after" in step:
                while all(one["method"] != step["after"] for one in self.others):
                    yield ("method", step["after"])
            elif "until" in step:
                yield ("method", step["until"])
            elif "take" in step:
                for taken in self.steered:
                    self.tell(
                        "item/started",
                        item={
                            "type": "userMessage",
                            "id": "s",
                            "clientId": taken["clientUserMessageId"],
                            "content": taken["input"],
                        },
                    )
            elif "echo" in step:
                self.say(json.dumps({**params, "opening": self.opening, "others": self.others}))
            elif "exit" in step:
                sys.exit(step["exit"])
            elif "end" in step:
                status = step["end"]
        self.tell("turn/completed", turn={"id": "TURN", "status": status})


if __name__ == "__main__":
    server = Server()
    for line in sys.stdin:
        server.heard(json.loads(line))
