"""Where commands run: in the session's folder, until the agent leaves it."""

import pytest

from tests.normalize.lines import JsonObject, Talk, assistant, control, init, result, tool_use


def place(talk: Talk, call: JsonObject, **fields: str) -> str | None:
    talk.hears(assistant(call, **fields))
    told: str | None = talk.last("tool_call")["normalized"]["shell_exec"].get("work_dir")
    return told


def test_a_command_runs_in_the_folder_of_the_session() -> None:
    talk = Talk()
    talk.hears(init(cwd="/w"))
    assert place(talk, tool_use("t1", command="make")) == "/w"
    assert place(talk, tool_use("t2", command="make"), parent="t0") == "/w"


def test_a_folder_that_the_call_names_wins() -> None:
    talk = Talk()
    talk.hears(init(cwd="/w"))
    assert place(talk, tool_use("t", command="make", cwd="/x")) == "/x"


def test_without_an_init_the_folder_is_not_known() -> None:
    assert place(Talk(), tool_use("t", command="make")) is None


@pytest.mark.parametrize(
    "command", ["cd src && ls", "ls; cd src", "ls\npushd /tmp", "make || popd", "{ cd src; }"]
)
def test_behind_a_cd_the_folder_is_known_again_with_the_next_turn(command: str) -> None:
    talk = Talk()
    talk.hears(init(cwd="/w"))
    assert place(talk, tool_use("t1", command=command)) == "/w"
    assert place(talk, tool_use("t2", command="make")) is None
    talk.hears(result(""), init(cwd="/w/src"))
    assert place(talk, tool_use("t3", command="make")) == "/w/src"


@pytest.mark.parametrize("command", ["echo cd", "(cd src && make)", "abcd x", "git log --grep cd"])
def test_a_command_that_only_looks_like_a_cd_stays(command: str) -> None:
    talk = Talk()
    talk.hears(init(cwd="/w"))
    place(talk, tool_use("t1", command=command))
    assert place(talk, tool_use("t2", command="make")) == "/w"


def test_a_subagents_cd_ends_with_its_command() -> None:
    talk = Talk()
    talk.hears(init(cwd="/w"))
    place(talk, tool_use("t1", command="cd src"), parent="t0")
    assert place(talk, tool_use("t2", command="make")) == "/w"


def test_behind_a_worktree_the_folder_is_not_known() -> None:
    talk = Talk()
    talk.hears(init(cwd="/w"), assistant(tool_use("t1", "EnterWorktree", path="x")))
    assert place(talk, tool_use("t2", command="make")) is None


def test_a_request_for_leave_names_the_folder_too() -> None:
    talk = Talk()
    talk.hears(init(cwd="/w"), control("c1", "can_use_tool", tool_name="Bash", input={"command": "make"}))
    told = talk.last("permission_request")
    assert told["normalized"]["shell_exec"]["work_dir"] == "/w"


def test_reading_and_stopping_tasks_has_no_folder() -> None:
    talk = Talk()
    talk.hears(init(cwd="/w"))
    assert place(talk, tool_use("t", "TaskStop", task_id="b1")) is None
