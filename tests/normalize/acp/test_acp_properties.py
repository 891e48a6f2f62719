"""Whatever an agent writes: nothing raises, every line counts once, calls and turns balance, text comes out once."""

import copy
import json
from collections import Counter
from typing import Any

from acp_recordings import acp_recordings
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from tests.checker.acp import Facts, turns_balance
from turnwire.normalize.acp.core import AcpCore
from turnwire.normalize.events import AgentEvent, from_json, to_json
from turnwire.normalize.inputs import Ended
from turnwire.protocol.acp.decode import decode

Rows = list[tuple[str, bytes]]

SMALL = [
    recording.rows()
    for recording in acp_recordings(with_corpus=False)
    if (recording.folder / "stdout.jsonl").stat().st_size < 30_000
]

NEW = [
    rows
    for rows in SMALL
    if not any(b'"session/load"' in line or b'"session/resume"' in line for _, line in rows)
]
"""Those in which no past is told again: what is known of it already is not shown twice."""

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(
        ["completed", "failed", "text", "diff", "cancelled", "", "\ud83d", "allow_once", "```\na\n```"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def translate(rows: Rows) -> tuple[list[AgentEvent], AcpCore]:
    core = AcpCore()
    events: list[AgentEvent] = []
    for direction, line in rows:
        message = decode(line)
        events += core.receive(message, line) if direction == "recv" else core.on_sent(message)
    events += core.handle(Ended("end_of_input"))
    return events, core


def holds(rows: Rows) -> list[dict[str, Any]]:
    events, core = translate(rows)
    assert sum(asdict(core.stats).values()) == sum(direction == "recv" for direction, _ in rows)
    assert not core.busy
    assert core.pending == ()
    written = [to_json(event) for event in events]
    assert [to_json(from_json(line)) for line in written] == written
    told = [json.loads(line) for line in written]
    assert [*turns_balance(Facts(), told)] == []
    assert_calls_balance(told)
    ended = Counter(
        event["pending_id"]
        for event in told
        if event["type"] in ("permission_resolved", "permission_cancelled")
    )
    asked = Counter(
        event["pending_id"] for event in told if event["type"] in ("permission_request", "question_request")
    )
    assert ended == asked
    return told


def assert_calls_balance(told: list[dict[str, Any]]) -> None:
    """Each call ends before another one of its id begins: agents may count anew each turn."""
    running = set[tuple[str, str]]()
    for event in told:
        if event["type"] not in ("tool_call", "tool_update"):
            continue
        key = event["session_id"], event["tool_call_id"]
        assert (key in running) == (event["type"] == "tool_update"), event
        if event["type"] == "tool_call":
            running.add(key)
        elif event["tool_status"] != "running":
            running.remove(key)
    assert not running


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, item in inner for place in places(item, (*path, key))]


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return value


@settings(max_examples=30)
@given(st.data())
def test_any_value_in_any_field_costs_no_more_than_its_line(data: st.DataObject) -> None:
    rows = list(data.draw(st.sampled_from(SMALL)))
    for _ in range(data.draw(st.integers(1, 4))):
        number = data.draw(st.integers(0, len(rows) - 1))
        direction, line = rows[number]
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if not places(value):
            continue
        path = data.draw(st.sampled_from(places(value)))
        rows[number] = direction, json.dumps(changed(value, path, data.draw(values))).encode()
    begun_twice = holds(rows)
    assert begun_twice is not None


@settings(max_examples=25)
@given(st.data())
def test_lines_that_are_lost_doubled_or_out_of_order_leave_everything_balanced(data: st.DataObject) -> None:
    rows = list(data.draw(st.sampled_from(NEW)))
    for _ in range(data.draw(st.integers(1, 6))):
        number = data.draw(st.integers(0, len(rows) - 1))
        match data.draw(st.sampled_from(["lose", "double", "move"])):
            case "lose" if len(rows) > 1:
                del rows[number]
            case "double":
                rows.insert(data.draw(st.integers(0, len(rows))), rows[number])
            case _:
                rows.insert(data.draw(st.integers(0, len(rows) - 1)), rows.pop(number))
    told = holds(rows)
    wanted = Counter[str]()
    for direction, line in rows:
        update = json.loads(line).get("params", {}).get("update", {}) if direction == "recv" else {}
        if (
            update.get("sessionUpdate") in ("agent_message_chunk", "agent_thought_chunk")
            and update["content"]["text"]
        ):
            wanted[update["content"]["text"]] += 1
    got = Counter(
        event.get("text", event.get("reasoning_text"))
        for event in told
        if event["type"] in ("message_chunk", "reasoning")
    )
    assert got == wanted


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["recv", "send"]), values), max_size=8))
def test_lines_of_any_json_are_accounted_for(lines: list[tuple[str, Any]]) -> None:
    holds([(direction, json.dumps(value).encode()) for direction, value in lines])


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "tool_call",
                    "tool_call_update",
                    "plan",
                    "usage_update",
                    "state_update",
                    "terminal_update",
                    "plan_update",
                    "user_message",
                    "config_option_update",
                ]
            ),
            st.dictionaries(
                st.sampled_from(
                    [
                        "toolCallId",
                        "kind",
                        "status",
                        "title",
                        "content",
                        "rawInput",
                        "rawOutput",
                        "_meta",
                        "locations",
                        "entries",
                        "used",
                        "size",
                        "cost",
                        "state",
                        "stopReason",
                        "terminalId",
                        "output",
                        "exitStatus",
                        "plan",
                        "messageId",
                        "configOptions",
                        "name",
                    ]
                ),
                values,
                max_size=6,
            ),
        ),
        max_size=6,
    )
)
def test_updates_of_any_fields_balance(updates: list[tuple[str, dict[str, Any]]]) -> None:
    holds(
        [
            (
                "recv",
                json.dumps(
                    {
                        "jsonrpc": "2.0",
                        "method": "session/update",
                        "params": {"sessionId": "s", "update": {"sessionUpdate": kind, **fields}},
                    }
                ).encode(),
            )
            for kind, fields in updates
        ]
    )
