"""What holds for the spans of every recording, and what each sort of span says."""

import json
from collections import Counter
from functools import cache
from itertools import pairwise

import pytest
from exported_spans import Exported, MemoryExport

from cases import for_each
from recordings import Recording, recording, recordings
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.inputs import Received, Sent
from turnwire.protocol.claude.control import ControlRequest, ControlResponse
from turnwire.protocol.claude.messages import StreamEvent
from turnwire.recordings.reading import read
from turnwire.recordings.recorded import Timed
from turnwire.tracing.spans.maker import SpanMaker


@cache
def inputs(made: Recording) -> tuple[tuple[Timed, tuple[ev.AgentEvent, ...]], ...]:
    translator = ClaudeCore()
    return tuple((timed, tuple(translator.handle(timed.input))) for timed in read(made.folder))


def spans(made: Recording, **options: bool | int) -> list[Exported]:
    export = MemoryExport()
    maker = SpanMaker("s", export=export, **options)  # type: ignore[arg-type]  # each option is a bool or a number
    for timed, events in inputs(made):
        maker.handle(timed.input, events, round((timed.at or 0) * 1e9))
    return export.spans()


def named(found: list[Exported], name: str) -> list[Exported]:
    return [span for span in found if span.name == name]


@for_each("made", recordings(version="2.1.330"))
def test_spans_are_trees_and_each_event_has_its_place(made: Recording) -> None:
    spans_are_trees(made, fold=True)


@pytest.mark.long
@for_each("made", recordings(), by=lambda made: made.version)
@pytest.mark.parametrize("fold", [True, False], ids=["folded", "each"])
def test_so_are_those_of_all_versions(made: Recording, fold: bool) -> None:
    spans_are_trees(made, fold=fold)


def spans_are_trees(made: Recording, *, fold: bool) -> None:
    found = spans(made, fold_deltas=fold, limit=1 << 24)
    if fold:
        assert spans(made, fold_deltas=fold, limit=1 << 24) == found  # the same ids, too
    ids = {span.span_id: span for span in found}
    assert len(ids) == len(found)
    for span in found:
        assert span.end >= span.start
        if span.parent_id is None:
            assert span.name in {"streamjson.prompt", "turnwire.session"}
        else:
            parent = ids[span.parent_id]
            assert parent.trace_id == span.trace_id
            assert parent.start <= span.start
    events = [event for _, events in inputs(made) for event in events]
    turns = [event for event in events if isinstance(event, ev.Complete)]
    assert len(named(found, "streamjson.prompt")) == len(turns)
    main_agents = [span for span in found if span.name == "invoke_agent claude"]
    assert [ids[span.parent_id or 0].name for span in main_agents] == ["streamjson.prompt"] * len(turns)
    assert all(span.attributes["session.id"] for span in found if span.name.startswith("streamjson."))
    told = Counter(
        json.loads(str(event.attributes["normalized"]))["type"]
        for span in found
        if not span.name.startswith(("streamjson.control.", "streamjson.prompt"))
        and "turnwire.chunks" not in span.attributes
        for event in span.events
        if event.name == "normalized"
    )
    streamed = {"message_chunk", "reasoning"}
    expected = Counter(
        event.type
        for event in events
        if not (
            fold
            and event.type in streamed
            and isinstance(event, ev.MessageChunk | ev.Reasoning)
            and event.is_delta
        )
    )
    assert told == expected
    tools = {event.tool_call_id for event in events if isinstance(event, ev.ToolCall)}
    assert len([span for span in found if span.name.startswith("execute_tool ")]) == len(tools)


@pytest.mark.long
@for_each("made", recordings(), by=lambda made: made.version)
def test_every_control_message_is_a_span_with_raw_and_normalized(made: Recording) -> None:
    controls = [
        timed.input
        for timed, _ in inputs(made)
        if isinstance(timed.input, Received | Sent)
        and isinstance(timed.input.message, ControlRequest | ControlResponse)
    ]
    found = [span for span in spans(made) if span.name.startswith("streamjson.control.")]
    assert len(found) >= len(controls)
    for span in found:
        assert [event.name for event in span.events] == ["raw", "normalized"]
        assert span.attributes["turnwire.direction"] in {"sent", "received"}
    sent = sum(isinstance(item, Sent) for item in controls)
    assert sum(span.attributes["turnwire.direction"] == "sent" for span in found) >= sent


@pytest.mark.parametrize("made", recordings("partial-messages"), ids=str)
def test_a_streamed_block_is_one_span_that_lasts_as_long_as_it_grew(made: Recording) -> None:
    found = spans(made)
    folded = [span for span in found if "turnwire.chunks" in span.attributes]
    each = spans(made, fold_deltas=False)
    assert folded
    assert len(each) - len(found) == sum(int(str(span.attributes["turnwire.chunks"])) - 1 for span in folded)
    block = max(folded, key=lambda span: int(str(span.attributes["turnwire.chunks"])))
    assert int(str(block.attributes["turnwire.chunks"])) > 1
    assert block.end > block.start
    text = "".join(
        event.text
        for _, events in inputs(made)
        for event in events
        if isinstance(event, ev.MessageChunk) and event.is_delta
    )
    reasoning = "".join(
        event.reasoning_text
        for _, events in inputs(made)
        for event in events
        if isinstance(event, ev.Reasoning) and event.is_delta
    )
    (normalized,) = [
        str(event.attributes["normalized"]) for event in block.events if event.name == "normalized"
    ]
    whole = json.loads(normalized)
    assert whole["type"] in {"message_chunk", "reasoning"}
    assert whole.get("text", whole.get("reasoning_text")) in text + reasoning
    assert len(whole.get("text", whole.get("reasoning_text"))) > 20


@pytest.mark.parametrize("made", recordings("perm-allow", "partial-messages"), ids=str)
def test_a_turn_carries_the_line_that_began_it_and_what_it_became(made: Recording) -> None:
    for turn in named(spans(made), "streamjson.prompt"):
        raw, normalized = (json.loads(str(next(iter(event.attributes.values())))) for event in turn.events)
        assert [event.name for event in turn.events] == ["raw", "normalized"]
        assert raw["type"] in {"user", "system", "assistant"}
        assert normalized["type"] == "turn_started"
        assert normalized["operation_id"] == turn.attributes["turnwire.operation_id"]


def test_cut_at_the_limit_and_left_out_without_one() -> None:
    made = recording("2.1.330", "big-output")
    for span in spans(made, limit=100):
        for event in span.events:
            (value,) = event.attributes.values()
            assert len(str(value).encode()) <= 100 + len("…".encode())
    assert all(span.events == () for span in spans(made, limit=0))


def test_hooks_are_called_by_their_event() -> None:
    names = {span.name for span in spans(recording("2.1.330", "hook-pretool-deny"))}
    assert {
        "streamjson.control.control_request.hook_callback",
        "streamjson.control.hook_response.pre_tool_use",
    } <= names


def test_what_a_response_stands_for_is_its_decision() -> None:
    found = spans(recording("2.1.330", "perm-allow"))
    for request in named(found, "streamjson.control.control_request.can_use_tool"):
        assert json.loads(str(request.events[1].attributes["normalized"]))["type"] == "permission_request"
    assert named(found, "streamjson.control.permission_response")


@pytest.mark.parametrize("version", ["2.1.101", "2.1.330"])
@pytest.mark.parametrize("scenario", ["api-401", "api-529"])
def test_a_call_of_the_api_that_failed_is_a_chat_with_its_error(version: str, scenario: str) -> None:
    found = spans(recording(version, scenario))
    failed = next(span for span in found if span.name.startswith("chat") and span.error)
    assert failed.attributes["error.type"] == failed.error
    (agent, *_) = named(found, "invoke_agent claude")
    assert agent.error
    assert agent.span_id == failed.parent_id
    assert "error.type" in agent.attributes


@pytest.mark.parametrize("made", recordings("subagent", "subagent-background"), ids=str)
def test_a_subagent_works_under_the_call_that_started_it(made: Recording) -> None:
    found = spans(made)
    ids = {span.span_id: span for span in found}
    subagents = [span for span in found if span.attributes.get("gen_ai.agent.name") == "general-purpose"]
    assert subagents
    for subagent in subagents:
        call = ids[subagent.parent_id or 0]
        assert call.name in {"execute_tool Task", "execute_tool Agent"}
        below = [span for span in found if span.parent_id == subagent.span_id]
        # 2.1.101 tells of the task alone while a subagent works in the background.
        told = str(made) != "2.1.101/subagent-background"
        assert any(span.name.startswith("chat ") for span in below) is told
        assert all(subagent.start <= span.start and span.end <= subagent.end for span in below)
        assert subagent.end > subagent.start


def test_content_goes_only_where_it_was_asked_for() -> None:
    made = recording("2.1.330", "perm-allow")
    content = {
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
    }
    assert not any(content & set(span.attributes) for span in spans(made))
    found = spans(made, content=True)
    assert content <= {name for span in found for name in span.attributes}
    tool = next(span for span in found if span.name.startswith("execute_tool "))
    calls = [event for _, events in inputs(made) for event in events if isinstance(event, ev.ToolCall)]
    assert json.loads(str(tool.attributes["gen_ai.tool.call.arguments"])).keys() >= {"command"}
    assert tool.attributes["gen_ai.tool.call.id"] in {call.tool_call_id for call in calls}
    (message,) = json.loads(
        str(
            next(span for span in found if "gen_ai.output.messages" in span.attributes).attributes[
                "gen_ai.output.messages"
            ]
        )
    )
    assert message["role"] == "assistant"
    assert {part["type"] for part in message["parts"]} <= {"text", "reasoning", "tool_call"}


@pytest.mark.parametrize("made", recordings("partial-messages"), ids=str)
def test_a_message_begins_when_the_model_could_and_ends_with_its_last_line(made: Recording) -> None:
    times = [
        round((timed.at or 0) * 1e9)
        for timed, _ in inputs(made)
        if isinstance(getattr(timed.input, "message", None), StreamEvent)
    ]
    chats = [span for span in spans(made) if span.attributes.get("gen_ai.operation.name") == "chat"]
    assert chats
    assert chats[-1].end <= times[-1]
    for chat in chats:
        first = chat.attributes["gen_ai.response.time_to_first_chunk"]
        assert isinstance(first, float)
        assert 0 < first <= (chat.end - chat.start) / 1e9
        assert chat.attributes["gen_ai.request.stream"] is True
    for one, two in pairwise(chats):
        assert one.end <= two.start  # one API message after the other
