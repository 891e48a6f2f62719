"""Records of Codex: what code mode ran, forks, copies, lines that stand twice, and what an editor adds to a prompt."""

from collections.abc import Sequence

import pytest
from rollouts import Rollout

from turnwire.normalize import events as ev
from turnwire.normalize.acp.session_files.agents import RECORDS
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.recordings.session_files import ConversationSummary

POND, LAKE = "90d00000-0000-7000-8000-000000000001", "1a4e0000-0000-7000-8000-000000000002"


def told(lines: Sequence[bytes]) -> tuple[list[AgentEvent], ConversationSummary]:
    """Return the events of lines, and the facts about them."""
    survey = RECORDS["codex"].survey()
    for line in lines:
        survey.handle(line)
    reader, core = survey.reader(), new_core("acp")
    events = [event for line in lines for _, each in reader.read(line) for event in core.handle(each)]
    events += [event for _, each in reader.close() for event in core.handle(each)]
    return [*events, *core.handle(Ended("end_of_input"))], survey.outline()


def texts(events: Sequence[AgentEvent]) -> list[str]:
    """Return prompts and answers."""
    return [one.text for one in events if isinstance(one, ev.UserMessage | ev.MessageChunk)]


def shells(events: Sequence[AgentEvent]) -> list[tuple[str, str | None, int | None]]:
    """Return the commands with their output and exit code, as they ended."""
    found = []
    for one in events:
        if isinstance(one, ev.ToolUpdate) and isinstance(one.normalized, ShellExecPayload):
            output = one.normalized.shell_exec.output
            assert output is not None
            found.append((one.normalized.shell_exec.command, output.stdout, output.exit_code))
    return found


def item(made: Rollout, kind: str, name: str, **members: object) -> None:
    """Add an item."""
    made.put("event_msg", type="item_completed", item={"type": kind, "id": name, **members})


def ran(made: Rollout, name: str, command: str, output: str, code: int) -> None:
    """Add the item of a command."""
    item(
        made, "CommandExecution", name, command=["/bin/bash", "-lc", command], cwd="/pond", status="completed",
        aggregated_output=output, exit_code=code,
    )  # fmt: skip


def program(made: Rollout, call: str, code: str) -> None:
    """Add the call of a program of code mode."""
    made.put("response_item", type="custom_tool_call", call_id=call, name="exec", input=code)


def returned(made: Rollout, call: str, output: object) -> None:
    """Add its result."""
    made.put("response_item", type="custom_tool_call_output", call_id=call, output=output)


def test_each_command_of_a_program_is_a_call() -> None:
    made = Rollout(POND)
    made.said("user", "Count the reeds.")
    program(made, "p", "await tools.exec_command({cmd:'wc reeds'}); await tools.exec_command({cmd:'wc mud'})")
    ran(made, "a", "wc reeds", "12 reeds\n", 0)
    ran(made, "b", "wc mud", "no mud\n", 1)
    item(
        made, "FileChange", "c", status="completed", changes={"/pond/f": {"type": "add", "content": "x\n"}}, stdout="ok",
    )  # fmt: skip
    returned(made, "p", "12 reeds")
    events, _ = told(made.lines)
    assert shells(events) == [("wc reeds", "12 reeds\n", 0), ("wc mud", "no mud\n", 1)]
    calls = {one.tool_call_id: one for one in events if isinstance(one, ev.ToolCall)}
    assert list(calls) == ["p", "a", "b", "c"]
    assert calls["p"].tool_title == "wc reeds; wc mud"


@pytest.mark.parametrize(
    ("code", "command"),
    [
        ('const r = await tools.exec_command({"cmd": "ls \\"a b\\"\\n", "workdir": "/pond"}); text(r.output)', 'ls "a b"\n'),
        (r"await tools.shell_command({timeout: 5, command: 'printf \'\x41\u0042\q\''})", "printf 'ABq'"),
        ("await tools.exec_command({ cmd: `ls\nreeds` })", "ls\nreeds"),
    ],
)  # fmt: skip
def test_the_one_command_of_a_program_is_its_call(code: str, command: str) -> None:
    made = Rollout(POND)
    made.said("user", "List them.")
    program(made, "p", code)
    returned(made, "p", 'Output:\n{"chunk_id":"1","exit_code":127,"output":"not found"}')
    program(made, "q", code)
    ran(made, "inner", command, "reed\n", 0)
    returned(made, "q", "for the model")
    program(made, "r", code)
    returned(made, "r", [{"type": "input_text", "text": "Process exited with code 3"}])
    program(made, "s", code)
    returned(made, "s", "reed")
    found = shells(told(made.lines)[0])
    assert [(said, code) for said, _, code in found] == [
        (command, 127),
        (command, 0),
        (command, 3),
        (command, None),
    ]
    assert found[1][1] == "reed\n"


def test_a_program_that_does_more_is_shown_as_what_it_is() -> None:
    made = Rollout(POND)
    made.said("user", "Go.")
    program(made, "p", "await tools.apply_patch(x); await tools.exec_command({cmd: 'ls'})")
    program(made, "q", "text('nothing')")
    ran(made, "inner", "ls", "reed\n", 0)
    events, _ = told(made.lines)
    assert [(one.tool_call_id, one.tool_title) for one in events if isinstance(one, ev.ToolCall)] == [
        ("p", "ls"), ("q", "exec"), ("inner", "ls"),
    ]  # fmt: skip


def test_an_item_before_its_call_is_the_call() -> None:
    made = Rollout(POND)
    made.said("user", "Go.")
    ran(made, "a", "ls", "reed\n", 0)
    made.put(
        "response_item", type="function_call", call_id="a", name="exec_command", arguments='{"cmd":"ls"}'
    )
    made.put("response_item", type="function_call_output", call_id="a", output="for the model")
    assert shells(told(made.lines)[0]) == [("ls", "reed\n", 0)]


@pytest.mark.parametrize("layers", ["records", "items", "both", "items first"])
def test_a_message_is_told_once_whatever_layer_has_it(layers: str) -> None:
    made = Rollout(POND)

    def say(role: str, kind: str, name: str, words: str) -> None:
        if layers in {"records", "both"}:
            made.said(role, words)
        if layers != "records":
            item(made, kind, name, content=[{"type": "Text", "text": words}])
        if layers == "items first":
            made.said(role, words)

    for turn in ("one", "two"):
        made.put("event_msg", type="task_started", turn_id=turn)
        say("user", "UserMessage", f"u-{turn}", "Go on.")
        say("assistant", "AgentMessage", f"m-{turn}", "I do.")
        say("assistant", "AgentMessage", f"n-{turn}", "I do.")
        made.put("event_msg", type="task_complete", turn_id=turn)
    events, outline = told(made.lines)
    assert texts(events) == ["Go on.", "I do.", "I do."] * 2
    assert outline.turns == 2


def test_a_prompt_with_other_words_in_its_item_is_told_once() -> None:
    made = Rollout(POND)
    made.put("event_msg", type="task_started", turn_id="one")
    made.said("user", "See <image>")
    item(made, "UserMessage", "u", content=[{"type": "text", "text": "See"}])
    assert texts(told(made.lines)[0]) == ["See <image>"]


CONTEXT = "# Context from my IDE setup:\n\n## Active file: reeds.py\n\n## Open tabs:\n- reeds.py\n\n"


@pytest.mark.parametrize(
    ("parts", "prompt"),
    [
        ([f"{CONTEXT}## My request for Codex:\ncut the reeds\n"], "cut the reeds\n"),
        ([CONTEXT, "## My request for Codex: cut the reeds"], "cut the reeds"),
        (
            ["\n# Files mentioned by the user:\n\n## a.txt\n\n## My request for Codex:\n\n# Cut\nthem"],
            "# Cut\nthem",
        ),
        ([f"{CONTEXT}## My request for Codex:\n"], f"{CONTEXT}## My request for Codex:\n"),
        (["cut\n## My request for Codex:\nreeds"], "cut\n## My request for Codex:\nreeds"),
    ],
)
def test_what_an_editor_writes_above_a_prompt_is_not_the_prompt(parts: list[str], prompt: str) -> None:
    made = Rollout(POND)
    content = [{"type": "input_text", "text": part} for part in parts]
    made.put("response_item", type="message", role="user", content=content)
    events, outline = told(made.lines)
    assert texts(events) == [prompt]
    assert outline.first_prompt == prompt


def test_pages_and_searches_say_what_they_are_of() -> None:
    made = Rollout(POND)
    made.said("user", "Look.")
    for action in (
        {"type": "open_page", "url": "https://reeds.test/"},
        {"type": "find_in_page", "url": "https://reeds.test/", "pattern": "mud"},
        {"type": "search", "queries": ["reeds", "mud"]},
        {"type": "search", "query": "frogs"},
    ):
        made.put("response_item", type="web_search_call", action=action)
    events, _ = told(made.lines)
    assert [one.tool_title for one in events if isinstance(one, ev.ToolCall)] == [
        "Open https://reeds.test/", "Find mud in https://reeds.test/", "Search the web: reeds; mud", "Search the web: frogs",
    ]  # fmt: skip


def test_a_fork_by_reference_names_its_origin() -> None:
    made = Rollout(LAKE, forked_from_id=POND, history_mode="paginated")
    made.turn("t", "And now?", "Now.", (5, 0, 1))
    copied = Rollout(LAKE, forked_from_id=POND)
    copied.copy(Rollout(POND))
    copied.turn("t", "And now?", "Now.", (5, 0, 1))
    notices = [[one for one in told(each.lines)[0] if isinstance(one, ev.Notice)] for each in (made, copied)]
    assert [[(one.kind, one.details) for one in each] for each in notices] == [
        [("fork", {"session_id": POND})],
        [],
    ]


@pytest.mark.parametrize("shape", ["each line twice", "the file twice"])
def test_lines_that_stand_twice_count_once(shape: str) -> None:
    made = Rollout(POND)
    for number in range(3):
        made.turn(f"t{number}", "Go on.", "I do.", (10, 2, 3), (10, 2, 3))
    twice = made.lines * 2 if shape == "the file twice" else [line for line in made.lines for _ in "12"]
    once, doubled = told(made.lines), told(twice)
    assert texts(doubled[0]) == texts(once[0]) == ["Go on.", "I do."] * 3
    assert (doubled[1].turns, doubled[1].answers) == (3, once[1].answers)
    kinds = [[one.type for one in events if not isinstance(one, ev.Notice)] for events, _ in (once, doubled)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("named", [True, False])
def test_copies_in_forks_and_forks_of_forks_have_the_keys_of_their_origin(named: bool) -> None:
    def turn(made: Rollout, name: str) -> None:
        made.turn(name if named else None, f"ask {name}", "I do.", (10, 2, 3))

    first = Rollout(POND)
    turn(first, "a")
    turn(first, "b")
    second = Rollout(LAKE, day="2026-03-05", forked_from_id=POND)
    second.copy(first)
    turn(second, "c")
    third = Rollout("5ea00000-0000-7000-8000-000000000003", day="2026-03-06", forked_from_id=LAKE)
    third.copy(second)
    turn(third, "e")
    # the origin goes on, too: with the same number of tokens, and yet another answer
    turn(first, "d")
    keys = [[one.key for one in told(made.lines)[1].answers] for made in (first, second, third)]
    assert keys[1][:2] == keys[0][:2]
    assert keys[2][:3] == keys[1]
    assert len({key for some in keys for key in some}) == 5
