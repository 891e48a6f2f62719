"""A CLI that does not know the conversation that the session's record names."""

import json
import sys
from pathlib import Path

import pytest
from host_harness import HostHarness, host_harness

from turnwire.hub.host import CommandRefused
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize import events as ev
from turnwire.sessions.new_session import NewSession
from turnwire.sessions.records.options import with_options
from turnwire.sessions.records.resume_point import NEW, ResumePoint

AGENT = """
import json, pathlib, sys, uuid
files = pathlib.Path(__file__).parent / "files"
files.mkdir(exist_ok=True)
asked = next((one.partition("=")[2] for one in sys.argv if one.startswith("--resume=")), None)
with open(files.parent / "asked", "a") as log: log.write(json.dumps(asked) + "\\n")
named = str(uuid.uuid4())
say = lambda **line: print(json.dumps({"session_id": named, "uuid": str(uuid.uuid4()), **line}), flush=True)
if asked and not (files / asked).exists():
    say(type="result", subtype="error_during_execution", is_error=True, errors=["No conversation found"], duration_ms=1, num_turns=0)
    sys.exit("No conversation found with session ID: " + asked)
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "control_request":
        say(type="control_response", response={"subtype": "success", "request_id": said["request_id"], "response": {}})
    if said["type"] != "user": continue
    say(type="system", subtype="init", model="m", tools=[], cwd="/", permissionMode="default")
    words = json.dumps(said["message"]["content"])
    if "die" in words: sys.exit(7)
    if "save" in words: (files / named).touch()
    say(type="assistant", message={"id": "msg-" + words, "role": "assistant", "content": [{"type": "text", "text": "heard " + words}]}, parent_tool_use_id=None)
    say(type="result", subtype="success", is_error=False, result="heard " + words, duration_ms=1, num_turns=1)
"""


def started(here: HostHarness) -> list[str | None]:
    """The conversations that CLIs were started with."""
    return [json.loads(line) for line in (here.folder / "asked").read_text().splitlines()]


def agents(folder: Path) -> dict[str, object]:
    (folder / "forgets.py").write_text(AGENT)
    # it is asked for its version first, which is not one of its starts
    wrapper = folder / "claude"
    wrapper.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exec echo "2.1.139 (Claude Code)"\nexec {sys.executable} {folder}/forgets.py "$@"\n'
    )
    wrapper.chmod(0o755)
    return {"forgets": [str(wrapper)]}


async def test_a_session_goes_on_with_the_conversation_that_its_cli_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch, agents=agents(tmp_path)) as here:
        (tmp_path / "files").mkdir()
        (tmp_path / "files" / "given").touch()
        wanted = NewSession(agent="forgets", workspace=str(tmp_path))
        session = (await here.host.open(wanted, ResumePoint("given"))).session
        await here.do("prompt", session, text="hello")
        await here.until(session, ev.Complete)
        await here.do("prompt", session, text="die")
        await here.until(session, ev.ProcessStatus, 2)
        await here.do("prompt", session, text="again")
        seen = await here.until(session, ev.Complete, 4)
        assert started(here)[0] == started(here)[-1] == "given"
        assert len(started(here)) == 3
        said = [event.text for event in seen if isinstance(event, ev.Notice)]
        assert any("goes on with given" in (text or "") for text in said)
        assert any("again" in event.text for event in seen if isinstance(event, ev.MessageChunk))


async def test_a_session_without_an_answer_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch, agents=agents(tmp_path)) as here:
        session = await here.create("forgets")
        await here.do("prompt", session, text="die")
        await here.until(session, ev.ProcessStatus, 2)
        await here.do("prompt", session, text="hello")
        seen = await here.until(session, ev.MessageChunk)
        assert [type(one) for one in started(here)] == [type(None), str, type(None)]
        assert any("a new one begins" in (event.text or "") for event in seen if isinstance(event, ev.Notice))


async def test_a_conversation_that_is_gone_with_its_answers_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch, agents=agents(tmp_path)) as here:
        session = await here.create("forgets")
        await here.do("prompt", session, text="save this")
        await here.until(session, ev.Complete)
        await here.do("session.close", session)
        (file,) = (tmp_path / "files").iterdir()
        file.unlink()
        with pytest.raises(CommandRefused):
            await here.do("prompt", session, text="hello")
        seen = await here.until(session, ev.Notice, 2)
        (notice,) = [
            event for event in seen if isinstance(event, ev.Notice) and event.kind == "conversation_unknown"
        ]
        assert "begin a new session" in (notice.text or "")
        file.touch()
        await here.do("prompt", session, text="is it back?")
        await here.until(session, ev.MessageChunk, 2)
        assert started(here)[-1] == file.name


def test_a_branch_does_not_go_on_in_the_conversation_that_it_left() -> None:
    branch = ResumePoint("parent", branch=True)
    claim = {"conversation": "child", "since": 1.0, "resumed": True, "origin": "parent"}
    record = with_options(
        SessionRecord(session="s", created="", cli_session_id="child"), origin=branch.json(), claim=claim
    )
    assert ResumePoint("child").without(record) == branch
    answered = SessionRecord(
        session="s", created="", last_message_uuid="u", cli_session_id="child", options=record.options
    )
    assert ResumePoint("child").without(answered) is None
    assert NEW.without(answered) is None
