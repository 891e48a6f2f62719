"""Editors before a live sidecar: prompts, permissions, edits, cancelling, loading; alone, together, and with a frontend."""

import asyncio
import json
import sys
from pathlib import Path

import acp
import pytest
from acp import schema
from acp.exceptions import RequestError

from acp_editor import FORMS, SCRIPT, editing, started, within
from live import preloaded_running, scripted_setup
from turnwire.client import connect
from turnwire.client.events import Complete, PermissionRequest, PermissionResolved, ToolCall
from turnwire_process import environment


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT)
    return path


async def test_an_editor_starts_it_and_all_of_it_is_there_after_the_editor_was_started_anew(
    tmp_path: Path, script: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    argv = [sys.executable, "-m", "turnwire.scripted_agent", str(script)]
    (tmp_path / "turnwire.toml").write_text(f"[agents]\nscripted = {json.dumps(argv)}\n")
    env = environment(
        tmp_path / "home", TURNWIRE_PASS_ENV="PYTHONPATH", TURNWIRE_CONFIG=str(tmp_path / "turnwire.toml")
    )
    calc = schema.McpServerStdio(name="calc", command="/bin/true", args=[], env=[])

    async with started(tmp_path, "--agent", "scripted", env=env) as harness:
        hello = await harness.open(FORMS)
        assert hello.protocol_version == 1
        assert hello.agent_info is not None
        assert hello.agent_info.name == "turnwire"
        new = await within(harness.agent.new_session(cwd=str(project), mcp_servers=[calc]))
        session = new.session_id
        assert new.modes is not None
        assert new.modes.current_mode_id == "default"

        changing = asyncio.create_task(harness.prompt(session, "change it"))
        asked = await harness.editor.next_asked()
        assert "allow_once" in asked.options
        asked.choose("allow_once")
        assert (await within(changing)).stop_reason == "end_turn"
        assert harness.editor.text() == "I change it.Changed."
        assert harness.editor.text("agent_thought_chunk") == "I look at the file."
        (edit,) = (update for update in harness.editor.of("tool_call") if update["kind"] == "edit")
        (done,) = (
            update
            for update in harness.editor.of("tool_call_update")
            if update["toolCallId"] == edit["toolCallId"] and update.get("status") == "completed"
        )
        path = str(project / "src" / "app.py")
        assert done["content"] == [
            {"type": "diff", "path": path, "oldText": "x\na\ny\n", "newText": "x\nb\ny\n"}
        ]
        assert harness.editor.of("plan")[-1]["entries"] == [
            {"content": "Change it", "priority": "medium", "status": "in_progress"}
        ]

        harness.editor.fill = lambda mode: schema.AcceptElicitationResponse(
            action="accept", content={"answer1": "Blue"}
        )
        assert (await harness.prompt(session, "ask me")).stop_reason == "end_turn"
        (form,) = harness.editor.forms
        assert [option.const for option in form.requested_schema.properties["answer1"].one_of] == [
            "Red",
            "Blue",
        ]

        with pytest.raises(RequestError, match="It broke"):
            await harness.prompt(session, "fail now")

        waiting = asyncio.create_task(harness.prompt(session, "sleep"))
        asked = await harness.editor.next_asked()
        await harness.agent.cancel(session_id=session)
        asked.choose(None)
        assert (await within(waiting)).stop_reason == "cancelled"
        titles = harness.editor.of("session_info_update")
        assert [each["title"] for each in titles] == ["change it"]
        said, calls = harness.editor.text(), harness.editor.calls()
        assert set(calls.values()) == {"completed", "failed"}

    async with started(tmp_path, "--agent", "scripted", env=env) as harness:
        await harness.open()
        listed = await within(harness.agent.list_sessions(cwd=str(project)))
        assert [(each.session_id, each.title) for each in listed.sessions] == [(session, "change it")]
        assert listed.sessions[0].updated_at is not None
        await within(harness.agent.load_session(cwd=str(project), session_id=session, mcp_servers=[calc]))
        assert harness.editor.text() == said
        assert harness.editor.calls() == calls
        prompts = ["change it", "ask me", "fail now", "sleep"]
        assert [update["content"]["text"] for update in harness.editor.of("user_message_chunk")] == prompts
        # and the conversation goes on: the CLI is started again, by the operator's leave
        asking = asyncio.create_task(harness.prompt(session, "ask again"))
        asked = await harness.editor.next_asked()
        assert asked.title == "Which one?"
        asked.choose("0")
        assert (await within(asking)).stop_reason == "end_turn"
        assert harness.editor.text() == f"{said}Asked."


@pytest.mark.long
async def test_two_editors_and_a_frontend_share_a_session_and_the_first_answer_wins(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", SCRIPT)
    async with (
        preloaded_running(tmp_path, setup) as (frontend, served),
        connect(served.url, name="one") as one,
        connect(served.url, name="two") as two,
        editing(one) as first,
        editing(two) as second,
    ):
        await first.load(frontend.session)
        await second.load(frontend.session)
        prompting = asyncio.create_task(first.prompt(frontend.session, "change it"))
        await first.editor.next_asked()
        waiting = await second.editor.next_asked()
        request = await frontend.until(PermissionRequest)
        await frontend.respond(request)
        assert (await within(prompting)).stop_reason == "end_turn"
        await first.editor.until(lambda: len(first.editor.taken_back) == 1)
        await second.editor.until(lambda: len(second.editor.taken_back) == 1)
        waiting.choose("reject_once")  # too late, and of no consequence
        await frontend.until(Complete)
        await second.editor.until(lambda: second.editor.text().endswith("Changed."))
        assert second.editor.text() == first.editor.text() == frontend.text()
        assert [update["content"]["text"] for update in second.editor.of("user_message_chunk")] == [
            "change it"
        ]
        assert first.editor.of("user_message_chunk") == []
        native = {event.tool_call_id: "completed" for event in frontend.seen(ToolCall)}
        assert first.editor.calls() == second.editor.calls() == native

        # both at the same moment: one is taken, the other is told nothing bad
        prompting = asyncio.create_task(second.prompt(frontend.session, "change more"))
        both = [await harness.editor.next_asked() for harness in (first, second)]
        for asked in both:
            asked.choose("allow_once")
        assert (await within(prompting)).stop_reason == "end_turn"
        await frontend.until(Complete)
        assert len(frontend.seen(PermissionResolved)) == 2


@pytest.mark.long
async def test_what_waits_is_asked_again_when_an_editor_comes_back(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", SCRIPT)
    async with preloaded_running(tmp_path, setup) as (frontend, served):
        async with connect(served.url) as client, editing(client) as harness:
            await harness.load(frontend.session)
            left = asyncio.create_task(
                harness.agent.prompt(session_id=frontend.session, prompt=[acp.text_block("change")])
            )
            await harness.editor.next_asked()
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        # the editor has gone, its turn has not
        await frontend.until(PermissionRequest)
        async with connect(served.url) as client, editing(client) as harness:
            await harness.load(frontend.session)
            asked = await harness.editor.next_asked()
            asked.choose("allow_once")
            complete = await frontend.until(Complete)
            assert complete.data.outcome == "completed"
            resolved = frontend.seen(PermissionResolved)
            assert [event.behavior for event in resolved] == ["allow"]
            await harness.editor.until(lambda: harness.editor.text().endswith("Changed."))
            assert harness.editor.text() == frontend.text()
