"""Spans of agents that tell no calls of their model: each run of what they say stands for one."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from acp_recordings import AcpRecording, acp_recordings
from exported_spans import Exported, MemoryExport

from turnwire.normalize import events as ev
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Received, SessionInput
from turnwire.normalize.recordings.lines import LineReader
from turnwire.protocol.claude.decode import decode
from turnwire.recordings.reading import read
from turnwire.recordings.recorded import Timed
from turnwire.tracing.metrics.measurements import DURATION, FIRST_CHUNK, TOKEN_USAGE, Measurer
from turnwire.tracing.spans.genai_spans import GenAiSpans
from turnwire.tracing.spans.maker import SpanMaker

COMMITTED = acp_recordings(with_corpus=False)
SECOND = 1_000_000_000


@cache
def inputs(made: AcpRecording) -> tuple[tuple[Timed, tuple[ev.AgentEvent, ...]], ...]:
    core = recorded_core()
    return tuple((timed, tuple(core.handle(timed.input))) for timed in read(made.folder))


def spans(made: AcpRecording, *, content: bool = False) -> list[Exported]:
    export = MemoryExport()
    maker = SpanMaker("s", export=export, content=content)
    for timed, events in inputs(made):
        maker.handle(timed.input, events, round((timed.at or 0) * 1e9))
    return export.spans()


def recording(name: str) -> AcpRecording:
    return next(made for made in COMMITTED if made.name == name)


def chats(found: Sequence[Exported]) -> list[Exported]:
    return [span for span in found if span.attributes.get("gen_ai.operation.name") == "chat"]


class Talk:
    """What both sides of a conversation write, one line a second."""

    def __init__(self, *, content: bool = False, limit: int = 8192, turn: bool = True) -> None:
        self.export = MemoryExport()
        self._maker = SpanMaker("s", export=self.export, agent="acp", content=content, limit=limit)
        self._core, self._lines, self._at = recorded_core(), LineReader(), 0
        self._asked = 2
        self.measured: list[Any] = []
        self._measurer = Measurer()
        self.sends(id=0, method="initialize", params={"protocolVersion": 1})
        self.hears(id=0, result={"protocolVersion": 1, "agentInfo": {"name": "gemini-cli", "version": "1"}})
        self.sends(id=1, method="session/new", params={"cwd": "/w", "mcpServers": []})
        self.hears(id=1, result={"sessionId": "a-1", "models": {"currentModelId": "gemini-3"}})
        if turn:
            self.prompts("Hello")

    def sends(self, **message: Any) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        for item in self._lines.sent(line):
            self._take(item)

    def hears(self, **message: Any) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        for item in self._lines.received(line):
            self._take(item)

    def prompts(self, text: str) -> None:
        blocks = [{"type": "text", "text": text}]
        self.sends(id=self._asked, method="session/prompt", params={"sessionId": "a-1", "prompt": blocks})

    def told(self, update_kind: str, /, **update: Any) -> None:
        params = {"sessionId": "a-1", "update": {"sessionUpdate": update_kind, **update}}
        self.hears(method="session/update", params=params)

    def says(self, text: str, kind: str = "agent_message_chunk", **more: Any) -> None:
        self.told(kind, content={"type": "text", "text": text}, **more)

    def calls(self, call_id: str, **more: Any) -> None:
        self.told("tool_call", toolCallId=call_id, title="List", kind="execute", status="in_progress", **more)

    def results(self, call_id: str, **more: Any) -> None:
        self.told("tool_call_update", toolCallId=call_id, status="completed", **more)

    def ends(self, reason: str = "end_turn", **result: Any) -> list[Exported]:
        self.hears(id=self._asked, result={"stopReason": reason, **result})
        self._asked += 1
        return self.chats()

    def fails(self, **error: Any) -> list[Exported]:
        self.hears(id=self._asked, error=error)
        self._asked += 1
        return self.chats()

    def chats(self) -> list[Exported]:
        return chats(self.export.spans())

    def _take(self, item: SessionInput) -> None:
        events = self._core.handle(item)
        ended = self._maker.handle(item, events, self._at * SECOND)
        self.measured += self._measurer.handle(events, ended)
        self._at += 1


def seconds(span: Exported) -> float:
    return (span.end - span.start) / SECOND


def test_what_is_said_between_calls_of_tools_stands_for_a_call_of_the_model() -> None:
    talk = Talk()
    talk.says("I will ", "agent_thought_chunk")
    talk.says("look.")
    talk.calls("c-1")
    talk.results("c-1")
    talk.says("Done.")
    first, second = talk.ends(usage={"inputTokens": 5, "outputTokens": 3, "totalTokens": 8})
    assert first.name == second.name == "chat gemini-3"
    assert first.attributes["gen_ai.provider.name"] == "gcp.gemini"
    assert first.attributes["gen_ai.request.model"] == "gemini-3"
    assert first.attributes["gen_ai.conversation.id"] == "a-1"
    # a line a second: from the prompt to the call, from the result to the end
    assert (seconds(first), seconds(second)) == (3, 2)
    assert first.attributes["gen_ai.response.time_to_first_chunk"] == 1
    assert second.attributes["gen_ai.response.time_to_first_chunk"] == 1
    assert first.attributes["gen_ai.request.stream"] is True
    assert first.attributes["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert second.attributes["gen_ai.response.finish_reasons"] == ("end_turn",)
    (agent,) = [span for span in talk.export.spans() if span.name == "invoke_agent acp"]
    assert {first.parent_id, second.parent_id} == {agent.span_id}
    # nobody told how much of it was whose: the last run has it, so that sums are right
    assert agent.attributes["gen_ai.usage.input_tokens"] == 5
    assert "gen_ai.usage.input_tokens" not in first.attributes
    assert second.attributes["gen_ai.usage.input_tokens"] == 5
    assert second.attributes["gen_ai.usage.output_tokens"] == 3
    assert not any("messages" in name for name in {*first.attributes, *second.attributes})


def test_a_turns_usage_is_that_of_its_only_run() -> None:
    talk = Talk()
    talk.says("Hello.")
    (only,) = talk.ends(usage={"inputTokens": 5, "outputTokens": 3, "totalTokens": 8})
    assert only.attributes["gen_ai.usage.input_tokens"] == 5
    assert only.attributes["gen_ai.usage.output_tokens"] == 3
    tokens = [one for one in talk.measured if one.of is TOKEN_USAGE]
    assert [(one.value, one.labels[0]) for one in tokens] == [(5, "invoke_agent"), (3, "invoke_agent")]
    durations = [one.labels[:3] for one in talk.measured if one.of is DURATION]
    assert ("chat", "gcp.gemini", "gemini-3") in durations
    assert [one.value for one in talk.measured if one.of is FIRST_CHUNK] == [1]


def test_usage_that_comes_with_a_piece_is_that_of_its_run() -> None:
    talk = Talk()
    talk.says("I look.")
    talk.says("", _meta={"usage": {"inputTokens": 5, "outputTokens": 3, "totalTokens": 8}})
    talk.calls("c-1")
    talk.results("c-1")
    # of a run that says nothing, it comes before the call that the run is
    talk.says("", _meta={"usage": {"inputTokens": 9, "outputTokens": 1, "totalTokens": 10}})
    talk.calls("c-2")
    talk.results("c-2")
    first, second = talk.ends()
    assert first.attributes["gen_ai.usage.input_tokens"] == 5
    assert second.attributes["gen_ai.usage.input_tokens"] == 9


def test_a_run_that_says_nothing_but_a_call_is_one_too_and_calls_beside_each_other_are_of_one() -> None:
    talk = Talk(content=True)
    talk.calls("c-1")
    talk.calls("c-2")
    talk.results("c-1")
    talk.calls("c-3")
    talk.results("c-2")
    talk.results("c-3", rawOutput="made of three")
    talk.calls("c-4")
    talk.results("c-4")
    first, second = talk.ends()
    assert (seconds(first), seconds(second)) == (1, 1)
    assert "gen_ai.response.time_to_first_chunk" not in first.attributes
    (said,) = json.loads(str(first.attributes["gen_ai.output.messages"]))
    assert [part["id"] for part in said["parts"]] == ["c-1", "c-2", "c-3"]
    (heard,) = json.loads(str(second.attributes["gen_ai.input.messages"]))
    assert heard["role"] == "tool"
    assert [part["id"] for part in heard["parts"]] == ["c-1", "c-2", "c-3"]
    assert "made of three" in heard["parts"][2]["response"]


def test_what_is_said_beside_an_open_call_begins_when_it_is_said() -> None:
    talk = Talk()
    talk.calls("c-1")
    talk.says("Still at it")
    talk.says(" …")
    talk.results("c-1")
    talk.says(" done.")
    _, beside = talk.ends()
    assert seconds(beside) == 4
    assert "gen_ai.response.time_to_first_chunk" not in beside.attributes


def test_content_is_told_where_it_was_asked_for_and_within_the_limit() -> None:
    talk = Talk(content=True, limit=20)
    talk.says("I think", "agent_thought_chunk")
    for _ in range(100):
        talk.says("word ")
    (only,) = talk.ends()
    (heard,) = json.loads(str(only.attributes["gen_ai.input.messages"]))
    assert heard == {"role": "user", "parts": [{"type": "text", "content": "Hello"}]}
    (said,) = json.loads(str(only.attributes["gen_ai.output.messages"]))
    assert said["finish_reason"] == "end_turn"
    assert said["parts"] == [
        {"type": "reasoning", "content": "I think"},
        {"type": "text", "content": "word word word word …"},
    ]


def test_blocks_of_a_run_have_a_bound() -> None:
    talk = Talk(content=True)
    for number in range(2000):
        talk.says("x", messageId=f"m-{number}")
    (only,) = talk.ends()
    (said,) = json.loads(str(only.attributes["gen_ai.output.messages"]))
    assert len(said["parts"]) == 256


def test_a_turn_that_fails_before_anything_is_said_is_a_call_that_failed_where_the_api_said_so() -> None:
    talk = Talk()
    (failed,) = talk.fails(code=-32603, message="too many requests", data={"status": 429})
    assert failed.attributes["error.type"] == "429"
    assert failed.error is not None
    assert seconds(failed) == 1
    # nobody knows whether a model was asked
    assert Talk().fails(code=-32602, message="Session not found") == []


def test_a_turn_that_fails_ends_the_run_with_its_error() -> None:
    talk = Talk()
    talk.says("Hel")
    (failed,) = talk.fails(code=-32603, message="The connection broke.")
    assert failed.attributes["error.type"] == "error"
    assert seconds(failed) == 2


def test_a_turn_that_is_stopped_says_why_and_is_no_failure() -> None:
    talk = Talk()
    talk.says("Hel")
    (stopped,) = talk.ends("cancelled")
    assert stopped.attributes["gen_ai.response.finish_reasons"] == ("cancelled",)
    assert stopped.error is None


def test_a_turn_that_is_stopped_before_anything_is_said_has_no_run() -> None:
    assert Talk().ends("cancelled") == []


def test_a_subagents_runs_stand_under_its_call() -> None:
    parent = {"claudeCode": {"parentToolUseId": "c-1"}}
    talk = Talk()
    talk.calls("c-1")
    talk.says("I am below.", _meta=parent)
    talk.calls("c-2", _meta=parent)
    talk.results("c-2", _meta=parent)
    talk.results("c-1")
    talk.says("Done.")
    found = talk.ends(usage={"inputTokens": 5, "outputTokens": 3, "totalTokens": 8})
    assert len(found) == 3
    (below,) = [span for span in talk.export.spans() if span.name == "invoke_agent subagent"]
    assert sum(span.parent_id == below.span_id for span in found) == 1
    assert [span.attributes.get("gen_ai.usage.input_tokens", 0) for span in found] == [0, 0, 5]


@pytest.mark.parametrize("made", COMMITTED, ids=str)
def test_the_runs_of_a_recording_hold_all_that_was_said_in_turns(made: AcpRecording) -> None:
    found = spans(made, content=True)
    assert spans(made, content=True) == found  # the same ids, too
    ids = {span.span_id: span for span in found}
    assert len(ids) == len(found)
    runs = chats(found)
    for span in runs:
        parent = ids[span.parent_id or 0]
        assert parent.name.startswith("invoke_agent")
        assert parent.start <= span.start <= span.end
        assert span.attributes["gen_ai.provider.name"]
        assert "gen_ai.response.id" not in span.attributes
    calls = {
        part["id"]
        for span in runs
        for message in json.loads(str(span.attributes.get("gen_ai.output.messages", "[]")))
        for part in message["parts"]
        if part["type"] == "tool_call"
    }
    events = [event for _, told in inputs(made) for event in told if not getattr(event, "history", None)]
    known = {
        span.attributes["gen_ai.tool.call.id"] for span in found if "gen_ai.tool.call.id" in span.attributes
    }
    assert calls == known
    spoken = any(isinstance(event, ev.MessageChunk | ev.Reasoning) for event in events if event.operation_id)
    assert bool(runs) >= (spoken or bool(known))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("claude-agent-acp-0.100.0/api-400", "error"),
        ("copilot-acp-1.0.102/api-401", "401"),
        ("gemini-acp-0.61.0/api-stream-drop", "500"),
    ],
)
def test_a_call_of_the_model_that_failed_is_told(name: str, why: str) -> None:
    failed = [span for span in chats(spans(recording(name))) if span.error is not None]
    assert [span.attributes["error.type"] for span in failed] == [why]


def test_pieces_of_text_are_no_concern_where_calls_of_the_model_are_told() -> None:
    spans_of = GenAiSpans(agent="tester", content=False, limit=0)
    line = b'{"type":"keep_alive"}'
    spans_of.of_message(Received(line, decode(line)), 0)
    assert ev.MessageChunk not in spans_of.concern
    (answer,) = LineReader().received(b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}')
    spans_of.of_message(answer, 0)
    assert ev.MessageChunk in spans_of.concern
