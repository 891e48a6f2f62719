"""What policies, rules, hooks, questions and plans do, end to end on the real CLI (offline)."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from live import AgentSetup, Frontend, program, real_setup
from live import preloaded_running as running
from scripted_messages_api import ScriptedMessagesApi, plan, scripted_messages_api, text, tool_use
from turnwire.client import Answer, CommandFailed
from turnwire.client.events import (
    AgentPlan,
    Complete,
    HookActivity,
    PermissionRequest,
    QuestionRequest,
    SessionInfo,
    SessionMode,
    ToolCall,
    ToolUpdate,
)


@pytest.fixture
def api() -> Iterator[ScriptedMessagesApi]:
    with scripted_messages_api() as running_api:
        yield running_api


@pytest.fixture
def setup(tmp_path: Path, api: ScriptedMessagesApi) -> AgentSetup:
    return real_setup(tmp_path, api, str)


def bash(command: str) -> dict[str, object]:
    return tool_use("Bash", command=command, description="As told")


def statuses(frontend: Frontend) -> list[str]:
    """How the tool calls ended."""
    return [update.tool_status for update in frontend.seen(ToolUpdate) if update.tool_status != "running"]


@pytest.mark.long
async def test_autonomous_asks_nobody(tmp_path: Path, setup: AgentSetup) -> None:
    async with running(tmp_path, setup, "--policy", "autonomous") as (frontend, _):
        complete = await frontend.turn(plan([bash("touch made.txt")], [text("That is all.")]))
        assert complete.data.outcome == "completed"
        assert frontend.seen(PermissionRequest) == []
        assert (tmp_path / "project" / "made.txt").exists()


@pytest.mark.long
async def test_supervised_asks_about_everything_but_safe_reading(tmp_path: Path, setup: AgentSetup) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "notes.txt").write_text("hello\n")
    async with running(tmp_path, setup, "--policy", "supervised") as (frontend, _):
        await frontend.turn(
            plan(
                [tool_use("Read", file_path=str(project / "notes.txt"))],
                [bash("ls")],  # harmless, and asked about all the same
                [tool_use("Write", file_path=str(project / "new.txt"), content="new\n")],
                [text("That is all.")],
            )
        )
        assert [request.tool_name for request in frontend.seen(PermissionRequest)] == ["Bash", "Write"]
        assert statuses(frontend) == ["complete"] * 3


@pytest.mark.long
async def test_plan_asks_for_the_plan_and_allows_the_rest(tmp_path: Path, setup: AgentSetup) -> None:
    out = tmp_path / "project" / "out.txt"
    async with running(tmp_path, setup, "--policy", "plan") as (frontend, _):
        await frontend.prompt(
            plan(
                [tool_use("ExitPlanMode", plan="# Plan\n\n1. Write out.txt\n")],
                [tool_use("Write", file_path=str(out), content="out\n")],
                [bash("rm -f nothing; echo done")],
                [text("The plan is carried out.")],
            )
        )
        request = await frontend.until(PermissionRequest)
        assert request.tool_name == "ExitPlanMode"
        assert "Write out.txt" in frontend.seen(AgentPlan)[0].plan_content
        await frontend.respond(request)
        complete = await frontend.turn()
        assert complete.data.outcome == "completed"
        assert len(frontend.seen(PermissionRequest)) == 1
        assert out.read_text() == "out\n"
        assert len(frontend.seen(Complete)) == 1


@pytest.mark.long
async def test_a_rejected_plan_takes_the_feedback_to_the_model(
    tmp_path: Path, setup: AgentSetup, api: ScriptedMessagesApi
) -> None:
    async with running(tmp_path, setup, "--policy", "plan") as (frontend, _):
        await frontend.prompt(plan([tool_use("ExitPlanMode", plan="# Plan\n")], [text("I think again.")]))
        await frontend.respond(
            await frontend.until(PermissionRequest), "reject_once", message="Add a test first."
        )
        assert (await frontend.turn()).data.outcome == "completed"
        assert "Add a test first." in json.dumps(api.requests[-1]["messages"])
        assert "I think again." in frontend.text()


@pytest.mark.long
async def test_an_approved_plan_may_change_the_mode(tmp_path: Path, setup: AgentSetup) -> None:
    async with running(tmp_path, setup, "--policy", "plan") as (frontend, _):
        await frontend.prompt(plan([tool_use("ExitPlanMode", plan="# Plan\n")], [text("Go.")]))
        await frontend.respond(await frontend.until(PermissionRequest), mode="acceptEdits")
        await frontend.turn()
        assert frontend.seen(SessionMode)[-1].current_mode_id == "acceptEdits"


QUESTIONS = [
    {
        "question": "Which database?",
        "header": "Database",
        "options": [
            {"label": "SQLite", "description": "A file"},
            {"label": "Postgres", "description": "A server"},
        ],
        "multiSelect": False,
    },
    {
        "question": "Which features?",
        "header": "Features",
        "options": [{"label": "Auth", "description": "Log in"}, {"label": "API", "description": "REST"}],
        "multiSelect": True,
    },
]


@pytest.mark.long
async def test_a_question_is_answered(tmp_path: Path, setup: AgentSetup, api: ScriptedMessagesApi) -> None:
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(plan([tool_use("AskUserQuestion", questions=QUESTIONS)], [text("Thank you.")]))
        question = await frontend.until(QuestionRequest)
        assert question.questions is not None
        assert [asked.question for asked in question.questions] == ["Which database?", "Which features?"]
        for wrong in ({"Which cake?": "Lemon"}, {"Which database?": ["SQLite", "Postgres"]}):
            with pytest.raises(CommandFailed) as refused:
                await frontend.client.answer(frontend.session, question.pending_id, Answer(answers=wrong))
            assert (refused.value.code, refused.value.field) == ("invalid_answer", "answers")
        answers: dict[str, str | list[str]] = {
            "Which database?": "SQLite",
            "Which features?": ["Auth", "API"],
        }
        await frontend.client.answer(frontend.session, question.pending_id, Answer(answers=answers))
        assert (await frontend.turn()).data.outcome == "completed"
        sent = json.dumps(api.requests[-1]["messages"])
        assert "SQLite" in sent
        assert "Auth, API" in sent


@pytest.mark.long
async def test_a_declined_question_tells_the_model(
    tmp_path: Path, setup: AgentSetup, api: ScriptedMessagesApi
) -> None:
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.prompt(
            plan([tool_use("AskUserQuestion", questions=QUESTIONS)], [text("I guess then.")])
        )
        question = await frontend.until(QuestionRequest)
        declined = Answer(action="decline", message="Decide yourself.")
        await frontend.client.answer(frontend.session, question.pending_id, declined)
        assert (await frontend.turn()).data.outcome == "completed"
        assert "Decide yourself." in json.dumps(api.requests[-1]["messages"])


@pytest.mark.long
async def test_uncommitted_changes_send_the_agent_back_once(
    tmp_path: Path, setup: AgentSetup, api: ScriptedMessagesApi
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run([program("git"), "init", "-q", str(project)], check=True)
    (project / "forgotten.txt").write_text("not committed\n")
    async with running(tmp_path, setup, "--policy", "supervised") as (frontend, _):
        complete = await frontend.turn(plan([text("I am done.")]))
        assert complete.data.outcome == "completed"
        assert "forgotten.txt" in json.dumps(api.requests[-1]["messages"])
        assert len(api.prompts()) == 2
        assert len(frontend.seen(Complete)) == 1


RULES = """
[[rules]]
action = "deny"
tool = "Bash"
reason = "no network here"
input = { command = "curl *" }

[[rules]]
action = "allow"
tool = "Bash"
"""


@pytest.mark.long
async def test_rules_are_asked_before_anybody(
    tmp_path: Path, setup: AgentSetup, api: ScriptedMessagesApi
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES)
    async with running(tmp_path, setup, "--rules", str(rules)) as (frontend, _):
        await frontend.turn(
            plan([bash("curl http://127.0.0.1:1/")], [bash("touch made.txt")], [text("That is all.")])
        )
        assert frontend.seen(PermissionRequest) == []
        assert statuses(frontend) == ["error", "complete"]
        assert "no network here" in json.dumps(api.requests[-1]["messages"])
        assert (tmp_path / "project" / "made.txt").exists()


@pytest.mark.long
async def test_a_hook_of_the_configuration_is_called(
    tmp_path: Path, setup: AgentSetup, api: ScriptedMessagesApi
) -> None:
    hook = tmp_path / "hook.sh"
    hook.write_text(
        "#!/bin/sh\n"
        f"cat > {tmp_path}/asked.json\n"
        'echo \'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",'
        ' "permissionDecisionReason": "the hook says no"}}\'\n'
    )
    hook.chmod(0o755)
    rules = tmp_path / "rules.toml"
    rules.write_text(f'[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\ncommand = ["{hook}"]\n')
    async with running(tmp_path, setup, "--rules", str(rules)) as (frontend, _):
        await frontend.turn(plan([bash("touch made.txt")], [text("That is all.")]))
        assert json.loads((tmp_path / "asked.json").read_text())["tool_input"]["command"] == "touch made.txt"
        assert "the hook says no" in json.dumps(api.requests[-1]["messages"])
        assert {activity.phase for activity in frontend.seen(HookActivity)} >= {"callback", "answered"}
        assert not (tmp_path / "project" / "made.txt").exists()


@pytest.mark.long
async def test_mode_and_model_may_be_changed_between_turns(tmp_path: Path, setup: AgentSetup) -> None:
    path = tmp_path / "project" / "out.txt"
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.turn(plan([text("Hello.")]))
        await frontend.client.set_permission_mode(frontend.session, "acceptEdits")
        await frontend.client.set_model(frontend.session, "claude-haiku-4-5")
        await frontend.turn(plan([tool_use("Write", file_path=str(path), content="out\n")], [text("Done.")]))
        assert frontend.seen(PermissionRequest) == []
        assert path.exists()
        assert frontend.seen(SessionInfo)[-1].model == "claude-haiku-4-5"
        assert [call.tool_name for call in frontend.seen(ToolCall)] == ["Write"]


@pytest.mark.long
async def test_supervised_asks_about_secrets_in_any_spelling(tmp_path: Path, setup: AgentSetup) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    (home / ".ssh").mkdir(parents=True, exist_ok=True)
    (home / ".ssh" / "id_rsa").write_text("the-key-itself\n")
    project.mkdir()
    (project / "notes.txt").write_text("hello\n")
    (project / "link").symlink_to(home / ".ssh" / "id_rsa")
    async with running(tmp_path, setup, "--policy", "supervised") as (frontend, _):
        await frontend.prompt(
            plan(
                [tool_use("Read", file_path=str(project / "notes.txt"))],
                [tool_use("Read", file_path=str(project / "link"))],
                [tool_use("Read", file_path=f"/proc/self/root{home}/.ssh/id_rsa")],
                [tool_use("Read", file_path="/etc/shadow")],
                [text("That is all.")],
            )
        )
        for tool in ("Read", "Read", "Read"):
            request = await frontend.until(PermissionRequest)
            assert request.tool_name == tool
            await frontend.respond(request, "reject_once")
        await frontend.turn()
        assert statuses(frontend) == ["complete"] + ["error"] * 3
        assert "the-key-itself" not in str(frontend.events)


@pytest.mark.long
@pytest.mark.parametrize("policy", ["cli", "autonomous", "supervised", "plan"])
async def test_no_policy_gives_an_agent_turnwires_own_state(
    policy: str, tmp_path: Path, setup: AgentSetup
) -> None:
    access = tmp_path / "state" / "access.json"
    chosen = () if policy == "cli" else ("--policy", policy)
    async with running(tmp_path, setup, *chosen) as (frontend, served):
        token = served.token
        assert token in access.read_text()
        (tmp_path / "project" / "link").symlink_to(access)
        complete = await frontend.turn(
            plan(
                [tool_use("Read", file_path=str(access))],
                [tool_use("Read", file_path=str(tmp_path / "project" / "link"))],
                [bash(f"grep -r token {access.parent}")],
                [bash(f"cat {access}")],
                [bash("cat ../state/access.json")],
                [tool_use("Edit", file_path=str(access), old_string="token", new_string="x")],
                [text("That is all.")],
            )
        )
        assert complete.data.outcome == "completed"
        assert statuses(frontend) == ["error"] * 6
        assert token not in str(frontend.events)
        assert frontend.seen(PermissionRequest) == []
