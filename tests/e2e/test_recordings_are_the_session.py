"""A session of the real CLI, recorded and traced: translating, replaying and exporting the recording give it again."""

from pathlib import Path

import pytest
from otlp_collector import Span, otlp_collector

from live import journaled, real_setup, running
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client.events import PermissionRequest, ToolUpdate
from turnwire_process import lines_of


def told(spans: list[Span]) -> list[tuple[object, ...]]:
    """Everything that a viewer shows of spans."""
    return [
        (one.trace_id, one.span_id, one.parent_id, one.name, one.start, one.end, one.attributes, one.events)
        for one in spans
    ]


@pytest.mark.long
async def test_live_and_replayed_are_the_same_bytes_and_the_same_spans(tmp_path: Path) -> None:
    path = str(tmp_path / "project" / "hello.txt")
    prompt = plan(
        [text("I write it."), tool_use("Write", file_path=path, content="hello\n")],
        [tool_use("Bash", command="cat hello.txt; exit 3", description="Show it, and fail")],
        [text("The end.")],
        note="write and show",
    )
    recordings = tmp_path / "recordings"
    with scripted_messages_api() as api, otlp_collector(tmp_path) as collector:
        setup = real_setup(tmp_path, api, str)
        traced = collector.environment("grpc")
        options = ("--record", "--record-dir", str(recordings))
        async with running(tmp_path, setup, *options, **traced) as (frontend, _):
            await frontend.turn(prompt)
            await frontend.turn(plan([text("Once more.")]))
        assert frontend.seen(PermissionRequest)
        assert [update.tool_status for update in frontend.seen(ToolUpdate)] == ["complete", "error"]

        live = await journaled(tmp_path, frontend.session)
        assert len(live) > 30
        (raw,) = recordings.glob("raw-streamjson-*.jsonl")
        assert await lines_of(tmp_path, setup.env, "translate", str(raw)) == live
        assert await lines_of(tmp_path, setup.env, "replay", "--speed", "0", str(raw)) == live

        sent = collector.spans()
        for protocol in ("grpc", "http/protobuf"):
            before = len(collector.spans())
            env = setup.env | collector.environment(protocol)
            await lines_of(tmp_path, env, "replay", "--otlp", str(raw))
            assert told(collector.spans()[before:]) == told(sent)

    known = {span.span_id: span for span in sent}
    (bash,) = [span for span in sent if span.name == "execute_tool Bash"]
    assert bash.error
    assert bash.attributes["error.type"] == "failed"
    assert known[bash.parent_id].name.startswith("invoke_agent")
    chats = [span for span in sent if span.name.startswith("chat ")]
    assert len(chats) == 4  # three API messages in the first turn, one in the second
    for chat in chats:
        assert chat.attributes["gen_ai.usage.input_tokens"] > 0
        assert chat.attributes["gen_ai.usage.output_tokens"] > 0
        assert chat.attributes["gen_ai.response.time_to_first_chunk"] > 0
        assert chat.attributes["gen_ai.response.finish_reasons"] in (["end_turn"], ["tool_use"])
        assert known[chat.parent_id].start <= chat.start <= chat.end <= known[chat.parent_id].end
    assert "gen_ai.output.messages" not in chats[0].attributes  # content is for those who ask for it
