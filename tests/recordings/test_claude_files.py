"""Files of Claude Code that hold copies, damage, other agents' words and other services' ids."""

import json
from pathlib import Path

import pytest

from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import new_core
from turnwire.normalize.recordings.session_files import ConversationSummary
from turnwire.recordings.reading import read
from turnwire.recordings.session_file import format_of, survey_of


class Lines:
    """Records of a session file, each below the one before it."""

    def __init__(self, session: str = "elm", **common: object) -> None:
        self.session, self.common = session, common
        self.lines: list[bytes] = []
        self.last: str | None = None

    def add(self, kind: str, **more: object) -> str:
        number = len(self.lines) + 1
        line: dict[str, object] = {
            "type": kind,
            "uuid": f"{self.session}-{number}",
            "parentUuid": self.last,
            "sessionId": self.session,
            "cwd": "/orchard",
            "timestamp": f"2026-03-04T05:{number // 60:02}:{number % 60:02}.000Z",
            **self.common,
            **more,
        }
        self.lines.append(json.dumps(line).encode() + b"\n")
        self.last = str(line["uuid"])
        return self.last

    def asks(self, text: object, **more: object) -> str:
        return self.add("user", message={"role": "user", "content": text}, **more)

    def result(self, call: str, **more: object) -> str:
        return self.asks([{"type": "tool_result", "tool_use_id": call, "content": "ok"}], **more)

    def says(
        self,
        what: str,
        message: str | None = None,
        *,
        call: bool = False,
        usage: object = None,
        **more: object,
    ) -> str:
        block: object = {"type": "text", "text": what}
        if call:
            block = {"type": "tool_use", "id": what, "name": "Bash", "input": {"command": "ls"}}
        told = {
            "id": message or f"msg-{what}",
            "role": "assistant",
            "model": "claude-x",
            "content": [block],
            "usage": usage or {"input_tokens": 1, "output_tokens": 7},
        }
        return self.add("assistant", message=told, **more)

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(self.lines))
        return path


def events_of(path: Path) -> list[AgentEvent]:
    core = new_core()
    return [event for timed in read(path) for event in core.handle(timed.input)]


def outline(path: Path) -> ConversationSummary:
    found = format_of(path)
    assert found is not None
    return survey_of(path, found.files).outline()


def written_tokens(path: Path) -> int:
    return sum(answer.output_tokens for answer in outline(path).answers)


def test_answers_of_one_message_id_are_told_apart_by_their_requests(tmp_path: Path) -> None:
    file = Lines()
    file.asks("go")
    for number in range(3):
        file.says(f"part {number}", "same", requestId=f"r{number}")
        file.says(f"c{number}", "same", call=True, requestId=f"r{number}")
        file.result(f"c{number}")
    assert written_tokens(file.write(tmp_path / "elm.jsonl")) == 21


def test_answers_of_one_message_id_without_requests_are_told_apart_by_what_is_between(tmp_path: Path) -> None:
    file = Lines()
    file.asks("go")
    file.says("one", "same")
    first = file.says("c1", "same", call=True)
    file.result("c1")
    second = file.says("c2", "same", call=True, parentUuid=first)  # of the first answer: calls in parallel
    file.result("c2", parentUuid=second)
    file.says("two", "same")
    file.asks("go on")
    file.says("two", "same")
    assert written_tokens(file.write(tmp_path / "elm.jsonl")) == 21


def test_answers_without_any_id_are_their_records_and_copies_of_these_count_once(tmp_path: Path) -> None:
    file = Lines()
    file.asks("go")
    for text in ("one", "two"):
        usage = {"input_tokens": 1, "output_tokens": 7}
        message = {"model": "claude-x", "content": [{"type": "text", "text": text}], "usage": usage}
        file.add("assistant", message=message)
    file.lines += file.lines[1:]
    assert written_tokens(file.write(tmp_path / "elm.jsonl")) == 14


def test_a_replay_under_another_request_counts_once(tmp_path: Path) -> None:
    file = Lines()
    file.asks("go")
    file.says("one", "m1", requestId="r1", timestamp="2026-03-04T05:06:07.000Z")
    file.says("one", "m1", requestId="r2", timestamp="2026-03-04T05:06:07.000Z")
    file.says("c1", "m1", call=True, requestId="r2")
    file.write(tmp_path / "elm.jsonl")
    aside = Lines("aside", sessionId="elm", isSidechain=True, agentId="a7")
    aside.asks("go")
    aside.says("one", "m1", requestId="r8")
    aside.says("by the way", "m2", requestId="r9")
    aside.write(tmp_path / "elm" / "subagents" / "agent-a7.jsonl")
    assert written_tokens(tmp_path / "elm.jsonl") == 14


def test_a_subagent_behind_a_gateway_has_answers_of_its_own(tmp_path: Path) -> None:
    file = Lines()
    file.asks("go")
    file.says("one", "same")
    file.write(tmp_path / "elm.jsonl")
    aside = Lines("aside", sessionId="elm", isSidechain=True, agentId="a7")
    aside.asks("look")
    aside.says("two", "same")
    aside.write(tmp_path / "elm" / "subagents" / "agent-a7.jsonl")
    assert written_tokens(tmp_path / "elm.jsonl") == 14


@pytest.mark.parametrize(
    "half", [b"", b'{"type":"user","uuid":"lost","message":{"ro', b'{"type":"user","message":']
)
@pytest.mark.parametrize("nuls", [b"", b"\0" * 700])
def test_a_record_behind_damage_in_its_line_is_read(tmp_path: Path, half: bytes, nuls: bytes) -> None:
    file = Lines()
    file.asks("plum 1")
    file.says("one")
    file.asks("plum 2")
    file.says("two")
    file.lines[2] = half + nuls + file.lines[2]
    path = file.write(tmp_path / "elm.jsonl")
    events = events_of(path)
    assert [one.text for one in events if isinstance(one, ev.UserMessage)] == ["plum 1", "plum 2"]
    assert [one.text for one in events if isinstance(one, ev.MessageChunk)] == ["one", "two"]
    assert outline(path).unreadable == bool(half)


def workflow(path: Path, *, result: object, runs: tuple[str, ...] = ("wf_1a-b", "wf_2c")) -> Path:
    """Write a session with two workflows whose agents have files a folder deeper."""
    file = Lines()
    file.asks("review")
    for run in runs:
        call = {"type": "tool_use", "id": f"call-{run}", "name": "Workflow", "input": {"script": "…"}}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": f"m-{run}", "model": "claude-x", "content": [call], "usage": usage}
        file.add("assistant", message=message)
        told = result(run) if callable(result) else result
        file.result(f"call-{run}", toolUseResult=told)
        aside = Lines(
            f"aside-{run}",
            sessionId="elm",
            isSidechain=True,
            agentId=f"a{run}",
            timestamp="2026-03-04T06:00:00.000Z",
        )
        aside.asks("look")
        aside.says(f"found by {run}")
        aside.write(path / "elm" / "subagents" / "workflows" / run / "step" / f"agent-a{run}.jsonl")
    return file.write(path / "elm.jsonl")


@pytest.mark.parametrize(
    "named", [lambda run: {"runId": run}, lambda run: f"Workflow started: {run} (task w1)"]
)
def test_agents_of_a_workflow_are_below_its_call(tmp_path: Path, named: object) -> None:
    path = workflow(tmp_path, result=named)
    nested = [one for one in events_of(path) if isinstance(one, ev.MessageChunk)]
    assert {one.text: one.parent_tool_call_id for one in nested} == {
        "found by wf_1a-b": "call-wf_1a-b",
        "found by wf_2c": "call-wf_2c",
    }
    assert written_tokens(path) == 16


def test_a_run_that_no_result_names_is_of_the_only_workflow_or_of_none(tmp_path: Path) -> None:
    one = workflow(tmp_path / "one", result="started", runs=("wf_9",))
    assert [each.parent_tool_call_id for each in events_of(one) if isinstance(each, ev.MessageChunk)] == [
        "call-wf_9"
    ]
    two = workflow(tmp_path / "two", result="started")
    assert not [each for each in events_of(two) if isinstance(each, ev.MessageChunk)]
    assert written_tokens(two) == 16


def test_agents_that_only_warm_up_count_for_the_session_that_they_name(tmp_path: Path) -> None:
    for session in ("elm", "oak"):
        file = Lines(session)
        file.asks("go")
        file.says("done")
        file.write(tmp_path / f"{session}.jsonl")
    for name, session in (("a1", "elm"), ("a2", "elm"), ("a3", "oak")):
        aside = Lines(name, sessionId=session, isSidechain=True, agentId=name)
        aside.asks("Warmup")
        aside.says(f"ready {name}")
        aside.write(tmp_path / f"agent-{name}.jsonl")
    (tmp_path / "agent-a4.jsonl").write_bytes(b"")
    (tmp_path / "agent-a5.jsonl").symlink_to(tmp_path / "agent-a1.jsonl")
    assert (written_tokens(tmp_path / "elm.jsonl"), written_tokens(tmp_path / "oak.jsonl")) == (21, 14)
    assert outline(tmp_path / "elm.jsonl").first_prompt == "go"


def test_an_advisors_tokens_count_for_its_own_model(tmp_path: Path) -> None:
    steps = [
        {"type": "message", "output_tokens": 3},
        {"type": "advisor_message", "model": "claude-wise", "input_tokens": 500, "output_tokens": 40},
        {"type": "fallback_message", "model": "claude-y", "output_tokens": 9},
        {"type": "advisor_message", "input_tokens": 5, "output_tokens": 4},
    ]
    usage = {"input_tokens": 1, "output_tokens": 7, "iterations": steps}
    file = Lines()
    file.asks("which fence")
    thought = {
        "id": "m1",
        "model": "claude-x",
        "content": [{"type": "thinking", "thinking": "…"}],
        "usage": usage,
    }
    file.add("assistant", message=thought, requestId="r1", advisorModel="claude-sage")
    for word in ("oak", "or elm"):
        file.says(word, "m1", usage=usage, requestId="r1", advisorModel="claude-sage")
    path = file.write(tmp_path / "elm.jsonl")
    (complete,) = [one for one in events_of(path) if isinstance(one, ev.Complete)]
    assert complete.data.output_tokens == 7
    took = [(one.model, one.input_tokens, one.output_tokens) for one in outline(path).answers]
    assert took == [("claude-x", 1, 7), ("claude-wise", 500, 40), ("claude-sage", 5, 4)]


@pytest.mark.parametrize("row", ["stop_hook_summary", None])
def test_a_past_that_is_written_again_is_no_branch(tmp_path: Path, row: str | None) -> None:
    file = Lines()
    for number in (1, 2):
        file.asks(f"plum {number}")
        old = file.says(f"answer {number}")
    past = list(file.lines)
    file.add(
        "system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=old, content="compacted"
    )
    file.asks("plum 3")
    file.says("answer 3")
    file.lines += past
    if row is not None:
        old = file.add("system", subtype=row, parentUuid=old)
    file.add(
        "system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=old, content="compacted"
    )
    file.asks("plum 4")
    file.says("answer 4")
    path = file.write(tmp_path / "elm.jsonl")
    events = events_of(path)
    assert [one.text for one in events if isinstance(one, ev.UserMessage)] == [
        f"plum {n}" for n in (1, 2, 3, 4)
    ]
    assert [one.text for one in events if isinstance(one, ev.MessageChunk)] == [
        f"answer {n}" for n in (1, 2, 3, 4)
    ]
    assert sum(isinstance(one, ev.CompactBoundary) for one in events) == 2
    assert outline(path).branches == []
    assert written_tokens(path) == 28


def test_what_a_harness_writes_is_no_prompt_of_a_person(tmp_path: Path) -> None:
    opened = "<ide_opened_file>The user opened /orchard/a.py.</ide_opened_file>"
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    file = Lines()
    file.asks("<ide_selection>lines 1 to 2</ide_selection>")
    file.asks([{"type": "text", "text": opened}, {"type": "text", "text": "prune it"}])
    file.says("pruned")
    file.asks('<teammate-message teammate_id="kit">a wasp</teammate-message>')
    file.says("a wasp then")
    file.asks("look", origin={"kind": "peer", "from": "kit"})
    file.says("looked")
    file.asks("<task-notification>\n<status>completed</status>\n</task-notification>")
    file.says("it ended")
    file.asks(
        f"and <b> water it\n<system-reminder>be brief</system-reminder>\n{opened}", origin={"kind": "human"}
    )
    file.says("watered")
    file.asks([{"type": "text", "text": opened}, picture])
    file.says("a picture")
    path = file.write(tmp_path / "elm.jsonl")
    asked = [(one.text, one.synthetic) for one in events_of(path) if isinstance(one, ev.UserMessage)]
    assert asked == [
        ("prune it", None),
        ('<teammate-message teammate_id="kit">a wasp</teammate-message>', True),
        ("look", True),
        ("and <b> water it", None),
        ("", None),
    ]
    assert outline(path).first_prompt == "prune it"
    assert outline(path).turns == 6
