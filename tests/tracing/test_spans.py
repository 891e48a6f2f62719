"""The session's own trace, which the CLI joins."""

import pytest
from exported_spans import Exported, MemoryExport

from recordings import recording
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Announced, Ended, Received
from turnwire.protocol.claude.decode import decode
from turnwire.recordings.reading import read
from turnwire.tracing.export.spans import origin_of
from turnwire.tracing.spans.maker import WAITING, SpanMaker

LINE = b'{"type":"keep_alive"}'


CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
COMPLETE = ev.CompleteData(outcome="completed", is_error=False)


def context(prompt: str | None = None, caller: str | None = None) -> ev.TraceContext:
    """What a live session of this name announces."""
    chosen = origin_of("s-1", prompt=prompt is not None, parent=caller, tracestate="vendor=1")
    return ev.TraceContext(
        traceparent=chosen.traceparent, prompt=prompt, parent=chosen.parent, tracestate=chosen.tracestate
    )


def ids(span: Exported) -> str:
    return f"00-{span.trace_id:032x}-{span.span_id:016x}-01"


def started(pid: int) -> ev.ProcessStatus:
    return ev.ProcessStatus(state="started", pid=pid)


def feed(maker: SpanMaker, *said: AgentEvent | Ended | None) -> None:
    """Have things happen: what is announced, lines (None) and ends."""
    for at, one in enumerate(said):
        match one:
            case None:
                maker.handle(Received(LINE, decode(LINE)), [], at)
            case Ended():
                maker.handle(one, [], at)
            case _:
                maker.handle(Announced(one), [one], at)


def lives(export: MemoryExport) -> list[Exported]:
    return [span for span in export.spans() if span.name == "turnwire.session"]


def test_the_agent_gets_the_trace_context_of_its_own_span() -> None:
    export = MemoryExport()
    told = context()
    feed(SpanMaker("s-1", export=export), told, started(7), None, Ended("exited", exit_code=0))
    (life,) = lives(export)
    assert ids(life) == told.traceparent
    assert (life.start, life.end, life.parent_id) == (0, 3, None)


def test_a_session_has_one_trace_and_another_has_another() -> None:
    assert context().traceparent[:35] == context().traceparent[:35]
    assert context().traceparent != context().traceparent
    other = origin_of("s-2", prompt=False).traceparent
    assert other[:35] != context().traceparent[:35]


@pytest.mark.parametrize("caller", ["", "00-abc", "00-" + "0" * 32 + "-b7ad6b7169203331-01", CALLER[:-3]])
def test_a_caller_that_is_not_well_formed_is_left_out(caller: str) -> None:
    told = context(caller=caller)
    assert told.parent is None
    assert told.tracestate is None


def test_the_cli_is_told_what_the_sampler_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    assert context().traceparent.endswith("-00")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
    assert context(caller=CALLER).traceparent.endswith("-01")
    assert context(caller=CALLER[:-2] + "00").traceparent.endswith("-00")


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("killed", [True, False])
def test_lives_of_a_session_have_ids_of_their_own_and_a_replay_the_same(*, told: bool, killed: bool) -> None:
    first = [context()] if told else []
    second = [context()] if told else []
    end = [] if killed else [Ended("stopped", signal="SIGKILL")]
    renamed = ev.Notice(kind="title", level="info", text="renamed")
    # the same process id twice, as in a container
    happened = [*first, started(7), None, *end, renamed, renamed, *second, started(7), None, Ended("exited")]
    export, again = MemoryExport(), MemoryExport()
    feed(SpanMaker("s-1", export=export), *happened)
    feed(SpanMaker("s-1", export=again), *happened)
    assert len(lives(export)) == 2
    found = [ids(span) for span in export.spans()]
    assert len(set(found)) == len(found)
    assert [ids(span) for span in again.spans()] == found


def test_a_sidecar_that_was_restarted_goes_on_with_other_ids() -> None:
    first, second = context(), context()
    renamed = ev.Notice(kind="title", level="info", text="renamed")
    whole = [first, started(7), None, renamed, second, started(7), None, Ended("exited")]
    replayed, before, after = MemoryExport(), MemoryExport(), MemoryExport()
    feed(SpanMaker("s-1", export=replayed), *whole)
    feed(SpanMaker("s-1", export=before), *whole[:4])
    feed(SpanMaker("s-1", export=after), *whole[4:])
    live = [ids(span) for span in (*before.spans(), *after.spans())]
    assert len(set(live)) == len(live)
    # a replay knows more: the life whose end nobody saw
    assert set(live) < {ids(span) for span in replayed.spans()}
    assert len(lives(replayed)) == 2


def test_turns_of_one_number_in_two_lives_have_ids_of_their_own() -> None:
    """After a restart a session whose log is gone counts its turns from one again; a trace may go on, its spans may not repeat."""
    turn: list[AgentEvent] = [
        ev.TurnStarted(operation_id="turn-1", origin="user"),
        ev.Complete(operation_id="turn-1", data=COMPLETE),
    ]
    export = MemoryExport()
    for _ in range(2):
        feed(SpanMaker("s-1", export=export), context(), started(7), *turn, Ended("exited"))
    prompts = [span for span in export.spans() if span.name == "streamjson.prompt"]
    assert len(prompts) == 2
    assert len({ids(span) for span in prompts}) == 2


def test_a_turn_is_below_its_caller_and_linked_to_the_session() -> None:
    export = MemoryExport()
    life, prompt = context(), context("p-1", CALLER)
    begun = ev.TurnStarted(operation_id="turn-1", origin="user", prompts=["p-1"])
    done = ev.Complete(operation_id="turn-1", data=COMPLETE)
    feed(SpanMaker("s-1", export=export), life, started(7), prompt, begun, done)
    (root,) = [span for span in export.spans() if span.name == "streamjson.prompt"]
    assert ids(root) == prompt.traceparent
    assert ids(root)[:35] == CALLER[:35]
    assert f"{root.parent_id:016x}" == CALLER[36:52]
    assert [f"00-{trace:032x}-{span:016x}-01" for trace, span in root.links] == [life.traceparent]
    assert {span.trace_id for span in export.spans() if "turn-1" in span.attributes.values()} == {
        root.trace_id
    }


def test_a_turns_error_is_in_its_trace_with_type_status_and_message() -> None:
    export = MemoryExport()
    begun = ev.TurnStarted(operation_id="turn-1", origin="user")
    failed = ev.CompleteData(outcome="error", is_error=True)
    done = ev.Complete(operation_id="turn-1", data=failed, error="overloaded")
    error = ev.Error(operation_id="turn-1", error="overloaded", code="server_error", status=529)
    feed(SpanMaker("s-1", export=export), begun, done, error)
    (root,) = [span for span in export.spans() if span.name == "streamjson.prompt"]
    (told,) = [span for span in export.spans() if span.name == "streamjson.error"]
    assert (told.trace_id, told.parent_id) == (root.trace_id, root.span_id)
    assert told.error == "overloaded"
    assert told.attributes["error.type"] == "server_error"
    assert told.attributes["error.message"] == "overloaded"
    assert told.attributes["http.response.status_code"] == 529


def test_a_strange_trace_context_of_a_recording_is_passed_over() -> None:
    export = MemoryExport()
    strange = [ev.TraceContext(traceparent=text) for text in ("", "00-x-y-01", "00-" + "0" * 32 + "-1-01")]
    feed(SpanMaker("s-1", export=export), *strange, started(7), None, Ended("exited"))
    assert len(lives(export)) == 1


def test_of_prompts_without_a_turn_only_so_many_are_remembered() -> None:
    maker = SpanMaker("s-1", export=MemoryExport())
    feed(maker, *(context(f"p-{number}") for number in range(WAITING + 5)))
    assert len(maker._origins) == WAITING


@pytest.mark.parametrize(
    ("agent", "model", "provider"),
    [
        (None, "some-model", "anthropic"),
        ("gemini-cli", "auto", "gcp.gemini"),
        ("@agentclientprotocol/claude-agent-acp", None, "anthropic"),
        ("OpenCode", "anthropic/claude-sonnet-5", "anthropic"),
        ("copilot-agent", "gpt-5.2", "openai"),
        ("copilot-agent", None, "github.copilot"),
        ("somebody's own", "somebody's", "unknown"),
    ],
)
def test_spans_name_who_is_asked_for_the_model(agent: str | None, model: str | None, provider: str) -> None:
    export = MemoryExport()
    maker = SpanMaker("s-1", export=export, agent="tester")
    events: list[list[AgentEvent]] = [
        [ev.SessionInfo(agent_name=agent, model=model, session_id="a-1")],
        # what comes later need not say it again
        [ev.SessionInfo(permission_mode="plan", session_id="a-1")],
        [ev.TurnStarted(operation_id="turn-1", origin="user")],
        [ev.Complete(operation_id="turn-1", data=ev.CompleteData(outcome="completed", is_error=False))],
    ]
    for at, happened in enumerate(events):
        maker.handle(Received(LINE, decode(LINE)), happened, at)
    (span,) = [span for span in export.spans() if span.name == "invoke_agent tester"]
    assert span.attributes["gen_ai.provider.name"] == provider
    assert span.attributes.get("gen_ai.request.model") == model
    assert span.attributes["gen_ai.conversation.id"] == "a-1"


def test_a_call_of_the_model_whose_beginning_was_not_heard_is_told_by_what_it_said() -> None:
    def chats(*, whole: bool) -> list[Exported]:
        core, export = ClaudeCore(), MemoryExport()
        maker = SpanMaker("s", export=export)
        for timed in read(recording("2.1.330", "partial-messages").folder):
            item = timed.input
            if whole or not (isinstance(item, Received) and b'"message_start"' in item.line):
                maker.handle(item, core.handle(item), round((timed.at or 0) * 1e9))
        return [span for span in export.spans() if span.name.startswith("chat ")]

    heard, unheard = chats(whole=True), chats(whole=False)
    assert len(heard) == len(unheard) > 0
    assert all("gen_ai.request.stream" in span.attributes for span in heard)
    assert not any("gen_ai.request.stream" in span.attributes for span in unheard)
    ends = "gen_ai.response.finish_reasons"
    assert [span.attributes.get(ends) for span in unheard] == [span.attributes.get(ends) for span in heard]
