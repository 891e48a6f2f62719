"""The real `codex app-server` through `turnwire run`, offline: what each scenario does, and that its recording replays to the same events."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec import to_builtins
from real_agents import CODEX
from scripted_models import Call, Fail, Patch, Say, ScriptedModels, Wait, scripted_models

import mcp_calculator
from live import Frontend, journaled
from recordings import ROOT
from turnwire.client import commands, connect
from turnwire.client.events import (
    AgentPlan,
    ApiRetry,
    CompactBoundary,
    Complete,
    HookActivity,
    MessageChunk,
    PermissionRequest,
    QuestionRequest,
    SessionInfo,
    SessionOptions,
    ToolCall,
    ToolUpdate,
    UserMessage,
)
from turnwire.normalize.events import Unknown
from turnwire.normalize.families import new_core
from turnwire.normalize.recordings.lines import LineReader
from turnwire_process import environment, lines_of, turnwire

pytestmark = pytest.mark.long

PATIENCE = 120.0


@pytest.fixture
def models() -> Iterator[ScriptedModels]:
    with scripted_models() as served:
        yield served


class Place:
    """Where a session runs, and what is in it."""

    def __init__(self, folder: Path, models: ScriptedModels) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir()
        self.env = environment(folder / "home")
        given = CODEX.prepare(folder / "home", models.url)
        lines = [f"command = {json.dumps(CODEX.command())}", "[agents.codex.env]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in given.items()]
        (folder / "turnwire.toml").write_text(
            "\n".join(['frontend_options = ["control"]', "[agents.codex]", *lines])
        )

    @asynccontextmanager
    async def running(self, *more: str) -> AsyncIterator[Frontend]:
        options = ("--record", "--record-dir", str(self.folder / "recordings"), *more)
        command = ("run", "--agent", "codex", "--workspace", str(self.project), *options)
        async with turnwire(self.folder, *command, env=self.env) as served, connect(served.url) as client:
            yield Frontend(client, client.known_sessions[-1].session, PATIENCE)

    async def replays(self, session: str, *, after: str | None = None) -> None:
        """The recording of a session gives the events that its frontends got; of a fork those after the notice that it begins."""
        raw = self.folder / "recordings" / f"raw-streamjson-{session}.jsonl"
        live = await journaled(self.folder, session)
        told = await lines_of(self.folder, self.env, "translate", str(raw))
        replayed, lived = ([json.loads(line) for line in lines] for lines in (told, live))
        if after is not None:
            replayed, lived = (
                events[[event.get("text") for event in events].index(after) + 1 :]
                for events in (replayed, lived)
            )
            assert lived
        assert replayed == lived


def own_session(frontend: Frontend) -> str | None:
    """The newest name that Codex has told of its thread."""
    return next((info.session_id for info in reversed(frontend.seen(SessionInfo)) if info.session_id), None)


@pytest.fixture
def place(tmp_path: Path, models: ScriptedModels) -> Place:
    return Place(tmp_path, models)


async def test_leave_for_commands_and_patches_is_asked_and_each_answer_counts(
    place: Place, models: ScriptedModels
) -> None:
    (place.project / "kept.txt").write_text("one\n")
    patch = "*** Begin Patch\n*** Update File: kept.txt\n@@\n-one\n+two\n*** End Patch\n"
    async with place.running("--policy", "supervised") as frontend:
        models.answers += [
            [Say("I run it."), CODEX.shell("echo made > made.txt; cat made.txt")],
            [CODEX.shell("touch refused.txt")],
            [CODEX.shell("echo again >> again.txt")],
            [CODEX.shell("echo again >> again.txt")],
            [Call("exec_command", {"cmd": "touch ruled.txt"})],
            [Patch(patch)],
            [Say("All asked.")],
        ]
        await frontend.prompt("Go on.")
        for option in ("accept", "decline", "acceptForSession", "acceptWithExecpolicyAmendment", "accept"):
            asked = await frontend.until(PermissionRequest)
            offered = {one.option_id: one.kind for one in asked.permission_options}
            assert {"accept", "acceptForSession", "decline", "cancel"} <= offered.keys()
            await frontend.respond(asked, option)
        done = await frontend.until(Complete)
        assert (done.data.outcome, frontend.text()) == ("completed", "I run it.All asked.")
        assert [one.permission_title for one in frontend.seen(PermissionRequest)][:2] == [
            "echo made > made.txt; cat made.txt",
            "touch refused.txt",
        ]
        assert (place.project / "made.txt").read_text() == "made\n"
        assert not (place.project / "refused.txt").exists()
        assert (place.project / "again.txt").read_text() == "again\nagain\n"
        assert (place.project / "kept.txt").read_text() == "two\n"
        ends = [one for one in frontend.seen(ToolUpdate) if one.tool_status != "running"]
        assert [one.tool_status for one in ends] == ["complete", "error", *["complete"] * 4]
        patched = frontend.seen(PermissionRequest)[-1]
        assert patched.action_type == "file_write"
        assert "-one" in json.dumps(to_builtins(patched))

        # two turns: the second one is refused and stopped
        models.answers.append([CODEX.shell("touch never.txt")])
        await frontend.prompt("Another.")
        await frontend.respond(await frontend.until(PermissionRequest), "cancel")
        assert (await frontend.until(Complete)).data.outcome == "interrupted"
        assert not (place.project / "never.txt").exists()
        session = frontend.session
    await place.replays(session)


async def test_turns_are_steered_and_interrupted_and_another_process_goes_on(
    place: Place, models: ScriptedModels
) -> None:
    async with place.running() as frontend:
        models.answers += [
            [Say("I wait."), CODEX.shell("until test -e go; do sleep 0.05; done; echo went")],
            [Say("Both heard.")],
        ]
        first = await frontend.prompt("Remember the number 4711.")
        await frontend.until(ToolCall)
        second = await frontend.prompt("And this, too.")
        (place.project / "go").touch()
        done = await frontend.until(Complete)
        assert done.data.prompts == [first, second]
        assert "And this, too." in json.dumps(models.requests[-1])
        assert "Both heard." in frontend.text()

        models.answers.append([Say("This will take long"), Wait()])
        await frontend.prompt("Talk.")
        await frontend.until(MessageChunk)
        await frontend.client.interrupt(frontend.session)
        assert (await frontend.until(Complete)).data.outcome == "interrupted"

        conversation = own_session(frontend)
        session = frontend.session
        await frontend.client.close_session(session)
        await frontend.client.resume(session)
        models.answers.append([Say("It was 4711.")])
        assert (await frontend.turn("Which number?")).data.outcome == "completed"
        assert "Remember the number 4711." in json.dumps(models.requests[-1])
        assert own_session(frontend) == conversation

        fork = await frontend.client.fork(session)
        branch = Frontend(frontend.client, fork, PATIENCE)
        models.answers.append([Say("Still 4711.")])
        assert (await (await branch.caught_up()).turn("And now?")).data.outcome == "completed"
        assert "Remember the number 4711." in json.dumps(models.requests[-1])
        assert own_session(branch) != conversation
    await place.replays(session)
    await place.replays(fork, after="Here the conversation was branched off.")


async def test_a_plan_is_made_with_a_question_and_failures_of_the_api_are_told(
    place: Place, models: ScriptedModels
) -> None:
    question = {
        "id": "db",
        "header": "Database",
        "question": "Which database?",
        "options": [
            {"label": "SQLite", "description": "A file"},
            {"label": "Postgres", "description": "A server"},
        ],
    }
    async with place.running("--policy", "plan") as frontend:
        models.answers += [
            [Call("request_user_input", {"questions": [question]})],
            [CODEX.shell("touch planned.txt")],
            [Say("<proposed_plan>\n# The plan\n</proposed_plan>")],
        ]
        await frontend.prompt("Plan it.")
        asked = await frontend.until(QuestionRequest)
        answer = commands.QuestionAnswer(
            session=frontend.session, pending_id=asked.pending_id, answers={"Which database?": "SQLite"}
        )
        await frontend.client.command(answer)
        assert (await frontend.until(Complete)).data.outcome == "completed"
        assert "SQLite" in json.dumps(models.requests[1])
        assert not (place.project / "planned.txt").exists(), "nothing is written while it plans"
        assert [plan.plan_content for plan in frontend.seen(AgentPlan)][-1].strip() == "# The plan"

        await frontend.client.set_permission_mode(frontend.session, "default")
        models.answers += [[CODEX.shell("touch planned.txt")], [Say("Done.")]]
        assert (await frontend.turn("Do it.")).data.outcome == "completed"
        assert (place.project / "planned.txt").exists()

        models.answers += [[Fail(401, "Incorrect API key")]] * 4
        failed = await frontend.turn("Once more.")
        assert (failed.data.outcome, failed.data.api_error_status) == ("error", 401)
        assert [retry.status for retry in frontend.seen(ApiRetry)] == [401]
        (listed,) = [info.models for info in frontend.seen(SessionInfo) if info.models]
        assert "gpt-5.5" in {model.id for model in listed}
        (option,) = frontend.seen(SessionOptions)[-1].options
        assert option.id == "effort"
        session = frontend.session
    await place.replays(session)


async def test_servers_are_asked_for_and_a_conversation_is_compacted_and_read_again(
    place: Place, models: ScriptedModels
) -> None:
    config = place.folder / "home" / ".codex" / "config.toml"
    server = f"command = {json.dumps(sys.executable)}\nargs = {json.dumps([mcp_calculator.__file__])}"
    env = f"env = {{ PYTHONPATH = {json.dumps(str(ROOT))} }}"
    config.write_text(f"{config.read_text()}\n[mcp_servers.calc]\n{server}\n{env}\n")
    async with place.running("--policy", "supervised") as frontend:
        session = frontend.session
        models.answers += [
            [Say("I count."), Call("add", {"a": 2, "b": 3}, namespace="mcp__calc")],
            [Say("Five.")],
        ]
        done = await frontend.turn("Add them.")
        assert (done.data.outcome, frontend.text()) == ("completed", "I count.Five.")
        (asked,) = frontend.seen(PermissionRequest)
        assert [one.option_id for one in asked.permission_options] == ["accept", "decline", "cancel"]
        assert "the sum is 5" in json.dumps(models.requests[-1])
        models.answers.append([Say("A summary.")])
        await frontend.client.command(
            commands.Control(session=session, request={"subtype": "thread/compact/start"})
        )
        await frontend.until(CompactBoundary)
        await frontend.until(Complete)
    await place.replays(session)


def trusted(place: Place) -> str:
    """The part of a configuration by which Codex trusts the hooks of its home, as a person says it there."""
    requests: list[dict[str, object]] = [
        {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}},
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [str(place.project)]}},
    ]
    with subprocess.Popen(
        CODEX.command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"HOME": str(place.folder / "home"), "PATH": "/usr/bin:/bin"},
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in requests))
        server.stdin.flush()
        replies = (json.loads(line) for line in server.stdout)
        listed = next(one for one in replies if one.get("id") == 1)["result"]["data"][0]["hooks"]
        server.kill()
    return "".join(
        f"\n[hooks.state.{json.dumps(one['key'])}]\ntrusted_hash = {json.dumps(one['currentHash'])}\n"
        for one in listed
    )


async def test_hooks_of_its_own_configuration_are_told(place: Place, models: ScriptedModels) -> None:
    def running(script: str) -> list[dict[str, object]]:
        return [{"hooks": [{"type": "command", "command": script}]}]

    once = """if grep -q 'stop_hook_active":true'; then echo '{}'; else echo '{"decision":"block","reason":"Test it."}'; fi"""
    hooks = {
        "PreToolUse": running("if grep -q forbidden; then echo not that >&2; exit 2; fi"),
        "PostToolUse": running("exit 3"),
        "Stop": running(once),
    }
    own = place.folder / "home" / ".codex"
    (own / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    with (own / "config.toml").open("a") as config:
        config.write(trusted(place))
    async with place.running() as frontend:
        session = frontend.session
        models.answers += [
            [CODEX.shell("echo hi")],
            [CODEX.shell("echo forbidden")],
            [Say("Done.")],
            [Say("Tested.")],
        ]
        done = await frontend.turn("Go on.")
        assert (done.data.outcome, frontend.text()) == ("completed", "Done.Tested.")
        ran = [one for one in frontend.seen(HookActivity) if one.phase == "finished"]
        assert [(one.hook_event, one.outcome, one.output) for one in ran] == [
            ("PreToolUse", "success", None),
            ("PostToolUse", "error", "hook exited with code 3"),
            ("PreToolUse", "block", "not that"),
            ("Stop", "block", "Test it."),
            ("Stop", "success", None),
        ]
        (call,) = {one.tool_call_id for one in frontend.seen(ToolCall)}
        assert [one.tool_call_id == call for one in ran] == [True, True, False, False, False]
        assert [one.text for one in frontend.seen(UserMessage)] == ["Go on.", "Test it."]
    await place.replays(session)


def test_every_method_that_this_version_writes_is_known() -> None:
    program = CODEX.command()[0]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [program, "app-server", "generate-ts", "--experimental", "--out", folder],
            check=True,
            env={"HOME": folder, "PATH": "/usr/bin:/bin"},
            stdout=subprocess.DEVNULL,
        )
        written = (Path(folder) / "ServerNotification.ts").read_text("utf-8")
    named = set(re.findall(r'"method": "([^"]+)"', written))
    assert len(named) > 80
    lines = [b'{"method": "%s", "params": {}}' % name.encode() for name in sorted(named)]
    reader, core = LineReader("codex-app-server"), new_core("codex-app-server")
    events = [event for line in lines for one in reader.received(line) for event in core.handle(one)]
    unknown = {event.message_type for event in events if isinstance(event, Unknown)}
    assert unknown == {"item/completed", "item/started"}, "these two name no item here"
