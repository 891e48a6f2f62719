"""Twice as many lines are twice as much work, with calls that never end: told by counting calls and lines of Python, not by a clock."""

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from turnwire.normalize.families import new_core
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.json_values import Json


def call(number: int) -> Json:
    block = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"e{number}"}}
    return {"type": "assistant", "message": {"id": f"m{number}", "content": [block]}}


def asked(number: int) -> Json:
    body = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": f"e{number}"}}
    return {"type": "control_request", "request_id": f"r{number}", "request": body}


def task(number: int) -> Json:
    return {"type": "system", "subtype": "task_started", "task_id": f"k{number}", "tool_use_id": f"t{number}"}


def task_over(number: int) -> Json:
    ended = {"task_id": f"k{number}", "status": "completed"}
    return {"type": "system", "subtype": "task_notification", **ended}


def work(kinds: tuple[Callable[[int], Json], ...], count: int) -> int:
    """Lines of Python that are run, those of comprehensions for each element."""
    core = new_core()
    lines = [json.dumps({"type": "system", "subtype": "init", "session_id": "s"}).encode()]
    lines += [json.dumps(kind(number)).encode() for kind in kinds for number in range(count)]
    messages = [decode(line) for line in lines]
    done = 0

    def traced(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal done
        frame.f_trace_opcodes = True
        done += 1
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        for message in messages:
            core.receive(message)
    finally:
        sys.settrace(before)
    return done


@pytest.mark.long
@pytest.mark.parametrize(
    "kinds",
    [(call, asked), (call, task, task_over)],
    ids=lambda kinds: " ".join(kind.__name__ for kind in kinds),
)
def test_twice_as_much_is_twice_the_work(kinds: tuple[Callable[[int], Json], ...]) -> None:
    assert work(kinds, 600) < 2.3 * work(kinds, 300)
