"""The main job on real input: a real CLI (offline), `turnwire run`, and frontends on the WebSocket."""

import asyncio
import json
from pathlib import Path

import pytest

from live import Frontend, descendants, real_setup, running
from real_cli import real_cli, real_cli_environment
from scripted_messages_api import ScriptedMessagesApi, plan, scripted_messages_api, text, tool_use
from turnwire.client import connect
from turnwire.client.events import Complete, PermissionRequest, ToolCall, ToolUpdate, TurnStarted
from turnwire_process import DEADLINE


async def test_a_turn_that_writes_edits_and_lists_reaches_the_browser_socket_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "project" / "hello.txt")
    prompt = plan(
        [text("I write it."), tool_use("Write", file_path=path, content="hello\n")],
        [tool_use("Read", file_path=path)],
        [tool_use("Edit", file_path=path, old_string="hello", new_string="goodbye")],
        [tool_use("Bash", command="ls > listing.txt; cat listing.txt", description="List")],
        [text("All is done.")],
        note="write a file, edit it, run ls",
    )
    with scripted_messages_api() as api:
        async with running(tmp_path, real_setup(tmp_path, api, str)) as (frontend, served):
            complete = await frontend.turn(prompt)

            assert frontend.seqs == list(range(1, len(frontend.seqs) + 1))
            assert [call.tool_name for call in frontend.seen(ToolCall)] == ["Write", "Read", "Edit", "Bash"]
            ended = [update for update in frontend.seen(ToolUpdate) if update.tool_status != "running"]
            assert [update.tool_status for update in ended] == ["complete"] * 4
            assert len(frontend.seen(PermissionRequest)) >= 2
            assert frontend.text() == "I write it.All is done."
            assert Path(path).read_text(encoding="utf-8") == "goodbye\n"
            assert len(frontend.seen(TurnStarted)) == 1

            assert complete.data.outcome == "completed"
            assert complete.data.is_error is False
            committed = complete.data.last_message_uuid
            assert committed is not None

            async with connect(served.view_url) as watcher:
                log = await Frontend(watcher, frontend.session).caught_up()
            assert len(log.seen(Complete)) == 1
            assert log.events[: len(frontend.events)] == frontend.events

        cli_session = next(event.session_id for event in reversed(frontend.events) if event.session_id)
        lines = await resume_at(tmp_path, api, cli_session, committed)
        assert lines[-1]["type"] == "result"
        assert lines[-1]["is_error"] is False
        assert "All is done." in json.dumps(api.requests[-1]["messages"])


async def resume_at(
    folder: Path, api: ScriptedMessagesApi, cli_session: str, message: str
) -> list[dict[str, object]]:
    """Run the CLI by itself from a message of a session on."""
    process = await asyncio.create_subprocess_exec(
        real_cli(),
        *("-p", "go on", "--output-format", "stream-json", "--verbose"),
        *(f"--resume={cli_session}", f"--resume-session-at={message}"),
        cwd=folder / "project",
        env=real_cli_environment(folder / "home", api.url),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE):
        stdout, stderr = await process.communicate()
    assert process.returncode == 0, stderr.decode()
    return [json.loads(line) for line in stdout.split(b"\n") if line]


@pytest.mark.long
async def test_turns_follow_each_other_and_a_late_frontend_sees_them_all(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        async with running(tmp_path, real_setup(tmp_path, api, str)) as (frontend, served):
            for word in ("first", "second"):
                await frontend.turn(plan([text(f"{word} answer.")]))
            async with connect(served.view_url) as watcher:
                late = await Frontend(watcher, frontend.session).caught_up()
            assert late.text() == "first answer.second answer."
            assert len(late.seen(Complete)) == 2


@pytest.mark.long
async def test_an_interrupt_ends_the_turn_and_the_session_goes_on(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        async with running(tmp_path, real_setup(tmp_path, api, str)) as (frontend, _):
            await frontend.prompt(
                plan([tool_use("Bash", command="echo begin; sleep 30", description="Wait")])
            )
            await frontend.until(ToolCall)
            await frontend.client.interrupt(frontend.session)
            # whatever was asked meanwhile is withdrawn
            assert (await frontend.until(Complete)).data.outcome == "interrupted"
            assert (await frontend.turn(plan([text("still here")]))).data.outcome == "completed"
            assert frontend.text() == "still here"


@pytest.mark.long
async def test_no_cli_is_left_when_turnwire_has_ended(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        async with running(tmp_path, real_setup(tmp_path, api, str)) as (frontend, served):
            await frontend.prompt(
                plan([tool_use("Bash", command="echo begin; sleep 300", description="Wait")])
            )
            await frontend.until(ToolCall)
            children = descendants(served.process.pid)
            assert children
        assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []
