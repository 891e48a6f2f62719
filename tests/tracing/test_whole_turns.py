"""What a backend shows of a turn, over the recordings of all families: one row with prompt and answer, tools, and sums that are right."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from acp_recordings import acp_recordings
from exported_spans import Exported, MemoryExport
from native_recordings import native_recordings

from recordings import recordings
from turnwire.normalize import events as ev
from turnwire.normalize.core import happenings
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Announced, SessionInput
from turnwire.recordings.reading import read
from turnwire.tracing.export.spans import origin_of
from turnwire.tracing.spans.genai_facts import TOKENS
from turnwire.tracing.spans.maker import SpanMaker


def family_of(folder: Path) -> str:
    return folder.parent.name


@cache
def families() -> dict[str, tuple[Path, ...]]:
    """Recordings by agent and version."""
    found = defaultdict[str, list[Path]](list)
    for folder in (
        *(made.folder for made in recordings()),
        *(made.folder for made in acp_recordings(with_corpus=False)),
        *(made.folder for made in native_recordings(with_corpus=False)),
    ):
        found[family_of(folder)].append(folder)
    return {name: tuple(folders[:12]) for name, folders in sorted(found.items())}


@cache
def followed(folder: Path, limit: int = 1 << 20) -> tuple[list[Exported], list[ev.AgentEvent]]:
    export = MemoryExport()
    maker = SpanMaker("our-session", export=export, content=True, limit=limit)
    published: list[ev.AgentEvent] = []
    for number, (item, events) in enumerate(_happened(folder)):
        maker.handle(item, events, number * 1_000_000)
        published += events
    return export.spans(), published


def _happened(folder: Path) -> Iterator[tuple[SessionInput, Sequence[ev.AgentEvent]]]:
    return iter(happenings(recorded_core(), [timed.input for timed in read(folder)]))


def of(found: Sequence[Exported], operation: str) -> list[Exported]:
    return [span for span in found if span.attributes.get("gen_ai.operation.name") == operation]


each_family = pytest.mark.parametrize("family", families())


@each_family
def test_all_spans_are_of_one_session(family: str) -> None:
    for folder in families()[family]:
        found, _ = followed(folder)
        assert {span.attributes.get("session.id") for span in found} <= {"our-session"}, folder


@each_family
def test_the_tokens_of_all_chats_are_those_of_the_turns(family: str) -> None:
    for folder in families()[family]:
        found, published = followed(folder)
        turns = {span.span_id for span in found if span.name == "streamjson.prompt"}
        agents = [span for span in of(found, "invoke_agent") if span.parent_id in turns]
        ended = [event.data for event in published if isinstance(event, ev.Complete)]
        for name in TOKENS:
            total = _sum(agents, name)
            chats = _sum(of(found, "chat"), name)
            assert chats >= total, (folder, name)
            # an attempt that broke off is a chat, and the turn's tokens leave it out
            if folder.name != "x-break-thinking" and all(
                data.outcome == "completed" and data.input_tokens for data in ended
            ):
                assert chats == total, (folder, name)


def _sum(spans: Sequence[Exported], name: str) -> int:
    return sum(int(str(span.attributes.get(name, 0))) for span in spans)


@each_family
def test_the_first_span_of_a_turn_has_kind_prompt_and_answer(family: str) -> None:
    for folder in families()[family]:
        found, published = followed(folder)
        texts: dict[str | None, str] = defaultdict(str)
        asked: dict[str | None, str] = {}
        for event in published:
            if getattr(event, "parent_tool_call_id", None) or getattr(event, "history", None):
                continue
            if isinstance(event, ev.MessageChunk) and event.source is None and not event.parts:
                texts[event.operation_id] += event.text
            if isinstance(event, ev.UserMessage) and not event.synthetic:
                asked[event.operation_id] = event.text
        for turn in (span for span in found if span.name == "streamjson.prompt"):
            (agent,) = [span for span in of(found, "invoke_agent") if span.parent_id == turn.span_id]
            operation = str(turn.attributes["turnwire.operation_id"])
            assert turn.attributes["openinference.span.kind"] == "CHAIN"
            assert agent.attributes["openinference.span.kind"] == "AGENT"
            for span in (turn, agent):
                if text := asked.get(operation):
                    assert text in str(span.attributes["input.value"]), folder
                    messages = json.loads(str(span.attributes["gen_ai.input.messages"]))
                    assert messages[-1]["role"] == "user"
                if (told := texts[operation].strip()) and turn.attributes[
                    "turnwire.outcome"
                ] != "interrupted":
                    answered = str(span.attributes["output.value"]).strip()
                    assert answered, folder
                    one, other = sorted((_plain(told), _plain(answered)), key=len)
                    assert other.endswith(one) or span.error is not None, folder


def _plain(text: str) -> str:
    return "".join(text.split())


@each_family
def test_tools_have_their_arguments_and_results(family: str) -> None:
    for folder in families()[family]:
        found, published = followed(folder)
        ends = {
            event.tool_call_id: event
            for event in published
            if isinstance(event, ev.ToolUpdate) and event.tool_status != "running"
        }
        for tool in of(found, "execute_tool"):
            arguments = json.loads(str(tool.attributes["gen_ai.tool.call.arguments"]))
            assert not {"tool_call_id", "normalized"} & set(arguments or ()), folder
            assert tool.attributes["input.value"] == tool.attributes["gen_ai.tool.call.arguments"]
            end = ends.get(str(tool.attributes["gen_ai.tool.call.id"]))
            if end is None or "gen_ai.tool.call.result" not in tool.attributes:
                continue
            result = str(tool.attributes["gen_ai.tool.call.result"])
            assert '"tool_call_id"' not in result
            made: Any = end.normalized
            if made is not None and made.kind == "shell_exec":
                command = made.shell_exec.command
                assert not command or command in _texts(arguments) or made.shell_exec.operation, folder
                if made.shell_exec.output and made.shell_exec.output.stdout:
                    assert made.shell_exec.output.stdout.split()[0] in result, folder


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [*(text for item in value for text in _texts(item)), " ".join(map(str, value))]
        case dict():
            return [text for item in value.values() for text in _texts(item)]
        case _:
            return []


@each_family
def test_content_that_is_cut_stays_json(family: str) -> None:
    for folder in families()[family][:4]:
        found, _ = followed(folder, 64)
        for span in found:
            for name in ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments"):
                if name in span.attributes:
                    json.loads(str(span.attributes[name]))
            for message in json.loads(str(span.attributes.get("gen_ai.output.messages", "[]"))):
                calls = [part for part in message["parts"] if part["type"] == "tool_call"]
                assert all(isinstance(part["arguments"], dict) for part in calls)


@each_family
def test_a_stopped_turn_is_no_error(family: str) -> None:
    for folder in families()[family]:
        found, _ = followed(folder)
        for turn in (
            span for span in found if span.attributes.get("turnwire.outcome") in ("interrupted", "completed")
        ):
            assert turn.error is None
            (agent,) = [span for span in of(found, "invoke_agent") if span.parent_id == turn.span_id]
            assert agent.error is None
            if turn.attributes["turnwire.outcome"] == "interrupted":
                below = [span for span in found if span.trace_id == turn.trace_id]
                failed = {str(span.attributes.get("error.type")) for span in below if span.error is not None}
                # what was refused before the stop has failed
                assert failed <= {"denied", "failed", "None"}, folder
                assert not [span for span in of(below, "chat") if span.error is not None], folder


@pytest.mark.parametrize("prompted", [True, False])
def test_a_turn_without_a_context_of_its_own_is_below_the_sessions_caller(*, prompted: bool) -> None:
    caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    life = origin_of("s", prompt=False, parent=caller)
    told: list[ev.AgentEvent] = [
        ev.TraceContext(traceparent=life.traceparent, parent=caller),
        ev.ProcessStatus(state="started"),
    ]
    for number in (1, 2):
        told += [
            ev.TurnStarted(operation_id=f"turn-{number}", origin="user" if prompted else "background"),
            ev.Complete(
                operation_id=f"turn-{number}", data=ev.CompleteData(outcome="completed", is_error=False)
            ),
        ]
    kept = []
    for _ in range(2):
        export = MemoryExport()
        maker = SpanMaker("s", export=export)
        for at, event in enumerate(told):
            maker.handle(Announced(event), [event], at)
        kept.append(export.spans())
    assert kept[0] == kept[1]
    turns = [span for span in kept[0] if span.name == "streamjson.prompt"]
    assert [(f"{span.trace_id:032x}", f"{span.parent_id:016x}") for span in turns] == [
        tuple(caller.split("-")[1:3])
    ] * 2
    assert len({span.span_id for span in kept[0]}) == len(kept[0])


def test_the_start_of_the_process_names_agent_and_provider() -> None:
    export = MemoryExport()
    maker = SpanMaker("s", export=export)
    told: list[ev.AgentEvent] = [
        ev.ProcessStatus(state="started", agent="my-claude", provider="aws.bedrock"),
        ev.TurnStarted(operation_id="turn-1", origin="user"),
        ev.Complete(operation_id="turn-1", data=ev.CompleteData(outcome="completed", is_error=False)),
    ]
    for at, event in enumerate(told):
        maker.handle(Announced(event), [event], at)
    (agent,) = of(export.spans(), "invoke_agent")
    assert agent.name == "invoke_agent my-claude"
    assert agent.attributes["gen_ai.provider.name"] == "aws.bedrock"
