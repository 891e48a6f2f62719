"""Every line of the recordings is one of the messages that this package models."""

import json

from cases import for_each
from recordings import Recording, recordings
from turnwire.protocol.claude.blocks import UnknownBlock
from turnwire.protocol.claude.control import ControlRequest
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import encode
from turnwire.protocol.claude.messages import Assistant, StreamEvent, Unknown, User
from turnwire.protocol.claude.requests import UnknownRequest
from turnwire.protocol.claude.stream import ContentBlockDelta, UnknownApiEvent, UnknownDelta
from turnwire.protocol.claude.system import System, UnknownSystem
from turnwire.protocol.framing import LineFramer
from turnwire.protocol.json_values import Json
from turnwire.protocol.malformed import Malformed

EVERY = recordings()


@for_each("recording", EVERY, by=lambda recording: recording.version)
def test_every_line_that_a_cli_wrote_has_a_model(recording: Recording) -> None:
    for line in recording.received():
        message = decode(line)
        assert not isinstance(message, Unknown | UnknownSystem | Malformed), line[:300]
        match message:
            case Assistant() | User():
                # Answers of the API's own tools have a kind for each tool, and none of them a model.
                unknown = [block for block in message.blocks if isinstance(block, UnknownBlock)]
                assert not [block for block in unknown if not block.type.endswith("_tool_result")]
            case StreamEvent(event=event):
                # Qwen Code's own, in every turn: it has no goal unless it is given one.
                assert not isinstance(event, UnknownApiEvent) or event.raw["type"] == "goal_state"
                if isinstance(event, ContentBlockDelta) and isinstance(event.delta, UnknownDelta):
                    # Sources of an answer: the text they are for is whole without them.
                    assert event.delta.raw["type"] == "citations_delta"
            case ControlRequest(request=request):
                assert not isinstance(request, UnknownRequest)
            case _:
                pass


@for_each("recording", EVERY, by=lambda recording: recording.version)
def test_every_line_comes_back_from_what_was_read(recording: Recording) -> None:
    for line in recording.received() + recording.sent():
        message = decode(line)
        if isinstance(message, Malformed):
            assert recording.scenario in ("input-blank-line", "input-not-json")
        else:
            assert decode(encode(message)[:-1]) == message


@for_each("recording", EVERY, by=lambda recording: recording.version)
def test_what_is_kept_of_a_line_is_what_it_said(recording: Recording) -> None:
    for line in recording.received():
        try:
            line.decode()
            original = json.loads(line)
            line_has_halves = "\\ud" in json.dumps(original)
        except ValueError:
            continue
        if not line_has_halves:
            assert_within(json.loads(encode(decode(line))), original)


def assert_within(part: Json, whole: Json) -> None:
    """Every value of `part` is in `whole`, at its place (fields that a model adds are empty ones)."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key in whole:
                assert_within(value, whole[key])
            else:
                assert not value or key == "role"
    elif isinstance(part, list):
        assert len(part) == len(whole)
        for one, other in zip(part, whole, strict=True):
            assert_within(one, other)
    else:
        assert part == whole


@for_each("recording", EVERY[:: max(1, len(EVERY) // 12)])
def test_the_framer_gives_the_lines_of_a_recording(recording: Recording) -> None:
    framer = LineFramer()
    lines = [
        line
        for at in range(0, len(recording.stdout), 1000)
        for line in framer.feed(recording.stdout[at : at + 1000])
    ]
    last = framer.close()
    assert lines + ([] if last is None else [last]) == recording.received()


def test_system_messages_name_their_subtype() -> None:
    for recording in recordings("subagent"):
        for line in recording.received():
            message = decode(line)
            if isinstance(message, System):
                assert message.subtype == json.loads(line)["subtype"]
