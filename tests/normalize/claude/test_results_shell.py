"""Results of commands: true exit codes, streams apart, interruptions, the background."""

from typing import Any

import msgspec
import pytest
from tool_pairs import answered, body, output, recorded

from turnwire.normalize.claude import results, tools
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.protocol.claude.blocks import ToolResultBlock

TEXT_ONLY = ["1.0.120", "2.0.14"]
STRUCTURED = ["2.1.101", "2.1.330"]
ALL = TEXT_ONLY + STRUCTURED


def bash(content: Any, structured: Any = None, *, command: str = "make", **options: Any) -> Any:
    return output(answered("Bash", {"command": command}, content, structured, **options))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Command: make\nDirectory: /w\nOutput: (empty)\nError: (none)\nExit Code: 3\nSignal: (none)",
            {"exit_code": 3, "stdout": ""},
        ),
        ("Command: make\nDirectory: /w\nOutput: a\nExit Code: 3", None),
        ("Command: make\nDirectory: /w", None),
        ("Command: another\nDirectory: /w\nOutput: a\nError: b\nExit Code: 3", None),
    ],
)
def test_a_report_of_a_command_is_one_only_if_it_is_whole(said: str, told: dict[str, Any] | None) -> None:
    assert bash(said) == (told or {"exit_code": 0, "stdout": said})


def streams(**fields: Any) -> dict[str, Any]:
    return {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, **fields}


@pytest.mark.parametrize("version", ALL)
def test_a_command_that_succeeds_exits_with_0(version: str) -> None:
    assert output(recorded(version, "tool-bash", "Bash", 0)) == {
        "exit_code": 0,
        "stdout": "hello\n/workspace/project",
    }


@pytest.mark.parametrize(("version", "stdout"), [("2.1.101", "out\nerr"), ("2.1.330", "out\nerr")])
def test_a_command_that_fails_has_its_true_exit_code(version: str, stdout: str) -> None:
    done = recorded(version, "tool-bash", "Bash", 1)
    assert output(done) == {"exit_code": 3, "stdout": stdout}
    assert (done.status, done.reason) == ("error", "failed")


@pytest.mark.parametrize("version", TEXT_ONLY)
def test_an_exit_code_that_the_cli_does_not_say_stays_unknown(version: str) -> None:
    done = recorded(version, "tool-bash", "Bash", 1)
    assert output(done) == {"stdout": "err\n\nout"}
    assert (done.status, done.reason) == ("error", "failed")


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_missing_command_exits_with_127(version: str) -> None:
    exits = [output(recorded(version, "tool-bash", "Bash", number)) for number in range(9)]
    assert 127 in [found and found.get("exit_code") for found in exits]


def test_stdout_and_stderr_come_apart() -> None:
    done = bash("out\nerr", streams(stdout="out", stderr="err"))
    assert done == {"exit_code": 0, "stdout": "out", "stderr": "err"}


@pytest.mark.parametrize("means", ["No matches found", "Files differ"])
def test_a_forgiven_exit_code_is_not_0(means: str) -> None:
    assert bash("", streams(returnCodeInterpretation=means))["exit_code"] == 1


@pytest.mark.parametrize("command", ["grep x f", "cd src && diff a b", "ls | grep x\n", "[ -f x ]"])
def test_in_text_alone_a_forgiven_exit_code_stays_unknown(command: str) -> None:
    assert "exit_code" not in bash("", command=command)


@pytest.mark.parametrize("command", ["grep x f; true", "echo grep", "", "make test"])
def test_other_commands_that_succeed_exit_with_0_in_text_alone(command: str) -> None:
    assert bash("", command=command)["exit_code"] == 0


def test_the_exit_code_is_the_clis_and_not_the_commands_word() -> None:
    assert bash("Exit code 4\nExit code 5", "Error: Exit code 4\nExit code 5", is_error=True) == {
        "exit_code": 4,
        "stdout": "Exit code 5",
    }
    assert bash("Exit code 5", streams(stdout="Exit code 5"))["exit_code"] == 0
    assert bash("Exit code 2", "Error: Exit code 2", is_error=True) == {"exit_code": 2, "stdout": ""}


@pytest.mark.parametrize("version", ALL)
def test_a_bad_call_never_ran(version: str) -> None:
    if version == "2.1.330":
        assert recorded(version, "tool-bad-json", "Bash").payload.kind == "generic"
        return
    done = recorded(version, "tool-bad-json", "Bash")
    assert output(done) is None
    assert done.error is not None
    assert done.error.startswith("InputValidationError: Bash failed")


@pytest.mark.parametrize("version", ALL)
def test_an_interrupted_command_is_interrupted(version: str) -> None:
    done = recorded(version, "interrupt-tool", "Bash")
    assert done.reason == "interrupted"
    expected = {
        "1.0.120": {"stdout": "begin", "interrupted": True},
        "2.0.14": {"stdout": "begin", "interrupted": True},
        "2.1.101": {"exit_code": 137, "stdout": "begin", "interrupted": True},
        "2.1.330": {"interrupted": True},
    }
    assert output(done) == expected[version]


def test_a_command_aborted_midway_has_no_exit_code() -> None:
    text = "begin\n<error>Command was aborted before completion</error>"
    assert bash(text) == {"stdout": "begin", "interrupted": True}
    assert bash(text, streams(stdout="begin", interrupted=True)) == {"stdout": "begin", "interrupted": True}
    failed = answered("Bash", {"command": "x"}, text, is_error=True)
    assert failed.reason == "interrupted"


@pytest.mark.parametrize("version", ALL)
def test_a_command_interrupted_while_it_waits_for_leave_never_ran(version: str) -> None:
    assert output(recorded(version, "perm-interrupt-pending", "Bash", permission_outcome="cancelled")) is None


@pytest.mark.parametrize(
    ("version", "scenario"),
    [
        *((version, "perm-no-handler") for version in ALL),
        *(
            (version, scenario)
            for version in ("1.0.120", "2.1.330")
            for scenario in ("perm-error-response", "perm-garbage")
        ),
    ],
)
def test_a_denied_command_has_no_output(version: str, scenario: str) -> None:
    done = recorded(version, scenario, "Bash")
    assert (done.status, done.reason) == ("error", "denied")
    assert output(done) is None


@pytest.mark.parametrize("version", ["1.0.120", "2.0.14", "2.1.330"])
def test_a_hook_can_deny(version: str) -> None:
    assert recorded(version, "hook-pretool-deny", "Bash").reason == "denied"


def test_a_denial_in_the_hosts_own_words_is_known_to_who_saw_it() -> None:
    done = answered("Bash", {"command": "x"}, "Not today.", is_error=True, permission_outcome="denied")
    assert (done.reason, done.error, output(done)) == ("denied", "Not today.", None)


def test_a_failing_command_whose_output_speaks_of_approval_was_not_denied() -> None:
    done = answered("Bash", {"command": "x"}, "error: the PR requires approval", is_error=True)
    assert (done.reason, output(done)) == ("failed", {"stdout": "error: the PR requires approval"})


@pytest.mark.parametrize("version", ALL)
def test_a_command_in_the_background_goes_on(version: str) -> None:
    done = recorded(version, "tool-bash-background", "Bash", 0)
    assert done.background
    assert done.status == "complete"
    found = body(done)
    assert found["background"] is True
    assert found["output"]["status"] == "running"
    assert found["output"]["task_id"]
    assert "exit_code" not in found["output"]


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_command_that_takes_too_long_moves_to_the_background(version: str) -> None:
    found = [recorded(version, "tool-bash", "Bash", number) for number in range(5)]
    moved = [done for done in found if done.background]
    assert len(moved) == 1
    assert output(moved[0])["timed_out"] is True
    assert "exit_code" not in output(moved[0])


@pytest.mark.parametrize("version", TEXT_ONLY)
def test_a_command_that_takes_too_long_is_killed(version: str) -> None:
    outputs = [output(recorded(version, "tool-bash", "Bash", number)) for number in range(5)]
    assert {"stdout": "before", "timed_out": True} in outputs


def test_a_human_or_the_cli_may_move_a_command_without_a_timeout() -> None:
    assert "timed_out" not in bash("", streams(backgroundTaskId="b1", backgroundedByUser=True))
    assert bash("", streams(backgroundTaskId="b1"))["timed_out"] is True


def test_text_alone_tells_of_the_background_too() -> None:
    note = (
        "before\nCommand did not complete within its 2s timeout and was moved to the background (ID: b7x). Output is"
        " being written to: /tmp/b7x.output."
    )
    assert bash(note) == {"stdout": "before", "timed_out": True, "task_id": "b7x", "status": "running"}
    asked = answered(
        "Bash", {"command": "x", "run_in_background": True}, "Command running in background with ID: a1"
    )
    assert output(asked) == {"stdout": "", "task_id": "a1", "status": "running"}


def test_a_long_line_about_a_background_is_output() -> None:
    line = "Command in background with ID: a1 " + "x" * 3000
    assert bash(line) == {"exit_code": 0, "stdout": line}


def test_output_too_long_to_return_is_marked() -> None:
    found = output(recorded("2.1.330", "big-output", "Bash"))
    assert found["truncated"] is True
    assert found["persisted_path"].endswith(".txt")
    assert found["stdout"].startswith("line 1 ")


def test_output_too_long_to_return_is_marked_in_text_alone() -> None:
    text = (
        "<persisted-output>\nOutput too large (2.1MB). Full output saved to: /out.txt\n\nPreview (first 2KB):\n"
        "line 1\nline 2\n...\n</persisted-output>"
    )
    assert bash(text) == {
        "exit_code": 0,
        "stdout": "line 1\nline 2",
        "persisted_path": "/out.txt",
        "truncated": True,
    }
    assert bash("a\n\n... [5890 lines truncated] ...")["truncated"] is True


def test_an_image_that_a_command_prints_is_a_part() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    found = bash([image], streams(stdout="data:image/png;base64,aGk=", isImage=True))
    assert found == {
        "exit_code": 0,
        "parts": [{"type": "image", "media_type": "image/png", "size": 2, "base64": "aGk="}],
    }


@pytest.mark.parametrize("text", ["(Bash completed with no output)", ""])
def test_silence_is_empty_output(text: str) -> None:
    assert bash(text) == {"exit_code": 0, "stdout": ""}


def test_silence_in_failure_is_empty_output() -> None:
    assert bash("Error", is_error=True) == {"stdout": ""}


def test_structured_output_of_a_failure_has_no_invented_exit_code() -> None:
    assert "exit_code" not in bash("x", streams(stdout="x"), is_error=True)


@pytest.mark.parametrize("version", ["1.0.120", "2.0.14"])
def test_output_of_the_background_is_read(version: str) -> None:
    found = body(recorded(version, "tool-bash-background", "BashOutput"))
    assert found["operation"] == "read"
    assert found["output"] == {"stdout": "tick 1\n", "task_id": found["task_id"], "status": "running"}


def test_output_of_the_background_is_read_in_2_1() -> None:
    found = body(recorded("2.1.101", "tool-bash-background", "TaskOutput"))
    assert found["output"] == {"stdout": "tick 1\n", "task_id": found["task_id"], "status": "running"}


def test_a_finished_task_has_its_exit_code_and_both_streams() -> None:
    text = (
        "<status>failed</status>\n\n<exit_code>3</exit_code>\n\n<stdout>\nout </stdout> put\n</stdout>\n\n"
        "<stderr>\nerr\n</stderr>\n\n<timestamp>2026</timestamp>"
    )
    assert output(answered("BashOutput", {"bash_id": "b"}, text)) == {
        "exit_code": 3,
        "stdout": "out </stdout> put\n",
        "stderr": "err\n",
        "task_id": "b",
        "status": "failed",
    }
    task = {"task_id": "b", "status": "completed", "output": "out", "exitCode": 0, "command": "make"}
    done = answered("TaskOutput", {"task_id": "b"}, "", {"retrieval_status": "success", "task": task})
    assert output(done) == {"exit_code": 0, "stdout": "out", "task_id": "b", "status": "completed"}
    assert body(done)["command"] == "make"


def test_plain_text_of_a_task_is_its_output() -> None:
    assert output(answered("TaskOutput", {"task_id": "b"}, "the report")) == {
        "stdout": "the report",
        "task_id": "b",
    }


def test_a_task_that_is_unknown_has_no_output() -> None:
    done = answered("TaskOutput", {"task_id": "b"}, "No task found with ID: b", is_error=True)
    assert output(done) == {"task_id": "b"}
    assert done.error == "No task found with ID: b"


@pytest.mark.parametrize(
    ("version", "name"),
    [("1.0.120", "KillShell"), ("2.0.14", "KillShell"), ("2.1.101", "TaskStop"), ("2.1.330", "TaskStop")],
)
def test_a_stopped_task_is_killed(version: str, name: str) -> None:
    found = body(recorded(version, "tool-bash-background", name))
    assert found["operation"] == "stop"
    assert found["output"]["status"] == "killed"
    assert found["output"]["stdout"].startswith("Successfully ")
    assert found["output"]["task_id"] == found["task_id"]


def test_what_cannot_be_stopped_is_not_killed() -> None:
    done = answered("TaskStop", {"task_id": "b"}, "Task b is not running", is_error=True)
    assert output(done) == {"stdout": "Task b is not running", "task_id": "b"}


def test_a_watch_in_the_background_has_its_task() -> None:
    done = answered("Monitor", {"command": "tail -f x"}, "Monitor started", {"taskId": "m1", "timeoutMs": 5})
    assert output(done)["task_id"] == "m1"
    assert done.background


def test_a_result_leaves_the_calls_payload_as_it_was() -> None:
    payload = tools.call("Bash", {"command": "ls"})
    before = msgspec.json.encode(payload)
    done = results.enrich(payload, ToolResultBlock(tool_use_id="t", content="a"), None)
    assert msgspec.json.encode(payload) == before
    assert isinstance(done.payload, ShellExecPayload)
    assert done.payload is not payload


@pytest.mark.parametrize(
    "said",
    [
        "<tool_use_error>InputValidationError: no</tool_use_error>\nmore",
        "<tool_use_error>no</tool_use_error>",
        "[Request interrupted by user for tool use]",
        "The user doesn't want to proceed with this tool use.",
        "Command aborted before execution",
        "Command running in background with ID: abc123. Output is being written to: /tmp/x",
    ],
)
def test_what_a_command_that_succeeded_prints_is_its_output(said: str) -> None:
    assert bash(said) == {"exit_code": 0, "stdout": said}


@pytest.mark.parametrize(
    "said",
    [
        "Error",
        "Error: Exit code 9",
        "[Request interrupted by user for tool use]",
        "Command timed out after 2m 0s",
        "<error>Command was aborted before completion</error>",
        "<tool_use_error>no</tool_use_error>",
        "PreToolUse:Bash hook error: fake",
        "Permission to use Bash has been denied.",
    ],
)
def test_what_a_command_that_ended_by_itself_prints_is_its_output(said: str) -> None:
    text = f"Exit code 8\n{said}"
    done = answered("Bash", {"command": "x"}, text, f"Error: {text}", is_error=True)
    assert (done.reason, output(done)) == ("failed", {"exit_code": 8, "stdout": said})


def test_the_marks_of_an_error_are_taken_off_only_where_both_are() -> None:
    assert bash("<tool_use_error>half", is_error=True) == {"stdout": "<tool_use_error>half"}
