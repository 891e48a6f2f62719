"""An editor in front of the real CLI, whose own permission rules hold: files are really changed, commands really run."""

import asyncio
from pathlib import Path

import pytest

from acp_editor import FORMS, EditorHarness, editing
from live import preloaded_running, real_setup
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client import connect
from turnwire.client.events import Complete, ToolCall

pytestmark = pytest.mark.long


async def allowing(harness: EditorHarness, titles: list[str]) -> None:
    """Allow whatever is asked."""
    while True:
        asked = await harness.editor.asked.get()
        titles.append(asked.title)
        asked.choose("allow_once")


async def test_it_writes_edits_and_runs_as_the_human_at_the_editor_allows(tmp_path: Path) -> None:
    path = str(tmp_path / "project" / "note.txt")
    prompt = plan(
        [text("I write it."), tool_use("Write", file_path=path, content="hello\n")],
        [tool_use("Read", file_path=path)],
        [tool_use("Edit", file_path=path, old_string="hello", new_string="goodbye")],
        [tool_use("Bash", command="ls > listing.txt; exit 3", description="List")],
        [text("All is done.")],
    )
    titles: list[str] = []
    with scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        async with (
            preloaded_running(tmp_path, setup) as (native, served),
            connect(served.url) as client,
            editing(client) as harness,
        ):
            await harness.load(native.session, FORMS)
            allowing_all = asyncio.create_task(allowing(harness, titles))
            reply = await harness.prompt(native.session, prompt)
            allowing_all.cancel()
            await asyncio.gather(allowing_all, return_exceptions=True)
            assert reply.stop_reason == "end_turn"
            assert reply.usage is not None
            await native.until(Complete)
            assert harness.editor.text() == native.text() == "I write it.All is done."
            calls = harness.editor.calls()
            assert list(calls) == [event.tool_call_id for event in native.seen(ToolCall)]
            assert list(calls.values()) == ["completed", "completed", "completed", "failed"]
            kinds = [update["kind"] for update in harness.editor.of("tool_call")]
            assert kinds == ["edit", "read", "edit", "execute"]
            assert len(titles) >= 2
            diffs = [
                (each["oldText"], each["newText"])
                for update in harness.editor.of("tool_call_update")
                for each in update.get("content", [])
                if each["type"] == "diff"
            ]
            assert diffs == [(None, "hello\n"), ("hello\n", "goodbye\n")]
            failed = harness.editor.of("tool_call_update")[-1]
            assert failed["rawOutput"]["exit_code"] == 3
        assert Path(path).read_text(encoding="utf-8") == "goodbye\n"
        assert (tmp_path / "project" / "listing.txt").exists()
