"""Results of planning: to-do lists before and after, tasks, plans, answers."""

from typing import Any

import pytest
from tool_pairs import answered, body, recorded

TEXT_ONLY = ["1.0.120", "2.0.14"]
STRUCTURED = ["2.1.101", "2.1.330"]
ALL = TEXT_ONLY + STRUCTURED

QUESTIONS = [{"question": "Which?", "options": []}, {"question": 'Say "why"?', "options": []}]


def states(items: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(item["description"], item["status"]) for item in items]


@pytest.mark.parametrize("version", ALL)
def test_a_to_do_list_is_written_anew_each_time(version: str) -> None:
    found = body(recorded(version, "tool-todowrite", "TodoWrite", 1))
    after = [("Write code", "completed"), ("Run tests", "in_progress"), ("Ship", "pending")]
    before = [("Write code", "pending"), ("Run tests", "pending"), ("Ship", "pending")]
    assert states(found["items"]) == after
    assert states(found.get("old_items", [])) == (before if version in STRUCTURED else [])


@pytest.mark.parametrize("version", ALL)
def test_a_bad_to_do_list_is_an_error_and_no_list(version: str) -> None:
    done = recorded(version, "tool-todowrite", "TodoWrite", 3)
    assert done.status == "error"
    assert done.error is not None
    assert done.error.startswith("InputValidationError: TodoWrite failed")
    assert body(done) == {"operation": "write", "items": []}


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_new_task_gets_its_id(version: str) -> None:
    assert body(recorded(version, "tool-tasks", "TaskCreate")) == {
        "title": "Write code",
        "description": "Write the code",
        "active_form": "Writing code",
        "task_id": "1",
    }


def test_a_new_task_gets_its_id_from_text() -> None:
    assert (
        body(answered("TaskCreate", {"subject": "s"}, "Task #12 created successfully: s"))["task_id"] == "12"
    )
    assert "task_id" not in body(answered("TaskCreate", {"subject": "s"}, "no", is_error=True))
    assert "task_id" not in body(answered("TaskCreate", {"subject": "s"}, "made"))


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_task_changes_from_one_state_to_another(version: str) -> None:
    found = body(recorded(version, "tool-tasks", "TaskUpdate"))
    assert states(found["old_items"]) == [("", "pending")]
    assert states(found["items"]) == [("", "in_progress")]


def test_a_task_that_keeps_its_state_has_no_before() -> None:
    found = body(answered("TaskUpdate", {"taskId": "1", "subject": "s"}, "Updated", {"success": True}))
    assert found == {"operation": "update", "items": [{"id": "1", "description": "s", "status": ""}]}


@pytest.mark.parametrize("version", STRUCTURED)
def test_tasks_are_listed(version: str) -> None:
    found = body(recorded(version, "tool-tasks", "TaskList"))
    assert states(found["items"]) == [("Write code", "in_progress"), ("Run tests", "pending")]


def test_tasks_are_listed_in_text_alone() -> None:
    text = "#1 [in_progress] Write code (agent-a)\n#2 [pending] Run (all) tests [blocked by #1, #7]"
    assert body(answered("TaskList", {}, text))["items"] == [
        {"id": "1", "description": "Write code", "status": "in_progress", "owner": "agent-a"},
        {"id": "2", "description": "Run (all) tests", "status": "pending", "blocked_by": ["1", "7"]},
    ]
    assert body(answered("TaskList", {}, "No tasks found"))["items"] == []


def test_an_old_to_do_list_is_read() -> None:
    structured = {"todos": [{"content": "a", "status": "pending", "id": "9"}]}
    assert body(answered("TodoRead", {}, "…", structured))["items"] == [
        {"id": "9", "description": "a", "status": "pending"}
    ]


@pytest.mark.parametrize("version", STRUCTURED)
def test_a_task_is_looked_up(version: str) -> None:
    assert states(body(recorded(version, "tool-tasks", "TaskGet", 0))["items"]) == [
        ("Write code", "in_progress")
    ]
    assert body(recorded(version, "tool-tasks", "TaskGet", 1))["items"] == []


def test_a_task_is_looked_up_in_text_alone() -> None:
    text = "Task #1: Write code\nStatus: completed\nDescription: d"
    assert states(body(answered("TaskGet", {"taskId": "1"}, text))["items"]) == [("Write code", "completed")]
    assert body(answered("TaskGet", {"taskId": "1"}, "Task not found"))["items"] == []


@pytest.mark.parametrize("version", ALL)
def test_a_plan_is_approved(version: str) -> None:
    done = recorded(version, "plan-approve", "ExitPlanMode")
    found = body(done)
    assert (done.status, found["approved"]) == ("complete", True)
    assert found["plan"] == "# Plan\n\n1. Write out.txt\n2. Check it\n"
    assert found.get("file_path", "").startswith("/home/user/.claude/plans/") == (version in STRUCTURED)


@pytest.mark.parametrize("version", ALL)
def test_a_plan_is_rejected_with_a_word_why(version: str) -> None:
    done = recorded(version, "plan-reject", "ExitPlanMode")
    assert (done.status, done.reason) == ("error", "denied")
    assert (body(done)["approved"], body(done)["feedback"]) == (False, "Please add a test step.")


@pytest.mark.parametrize("version", ["1.0.120", "2.1.330"])
def test_a_plan_that_nobody_was_asked_about_has_no_feedback(version: str) -> None:
    found = body(recorded(version, "plan-bypass", "ExitPlanMode"))
    assert found["approved"] is False
    assert "feedback" not in found


@pytest.mark.parametrize("version", STRUCTURED)
def test_plan_mode_is_entered(version: str) -> None:
    assert body(recorded(version, "plan-enter", "EnterPlanMode")) == {"operation": "enter", "approved": True}


def test_plan_mode_is_not_entered() -> None:
    assert body(answered("EnterPlanMode", {}, "no", is_error=True))["approved"] is False


@pytest.mark.parametrize("version", STRUCTURED)
def test_questions_are_answered(version: str) -> None:
    assert body(recorded(version, "ask-answered", "AskUserQuestion"))["answers"] == {
        "Which database?": "SQLite",
        "Which features?": "Auth, API",
    }


@pytest.mark.parametrize("version", STRUCTURED)
def test_questions_are_declined(version: str) -> None:
    done = recorded(version, "ask-denied", "AskUserQuestion")
    assert (done.reason, done.error) == ("denied", "The user would rather talk.")
    assert "answers" not in body(done)


def test_answers_are_read_from_text_whatever_they_quote() -> None:
    text = 'User has answered your questions: "Which?"="a "quoted" one", "Say "why"?"="because". You can now continue.'
    assert body(answered("AskUserQuestion", {"questions": QUESTIONS}, text))["answers"] == {
        "Which?": 'a "quoted" one',
        'Say "why"?': "because",
    }
    older = 'Answers: "Which?"="b"'
    assert body(answered("AskUserQuestion", {"questions": QUESTIONS}, older))["answers"] == {"Which?": "b"}
    torn = '"Which?"="'
    assert body(answered("AskUserQuestion", {"questions": QUESTIONS}, torn))["answers"] == {}


def test_several_labels_are_joined() -> None:
    structured = {"answers": {"Which?": ["a", "b"], 'Say "why"?': 5}}
    found = body(answered("AskUserQuestion", {"questions": QUESTIONS}, "", structured))
    assert found["answers"] == {"Which?": "a, b", 'Say "why"?': "5"}
