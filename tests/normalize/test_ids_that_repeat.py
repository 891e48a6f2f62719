"""Ids that agents use again: models that count calls in each message, gateways with one id for all messages, agents that count in each process."""

import json
from typing import Any

import pytest

from acp_talk import Talk as AcpTalk
from acp_talk import only
from tests.normalize.lines import (
    Talk,
    answer,
    assistant,
    block_start,
    block_stop,
    control,
    delta,
    init,
    message_delta,
    message_start,
    message_stop,
    result,
    stream,
    system,
    text,
    tool_result,
    tool_use,
    user,
)
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.normalize.events import MessageChunk, PermissionRequest, ToolCall, ToolUpdate, to_json

JsonObject = dict[str, Any]


def told(talk: Talk, kind: str) -> list[JsonObject]:
    return [json.loads(to_json(event)) for event in talk.events if event.type == kind]


def commands(talk: Talk) -> dict[str, str]:
    """Return each call's id and the command that its event shows."""
    calls = told(talk, "tool_call")
    return {event["tool_call_id"]: event["normalized"]["shell_exec"]["command"] for event in calls}


def bash(own: str, command: str) -> JsonObject:
    return tool_use(own, command=command)


def ends(talk: Talk) -> dict[str, str | None]:
    return {
        event.tool_call_id: event.tool_status
        for event in talk.events
        if isinstance(event, ToolUpdate) and event.tool_status != "running"
    }


def test_a_call_in_each_message_with_the_same_id_is_a_call_of_its_own() -> None:
    talk = Talk()
    talk.hears(init())
    for number, command in enumerate(("ls", "pwd", "ls")):
        talk.hears(
            assistant(bash("fn.Shell:0", command), id=f"m{number}", uuid=f"a{number}"),
            user(tool_result("fn.Shell:0", f"out {number}"), uuid=f"u{number}"),
        )
    assert commands(talk) == {"fn.Shell:0": "ls", "fn.Shell:0#turn-1.2": "pwd", "fn.Shell:0#turn-1.3": "ls"}
    assert ends(talk) == dict.fromkeys(commands(talk), "complete")
    outputs = [
        event["normalized"]["shell_exec"]["output"]["stdout"]
        for event in told(talk, "tool_update")
        if event["tool_status"] == "complete"
    ]
    assert outputs == ["out 0", "out 1", "out 2"]
    assert [event.get("agent_call_id") for event in told(talk, "tool_call")] == [
        None,
        "fn.Shell:0",
        "fn.Shell:0",
    ]


def test_a_gateway_that_gives_all_its_messages_and_calls_the_same_ids() -> None:
    talk = Talk()
    talk.hears(init())
    for number in range(2):
        talk.hears(
            assistant(bash("", "date"), id="gw", uuid=f"a{number}"),
            user(tool_result("", "now"), uuid=f"u{number}"),
        )
    assert list(ends(talk).values()) == ["complete", "complete"]
    assert list(commands(talk).values()) == ["date", "date"]


def test_a_line_that_comes_again_is_no_second_call() -> None:
    talk = Talk()
    line = assistant(bash("c", "ls"))
    talk.hears(init(), line)
    assert talk.hears(system("status"), {**line, "more": 1}) == []
    talk.hears(user(tool_result("c")))
    assert talk.hears({**line, "more": 2}, {**line, "uuid": None, "more": 3}) == []


def test_calls_of_one_message_with_the_same_id_end_in_the_order_of_their_results() -> None:
    talk = Talk()
    talk.hears(init(), assistant(bash("c0", "one")), assistant(bash("c0", "two"), uuid="a2"))
    asked = control("p", "can_use_tool", tool_name="Bash", tool_use_id="c0", input={"command": "one"})
    talk.hears(asked)
    assert talk.last("permission_request")["tool_call_id"] == "c0"
    talk.hears(
        control("q", "can_use_tool", tool_name="Bash", tool_use_id="c0", input={"command": "edited"}),
    )
    assert talk.last("permission_request")["tool_call_id"] == "c0#turn-1.2"
    talk.says(answer("p", behavior="allow"), answer("q", behavior="deny", message="No."))
    talk.hears(user(tool_result("c0", "1")), user(tool_result("c0", "no", is_error=True), uuid="u2"))
    assert [(key, value) for key, value in ends(talk).items()] == [
        ("c0", "complete"),
        ("c0#turn-1.2", "error"),
    ]
    assert talk.last("tool_update")["reason"] == "denied"


def test_each_request_and_hook_of_such_a_call_finds_its_own() -> None:
    talk = Talk()
    talk.hears(init())
    for number, command in enumerate(("ls", "rm x")):
        talk.hears(
            assistant(bash("c0", command), id=f"m{number}", uuid=f"a{number}"),
            control(
                f"h{number}", "hook_callback", callback_id="k", tool_use_id="c0",
                input={"hook_event_name": "PreToolUse", "tool_name": "Bash"},
            ),
            control(
                f"p{number}", "can_use_tool", tool_name="Bash", tool_use_id="c0", input={"command": command}
            ),
        )  # fmt: skip
        talk.says(answer(f"p{number}", behavior="deny" if number else "allow", message="No."))
        talk.hears(user(tool_result("c0", is_error=bool(number)), uuid=f"u{number}"))
    ids = ["c0", "c0#turn-1.2"]
    asked = [event for event in talk.events if isinstance(event, PermissionRequest)]
    assert [event.tool_call_id for event in asked] == ids
    assert [(event.tool_input or {})["command"] for event in asked] == ["ls", "rm x"]
    assert [event["tool_call_id"] for event in told(talk, "hook_activity")] == ids
    assert list(ends(talk).items()) == [(ids[0], "complete"), (ids[1], "error")]


def test_a_subagent_below_a_call_whose_id_repeats_stands_below_that_call() -> None:
    talk = Talk()
    talk.hears(init())
    for number in range(2):
        talk.hears(
            assistant(tool_use("t0", "Agent", prompt=str(number)), id=f"m{number}", uuid=f"a{number}"),
            stream({"type": "message_start", "message": {"id": "sub", "content": []}}, parent_tool_use_id="t0"),
            assistant(text("Hm."), id="sub", uuid=f"b{number}", parent="t0"),
            user("Go.", uuid=f"v{number}", parent="t0"),
            {**system("tool_progress"), "type": "tool_progress", "tool_use_id": "t0", "tool_name": "Agent",
             "elapsed_time_seconds": 1},
            user(tool_result("t0"), uuid=f"u{number}"),
        )  # fmt: skip
    second = "t0#turn-1.2"
    texts = [event for event in talk.events if isinstance(event, MessageChunk)]
    assert [(event.parent_tool_call_id, event.message_id) for event in texts] == [
        ("t0", "sub"),
        (second, "sub#turn-1.2"),
    ]
    assert [event["parent_tool_call_id"] for event in told(talk, "user_message")] == ["t0", second]
    assert [event["tool_call_id"] for event in told(talk, "tool_update")] == ["t0", "t0", second, second]


@pytest.mark.parametrize("own", ["gw", ""])
def test_streamed_messages_with_one_id_are_told_apart(own: str) -> None:
    talk = Talk()
    talk.hears(init())
    for number, words in enumerate(("first words", "second words", "first words")):
        talk.hears(message_start(own), block_start(), delta(words[:5]), delta(words[5:]))
        talk.hears(
            assistant(text(words), id=own, uuid=f"a{number}"), block_stop(), message_delta(), message_stop()
        )
    texts: dict[tuple[Any, ...], str] = {}
    for event in talk.events:
        if isinstance(event, MessageChunk):
            key = (event.message_id, event.block_index)
            texts[key] = texts.get(key, "") + event.text
    assert list(texts.values()) == ["first words", "second words", "first words"]


def test_a_message_of_another_turn_with_the_same_id_is_another_message() -> None:
    talk = Talk()
    for turn in range(2):
        talk.hears(init(), assistant(text("Yes."), uuid=f"a{turn}"), result("Yes.", uuid=f"r{turn}"))
    assert [event["message_id"] for event in told(talk, "message_chunk")] == ["m1", "m1#turn-2.2"]


def test_after_a_restart_ids_that_are_counted_are_new_and_random_ones_stay() -> None:
    talk = Talk(first_turn=4)
    talk.hears(
        init(), assistant(bash("call_0", "ls"), bash("toolu_01Hq7Zk29sPbXvRt", "pwd"), id="msg_01Rb4kT9xWq")
    )
    assert list(commands(talk)) == ["call_0#turn-4.1", "toolu_01Hq7Zk29sPbXvRt"]
    assert told(talk, "tool_call")[0]["message_id"] == "msg_01Rb4kT9xWq"
    ids = UniqueIds(first_turn=4)
    assert ids.new("item_3", None) == "item_3#turn-3.1"


def test_an_acp_agent_that_counts_calls_and_messages_anew_in_each_turn() -> None:
    talk = AcpTalk()
    calls, texts = [], []
    for turn in (1, 2):
        talk.prompt(turn)
        calls.append(only(talk.update("tool_call", toolCallId="call_0", title="Run", kind="execute",
                                      rawInput={"command": f"echo {turn}"}), "tool_call"))  # fmt: skip
        asked = only(talk.asks(turn, "call_0", rawInput={"command": f"echo {turn}"}), "permission_request")
        assert asked["tool_call_id"] == calls[-1]["tool_call_id"]
        talk.chooses(turn, "yes")
        done = only(talk.update("tool_call_update", toolCallId="call_0", status="completed"), "tool_update")
        assert done["tool_call_id"] == calls[-1]["tool_call_id"]
        texts.append(only(talk.text(f"Said {turn}.", messageId="msg_0"), "message_chunk"))
        talk.answers(turn, stopReason="end_turn")
    assert [call["tool_call_id"] for call in calls] == ["call_0", "call_0#turn-2.2"]
    assert [call.get("agent_call_id") for call in calls] == [None, "call_0"]
    assert [piece["message_id"] for piece in texts] == ["msg_0", "msg_0#turn-2.2"]


def test_an_acp_agent_that_uses_an_id_twice_in_one_turn() -> None:
    talk = AcpTalk()
    talk.prompt(1)
    for number, (begin, more) in enumerate((({}, {}), ({"status": "pending"}, {}), ({}, {"is": "asked"}))):
        command = {"command": f"echo {number}"}
        if more:
            told = talk.asks(7, "c", rawInput=command)
        else:
            told = talk.update("tool_call", toolCallId="c", title="Run", rawInput=command, **begin)
        call = only(told, "tool_call")
        assert call["tool_call_id"] == ("c" if number == 0 else f"c#turn-1.{number + 1}")
        content = talk.update(
            "tool_call_content_chunk",
            toolCallId="c",
            content={"type": "content", "content": {"type": "text", "text": "x"}},
        )
        assert all(event["tool_call_id"] == call["tool_call_id"] for event in content)
        end = only(talk.update("tool_call_update", toolCallId="c", status="completed"), "tool_update")
        assert end["tool_call_id"] == call["tool_call_id"]
    again = talk.update(
        "tool_call", toolCallId="c", title="Run", rawInput={"command": "echo 2"}, status="completed"
    )
    assert again == []


def test_events_of_calls_say_which_id_is_the_agents() -> None:
    talk = Talk()
    talk.hears(init(), assistant(bash("x1", "ls")), result("", uuid="r1"))
    talk.hears(init(), assistant(bash("x1", "ls"), uuid="a2"))
    calls = [event for event in talk.events if isinstance(event, ToolCall)]
    assert [(call.tool_call_id, call.agent_call_id) for call in calls] == [
        ("x1", None),
        ("x1#turn-2.2", "x1"),
    ]
