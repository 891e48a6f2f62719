"""Every recording as a UI message stream: the AI SDK's own reader takes it, and its messages say what the events say."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from npm_workspace import run
from recordings import ROOT
from turnwire.client import events
from turnwire.client.events import AgentEvent
from turnwire.frontends.ai_sdk.chat import encoded
from turnwire.frontends.ai_sdk.encoder import Turn
from turnwire.frontends.ai_sdk.messages import History, fold

GOLDENS = ROOT / "tests" / "normalize"
read = msgspec.json.Decoder(AgentEvent).decode


def recorded(pattern: str) -> dict[str, list[AgentEvent]]:
    return {
        str(path.relative_to(GOLDENS)): [read(line) for line in path.read_bytes().splitlines()]
        for path in sorted(GOLDENS.glob(pattern))
        if path.stem
        != "two-sessions"  # its turns lie over each other, as they never do in a session of the hub
    }


def turns(told: Iterable[AgentEvent]) -> list[list[AgentEvent]]:
    """The events of each turn."""
    found: list[list[AgentEvent]] = []
    within = False
    for event in told:
        if isinstance(event, events.TurnStarted):
            found.append([])
            within = True
        if within:
            found[-1].append(event)
        if isinstance(event, events.Complete):
            within = False
    return found


def chunks(turn: list[AgentEvent], name: str = "turn-1") -> list[dict[str, Any]]:
    encoder = Turn(name)
    made = encoder.start()
    for event in turn:
        made += encoder.handle(event)
    return made


def said(turn: list[AgentEvent]) -> dict[str, str]:
    """The texts of a turn, by message and block, without the encoder."""
    texts: dict[str, str] = {}
    for event in turn:
        match event:
            case events.MessageChunk(parent_tool_call_id=None):
                key = f"{event.message_id}:{event.block_index or 0}"
                texts[key] = event.text if event.replace else texts.get(key, "") + event.text
            case events.Retraction():
                gone = {*(event.message_ids or ()), *(event.message_uuids or ())}
                texts = {key: text for key, text in texts.items() if key.rpartition(":")[0] not in gone}
            case _:
                pass
    return texts


def test_every_word_and_call_of_a_recording_is_in_the_messages_of_its_turns() -> None:
    told = recorded("**/*.jsonl")
    assert len(told) > 300
    for name, session in told.items():
        history = History()
        for event in session:
            history.add(event)
        messages = [one for one in history.messages if one["role"] == "assistant"]
        finished = [turn for turn in turns(session) if isinstance(turn[-1], events.Complete)]
        assert len(messages) == len(finished), name
        for message, turn in zip(messages, finished, strict=True):
            parts: list[dict[str, Any]] = message["parts"]
            ours = [part["text"] for part in parts if part["type"] == "text"]
            assert sorted("".join(ours).split()) == sorted("".join(said(turn).values()).split()), name
            calls = {event.tool_call_id for event in turn if isinstance(event, events.ToolCall)}
            assert calls <= {part["toolCallId"] for part in parts if part["type"] == "dynamic-tool"}, name
            assert not [part for part in parts if part.get("state") == "streaming"], name


@pytest.mark.long
@pytest.mark.node
async def test_the_sdks_reader_takes_every_recording_and_folds_it_as_we_do(tmp_path: Path) -> None:
    everything = recorded("**/*.jsonl")
    assert len(everything) > 300
    told = {
        f"{name}#{number}": turn
        for name, session in everything.items()
        for number, turn in enumerate(turns(session))
    }
    file = tmp_path / "bodies.jsonl"
    with file.open("w") as out:
        for name, turn in told.items():
            out.write(
                json.dumps({"name": name, "body": (encoded(chunks(turn)) + b"data: [DONE]\n\n").decode()})
                + "\n"
            )
    printed = await run("node", ROOT / "tests/frontends/ai_sdk/consume.mjs", file, seconds=600)
    lines = [json.loads(line) for line in printed.removesuffix("\n").split("\n")]
    assert len(lines) == len(told)
    for line in lines:
        turn = told[line["name"]]
        failed = [
            event
            for event in turn
            if isinstance(event, events.Complete)
            and event.data.is_error
            and event.data.outcome != "interrupted"
        ]
        assert len(line["bad"]) == len(failed), line
        parts: list[dict[str, Any]] = []
        metadata: dict[str, Any] = {}
        for chunk in chunks(turn):
            fold(parts, metadata, chunk)
        theirs = [part["text"] for part in line["message"]["parts"] if part["type"] == "text"]
        ours = [part["text"] for part in parts if part["type"] == "text"]
        assert theirs == ours, line["name"]
        assert sorted("".join(theirs).split()) == sorted("".join(said(turn).values()).split()), line["name"]
        states = [
            (part["toolCallId"], part["state"])
            for part in line["message"]["parts"]
            if part["type"] == "dynamic-tool"
        ]
        assert states == [
            (part["toolCallId"], part["state"]) for part in parts if part["type"] == "dynamic-tool"
        ]
        calls = {event.tool_call_id for event in turn if isinstance(event, events.ToolCall)}
        assert calls <= {call for call, _ in states}


def chunk(text: str, message: str = "m1", **more: Any) -> events.MessageChunk:
    return events.MessageChunk(text=text, message_id=message, block_index=0, **more)


def texts(turn: list[AgentEvent]) -> list[str]:
    parts: list[dict[str, Any]] = []
    for one in chunks(turn):
        fold(parts, {}, one)
    return [part["text"] for part in parts if part["type"] == "text"]


def test_a_correction_takes_the_place_of_what_was_said() -> None:
    assert texts([chunk("Hel", is_delta=True), chunk("Hello", replace=True)]) == ["Hello"]
    assert texts([chunk("Hallo", is_delta=True), chunk("Hello", replace=True)]) == ["Hello"]
    assert texts([chunk("one"), chunk("two", "m2"), chunk("uno", replace=True)]) == ["uno", "two"]


def test_what_is_taken_back_goes() -> None:
    assert texts([chunk("one"), chunk("two", "m2"), events.Retraction(message_ids=["m1"])]) == ["two"]


def test_a_permission_is_an_approval_and_its_answer_ends_the_waiting() -> None:
    request = events.PermissionRequest(
        pending_id="p1",
        tool_call_id="c1",
        tool_name="Bash",
        permission_title="ls",
        permission_options=[],
        action_type="command",
    )
    turn = Turn("t1")
    made = turn.handle(request)
    assert [one["type"] for one in made] == [
        "tool-input-available",
        "tool-approval-request",
        "data-permission",
    ]
    assert turn.waits
    resolved = events.PermissionResolved(pending_id="p1", behavior="deny", by="phone", message="no")
    assert turn.handle(resolved)[0] == {
        "type": "tool-approval-response", "approvalId": "p1", "approved": False, "providerExecuted": True, "reason": "no",
    }  # fmt: skip
    assert not turn.waits


def test_no_character_ends_a_line_of_the_stream() -> None:
    body = encoded([{"type": "text-delta", "id": "1", "delta": "a\u2028b\u0085c\ud800"}])
    assert body.count(b"\n") == 2
    assert "\u2028".encode() not in body


def test_a_session_loads_as_messages_without_the_turn_that_runs() -> None:
    history = History()
    told: list[AgentEvent] = [
        events.UserMessage(text="hello", uuid="u1"),
        events.TurnStarted(operation_id="turn-1", origin="user"),
        chunk("Hi"),
        events.Complete(operation_id="turn-1", data=events.CompleteData(outcome="completed", is_error=False)),
        events.UserMessage(text="again", uuid="u2"),
        events.TurnStarted(operation_id="turn-2", origin="user"),
        chunk("So", "m2"),
    ]
    for event in told:
        history.add(event)
    assert [(one["role"], one["id"]) for one in history.messages] == [
        ("user", "u1"),
        ("assistant", "turn-1"),
        ("user", "u2"),
    ]
    assert history.messages[1]["metadata"]["turnwire"]["outcome"] == "completed"
