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
