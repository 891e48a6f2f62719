"""An agent that says much of one kind: the work grows as the lines do, counted in calls and steps of Python, not in time."""

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from turnwire.normalize.acp.core import AcpCore
from turnwire.normalize.inputs import Ended
from turnwire.protocol.acp import encode
from turnwire.protocol.acp.decode import decode

Lines = list[bytes]


def update(name: str, /, session: str = "s", **fields: Any) -> bytes:
    told = {"sessionId": session, "update": {"sessionUpdate": name, **fields}}
    return encode.notification("session/update", told).rstrip()


def ask(number: int, call: str) -> bytes:
    params = {"sessionId": "s", "toolCall": {"toolCallId": call, "title": "x"}, "options": []}
    return encode.request(number, "session/request_permission", params).rstrip()


def calls_left_open(count: int) -> Lines:
    return [update("tool_call", toolCallId=f"c{n}", title="x", kind="execute") for n in range(count)]


def calls_that_begin_with_their_end(count: int) -> Lines:
    return [update("tool_call", toolCallId=f"c{n}", title="x", status="completed") for n in range(count)]


def requests_that_nobody_answers(count: int) -> Lines:
    ends = [update("tool_call_update", toolCallId=f"c{n}", status="completed") for n in range(count)]
    return [*(ask(n, f"c{n}") for n in range(count)), *ends]


def sessions_with_a_call(count: int) -> Lines:
    return [update("tool_call", session=f"s{n}", toolCallId="c", title="x") for n in range(count)]


def terminals_of_nobody(count: int) -> Lines:
    return [
        *calls_left_open(count),
        *(update("terminal_update", terminalId=f"t{n}", output={"data": "YQ=="}) for n in range(count)),
    ]


def output_in_small_pieces(count: int) -> Lines:
    begun = update("tool_call", toolCallId="c", title="x", kind="execute", rawInput={"command": "x"})
    piece = update("tool_call_update", toolCallId="c", _meta={"terminal_output_delta": {"data": "x" * 20}})
    return [begun, *[piece] * count]


def work(lines: Lines) -> int:
    """Return how many lines of Python run."""
    core = AcpCore()
    core.on_sent(decode(encode.request(1, "session/prompt", {"sessionId": "s", "prompt": []}).rstrip()))
    messages = [decode(line) for line in lines]
    steps = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    # what other tests have left behind is not thrown away, and counted, in between
    gc.collect()
    gc.disable()
    sys.settrace(count)
    try:
        for message in messages:
            core.receive(message)
        core.handle(Ended("end_of_input"))
    finally:
        sys.settrace(before)
        gc.enable()
    return steps


@pytest.mark.parametrize(
    "flood",
    [
        calls_left_open,
        calls_that_begin_with_their_end,
        requests_that_nobody_answers,
        sessions_with_a_call,
        terminals_of_nobody,
        output_in_small_pieces,
    ],
)
@pytest.mark.long
def test_four_times_the_lines_are_about_four_times_the_work(flood: Callable[[int], Lines]) -> None:
    assert work(flood(1200)) < 6 * work(flood(300))
