"""`import turnwire` as a library: translate, run an agent, serve a hub, each without what it does not need."""

import asyncio
import inspect
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import turnwire
from agent_process import DEADLINE, agent_command
from recordings import ROOT, recording
from turnwire.client import connect
from turnwire.events import AgentEvent, Complete, MessageChunk, PermissionRequest, QuestionRequest, to_json

TEXTS = """
turns:
  - match: ask
    steps:
      - tool: Bash
        input: {command: "make"}
        permission: true
        result: done
      - text: "Asked."
  - match: question
    steps:
      - ask:
          - question: Which?
            header: Which
            options: [{label: this, description: one}, {label: that, description: other}]
            multiSelect: false
      - text: "Thanks."
  - match: long
    steps: [{text: "Working."}, {wait: 900}]
  - steps: [{text: "Hello."}]
"""


def loaded(statement: str) -> set[str]:
    """The modules that a fresh Python has after a statement."""
    code = f"import json, sys\nbefore = set(sys.modules)\n{statement}\nprint(json.dumps(sorted(set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_it_loads_nothing_else() -> None:
    assert loaded("import turnwire") == {"turnwire"}


def test_translating_loads_no_pydantic_and_no_event_loop() -> None:
    path = recording("2.1.330", "plain-text").folder
    modules = loaded(f"import turnwire\nassert list(turnwire.translate({str(path)!r}))")
    tops = {name.partition(".")[0] for name in modules}
    assert not tops & {"pydantic", "asyncio", "websockets", "structlog", "opentelemetry"}
    assert not {name for name in modules if name.startswith(("turnwire.sidecar", "turnwire.hub"))}


def test_each_name_that_it_offers_is_there_and_no_other_is() -> None:
    assert set(turnwire.__all__) <= set(dir(turnwire))
    assert [name for name in turnwire.__all__ if getattr(turnwire, name) is None] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing_such'"):
        _ = turnwire.nothing_such


def test_no_signature_names_what_is_not_public() -> None:
    calls: list[Callable[..., object]] = [turnwire.translate, turnwire.open_session, turnwire.open_hub]
    for kind in (turnwire.Session, turnwire.Hub):
        calls += [each for name, each in vars(kind).items() if callable(each) and not name.startswith("_")]
        calls += [each.fget for each in vars(kind).values() if isinstance(each, property) and each.fget]
    public = {id(getattr(turnwire, name)) for name in turnwire.__all__}
    for call in calls:
        for hint in get_type_hints(inspect.unwrap(call)).values():
            for named in (hint, *getattr(hint, "__args__", ())):
                module = getattr(named, "__module__", "")
                is_ours = module.startswith("turnwire") and not module.startswith("turnwire.normalize.events")
                assert not is_ours or id(named) in public, (call, named)


@pytest.mark.parametrize("scenario", ["plain-text", "perm-allow"])
def test_a_recording_and_its_output_in_any_pieces_give_the_events_that_are_expected(scenario: str) -> None:
    folder = recording("2.1.330", scenario).folder
    golden = (ROOT / "tests/normalize/goldens/2.1.330" / f"{scenario}.jsonl").read_text().splitlines()
    told = [json.loads(to_json(event)) for event in turnwire.translate(folder)]
    assert [each["type"] for each in told] == [json.loads(line)["type"] for line in golden]
    output = (folder / "stdout.jsonl").read_bytes()
    at_once = [*turnwire.translate([output])]
    assert [*turnwire.translate(bytes([byte]) for byte in output)] == at_once
    assert [*turnwire.translate(io.BytesIO(output))] == at_once
    assert [*turnwire.translate(output)] == at_once
    assert any(isinstance(event, Complete) for event in at_once)


def test_events_come_while_the_output_comes() -> None:
    lines = (
        (recording("2.1.330", "plain-text").folder / "stdout.jsonl").read_bytes().splitlines(keepends=True)
    )
    fed = list[bytes]()

    def output() -> Iterator[bytes]:
        for line in lines:
            fed.append(line)
            yield line

    next(turnwire.translate(output()))
    assert 0 < len(fed) < len(lines)


def test_what_no_agent_wrote_is_refused(tmp_path: Path) -> None:
    with pytest.raises(turnwire.TurnwireError, match="no line of it could be read"):
        list(turnwire.translate([b"hello\n", b"world\n"]))
    with pytest.raises(turnwire.TurnwireError, match="there is no such file"):
        list(turnwire.translate(tmp_path / "none.jsonl"))


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    (tmp_path / "script.yaml").write_text(TEXTS)
    return agent_command(tmp_path / "script.yaml")


async def answer_of(session: turnwire.Session, prompt: str) -> tuple[str, Complete]:
    """Say a prompt, allow and answer what is asked; the text, and the turn's end."""
    given, text = await session.prompt(prompt), ""
    async for event in session:
        match event:
            case MessageChunk():
                text += event.text
            case PermissionRequest():
                assert session.pending == (event.pending_id,)
                assert session.busy
                (allow,) = [each for each in event.permission_options if each.kind == "allow_once"]
                session.answer(event.pending_id, allow.option_id)
                with pytest.raises(turnwire.AnswerRefused):
                    session.answer(event.pending_id, allow.option_id)
            case QuestionRequest():
                assert event.questions is not None
                session.answer_question(event.pending_id, {event.questions[0].question: "this"})
            case Complete():
                assert given in (event.data.prompts or ())
                return text, event
            case _:
                pass
    raise AssertionError("it ended within the turn")


async def test_a_session_is_prompted_and_answered_turn_after_turn(script: list[str], tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE), turnwire.open_session(tmp_path, agent=script) as session:
        for prompt, text in (("hi", "Hello."), ("ask", "Asked."), ("question", "Thanks.")):
            said, end = await answer_of(session, prompt)
            assert (said.strip(), end.data.outcome) == (text, "completed")
        assert not session.busy
        session.finish()
        with pytest.raises(turnwire.TurnwireError, match="takes no more prompts"):
            await session.prompt("and then")
        left = [event.type async for event in session]
        assert left[-1:] == ["process_status"]
        assert "turn_started" not in left


async def test_a_question_is_declined(script: list[str], tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE), turnwire.open_session(tmp_path, agent=script) as session:
        await session.prompt("question")
        async for event in session:
            if isinstance(event, QuestionRequest):
                session.answer_question(event.pending_id, None, message="Not now.")
            if event.type == "permission_resolved":
                assert json.loads(to_json(event))["by"] == "program"
            if isinstance(event, Complete):
                break


async def test_a_turn_is_interrupted_and_the_session_goes_on(script: list[str], tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE), turnwire.open_session(tmp_path, agent=script) as session:
        await session.prompt("long")
        async for event in session:
            if isinstance(event, MessageChunk):  # it is in the turn
                break
        await session.interrupt()
        async for event in session:
            if isinstance(event, Complete):
                assert event.data.outcome == "interrupted"
                break
        assert (await answer_of(session, "hi"))[0].strip() == "Hello."


async def until_complete(session: turnwire.Session) -> AsyncIterator[AgentEvent]:
    async for event in session:
        yield event
        if isinstance(event, Complete):
            return


READER = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "control_request":
        answer = {"subtype": "success", "request_id": message["request_id"], "response": {}}
        print(json.dumps({"type": "control_response", "response": answer}), flush=True)
    elif message["type"] == "user":
        found = os.path.exists(os.environ["KEY"])
        print(json.dumps({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": []}))
        text = [{"type": "text", "text": f"the key is there: {found}"}]
        answer = {"id": "m1", "role": "assistant", "model": "m", "content": text}
        print(json.dumps({"type": "assistant", "session_id": "s", "message": answer}))
        said = {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "num_turns": 1}
        print(json.dumps({**said, "result": ""}), flush=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's")
async def test_a_session_is_held_by_a_sandbox(tmp_path: Path) -> None:
    workspace, key = tmp_path / "work", tmp_path / "home" / "key"
    workspace.mkdir()
    key.parent.mkdir()
    key.write_text("secret")
    (workspace / "agent.py").write_text(READER)
    command = [os.path.realpath(sys.executable), "-I", "-S", "agent.py"]
    variables = {"HOME": str(key.parent), "KEY": str(key)}
    seen = {}
    for level in ("off", "files"):
        async with (
            asyncio.timeout(DEADLINE),
            turnwire.open_session(workspace, agent=command, environment=variables, sandbox=level) as session,
        ):
            await session.prompt("look")
            texts = [event.text async for event in until_complete(session) if isinstance(event, MessageChunk)]
            seen[level] = "".join(texts)
    assert seen == {"off": "the key is there: True", "files": "the key is there: False"}


async def test_an_agent_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for agent in ("nobody", [str(tmp_path / "no-program")]):
        with pytest.raises(turnwire.TurnwireError, match="there is no"):
            async with turnwire.open_session(tmp_path, agent=agent):
                pass


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"agent": []}, "agent: the command line is empty"),
        ({"policy": "ask"}, "policy: 'ask' is none of autonomous, supervised, plan"),
        ({"answer_timeout": -1}, "answer_timeout: -1 must be seconds above 0"),
        ({"answer_timeout": float("nan")}, "answer_timeout: nan must be"),
        ({"sandbox": "networks"}, "sandbox: 'networks' is none of off, files, network"),
        ({"sandbox_hosts": "*.example.org"}, r"sandbox_hosts: give a list of hosts: \['\*.example.org'\]"),
        ({"sandbox_hosts": ["https://example.org"]}, "sandbox_hosts: 'https://example.org' is not a host"),
    ],
)
async def test_a_wrong_argument_of_a_session_is_named_before_anything_starts(
    given: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(turnwire.TurnwireError, match=complaint):
        async with turnwire.open_session(tmp_path, **{"agent": "demo", **given}):
            pass


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8


async def test_files_go_with_a_prompt_and_each_session_removes_its_own(
    script: list[str], tmp_path: Path
) -> None:
    async with asyncio.timeout(DEADLINE), turnwire.open_session(tmp_path, agent=script) as session:
        with pytest.raises(turnwire.TurnwireError, match=r"empty.png has 0 bytes"):
            await session.prompt("hi", attachments=[turnwire.Attachment(b"", "empty.png")])
        files = [turnwire.Attachment(PNG, "shot.png"), turnwire.Attachment(b"a,b\n", "table.csv")]
        await session.prompt("hi", attachments=files)
        (said,) = [each async for each in until_complete(session) if each.type == "user_message"]
        assert [each["media_type"] for each in json.loads(to_json(said))["parts"]] == ["image/png"]
        assert [path.read_bytes() for path in tmp_path.rglob("*table.csv")] == [b"a,b\n"]
        async with turnwire.open_session(tmp_path, agent=script) as other:
            await other.prompt("hi", attachments=files[1:])
            assert len([*tmp_path.rglob("*table.csv")]) == 2
        assert len([*tmp_path.rglob("*table.csv")]) == 1
    assert not [*tmp_path.rglob("*table.csv")]


async def test_a_hub_serves_inside_a_program_and_leaves_its_signals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    state = tmp_path / "state"
    async with (
        asyncio.timeout(DEADLINE),
        turnwire.open_hub(agent="demo", journal="memory", state_dir=state) as hub,
    ):
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
        assert f":{hub.port}/" in hub.url
        async with connect(hub.url, name="test") as client, connect(hub.view_url, name="view") as viewer:
            session = await client.create(prompt="/help")
            text = ""
            async for received in viewer.follow(session):
                event = getattr(received, "event", None)
                text += getattr(event, "text", "") or ""
                if getattr(event, "type", None) == "complete":
                    break
            assert "This is a scripted agent" in text


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"no_such": 1}, "^setting no_such: there is no such setting; docs/settings.md has the settings$"),
        ({"policy": "none"}, r"^setting policy: .* \(set by one of --policy, TURNWIRE_POLICY\)$"),
        ({"host": "192.0.2.1"}, "cannot listen|token"),
    ],
)
async def test_a_hub_that_cannot_be_says_why(
    tmp_path: Path, settings: dict[str, object], complaint: str
) -> None:
    given = {"journal": "memory", "state_dir": tmp_path / "state", **settings}
    with pytest.raises(turnwire.TurnwireError, match=complaint):
        async with turnwire.open_hub(**given):
            pass


async def test_the_error_of_the_programs_own_block_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        async with turnwire.open_hub(agent="demo", journal="memory", state_dir=tmp_path / "state"):
            raise KeyError("the caller's own")


def example(name: str | Path, *arguments: str, stdin: bytes = b"", folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/library" / name, *arguments],
        cwd=folder, input=stdin, capture_output=True, check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(folder), "XDG_STATE_HOME": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_the_example_that_translates(tmp_path: Path) -> None:
    folder = recording("2.1.330", "perm-allow").folder
    said = example("events_of.py", str(folder), folder=tmp_path)
    assert said.splitlines()[-1] == "turn ended: completed"
    output = (folder / "stdout.jsonl").read_bytes()
    assert "turn ended: completed" in example("events_of.py", stdin=output, folder=tmp_path)


@pytest.mark.long
def test_the_example_that_runs_an_agent(tmp_path: Path) -> None:
    said = example("one_session.py", "demo", "Make it friendlier", folder=tmp_path)
    assert "[allowed once: " in said
    assert said.splitlines()[-1] == "completed"


@pytest.mark.long
def test_the_example_that_serves_a_hub(tmp_path: Path) -> None:
    said = example("own_hub.py", "demo", "/help", folder=tmp_path)
    assert said.startswith("watch it at http://127.0.0.1:")
    assert said.splitlines()[-1] == "completed"


SNIPPETS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "library.md").read_text("utf-8"), re.DOTALL)


@pytest.mark.long
@pytest.mark.parametrize("number", range(3))
def test_the_snippets_of_the_page_run(number: int, tmp_path: Path) -> None:
    assert len(SNIPPETS) == 3
    output = (recording("2.1.330", "perm-allow").folder / "stdout.jsonl").read_bytes()
    (tmp_path / "recording.jsonl").write_bytes(output)
    program = tmp_path / "program.py"
    program.write_text(SNIPPETS[number])
    assert ("complete", "scripted agent", "http://127.0.0.1")[number] in example(program, folder=tmp_path)


def test_the_page_names_all_that_is_public() -> None:
    page = (ROOT / "docs" / "library.md").read_text("utf-8")
    members = [
        name for kind in (turnwire.Session, turnwire.Hub) for name in vars(kind) if not name.startswith("_")
    ]
    assert [name for name in (*turnwire.__all__, *members) if name not in page] == []


@pytest.mark.parametrize("name", ["acp/*/*", "native/gemini-*/plain-text"])
def test_lines_of_every_family_are_translated(name: str) -> None:
    stdout = min((ROOT / "fixtures").glob(f"{name}/stdout.jsonl"))
    events = [*turnwire.translate([stdout.read_bytes()])]
    assert "unknown" not in {event.type for event in events}
    assert "complete" in {event.type for event in events}
