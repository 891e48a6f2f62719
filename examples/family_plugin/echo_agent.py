"""An agent without a model: it answers with the prompt, and runs a command once it has leave.

It takes JSON lines on standard input: {"prompt", "id"}, {"answer", "allow"} and {"stop"}. A prompt `Run …: COMMAND` asks for a
command.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from typing import Any

SESSION = "echo-1"
LOOK_S = 0.05
"""How often the agent looks whether a command has ended."""


def say(kind: str, **members: Any) -> None:
    """Write a line."""
    print(json.dumps({"echo": kind, "session": SESSION, **members}), flush=True)


class Agent:
    """One conversation."""

    def __init__(self) -> None:
        self.told: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        """Lines of standard input; None is its end."""
        self.waiting: list[dict[str, Any]] = []
        """Prompts that came while a command ran."""
        self.number = 0

    def listen(self) -> None:
        """Read standard input to its end."""
        for line in sys.stdin:
            self.told.put(json.loads(line))
        self.told.put(None)

    def serve(self) -> None:
        """Answer prompts until there are no more."""
        say("hello", version="1.0")
        while one := self.waiting.pop(0) if self.waiting else self.told.get():
            if "prompt" in one:
                stopped = self.turn(one["prompt"])
                say("done", **({"stopped": True} if stopped else {}))

    def turn(self, prompt: str) -> bool:
        """Answer one prompt; return whether the turn was stopped."""
        begin, _, command = prompt.rpartition(": ")
        if begin.startswith("Run ") and self.run(command):
            return True
        say("say", text=prompt)
        return False

    def run(self, command: str) -> bool:
        """Ask for leave and run a command; return whether the turn was stopped meanwhile."""
        self.number += 1
        say("ask", number=self.number, command=command)
        answer = self.told.get()
        while answer is not None and "answer" not in answer and "stop" not in answer:
            self.waiting.append(answer)
            answer = self.told.get()
        if answer is None:
            self.told.put(None)  # there is nothing more
            return True
        if "stop" in answer:
            return True
        if not answer["allow"]:
            say("refused", number=self.number)
            return False
        running = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        ends = threading.Thread(target=self.tell_end, args=(running, self.number))
        ends.start()
        while ends.is_alive():
            try:
                one = self.told.get(timeout=LOOK_S)
            except queue.Empty:
                continue
            if one is None or "stop" in one:
                if one is None:
                    self.told.put(None)  # there is nothing more
                os.killpg(running.pid, signal.SIGKILL)
                ends.join()
                return True
            self.waiting.append(one)
        return False

    def tell_end(self, running: subprocess.Popen[str], number: int) -> None:
        """Wait for a command and tell how it ended."""
        output, _ = running.communicate()
        if running.returncode >= 0:
            say("ran", number=number, output=output, code=running.returncode)


def main() -> None:
    """Run the agent."""
    agent = Agent()
    threading.Thread(target=agent.listen, daemon=True).start()
    agent.serve()


if __name__ == "__main__":
    main()
